//! Every state with every event and every guard: the row that fires, or the refusal.

use crate::stage::table;
use agent_check::action_name;
use agent_check::server::alphabet::WAYS;
use agent_check::server::{Script, config};
use agent_core::server::table::TABLE;
use agent_core::server::{Event, Reason, State, Trigger};
use agent_core::table::Label;
use std::collections::BTreeSet;

/// Ways to every state in which something can happen; those that look different to a guard apart.
const PLACES: &[(State, &[&str])] = &[
    (State::Configured, &[]),
    (State::Configured, &["call"]),
    (State::Trusting, &["consider changed"]),
    (State::Starting, &["consider"]),
    (State::Starting, &["call", "consider"]),
    (State::Starting, &["consider", "came", "ended x", "timer", "consider"]),
    (State::Starting, &["consider", "came", "call repeatable", "ended x", "timer", "consider"]),
    (State::Late, &["call", "consider", "timer"]),
    (State::Late, &["consider", "came", "ended x", "timer", "consider", "timer"]),
    (State::Ready, &["consider", "came"]),
    (State::Ready, &["consider", "came", "call"]),
    (State::Ready, &["consider", "came", "call repeatable", "changed"]),
    (State::Ready, &["consider", "came", "call", "asks"]),
    (State::Ready, &["consider", "came", "call", "asks #1", "replied", "asks"]),
    (State::Ready, &["consider", "came", "call", "asks", "call", "asks"]),
    (State::Ready, &["consider", "came", "call repeatable", "asks"]),
    (State::Ready, &["consider", "came", "changed", "changed"]),
    (State::Ready, &["consider", "came", "changed", "listed", "changed", "changed"]),
    (State::Ready, &["consider", "came", "changed", "listed", "changed", "listed"]),
    (State::Ready, &["consider", "came", "call", "ended x", "timer", "consider", "came", "call"]),
    (
        State::Ready,
        &["consider", "came", "ended x", "timer", "consider", "ended x", "timer", "consider", "came", "call"],
    ),
    (State::Starting, &["consider", "came", "ended x", "timer", "consider", "ended x", "timer", "consider"]),
    (State::Restarting, &["consider", "came", "call repeatable", "ended x"]),
    (State::Failed, &["consider", "not-started x"]),
    (State::Stopping, &["consider", "stop"]),
    (State::Stopped, &["stop"]),
];

/// From, triggers, where it leads (nothing: it stays), actions.
type Row = (&'static [State], &'static [Trigger], Option<State>, &'static [&'static str]);

/// What each row does, once more and independent of the table: from, triggers, to, actions.
#[rustfmt::skip]
const EXPECTED: &[Row] = &[
    (&[State::Configured], &[Trigger::Considered], Some(State::Wanted), &[]),
    (&[State::Wanted], &[Trigger::AutoDisabled], Some(State::Stopped), &["AnswerOpen"]),
    (&[State::Wanted], &[Trigger::AutoUntrusted], Some(State::Trusting), &["AnswerOpen", "AskReview"]),
    (&[State::Wanted], &[Trigger::AutoClear], Some(State::Starting), &["StartServer", "ArmTimer"]),

    // On its way: calls wait.
    (&[State::Configured, State::Starting, State::Late, State::Restarting], &[Trigger::CallAsked], None, &["ArmCall"]),
    (&[State::Configured, State::Starting, State::Late, State::Restarting],
        &[Trigger::CallTimedOut, Trigger::CallCancelled], None, &["AnswerCall"]),
    (&[State::Trusting, State::Failed, State::Stopping], &[Trigger::CallAsked], None, &["AnswerCall"]),

    (&[State::Starting, State::Late], &[Trigger::Came], Some(State::Ready), &["OfferTools", "SendHeld"]),
    (&[State::Starting, State::Late], &[Trigger::StartFailed], Some(State::Failed), &["AnswerOpen", "EndServer"]),
    (&[State::Starting, State::Late], &[Trigger::Ended], Some(State::Failed), &["AnswerOpen"]),
    (&[State::Ready], &[Trigger::Ended], Some(State::Failed), &["WithdrawInputs", "AnswerOpen"]),
    (&[State::Starting, State::Late], &[Trigger::EndedRestarting], Some(State::Restarting), &["ArmTimer"]),
    (&[State::Starting], &[Trigger::TimerFired], Some(State::Late), &["ArmTimer"]),
    (&[State::Late], &[Trigger::TimerFired], Some(State::Failed), &["AnswerOpen", "EndServer"]),
    (&[State::Starting, State::Late], &[Trigger::StopRequested], Some(State::Stopping), &["AnswerOpen", "EndServer"]),
    (&[State::Ready], &[Trigger::StopRequested], Some(State::Stopping), &["WithdrawInputs", "AnswerOpen", "EndServer"]),

    (&[State::Ready], &[Trigger::CallAsked], None, &["SendCall", "ArmCall"]),
    (&[State::Ready], &[Trigger::CallAnswered], None, &["WithdrawInputs", "DeliverAnswer"]),
    (&[State::Ready], &[Trigger::CallProgressed], None, &["ArmCall"]),
    (&[State::Ready], &[Trigger::CallTimedOut, Trigger::CallCancelled], None, &["WithdrawInputs", "WithdrawCall", "AnswerCall"]),
    (&[State::Ready], &[Trigger::InputAsked], None, &["AskPerson", "ArmCall"]),
    (&[State::Ready], &[Trigger::InputUnwelcome], None, &["RefuseInput"]),
    (&[State::Ready], &[Trigger::InputAnswered], None, &["SendInput", "ArmCall"]),
    (&[State::Ready], &[Trigger::InputWithdrawn], None, &["WithdrawInputs", "ArmCall"]),
    (&[State::Ready], &[Trigger::ListChanged, Trigger::ListedStale], None, &["ListTools"]),
    (&[State::Ready], &[Trigger::ListChangedAgain, Trigger::ListFailed], None, &[]),
    (&[State::Ready], &[Trigger::Listed], None, &["OfferTools"]),
    (&[State::Ready], &[Trigger::EndedRestarting], Some(State::Restarting), &["WithdrawInputs", "AnswerLost", "ArmTimer"]),

    (&[State::Restarting], &[Trigger::TimerFired], Some(State::Configured), &["ConsiderServer"]),
    (&[State::Failed, State::Trusting], &[Trigger::RestartRequested], Some(State::Configured), &["ConsiderServer"]),
    (&[State::Failed], &[Trigger::Ended], None, &[]),
    (&[State::Configured, State::Restarting], &[Trigger::StopRequested], Some(State::Stopped), &["AnswerOpen"]),
    (&[State::Trusting, State::Failed], &[Trigger::StopRequested], Some(State::Stopped), &[]),
    (&[State::Stopping], &[Trigger::StopRequested], None, &[]),
    (&[State::Stopping], &[Trigger::Ended], Some(State::Stopped), &[]),
];

