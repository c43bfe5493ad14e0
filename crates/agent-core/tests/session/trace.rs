//! The session's trace: bounded, and times are added up.

use crate::harness::answer;
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::PermissionMode;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State, Trigger};

/// A session at its prompt; time goes on by 10 ms with every event.
struct Run {
    session: Session,
    now_ms: u64,
}

impl Run {
    fn new() -> Self {
        let mut config = SessionConfig::new(ModelConfig::new("m"));
        config.permissions.mode = PermissionMode::Bypass;
        let mut run = Self { session: Session::new(config), now_ms: 1_000 };
        run.take(Event::Started);
        run
    }

    fn take(&mut self, event: Event) {
        self.now_ms += 10;
        let _ = self.session.step(self.now_ms, event).unwrap();
    }

    /// A question, whose answer takes 10 ms.
    fn turn(&mut self, response: LlmResponse) {
        self.take(Event::UserInput { text: "go on".into() });
        self.answer(response);
    }

    fn answer(&mut self, response: LlmResponse) {
        let Action::SendLlmRequest { ticket, .. } = self.session.outstanding().remove(0).action else { panic!() };
        self.take(Event::LlmCompleted { ticket, response });
    }
}

#[test]
fn times_are_added_up_by_state() {
    let mut run = Run::new();
    (0..3).for_each(|_| run.turn(LlmResponse::text("hi")));
    let trace = run.session.trace();
    assert_eq!(trace.total(State::CallingLlm), (3, 30));
    assert_eq!(trace.total(State::WaitingForUserInput), (4, 30), "the fourth time has not ended");
    assert_eq!(trace.total(State::Ready), (0, 0), "the first event tells the time");
    assert_eq!(trace.total(State::Error), (0, 0));
}

#[test]
fn staying_in_a_state_is_no_entry() {
    let mut run = Run::new();
    run.take(Event::UserInput { text: "go on".into() });
    run.take(Event::UserInput { text: "and on".into() });
    run.answer(LlmResponse::text("hi"));
    let trace = run.session.trace();
    assert_eq!(trace.total(State::CallingLlm), (2, 20), "both ways, and the waiting in between");
    let queued =
        trace.recent().find(|transition| transition.on == Trigger::UserInput && transition.from == transition.to);
    assert_eq!(queued.map(|transition| transition.spent_ms), Some(10));
}

#[test]
fn the_newest_transitions_are_kept() {
    let mut run = Run::new();
    (0..30).for_each(|_| run.turn(LlmResponse::text("hi")));
    let trace = run.session.trace();
    let transitions = 1 + 30 * 5;
    assert_eq!((trace.recent().count(), trace.dropped()), (100, transitions - 100));
    assert_eq!(trace.recent().last().map(|transition| transition.to), Some(State::WaitingForUserInput));
    assert_ne!(trace.recent().next().map(|transition| transition.from), Some(State::Ready), "the oldest go first");
}

#[test]
fn the_newest_notes_are_kept() {
    let call = || RawCall { id: String::new(), name: "read".into(), arguments: "{}".into(), complete: true };
    let calls = (0..30).map(|_| ResponseBlock::Call(call())).collect();
    let response = LlmResponse { blocks: calls, stop: StopReason::ToolUse, usage: None, model: String::new() };
    let mut run = Run::new();
    run.take(Event::UserInput { text: "go on".into() });
    for _ in 0..4 {
        run.answer(response.clone());
        while run.session.state() != State::SendingToolResults {
            let open = run.session.outstanding().remove(0).action;
            run.take(answer(&open, 0, 3));
        }
    }
    let notes: Vec<_> = run.session.trace().notes().collect();
    assert_eq!(notes.len(), 100);
    // Of each answer 30 notes of replaced ids, then what was decided about every sixth of its calls.
    assert!(notes[0].text.contains("call_36"), "{notes:?}");
    assert_eq!(notes[99].text, "deny read call_118: a hook denied it: hook");
    assert!(notes[0].at_ms < notes[99].at_ms);
}

#[test]
fn a_session_without_its_trace_goes_on_the_same() {
    let mut run = Run::new();
    run.turn(LlmResponse::text("hi"));
    let mut whole = run.session.clone();
    run.session.forget_trace();
    assert_eq!(run.session.trace().recent().count(), 0);
    assert_eq!(run.session.trace().total(State::CallingLlm), (0, 0));
    let without = run.session.step(2_000, Event::UserInput { text: "go on".into() }).unwrap();
    assert_eq!(without.actions, whole.step(2_000, Event::UserInput { text: "go on".into() }).unwrap().actions);
}
