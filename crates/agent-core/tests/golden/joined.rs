//! Journals that recorded session and lifecycle separately: read to the agent that today's tell of, and joined by the first event of a
//! program that resumes it, wherever the program before left off.

use crate::agent::{APART, records};
use agent_core::agent::{Agent, Event, SIGNAL_TOOL, Step};
use agent_core::conversation::CallId;
use agent_core::journal::{Entry, FORMAT_VERSION, LifecycleEntry, Record, Replayed, Replayer};
use agent_core::lifecycle::{self, State, Trigger};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::session::{self, Action, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

/// What follows when a program resumes the agent behind so many of the records, and after these events of its session.
fn resumed(records: &[Record], more: Vec<session::Event>) -> (Agent, Step) {
    let (first, rest) = records.split_first().unwrap();
    let mut replayer = Replayer::new(first.clone()).unwrap();
    for record in rest {
        let _ = replayer.take(record.clone()).unwrap();
    }
    for event in more {
        let entry = Entry::Event(event.into());
        assert!(matches!(take(&mut replayer, entry), Replayed::Step(_)));
    }
    let Replayed::Step(step) = take(&mut replayer, Entry::Event(goes_on())) else { panic!("it is refused") };
    (replayer.agent().clone(), step)
}

/// Another program goes on with what is in flight.
fn goes_on() -> Event {
    session::Event::SessionResumed { begun: false, calls: Vec::new() }.into()
}

/// The lifecycle hears of nothing, and nothing is asked for.
fn does_nothing(step: &Step) -> bool {
    step.down.is_empty() && step.session.actions.is_empty() && step.up.is_empty()
}

fn take(replayer: &mut Replayer, entry: Entry) -> Replayed {
    replayer.take(Record { seq: replayer.next_seq(), at_ms: 90_000, entry }).unwrap()
}

/// The records up to the first of these.
fn until(records: &[Record], found: impl Fn(&Entry) -> bool) -> &[Record] {
    let at = records.iter().position(|record| found(&record.entry)).unwrap();
    &records[..=at]
}

fn lifecycle_event(entry: &Entry) -> Option<&lifecycle::Event> {
    match entry {
        Entry::Lifecycle(LifecycleEntry::Event(event)) => Some(event),
        _ => None,
    }
}

fn triggers(step: &lifecycle::Step) -> Vec<Trigger> {
    step.transitions.iter().map(|row| row.on).collect()
}

fn sends_request(step: &Step) -> usize {
    step.session.actions.iter().filter(|action| matches!(action, Action::SendLlmRequest { .. })).count()
}

/// The same story: what every version made of it is the same to the user.
#[test]
fn a_journal_that_told_of_both_apart_reads_to_the_same_agent() {
    let [apart, today] = [APART, FORMAT_VERSION].map(|version| crate::agent::replayed(records(version)));
    assert_eq!(apart.outcome(), today.outcome());
    assert_eq!(apart.session().conversation(), today.session().conversation());
    assert_eq!(apart.session().ledger().model_calls, today.session().ledger().model_calls);
    let seen = |agent: &Agent| {
        let lifecycle = agent.lifecycle().unwrap();
        (lifecycle.state(), lifecycle.rounds(), lifecycle.outcome().cloned(), lifecycle.verification().cloned())
    };
    assert_eq!(seen(&apart), seen(&today));
    assert_eq!((seen(&today).0, seen(&today).1), (State::Reaped, 1));
    assert!(!apart.is_unfinished() && !today.is_unfinished());
}

#[test]
fn a_message_that_was_given_and_not_taken_is_taken() {
    let records = records(APART);
    let given = until(&records, |entry| lifecycle_event(entry).is_some());
    let (agent, step) = resumed(given, Vec::new());
    assert_eq!(sends_request(&step), 1, "{step:?}");
    assert_eq!(agent.lifecycle().unwrap().state(), State::Working);
    assert_eq!(agent.session().pending_input().collect::<Vec<_>>(), ["Make the tests pass."]);
    assert!(agent.is_unfinished());
}

/// The report of what is missing was given to the session, which had not taken it.
#[test]
fn a_report_that_was_given_and_not_taken_is_taken() {
    let records = records(APART);
    let is_last_check = |event: &lifecycle::Event| matches!(event, lifecycle::Event::CheckCompleted { commitment, .. } if commitment.0 == 1);
    let (agent, step) = resumed(until(&records, |entry| lifecycle_event(entry).is_some_and(is_last_check)), Vec::new());
    assert_eq!((sends_request(&step), agent.lifecycle().unwrap().rounds()), (1, 1), "{step:?}");
    let pending: Vec<&str> = agent.session().pending_input().collect();
    assert!(pending.len() == 1 && pending[0].contains("NOT KEPT: cargo test"), "{pending:?}");
}

#[test]
fn a_turn_that_ended_and_was_not_told_is_told() {
    let records = records(APART);
    let is_end = |entry: &Entry| matches!(entry, Entry::Event(Event::Session(session::Event::LlmCompleted { .. })));
    let (agent, step) = resumed(until(&records, is_end), Vec::new());
    assert_eq!(triggers(&step.up), [Trigger::CompletionClaimed]);
    assert!(step.up.actions.iter().any(|action| matches!(action, lifecycle::Action::RunChecks { .. })), "{step:?}");
    assert_eq!((agent.lifecycle().unwrap().state(), agent.outcome()), (State::Verifying, None));
}

#[test]
fn a_session_that_ended_and_was_not_told_is_told() {
    let records = records(APART);
    let given = until(&records, |entry| matches!(entry, Entry::ActionStarted(_)));
    let (agent, step) = resumed(given, vec![session::Event::ShutdownRequested]);
    // What the agent had started ended with the program before.
    assert_eq!(triggers(&step.up), [Trigger::SessionEnded, Trigger::CleanupCompleted]);
    assert!(agent.is_over() && !agent.is_unfinished());
}

/// An agent that somebody spoke to past its commitments was left by them: its session goes on without.
#[test]
fn an_agent_that_a_plain_prompt_passed_over_is_bound_no_more() {
    let records = records(APART);
    let (agent, step) = resumed(&records, vec![session::Event::UserInput { text: "Something else.".into() }]);
    assert!(does_nothing(&step) && agent.lifecycle().is_none() && !agent.is_unfinished());
    assert_eq!(agent.outcome(), agent.session().outcome());
}

/// Nothing lies between both machines then.
#[test]
fn an_agent_that_was_left_at_a_check_waits_for_it() {
    let records = records(APART);
    let is_check = |event: &lifecycle::Event| matches!(event, lifecycle::Event::CheckCompleted { .. });
    let (agent, step) = resumed(until(&records, |entry| lifecycle_event(entry).is_some_and(is_check)), Vec::new());
    assert!(does_nothing(&step), "{step:?}");
    let open = agent.lifecycle().unwrap().outstanding();
    let [lifecycle::Action::RunChecks { checks, .. }] = &open[..] else { panic!("{open:?}") };
    assert_eq!(checks.iter().map(|check| check.commitment.0).collect::<Vec<_>>(), [1]);
}

/// The model calls the signal tool, which takes it. The program ends before it told the lifecycle.
fn signalled() -> Vec<session::Event> {
    let arguments = r#"{"status":"waiting","summary":"which?"}"#.into();
    let raw = RawCall { id: "a".into(), name: SIGNAL_TOOL.into(), arguments, complete: true };
    let blocks = vec![ResponseBlock::Call(raw)];
    let response = LlmResponse { blocks, stop: StopReason::ToolUse, ..LlmResponse::text("") };
    let call = CallId::new("a");
    let runnable = Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
    vec![
        session::Event::LlmCompleted { ticket: Ticket(1), response },
        session::Event::ToolsPrepared { ticket: Ticket(2), facts: vec![CallFacts::new(call.clone(), runnable)] },
        session::Event::ToolCompleted { ticket: Ticket(3), call, outcome: ToolOutcome::ok("noted") },
    ]
}

#[test]
fn a_signal_that_was_taken_and_not_passed_on_is_passed_on() {
    let records = records(APART);
    let asked = until(&records, |entry| matches!(entry, Entry::ActionStarted(_)));
    let (mut agent, step) = resumed(asked, signalled());
    assert_eq!(triggers(&step.up), [Trigger::Signalled]);
    let event = session::Event::LlmCompleted { ticket: Ticket(4), response: LlmResponse::text("Which?") };
    let _ = agent.step(91_000, event.into()).unwrap();
    assert_eq!(agent.lifecycle().unwrap().state(), State::Waiting);
}

/// The model had not seen the message when it signalled.
#[test]
fn a_signal_before_a_message_that_was_not_taken_counts_for_nothing() {
    let mut records = until(&records(APART), |entry| matches!(entry, Entry::ActionStarted(_))).to_vec();
    let mut append = |entry| {
        let seq = records.len() as u64;
        records.push(Record { seq, at_ms: 80_000, entry });
    };
    let [answer, prepared, ran] = signalled().try_into().unwrap();
    append(Entry::Event(answer.into()));
    let text = String::from("The first of them.");
    append(Entry::Lifecycle(LifecycleEntry::Event(lifecycle::Event::InputReceived { text: text.clone().into() })));
    append(Entry::Event(prepared.into()));
    append(Entry::Event(ran.into()));
    let (mut agent, step) = resumed(&records, Vec::new());
    assert!(step.up.is_empty(), "{:?}", step.up);
    assert!(agent.session().pending_input().any(|pending| pending == text));
    let mut answer = |ticket, text| {
        let event = session::Event::LlmCompleted { ticket: Ticket(ticket), response: LlmResponse::text(text) };
        agent.step(91_000, event.into()).unwrap()
    };
    assert!(answer(4, "Which?").up.is_empty(), "the message is still to be worked on");
    assert_eq!(triggers(&answer(5, "Done.").up), [Trigger::CompletionClaimed]);
}

/// From there on both take one step: what follows is not recorded, and a second program finds nothing to join.
#[test]
fn what_is_joined_goes_on_as_one() {
    let records = records(APART);
    let given = until(&records, |entry| lifecycle_event(entry).is_some());
    let (mut agent, step) = resumed(given, Vec::new());
    let before = (agent.outcome(), agent.lifecycle().map(|lifecycle| lifecycle.state()), agent.session().state());
    let again = agent.step(91_000, goes_on()).unwrap();
    assert!(does_nothing(&again), "{again:?}");
    let after = (agent.outcome(), agent.lifecycle().map(|lifecycle| lifecycle.state()), agent.session().state());
    assert!(after == before, "there is nothing to join any more");
    let Some(ticket) = step.session.actions.iter().find_map(|action| match action {
        Action::SendLlmRequest { ticket, .. } => Some(*ticket),
        _ => None,
    }) else {
        panic!("{step:?}")
    };
    let response = LlmResponse::text("They do.");
    let step = agent.step(92_000, session::Event::LlmCompleted { ticket, response }.into()).unwrap();
    assert_eq!(triggers(&step.up), [Trigger::CompletionClaimed]);
}
