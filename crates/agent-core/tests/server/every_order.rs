//! Every order of what can happen to a server with up to two calls: whatever happens, each call has one answer, and no answer lies about
//! whether the call was sent.

use agent_check::server::alphabet::WAYS;
use agent_check::server::{Script, config};
use agent_core::server::table::TABLE;
use agent_core::server::{Action, CallEnd, Event, MAX_OPEN, Objection, State};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// What a driver knows, apart from the machine.
#[derive(Clone, Debug, Default)]
struct Outside {
    /// How often each call was sent, and whether it may be repeated; gone once it is answered.
    open: BTreeMap<u64, (u32, bool)>,
    /// What a person is asked, each with its call, and how often that was done for each call.
    questions: BTreeMap<u64, u64>,
    times_asked: BTreeMap<u64, u32>,
    /// What a person has answered, and was not sent yet.
    replied: Option<u64>,
    /// Runs whose processes may live.
    living: Vec<u32>,
    started: u32,
    asked: u32,
    lists: u32,
}

impl Outside {
    fn before(&mut self, event: &Event) {
        match event {
            Event::CallAsked { call } => {
                self.asked += 1;
                assert!(self.open.insert(call.ticket, (0, call.is_repeatable)).is_none());
            }
            Event::InputAnswered { input } => self.replied = Some(*input),
            Event::Ended { run, .. } => self.living.retain(|living| living != run),
            _ => {}
        }
    }

    fn perform(&mut self, action: &Action) {
        match action {
            Action::StartServer { run } => {
                self.started += 1;
                assert_eq!(*run, self.started, "a run is started once");
                self.living.push(*run);
            }
            Action::SendCall { ticket } => self.send(*ticket),
            Action::SendHeld { calls } => calls.iter().for_each(|(ticket, _)| self.send(*ticket)),
            Action::DeliverAnswer { ticket } => {
                let (sent, _) = self.open.remove(ticket).unwrap();
                assert!(sent > 0, "only what was sent has an answer");
            }
            Action::AnswerCall { ticket, end } => self.answer(*ticket, end),
            Action::AnswerOpen { calls } | Action::AnswerLost { calls } => {
                assert!(!calls.is_empty());
                calls.iter().for_each(|(ticket, end)| self.answer(*ticket, end));
            }
            Action::WithdrawCall { ticket } => assert!(self.open[ticket].0 > 0, "only what was sent is withdrawn"),
            Action::EndServer { run } => assert!(self.living.contains(run), "what is ended runs"),
            Action::AskPerson { input, ticket } => {
                assert!(self.open[ticket].0 > 0, "only for what was sent somebody is asked");
                assert!(self.questions.insert(*input, *ticket).is_none());
                let times = self.times_asked.entry(*ticket).or_default();
                *times += 1;
                assert!(*times <= 2, "asked {times} times for one call");
            }
            Action::SendInput { input, ticket } => {
                assert_eq!(self.replied.take(), Some(*input), "only what a person said is sent");
                assert_eq!(self.questions.remove(input), Some(*ticket));
            }
            Action::RefuseInput { input } => assert!(!self.questions.contains_key(input)),
            Action::WithdrawInputs { inputs } => {
                assert!(!inputs.is_empty());
                inputs.iter().for_each(|input| assert!(self.questions.remove(input).is_some()));
            }
            Action::ListTools { .. } => self.lists += 1,
            Action::ArmCall { ticket, delay_ms } => assert!(self.open.contains_key(ticket) && *delay_ms > 0),
            Action::ConsiderServer | Action::AskReview { .. } | Action::ArmTimer { .. } | Action::OfferTools { .. } => {
            }
        }
    }

    fn send(&mut self, ticket: u64) {
        let (sent, is_repeatable) = self.open.get_mut(&ticket).unwrap();
        *sent += 1;
        assert!(*sent == 1 || *sent == 2 && *is_repeatable, "sent {sent} times");
    }

    fn answer(&mut self, ticket: u64, end: &CallEnd) {
        let (sent, _) = self.open.remove(&ticket).unwrap();
        let says_sent = match end {
            CallEnd::NotRun { .. } => false,
            CallEnd::Unknown { .. } => true,
            CallEnd::TimedOut { .. } => true,
            CallEnd::Cancelled { was_sent } => *was_sent,
        };
        // One that waits to be repeated says what holds for the repetition, and the model is told that it ran.
        assert!(says_sent == (sent > 0) || sent == 1, "sent {sent} times, and told {end:?}");
    }
}

#[test]
fn each_call_has_one_answer_in_every_order() {
    let reached = search(2, 0, |_| true);
    assert!(reached.0 > 1_000 && reached.1 > 100, "{} states, {} ends", reached.0, reached.1);
}

