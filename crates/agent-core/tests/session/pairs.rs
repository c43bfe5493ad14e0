//! Every waiting state with every event and every guard: what happens is what the rules of the [`oracle`] say, or the event is refused and
//! the session stays as it was, to the byte. What all pairs come to stands in the snapshot, to be read.

mod layer;
mod oracle;
mod places;
mod products;

use crate::stage::table;
use agent_check::quiet;
use agent_check::session::alphabet::{COMMANDS, all_answers};
use agent_check::session::{Command, Script};
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Outstanding, Reason, Session, State, Step, Ticket, Trigger};
use agent_core::table::Label;
pub(crate) use layer::Pairs;
use oracle::Said;
use places::{PLACES, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A session that stands in a place.
struct There {
    script: Script,
    state: State,
    words: Vec<&'static str>,
    /// The ticket of what is waited for, and that of the turn's deadline.
    asked: Option<Ticket>,
    clock: Option<Ticket>,
    /// As it is kept, where refusals are compared to the byte.
    bytes: Option<String>,
    /// Ids of calls, see [`calls`].
    ids: [String; 3],
}

/// What a pair came to.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Fired {
        rows: Vec<(State, Trigger)>,
        to: State,
        actions: Vec<String>,
    },
    Refused {
        trigger: Option<Trigger>,
        reason: String,
    },
    /// A timer that nothing waits for any more.
    Late,
}

#[test]
fn every_state_with_every_event_and_every_guard() {
    let (mut fired, mut used) = (BTreeSet::new(), (BTreeSet::new(), BTreeSet::new()));
    let (mut grid, mut pairs) = (String::new(), 0);
    for place in PLACES {
        let mut there = There::at(place).with_bytes();
        let mut outcomes: BTreeMap<Outcome, Vec<String>> = BTreeMap::new();
        for (line, ticket, kind) in there.events() {
            pairs += 1;
            let shown = if kind.is_empty() { line.to_owned() } else { format!("{line} @{kind}") };
            let outcome = there.try_event(line, ticket, kind, &mut used);
            if let Outcome::Fired { rows, .. } = &outcome {
                fired.extend(rows.iter().copied());
            }
            outcomes.entry(outcome).or_default().push(shown);
        }
        show(&mut grid, place, outcomes);
    }
    insta::assert_snapshot!("pairs", grid);
    let missing: Vec<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).filter(|row| !fired.contains(row)).collect();
    assert!(missing.is_empty(), "rows that no pair fires: {missing:?}");
    let unused = |count: usize, used: &BTreeSet<usize>| (0..count).filter(|at| !used.contains(at)).collect::<Vec<_>>();
    let (rules, automatic) = (unused(oracle::COUNTS.0, &used.0), unused(oracle::COUNTS.1, &used.1));
    assert!(rules.is_empty() && automatic.is_empty(), "rules that nothing needs: {rules:?}, {automatic:?}");
    assert!(pairs > 25_000, "{pairs} pairs");
}

