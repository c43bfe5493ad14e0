//! Hostile commands.

use crate::support::Bench;
use agent_types::tool::{Subject, ToolStatus};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_command_is_answered_with_what_it_printed_and_how_it_ended() {
    let bench = Bench::new();
    let ok = [
        ("echo a; echo b >&2; echo c", "a\nb\nc\n"),
        ("true", "(no output)\n"),
        ("echo oops >&2", "oops\n"),
        ("pwd", &format!("{}\n", bench.workspace.root().display())),
        ("cat", "(no output)\n"),
        ("printf 'caf\\xe9'", "caf\u{fffd}\n"),
        ("printf '\\e]52;c;x\\a\\u202e'", "\u{1b}]52;c;x\u{7}\u{202e}\n"),
    ];
    for (command, expected) in ok {
        assert_eq!(bench.ok("bash", json!({"command": command})).await, expected, "{command}");
    }
    let failed = [
        ("exit 3", "(no output)\n[exit status 3]\n"),
        ("kill -9 $$", "killed by signal 9 (SIGKILL)"),
        ("no-such-program", "[exit status 127]"),
        ("--version", "[exit status 127]"),
        ("-x; echo went on; exit 5", "went on\n[exit status 5]"),
        ("./", "[exit status 126]"),
        ("", "empty"),
        ("  \n", "empty"),
        ("echo a\0b", "NUL"),
        (&format!("# {}", "x".repeat(3_000_000)), "write a script"),
        ("read x < /dev/tty", "exit status"),
    ];
    for (command, expected) in failed {
        bench.fails("bash", json!({"command": command}), expected).await;
    }
    bench.fails("bash", json!({"command": "true", "timeout_ms": 600_001}), "between 1 and 600000").await;
}

#[tokio::test]
async fn endless_output_is_cut_on_characters() {
    let bench = Bench::new();
    for endless in ["yes é€", "cat /dev/zero"] {
        let begun = Instant::now();
        let outcome = bench.call("bash", json!({"command": endless, "timeout_ms": 300})).await;
        assert_eq!(outcome.status, ToolStatus::Failed);
        assert!(outcome.content.len() < 31_000);
        assert!(outcome.content.contains("bytes left out here"));
        assert!(outcome.content.contains("killed because it reached its time limit of 300 ms"));
        assert!(!outcome.content.contains('\u{fffd}'));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    let text = bench.ok("bash", json!({"command": "seq 100000"})).await;
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n100000\n"));
    let text = bench.ok("bash", json!({"command": "head -c 30000 /dev/zero | tr '\\0' x"})).await;
    assert_eq!(text.len(), 30_001);
}

#[tokio::test]
async fn progress_comes_in_time_and_not_too_often() {
    let bench = Bench::new();
    bench.ok("bash", json!({"command": "for i in $(seq 2000); do echo $i; done; sleep 0.2; echo last"})).await;
    let heard = bench.progress.0.lock().unwrap().clone();
    assert!((2..40).contains(&heard.len()), "{}", heard.len());
    assert!(heard.last().unwrap().ends_with("last\n"));
    assert!(heard.iter().all(|text| text.len() <= 5_000));
}

#[tokio::test]
async fn a_cancelled_command_gives_what_it_has() {
    let bench = Bench::new();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        bench.switch.fire();
    };
    let (outcome, ()) =
        tokio::join!(bench.call("bash", json!({"command": "echo early; setsid sleep 1000 & sleep 1000"})), cancel);
    assert_eq!(outcome.status, ToolStatus::Interrupted);
    assert!(outcome.content.starts_with("early\n[killed on request"), "{outcome:?}");
}

#[tokio::test]
async fn background_processes_end_with_the_command() {
    let bench = Bench::new();
    let text = bench.ok("bash", json!({"command": "sleep 1000 & setsid sleep 1000 & sleep 0.1; echo done"})).await;
    assert_eq!(text, "done\n[2 background processes were still running and were killed: nothing outlives a command]\n");
}

#[tokio::test]
async fn a_deleted_directory_is_said() {
    let bench = Bench::new();
    bench.ok("bash", json!({"command": "true"})).await;
    std::fs::remove_dir(&bench.root).unwrap();
    bench.fails("bash", json!({"command": "true"}), "does not exist").await;
}

#[tokio::test]
async fn rules_see_the_plain_commands() {
    let bench = Bench::new();
    let subject = |command: &str| bench.inspect("bash", &json!({"command": command})).unwrap().subject;
    let plain = |command: &str| match subject(command) {
        Subject::Command { plain, .. } => plain,
        other => panic!("{other:?}"),
    };
    assert_eq!(plain("git status && ls"), Some(vec!["git status".into(), "ls".into()]));
    assert!(matches!(subject("ls $(rm x)"), Subject::Command { plain: None, .. }));
}

/// A person who is asked about a command reads what about it is not known to be harmless.
#[tokio::test]
async fn a_command_that_is_asked_about_says_why() {
    let bench = Bench::new();
    let why = |command: &str| match bench.inspect("bash", &json!({"command": command})).unwrap().subject {
        Subject::Command { beyond_reading, .. } => beyond_reading,
        other => panic!("{other:?}"),
    };
    for (command, expected) in [
        ("curl https://example.com", Some("`curl` is not among the commands that only read")),
        ("git push && git push -f", Some("`git push` is not among the commands that only read")),
        ("rm a; mv b c", Some("`rm`, `mv` are not among the commands that only read")),
        ("rm a; mv b c; cp d e; ln f g", Some("`rm`, `mv`, `cp` and 1 more are not among the commands that only read")),
        ("ls $(rm x)", Some("it is more than plain commands, so it is not known what it does")),
        ("sleep 1", None),
    ] {
        assert_eq!(why(command).as_deref(), expected, "{command}");
    }
    let long = bench.inspect("bash", &json!({"command": "sleep 1", "run_in_background": true})).unwrap().subject;
    assert!(
        matches!(long, Subject::Command { beyond_reading: Some(why), .. } if why == "it may run for more than two minutes")
    );
}

/// Waiting is harmless as long as somebody waits for it: in the background, or for many minutes, it takes a place that others need.
#[tokio::test]
async fn a_harmless_command_needs_permission_where_it_goes_on_for_long() {
    use agent_types::tool::Effect;
    let bench = Bench::new();
    let effect = |arguments| bench.inspect("bash", &arguments).unwrap().effect;
    for command in ["sleep 1", "seq 3", "echo a && true"] {
        assert_eq!(effect(json!({"command": command})), Effect::Reads, "control: {command}");
        assert_eq!(effect(json!({"command": command, "timeout_ms": 120_000})), Effect::Reads, "control: {command}");
        assert_eq!(effect(json!({"command": command, "timeout_ms": 120_001})), Effect::Changes, "{command}");
        assert_eq!(effect(json!({"command": command, "run_in_background": true})), Effect::Changes, "{command}");
        let short = json!({"command": command, "run_in_background": true, "timeout_ms": 1_000});
        assert_eq!(effect(short), Effect::Changes, "{command}");
    }
}
