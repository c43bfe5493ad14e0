//! What depends on the time of events: what is left to a call, how long pauses are, which ends and lists still count.

use agent_check::server::{Script, config};
use agent_core::server::table::TABLE;
use agent_core::server::{Action, State};

fn script(words: &str) -> Script {
    Script::on(config(words).unwrap(), &TABLE)
}

fn timer(actions: &[Action]) -> u64 {
    let found = actions.iter().find_map(|action| match action {
        Action::ArmTimer { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn progress_extends_a_call_up_to_its_whole_time() {
    let mut script = script("");
    ["consider", "came"].iter().for_each(|line| drop(script.tell(line)));
    let left = |script: &mut Script, line| match script.tell(line).actions[..] {
        [.., Action::ArmCall { delay_ms, .. }] => delay_ms,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(left(&mut script, "call"), 60_000);
    for (now_ms, expected) in [(20_000, 60_000), (30_001, 59_999), (80_000, 10_000), (90_000, 0), (95_000, 0)] {
        script.now_ms = now_ms;
        assert_eq!(left(&mut script, "progress"), expected, "at {now_ms}");
    }
}

#[test]
fn while_a_person_is_asked_only_the_whole_time_of_a_call_counts() {
    let mut script = script("");
    ["consider", "came", "call"].iter().for_each(|line| drop(script.tell(line)));
    let left = |script: &mut Script, line| match script.tell(line).actions[..] {
        [.., Action::ArmCall { delay_ms, .. }] => delay_ms,
        ref other => panic!("{other:?}"),
    };
    script.now_ms = 10_000;
    assert_eq!(left(&mut script, "asks"), 80_000);
    assert_eq!(left(&mut script, "progress"), 80_000);
    assert_eq!(left(&mut script, "asks"), 80_000);
    script.now_ms = 20_000;
    assert_eq!(left(&mut script, "replied"), 70_000, "another one is open");
    assert_eq!(left(&mut script, "asks-no-more"), 60_000);
}

#[test]
fn a_call_that_waited_has_what_is_left() {
    let mut script = script("");
    drop(script.tell("call"));
    script.now_ms = 50_000;
    drop(script.tell("consider"));
    let sent = script.tell("came").actions.pop();
    assert_eq!(sent, Some(Action::SendHeld { calls: vec![(1, 40_000)] }));
}

#[test]
fn pauses_double_and_ends_of_long_ago_do_not_count() {
    let mut script = script("restarts=3");
    drop(script.tell("consider"));
    for (restart, pause_ms) in [(1, 500), (2, 1_000), (3, 2_000)] {
        drop(script.tell("came"));
        assert_eq!(timer(&script.tell("ended x").actions), pause_ms);
        assert_eq!(script.server.restarts(), restart);
        ["timer", "consider"].iter().for_each(|line| drop(script.tell(line)));
    }
    drop(script.tell("came"));
    let mut failing = script.clone();
    drop(failing.tell("ended x"));
    assert_eq!(failing.server.state(), State::Failed);
    // The same end, but after it took calls for long.
    script.now_ms = 600_000;
    assert_eq!(timer(&script.tell("ended x").actions), 500);
    assert_eq!((script.server.state(), script.server.restarts()), (State::Restarting, 1));
}

#[test]
fn lists_are_bounded_in_each_stretch_of_time() {
    let mut script = script("lists=2");
    ["consider", "came"].iter().for_each(|line| drop(script.tell(line)));
    let mut asked = 0;
    for second in 0..180 {
        script.now_ms = second * 1_000;
        if !script.tell("changed").actions.is_empty() {
            asked += 1;
            drop(script.tell("listed"));
        }
    }
    assert_eq!(asked, 6, "two a minute");
}