/// What the event is, said independently of the machine, from the lines that led here. Two restarts, and two lists.
fn expected(event: &Event, script: &Script, way: &[&str]) -> Result<Trigger, Reason> {
    let count = |begin: &str| way.iter().filter(|line| line.starts_with(begin)).count();
    let open: Vec<u64> = script.server.open().map(|(ticket, _)| ticket).collect();
    let asked: Vec<(u64, u64)> = script.server.inputs().collect();
    // What is asked for and has not come: every `changed` that is not one too many, and no answer since.
    let lists = {
        let (mut asked, mut is_asking, mut has_changed) = (0, false, false);
        for line in way {
            match *line {
                "changed" if is_asking || asked == 2 => has_changed = true,
                "changed" => (asked, is_asking, has_changed) = (asked + 1, true, false),
                "listed" if has_changed && asked < 2 => (asked, has_changed) = (asked + 1, false),
                "listed" => (is_asking, has_changed) = (false, false),
                _ => {}
            }
        }
        (asked, is_asking, has_changed)
    };
    if event.run().is_some_and(|run| run != script.server.run())
        || event.ticket().is_some_and(|ticket| !open.contains(&ticket))
        || event.input().is_some_and(|input| !asked.iter().any(|(other, _)| *other == input))
    {
        return Err(Reason::StaleTicket);
    }
    Ok(match event {
        Event::Considered { .. } => Trigger::Considered,
        Event::Came { .. } => Trigger::Came,
        Event::StartFailed { .. } => Trigger::StartFailed,
        Event::Ended { .. } => {
            let is_living = matches!(script.server.state(), State::Starting | State::Late | State::Ready);
            let may = is_living && count("came") > 0 && count("ended") < 2;
            if may { Trigger::EndedRestarting } else { Trigger::Ended }
        }
        Event::TimerFired { timer } if *timer != script.server.timer() => return Err(Reason::StaleTicket),
        Event::TimerFired { .. } => Trigger::TimerFired,
        Event::CallAsked { call } if call.ticket != script.server.last_ticket() + 1 => {
            return Err(agent_core::server::Objection::OutOfOrder.into());
        }
        Event::CallAsked { .. } => Trigger::CallAsked,
        Event::CallAnswered { .. } => Trigger::CallAnswered,
        Event::CallProgressed { .. } => Trigger::CallProgressed,
        Event::CallTimedOut { .. } => Trigger::CallTimedOut,
        Event::CallCancelled { .. } => Trigger::CallCancelled,
        // A call for which nothing was asked yet is with the server: the one that is named, or else the last one. One may be asked.
        Event::InputAsked { .. } => {
            let is_asked = way.iter().any(|line| line.starts_with("asks"));
            let (has_call, is_new) = (script.server.open().any(|(_, is_sent)| is_sent), !is_asked);
            if has_call && is_new { Trigger::InputAsked } else { Trigger::InputUnwelcome }
        }
        Event::InputAnswered { .. } => Trigger::InputAnswered,
        Event::InputWithdrawn { .. } => Trigger::InputWithdrawn,
        Event::ListChanged { .. } if lists.1 || lists.0 == 2 => Trigger::ListChangedAgain,
        Event::ListChanged { .. } => Trigger::ListChanged,
        Event::Listed { .. } | Event::ListFailed { .. } if !lists.1 => return Err(Reason::StaleTicket),
        Event::Listed { .. } if lists.2 && lists.0 < 2 => Trigger::ListedStale,
        Event::Listed { .. } => Trigger::Listed,
        Event::ListFailed { .. } => Trigger::ListFailed,
        Event::RestartRequested => Trigger::RestartRequested,
        Event::StopRequested => Trigger::StopRequested,
    })
}

