//! What was asked of the driver and is not answered.

use agent_core::lifecycle::{Action, CheckEnd, CheckReport, Commitment, Event, Lifecycle, LifecycleConfig, TurnEnd};

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

    let (asked, open) = take(Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None });
    let checks = asked.iter().find(|action| matches!(action, Action::RunChecks { .. })).unwrap();
    assert_eq!(open, std::slice::from_ref(checks));
    let Action::RunChecks { ticket, checks } = checks.clone() else { panic!() };

    let report = CheckReport::new(CheckEnd::Exited { code: 0 }, String::new());
    let (_, open) = take(Event::CheckCompleted { ticket, commitment: checks[0].commitment, report });
    assert_eq!(open, [Action::RunChecks { ticket, checks: vec![checks[1].clone()] }]);
}

/// A program that goes on after another begins the wait anew with what is left of it.
#[test]
fn what_is_left_of_the_checks_time_is_outstanding() {
    let bound = ["one", "two"].map(|command| Commitment::of_command(command, 60_000));
    let mut lifecycle = Lifecycle::new(LifecycleConfig::headless(bound.into()));
    drop(lifecycle.step(1_000, Event::InputReceived { text: "go".into() }).unwrap());
    let ended = Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: Some(5_000) };
    let asked = lifecycle.step(2_000, ended).unwrap().actions;
    let [Action::RunChecks { ticket, ref checks }, Action::StartTimer { ticket: timer, delay_ms: 5_000 }] = asked[..]
    else {
        panic!("{asked:?}")
    };
    let report = CheckReport::new(CheckEnd::Exited { code: 0 }, String::new());
    let check = Event::CheckCompleted { ticket, commitment: checks[0].commitment, report };
    drop(lifecycle.step(3_500, check).unwrap());
    let open = lifecycle.outstanding();
    assert_eq!(open[1..], [Action::StartTimer { ticket: timer, delay_ms: 3_500 }]);
    let kept = serde_json::to_string(&lifecycle).unwrap();
    assert_eq!(serde_json::from_str::<Lifecycle>(&kept).unwrap().outstanding(), open, "as it is kept, too");
}
