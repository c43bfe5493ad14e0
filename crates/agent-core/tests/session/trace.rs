//! The session's trace: bounded, and times are added up.

use agent_check::session::Script;
use agent_core::session::{Event, State, Trigger};

/// A session at its prompt; time goes on by 10 ms with every event.
struct Run(Script);

impl Run {
    fn new() -> Self {
        let mut run = Self(Script::default());
        run.0.read("not-started");
        run.0.now_ms = 1_000;
        run.take("start");
        run
    }

    fn take(&mut self, line: &str) {
        self.0.now_ms += 10;
        assert!(self.0.tell(line).is_some());
    }

    /// A question, whose answer takes 10 ms.
    fn turn(&mut self) {
        self.take("input go on");
        self.take("answer hi");
    }
}

#[test]
fn times_are_added_up_by_state() {
    let mut run = Run::new();
    (0..3).for_each(|_| run.turn());
    let trace = run.0.session.trace();
    assert_eq!(trace.total(State::CallingLlm), (3, 30));
    assert_eq!(trace.total(State::WaitingForUserInput), (4, 30), "the fourth time has not ended");
    assert_eq!(trace.total(State::Ready), (0, 0), "the first event tells the time");
    assert_eq!(trace.total(State::Error), (0, 0));
}

#[test]
fn staying_in_a_state_is_no_entry() {
    let mut run = Run::new();
    run.take("input go on");
    run.take("input and on");
    run.take("answer hi");
    let trace = run.0.session.trace();
    assert_eq!(trace.total(State::CallingLlm), (2, 20), "both ways, and the waiting in between");
    let queued =
        trace.recent().find(|transition| transition.on == Trigger::UserInput && transition.from == transition.to);
    assert_eq!(queued.map(|transition| transition.spent_ms), Some(10));
}

#[test]
fn the_newest_transitions_are_kept() {
    let mut run = Run::new();
    (0..30).for_each(|_| run.turn());
    let trace = run.0.session.trace();
    let transitions = 1 + 30 * 5;
    assert_eq!((trace.recent().count(), trace.dropped()), (100, transitions - 100));
    assert_eq!(trace.recent().last().map(|transition| transition.to), Some(State::WaitingForUserInput));
    assert_ne!(trace.recent().next().map(|transition| transition.from), Some(State::Ready), "the oldest go first");
}

#[test]
fn the_newest_notes_are_kept() {
    let answer = format!("answer calls{}", " read#{}".repeat(30));
    // A hook denies every sixth of them.
    let denied: String = (4..=30).step_by(6).map(|number| format!(" \"{number}=deny hook\"")).collect();
    let mut run = Run::new();
    run.take("input go on");
    for _ in 0..4 {
        run.take(&answer);
        run.take(&format!("prepared{denied}"));
        (1..=30).filter(|number| number % 6 != 4).for_each(|number| run.take(&format!("tool {number} ok")));
    }
    let notes: Vec<_> = run.0.session.trace().notes().collect();
    assert_eq!(notes.len(), 100);
    // Of each answer 30 notes of replaced ids, then what was decided about every sixth of its calls.
    assert!(notes[0].text.contains("call_36"), "{notes:?}");
    assert_eq!(notes[99].text, "deny read call_118: a hook denied it: hook");
    assert!(notes[0].at_ms < notes[99].at_ms);
}

#[test]
fn a_session_without_its_trace_goes_on_the_same() {
    let mut run = Run::new();
    run.turn();
    let mut whole = run.0.session.clone();
    run.0.session.forget_trace();
    assert_eq!(run.0.session.trace().recent().count(), 0);
    assert_eq!(run.0.session.trace().total(State::CallingLlm), (0, 0));
    let without = run.0.session.step(2_000, Event::UserInput { text: "go on".into() }).unwrap();
    assert_eq!(without.actions, whole.step(2_000, Event::UserInput { text: "go on".into() }).unwrap().actions);
}