/// Only what the state has rows for: that it refuses the rest is seen at the places above.
fn check_products(states: &[State]) {
    let (mut wrong, mut pairs) = (Vec::new(), 0);
    for place in products::places(states) {
        let mut there = There::at(&place);
        for (line, ticket, kind) in there.events() {
            let words: Vec<&str> = there.words.iter().copied().chain([kind]).collect();
            let has_row = match oracle::said(line, &words).1 {
                Said::On(trigger) => TABLE.row(there.state, trigger).is_some(),
                Said::Refused(_) => matches!(kind, "" | "open"),
                Said::Late => true,
            };
            if has_row {
                pairs += 1;
                let tried = quiet::caught(|| there.try_event(line, ticket, kind, &mut Default::default()));
                wrong.extend(tried.err());
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs} pairs:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn each_with_each_while_the_model_answers() {
    check_products(&[State::CallingLlm, State::SendingToolResults]);
}

#[test]
fn each_with_each_while_the_model_summarises_or_is_tried_again() {
    check_products(&[State::Compacting, State::Error]);
}

#[test]
fn each_with_each_before_calls_run() {
    check_products(&[State::PreparingTools, State::AwaitingApproval]);
}

#[test]
fn each_with_each_while_the_users_hooks_run() {
    check_products(&[State::RunningHooks]);
}

#[test]
fn each_with_each_while_calls_run_and_after() {
    check_products(&[
        State::ExecutingTools,
        State::CheckingGitCommits,
        State::RunningAutoformatters,
        State::CommittingChanges,
    ]);
}

#[test]
fn every_waiting_state_is_stood_in_and_every_word_counts() {
    for state in State::ALL.iter().filter(|state| !TABLE.is_passing(**state)) {
        assert!(PLACES.iter().any(|place| place.0 == *state), "{state:?}");
    }
    for word in PLACES.iter().flat_map(|place| place.1.split_whitespace()) {
        assert!(oracle::speaks_of(word), "no rule speaks of `{word}`");
    }
}

impl There {
    fn at(place: &Place) -> Self {
        let (state, words, lines) = *place;
        let mut script = Script::on(table());
        for line in lines.split("; ").map(str::trim) {
            // The user's hooks let everything pass, or all until those of a point run.
            let until = if line == "pass" { Some("") } else { line.strip_prefix("until ") };
            match until {
                Some(point) => {
                    while hooks_run(&script.session).is_some_and(|name| name != point) {
                        script.play(&["hooks"]);
                    }
                }
                None => drop(script.tell(line)),
            }
        }
        let session = &script.session;
        assert_eq!(session.state(), state, "{lines}");
        let mut words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(
            session.is_cancel_pending() && state != State::ShuttingDown,
            words.contains(&"cancelled"),
            "{lines}"
        );
        let open: Vec<Ticket> = (0..100).map(Ticket).filter(|ticket| session.is_open(*ticket)).collect();
        let asked = open.iter().copied().find(|ticket| *ticket != script.deadline());
        let clock = open.iter().copied().find(|ticket| *ticket == script.deadline());
        if asked.is_none() {
            words.push("idle");
        }
        let is_model = |open: &Outstanding| matches!(open.action, Action::SendLlmRequest { .. });
        if session.outstanding().iter().any(is_model) {
            words.push("model");
        }
        let ids = calls(&script);
        Self { state, words, asked, clock, bytes: None, ids, script }
    }

    /// Whatever is refused here is compared as it is kept, too.
    fn with_bytes(mut self) -> Self {
        let session = &self.script.session;
        let bytes = serde_json::to_string(session).unwrap();
        assert_eq!(&serde_json::from_str::<Session>(&bytes).unwrap(), session);
        self.bytes = Some(bytes);
        self
    }

    /// Every event: commands, and every answer with every kind of ticket.
    fn events(&self) -> Vec<(&'static str, Ticket, &'static str)> {
        let mut given = (1..=self.script.newest().0).map(Ticket);
        let late = given.find(|ticket| !self.script.session.is_open(*ticket));
        let tickets = [(self.asked, "open"), (self.clock, "clock"), (late, "late"), (Some(Ticket(9_999)), "unknown")];
        let mut out: Vec<_> = COMMANDS.iter().map(|line| (*line, Ticket(0), "")).collect();
        for (ticket, kind) in tickets {
            let Some(ticket) = ticket else { continue };
            out.extend(all_answers().map(|line| (line, ticket, kind)));
        }
        out
    }

    fn try_event(
        &mut self,
        line: &'static str,
        ticket: Ticket,
        kind: &'static str,
        used: &mut (BTreeSet<usize>, BTreeSet<usize>),
    ) -> Outcome {
        let shown = format!("{:?} where {:?}: {line} @{kind}", self.state, self.words);
        let spelt = self.spelt(line, ticket, kind);
        let Command::Take(event) = self.script.read(&spelt) else { panic!("{line} is no event") };
        let name = event.name();
        let words: Vec<&str> = self.words.iter().copied().chain([kind]).collect();
        let (rule, said) = oracle::said(line, &words);
        used.0.insert(rule);
        let mut session = self.script.session.clone();
        let result = session.step(self.script.now_ms, event);
        let row = match said {
            Said::On(trigger) => TABLE.row(self.state, trigger),
            Said::Refused(_) | Said::Late => None,
        };
        match (result, row) {
            (Ok(step), Some(row)) => {
                let expected = chain(row.from, row.on, line, &words, &mut used.1);
                check_step(&session, &step, &expected, &shown);
                let rows = expected.iter().map(|(from, on, _)| (*from, *on)).collect();
                Outcome::Fired { rows, to: session.state(), actions: step.actions.iter().map(name_of).collect() }
            }
            (Ok(step), None) if said == Said::Late => {
                assert!(step.is_empty() && session == self.script.session, "a late timer changed something: {shown}");
                if let Some(bytes) = &self.bytes {
                    assert_eq!(&serde_json::to_string(&session).unwrap(), bytes, "not to the byte: {shown}");
                }
                Outcome::Late
            }
            (Err(rejected), None) if said != Said::Late => {
                assert!(session == self.script.session, "a refusal changed something: {shown}");
                // Stale answers are many, and refused before anything is looked at.
                if let Some(bytes) =
                    self.bytes.as_ref().filter(|_| kind.is_empty() || kind == "open" || line == "timer")
                {
                    assert_eq!(&serde_json::to_string(&session).unwrap(), bytes, "not to the byte: {shown}");
                }
                let (trigger, reason) = match said {
                    Said::On(trigger) => (Some(trigger), Reason::NoRow),
                    Said::Refused(reason) => (None, reason),
                    Said::Late => unreachable!(),
                };
                let told = (rejected.state, rejected.event.as_ref(), rejected.trigger, rejected.reason);
                assert_eq!(told, (self.state, name, trigger, reason), "{shown}");
                let accepted: Vec<_> = TABLE.rows_from(self.state).map(|row| row.on).collect();
                assert_eq!(rejected.accepted, accepted, "{shown}");
                let (no_row, why) = (rejected.reason == Reason::NoRow, rejected.refusal(&TABLE));
                assert_eq!(no_row, why.is_some(), "{shown}");
                assert_eq!(rejected.to_string(), format!("{name} refused in {:?}: {reason}", self.state));
                Outcome::Refused { trigger, reason: reason.to_string() }
            }
            (result, row) => panic!("{shown}: {result:?}, but the rules say {said:?}, {row:?}"),
        }
    }

    /// The line with the ids of this place's calls and with the ticket.
    fn spelt(&self, line: &str, ticket: Ticket, kind: &str) -> String {
        let mut line = line.to_owned();
        for (word, id) in ["ASKED", "RUNNING", "IDLE"].iter().zip(&self.ids) {
            line = line.replace(word, &format!("id:{id}"));
        }
        if kind.is_empty() { line } else { format!("{line} @{}", ticket.0) }
    }
}

/// A call that a person is asked about, one that runs, and one that the driver was never given.
fn calls(script: &Script) -> [String; 3] {
    let mut ids = ["nobody"; 3].map(String::from);
    let batch: Vec<String> = script.calls().iter().map(|call| call.id.to_string()).collect();
    for outstanding in script.session.outstanding() {
        match outstanding.action {
            Action::RequestApproval { questions, .. } => ids[0] = questions[0].call.id.to_string(),
            Action::ExecuteTools { calls, .. } => {
                ids[1] = calls[0].id.to_string();
                let is_idle = |id: &&String| !calls.iter().any(|call| call.id.as_str() == id.as_str());
                ids[2] = batch.iter().find(is_idle).cloned().unwrap_or_else(|| "nobody".into());
            }
            _ => {}
        }
    }
    ids
}

/// The point of the hooks that run.
fn hooks_run(session: &Session) -> Option<&'static str> {
    session.outstanding().iter().find_map(|open| match &open.action {
        Action::RunHooks { occasion, .. } => Some(occasion.point().name()),
        _ => None,
    })
}

/// The rows that the rules expect: the event's own, then automatic ones until a waiting state.
fn chain(
    from: State,
    on: Trigger,
    line: &str,
    words: &[&str],
    used: &mut BTreeSet<usize>,
) -> Vec<(State, Trigger, State)> {
    let mut out = vec![(from, on, TABLE.row(from, on).unwrap().to)];
    while let Some((_, _, state)) = out.last().copied().filter(|last| TABLE.is_passing(last.2)) {
        let (rule, on) = oracle::automatic(state, line, words);
        used.insert(rule);
        let row = TABLE.row(state, on).unwrap_or_else(|| panic!("{state:?} + {on:?} is no row"));
        out.push((state, on, row.to));
    }
    out
}

fn check_step(session: &Session, step: &Step, expected: &[(State, Trigger, State)], shown: &str) {
    let (from, on, to) = expected[0];
    assert_eq!(session.state(), expected[expected.len() - 1].2, "{shown}");
    if matches!(on, Trigger::LlmDelta | Trigger::ToolProgress) {
        assert!(from == to && step.transitions.is_empty(), "{shown}");
    } else {
        let rows: Vec<_> = step.transitions.iter().map(|row| (row.from, row.on, row.to)).collect();
        assert_eq!(rows, expected, "{shown}");
    }
    // Each action stands on its row, in the row's order; an action without data may be left out.
    let labels = expected.iter().flat_map(|(from, on, _)| TABLE.row(*from, *on).unwrap().actions);
    let mut labels = labels.map(|label| label.name());
    for action in &step.actions {
        let name = name_of(action);
        let is_there = labels.any(|label| label == name || name == "DisplayProgress" && label == "DisplayText");
        assert!(is_there, "{shown}: {name} stands on no row, or in another order");
    }
}

/// The name of its variant; what it carries, which may be a whole conversation, is not spelt out.
fn name_of(action: &Action) -> String {
    let mut name = FirstWord(String::new());
    // It stops the writer at the first word's end.
    let _ = write!(name, "{action:?}");
    name.0
}

struct FirstWord(String);

impl Write for FirstWord {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = text.find([' ', '{']).unwrap_or(text.len());
        self.0.push_str(&text[..end]);
        if end == text.len() { Ok(()) } else { Err(std::fmt::Error) }
    }
}

/// What happens, with the events; of refusals what they say, and of those without a row the triggers. Stale tickets are the same
/// everywhere.
fn show(grid: &mut String, place: &Place, outcomes: BTreeMap<Outcome, Vec<String>>) {
    let _ = writeln!(grid, "== {:?}: {}\n   after {}", place.0, place.1, place.2);
    let mut without_row = Vec::new();
    for (outcome, events) in outcomes {
        let _ = match outcome {
            Outcome::Fired { rows, to, actions } => {
                let ons: Vec<String> = rows.iter().map(|(_, on)| format!("{on:?}")).collect();
                let what = format!("{} => {to:?} [{}]", ons.join(", "), actions.join(", "));
                writeln!(grid, "{what}\n    {}", events.join(" | "))
            }
            Outcome::Refused { trigger: Some(trigger), .. } => {
                without_row.push(format!("{trigger:?}"));
                Ok(())
            }
            Outcome::Late => writeln!(grid, "late: nothing\n    {}", events.join(" | ")),
            Outcome::Refused { reason, .. } if reason == Reason::StaleTicket.to_string() => Ok(()),
            Outcome::Refused { reason, .. } => writeln!(grid, "{reason}: refused\n    {}", events.join(" | ")),
        };
    }
    let _ = writeln!(grid, "no row: refused\n    {}", without_row.join(" | "));
}