#[test]
fn no_question_outlives_its_call_in_every_order() {
    // Lists have nothing to do with it.
    let reached =
        search(2, 1, |line| !matches!(line, "changed" | "listed" | "progress") && !line.starts_with("not-listed"));
    assert!(reached.0 > 1_000 && reached.1 > 100, "{} states, {} ends", reached.0, reached.1);
    let reached = search(1, 3, |line| !matches!(line, "changed" | "listed") && !line.starts_with("not-listed"));
    assert!(reached.0 > 500 && reached.1 > 100, "{} states, {} ends", reached.0, reached.1);
}

/// Every order with so many calls and questions: how many states there are, and how often the end was reached.
fn search(calls: u32, questions: u64, is_tried: impl Fn(&str) -> bool) -> (usize, usize) {
    let first = Script::on(config("restarts=1 lists=1 inputs=2").unwrap(), &TABLE);
    let mut seen = HashSet::new();
    let mut open = VecDeque::from([(first, Outside::default(), Vec::new())]);
    let mut stopped = 0;
    while let Some((script, outside, way)) = open.pop_front() {
        for (name, line) in WAYS {
            if !is_tried(line)
                || line.starts_with("call") && outside.asked == calls
                || *line == "restart" && outside.started >= 3
            {
                continue;
            }
            let tickets: Vec<u64> = script.server.open().map(|(ticket, _)| ticket).collect();
            let asked: Vec<u64> = script.server.inputs().map(|(input, _)| input).collect();
            if matches!(*line, "asks" | "asks #1") && script.server.last_input() >= questions {
                continue;
            }
            let is_of_call = matches!(*line, "answered" | "progress" | "timed-out" | "cancel");
            let lines: Vec<String> = match is_of_call {
                _ if matches!(*line, "replied" | "asks-no-more") => {
                    asked.iter().map(|input| format!("{line} #{input}")).collect()
                }
                true => tickets.iter().map(|ticket| format!("{line} #{ticket}")).collect(),
                false => vec![(*line).to_owned()],
            };
            for line in lines {
                let (mut script, mut outside, mut way) = (script.clone(), outside.clone(), way.clone());
                let event = script.read(&line);
                way.push(line);
                let before = outside.clone();
                outside.before(&event);
                let Ok(step) = script.take(event) else {
                    continue;
                };
                drop(before);
                let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    step.actions.iter().for_each(|action| outside.perform(action));
                    judge(&script, &outside);
                }));
                assert!(judged.is_ok(), "{name}: after {way:?}");
                stopped += usize::from(script.server.state() == State::Stopped);
                let mut key = script.server.clone();
                key.forget_trace();
                let key = (serde_json::to_string(&key).unwrap(), format!("{:?}", outside.open));
                if seen.insert(key) {
                    open.push_back((script, outside, way));
                }
            }
        }
    }
    (seen.len(), stopped)
}

fn judge(script: &Script, outside: &Outside) {
    let known: Vec<u64> = script.server.open().map(|(ticket, _)| ticket).collect();
    assert_eq!(known, outside.open.keys().copied().collect::<Vec<_>>(), "machine and driver know the same open calls");
    let state = script.server.state();
    let takes = !matches!(state, State::Trusting | State::Failed | State::Stopping | State::Stopped);
    assert!(takes || known.is_empty(), "{state:?} leaves no call open");
    for (ticket, is_sent) in script.server.open() {
        assert!(!is_sent || state == State::Ready, "call {ticket} is with a server that is not there");
        assert!(is_sent || state != State::Ready, "call {ticket} waits for a server that is there");
    }
    assert_eq!(script.server.inputs().collect::<BTreeMap<_, _>>(), outside.questions, "both know the same questions");
    for (input, ticket) in script.server.inputs() {
        let is_there = script.server.open().any(|(open, is_sent)| open == ticket && is_sent);
        assert!(is_there && state == State::Ready, "the question {input} outlives its call");
    }
    assert!(outside.lists <= 2 * outside.started.max(1), "{} lists", outside.lists);
    if state == State::Stopped {
        assert!(outside.living.len() <= outside.started as usize);
    }
}

#[test]
fn calls_are_bounded_and_numbered() {
    let mut script = Script::on(config("").unwrap(), &TABLE);
    for _ in 0..MAX_OPEN {
        drop(script.tell("call"));
    }
    let refused = |script: &mut Script, line: &str| script.take(script.read(line)).unwrap_err().reason;
    assert_eq!(refused(&mut script, "call"), Objection::TooMany.into());
    drop(script.tell("cancel"));
    assert_eq!(refused(&mut script, "call #1"), Objection::OutOfOrder.into());
    drop(script.tell("call"));
}