/// The automatic row that follows, by the words of the line.
fn gate(name: &str) -> Trigger {
    match name {
        "considered, disabled" => Trigger::AutoDisabled,
        "considered, changed" => Trigger::AutoUntrusted,
        _ => Trigger::AutoClear,
    }
}

fn row(from: State, on: Trigger) -> Option<(State, &'static [&'static str])> {
    EXPECTED
        .iter()
        .find(|(states, ons, ..)| states.contains(&from) && ons.contains(&on))
        .map(|(_, _, to, actions)| (to.unwrap_or(from), *actions))
}

#[test]
fn every_state_with_every_event_and_every_guard() {
    let fired = every_event_in(State::ALL);
    let all: BTreeSet<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).collect();
    assert_eq!(fired, all, "every row fires somewhere");
}

/// What fired in these states.
pub(crate) fn every_event_in(states: &[State]) -> BTreeSet<(State, Trigger)> {
    let mut fired = BTreeSet::new();
    for (state, way) in PLACES.iter().filter(|(state, _)| states.contains(state) || states.contains(&State::Wanted)) {
        for (name, line) in WAYS {
            for line in [(*line).to_owned(), format!("{line} @7"), format!("{line} #9")] {
                fired.extend(try_one(*state, way, name, &line));
            }
        }
    }
    fired
}

fn try_one(state: State, way: &[&str], name: &str, line: &str) -> Vec<(State, Trigger)> {
    let mut script = Script::on(config("restarts=2 lists=2 inputs=1").unwrap(), table());
    for line in way {
        drop(script.tell(line));
    }
    assert_eq!(script.server.state(), state, "{way:?}");
    let (event, before) = (script.read(line), script.server.clone());
    let shown = format!("{way:?} + {line}");
    let said = match &event {
        // Any higher number will do.
        Event::CallAsked { .. } => Ok(Trigger::CallAsked),
        event => expected(event, &script, way),
    };
    let mut rows = Vec::new();
    if let Ok(on) = said {
        let mut from = state;
        for on in [on, gate(name)] {
            let Some((to, actions)) = row(from, on) else { break };
            rows.push((from, on, to, actions));
            if to != State::Wanted {
                break;
            }
            from = to;
        }
    }
    let of_input = before.inputs().any(|(_, of)| event.ticket().is_none_or(|ticket| ticket == of));
    let (open, sent) = (before.open().count(), before.open().any(|(_, is_sent)| is_sent));
    match script.take(event) {
        Ok(step) => {
            let found: Vec<_> = step.transitions.iter().map(|row| (row.from, row.on, row.to)).collect();
            assert_eq!(found, rows.iter().map(|row| (row.0, row.1, row.2)).collect::<Vec<_>>(), "{shown}");
            let names: Vec<String> = step.actions.iter().map(action_name).collect();
            // What there is nothing to do with is not asked for.
            let is_asked = |action: &&str| match *action {
                "AnswerOpen" => open > 0,
                "AnswerLost" => sent && !shown.contains("repeatable"),
                "WithdrawCall" => sent,
                "WithdrawInputs" => of_input,
                _ => true,
            };
            let wanted: Vec<_> = rows.iter().flat_map(|row| row.3.iter().copied()).filter(is_asked).collect();
            assert_eq!(names, wanted, "{shown}");
        }
        Err(rejected) => {
            assert_eq!(rows, Vec::new(), "{shown}: {rejected}");
            assert_eq!(rejected.reason, said.err().unwrap_or(Reason::NoRow), "{shown}");
            assert_eq!(script.server, before, "{shown}");
        }
    }
    rows.iter().map(|row| (row.0, row.1)).collect()
}
