//! When a host that leaves has hooks to wait for.

use agent_check::session::Script;

#[test]
fn hooks_run_once_when_the_host_leaves_between_turns() {
    let mut script = Script::default();
    let _ = script.play(&["config hooks=SessionEnd"]);
    let mut waits_after = |lines: &[&str]| {
        let _ = script.play(lines);
        script.session.runs_hooks_on_leave()
    };
    assert!(waits_after(&[]), "at the first prompt");
    assert!(!waits_after(&["input go"]), "in a turn");
    assert!(waits_after(&["answer done"]), "after it");
    assert!(!waits_after(&["leave"]), "while they run");
    assert!(!waits_after(&["hooks"]), "they ran");
    assert!(waits_after(&["input more", "answer done"]), "there was another turn");
}

#[test]
fn nothing_runs_when_the_host_leaves_without_hooks_for_it() {
    let mut script = Script::default();
    for lines in [&[][..], &["input go"], &["answer done"]] {
        let _ = script.play(lines);
        assert!(!script.session.runs_hooks_on_leave(), "{lines:?}");
    }
}
