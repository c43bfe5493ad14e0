//! An agent over a session: whose messages the session took, whether the agent was left at its work, and what it then waits for.

use agent_core::lifecycle::{Action, CheckEnd, CheckReport, Commitment, Event, Lifecycle, LifecycleConfig, TurnEnd};
use agent_core::link::{Agent, command};
use agent_core::session::{self, ModelConfig, Session, SessionConfig};

struct Pair {
    session: Session,
    agent: Agent,
}

impl Pair {
    fn new() -> Self {
        let mut session = Session::new(SessionConfig::new(ModelConfig::new("m")));
        drop(session.step(0, session::Event::Started).unwrap());
        Self { session, agent: Agent::new(LifecycleConfig::headless(Vec::new())) }
    }

    fn session_takes(&mut self, text: &str) {
        let step = self.session.step(0, session::Event::UserInput { text: text.into() }).unwrap();
        step.transitions.iter().for_each(|transition| self.agent.session_moved(transition));
    }

    /// Through the agent, which gives it to its session.
    fn agent_takes(&mut self, text: &str) {
        let step = self.agent.step(0, Event::InputReceived { text: text.into() }, None).unwrap();
        assert_eq!(step.actions.iter().filter_map(command).count(), 1);
        self.session_takes(text);
    }
}

#[test]
fn an_agent_is_unfinished_while_it_works_on_its_own_messages() {
    let mut pair = Pair::new();
    assert!(!pair.agent.is_unfinished(), "it was not asked for anything");
    pair.agent_takes("go");
    assert!(pair.agent.is_unfinished() && !pair.agent.is_passed_over());
    pair.agent_takes("and more");
    assert_eq!(pair.agent.lifecycle().inputs_sent(), 2);
    assert!(pair.agent.is_unfinished() && !pair.agent.is_passed_over());
    drop(pair.agent.step(0, Event::CancelRequested, None).unwrap());
    drop(pair.agent.step(0, Event::SessionEnded, None).unwrap());
    assert!(!pair.agent.is_unfinished(), "it rests");
}

#[test]
fn an_agent_is_passed_over_by_messages_that_are_not_its_own() {
    let mut pair = Pair::new();
    pair.agent_takes("go");
    pair.session_takes("not through the agent");
    assert!(pair.agent.is_passed_over() && !pair.agent.is_unfinished());
}

#[test]
fn a_timer_and_the_checks_that_have_not_ended_are_outstanding() {
    let bound = ["one", "two"].map(|command| Commitment::of_command(command, 60_000));
    let config = LifecycleConfig { max_work_ms: Some(7_000), ..LifecycleConfig::headless(bound.into()) };
    let mut lifecycle = Lifecycle::new(config);
    let mut take = |event| {
        let step = lifecycle.step(0, event).unwrap();
        (step.actions, lifecycle.outstanding())
    };
    let (_, open) = take(Event::InputReceived { text: "go".into() });
    assert!(matches!(open[..], [Action::StartTimer { delay_ms: 7_000, .. }]), "{open:?}");

    let (asked, open) = take(Event::TurnEnded { end: TurnEnd::Completed, inputs_taken: 1 });
    let checks = asked.iter().find(|action| matches!(action, Action::RunChecks { .. })).unwrap();
    assert_eq!(open, std::slice::from_ref(checks));
    let Action::RunChecks { ticket, checks } = checks.clone() else { panic!() };

    let report = CheckReport { end: CheckEnd::Exited { code: 0 }, output: String::new() };
    let (_, open) = take(Event::CheckCompleted { ticket, commitment: checks[0].commitment, report });
    assert_eq!(open, [Action::RunChecks { ticket, checks: vec![checks[1].clone()] }]);
}
