//! Signals at every stage: the run ends soon, with one result, and leaves no process behind.

use crate::support::{Ended, Model, Running, Scratch, Wire, eventually, lives};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::time::{Duration, Instant};

/// Sends a signal when the stage is reached and returns how the run ended, which is soon.
#[track_caller]
fn stopped_at(
    scratch: &Scratch,
    model: &Model,
    signal: &str,
    arguments: &[&str],
    reached: impl FnMut() -> bool,
) -> Ended {
    let arguments = [&["-p", "x", "--output-format", "stream-json"], arguments].concat();
    let running = Running::start(&mut scratch.run_command(model, &arguments));
    eventually("the stage", reached);
    let since = Instant::now();
    running.signal(signal);
    let ended = running.end();
    // A second is promised; a machine that is busy with other tests gets more.
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}: {ended:#?}", since.elapsed());
    ended.assert_code(if signal == "INT" { 130 } else { 143 });
    let result = ended.result();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "cancelled");
    ended
}

/// The session is as good as any other.
#[track_caller]
fn can_be_gone_on_with(scratch: &Scratch, steps: Vec<Step>) -> String {
    let model = Model::script(steps);
    let ended = scratch.run(&model, &["--continue", "-p", "go on"]);
    ended.assert_code(0);
    model.assert_valid();
    model.last_body()["messages"].to_string()
}

#[test]
fn before_the_first_answer() {
    for signal in ["INT", "TERM", "QUIT"] {
        let model = Model::script([Step::hang()]);
        let scratch = Scratch::new();
        stopped_at(&scratch, &model, signal, &[], || model.requests().len() == 1);
        let said = can_be_gone_on_with(&scratch, vec![Step::text("a"); 2]);
        assert!(said.contains("go on"), "{said}");
    }
}

#[test]
fn in_the_middle_of_an_answer() {
    let model = Model::script([Step::stall(Reply::new().text("I have begun to say").pieces_of(3), 6)]);
    let scratch = Scratch::new();
    stopped_at(&scratch, &model, "INT", &[], || model.requests().len() == 1);
    can_be_gone_on_with(&scratch, vec![Step::text("a")]);
}

#[test]
fn while_a_tool_runs() {
    for (signal, nap) in [("INT", "77.1001"), ("TERM", "77.1002"), ("QUIT", "77.1003")] {
        let command = format!(
            "touch started; (setsid sleep {nap} &) ; sleep {nap} & trap '' TERM INT QUIT; sleep {nap}; sleep {nap}"
        );
        let model = Model::script([Step::call("bash", json!({"command": command}))]);
        let scratch = Scratch::new();
        stopped_at(&scratch, &model, signal, &["--permission-mode", "bypass"], || scratch.work("started").exists());
        eventually("the end of all its processes", || !lives(&format!("sleep {nap}")));
        let said = can_be_gone_on_with(&scratch, vec![Step::text("a"); 2]);
        assert!(said.contains("interrupted"), "{said}");
    }
}

#[test]
fn while_a_hook_runs() {
    let scratch = Scratch::repository();
    let slow = scratch.path("slow-formatter");
    std::fs::write(&slow, "#!/bin/sh\nexec sleep 77.2001\n").unwrap();
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    scratch.configure(&format!(
        "[[formatters]]\nextensions = [\"txt\"]\nprogram = \"{}\"\nstdin = true\n",
        slow.display()
    ));
    let model = Model::script([Step::call("write_file", json!({"path": "b.txt", "content": "b"}))]);
    let arguments = ["--permission-mode", "accept-edits", "--format-on-edit"];
    // It can write nothing of the workspace by which it could say that it has begun.
    stopped_at(&scratch, &model, "INT", &arguments, || lives("sleep 77.2001"));
    eventually("the end of the formatter", || !lives("sleep 77.2001"));
    can_be_gone_on_with(&scratch, vec![Step::text("a"); 2]);
}

#[test]
fn while_a_retry_is_waited_for() {
    let model = Model::script([Step::status(429).header("retry-after", "60")]);
    let scratch = Scratch::new();
    stopped_at(&scratch, &model, "INT", &[], || {
        let journal = scratch.journals().pop().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        journal.contains("429")
    });
    can_be_gone_on_with(&scratch, vec![Step::text("a"); 2]);
}

#[test]
fn while_the_models_are_listed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let scratch = Scratch::new();
    let running =
        Running::start(&mut scratch.agent(&["run", "-p", "x", "--base-url", &url, "--output-format", "json"]));
    let _connection = listener.accept().unwrap();
    running.signal("INT");
    assert_eq!(running.end().assert_code(130).result()["subtype"], "cancelled");
}

/// A program that does not end holds up what comes before the first request.
#[test]
fn while_the_session_is_set_up() {
    for (signal, code, is_prompt) in
        [("INT", 130, false), ("TERM", 143, false), ("TERM", 143, true), ("QUIT", 143, true)]
    {
        let scratch = Scratch::repository();
        let (bin, began, stop) = (scratch.path("bin"), scratch.path("began"), scratch.path("stop"));
        std::fs::create_dir(&bin).unwrap();
        // Git's first questions are asked behind a fence, which lets it write nothing but does not hold permissions.
        std::fs::write(&began, "").unwrap();
        std::fs::set_permissions(&began, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let text = format!(
            "#!/bin/sh\nchmod 700 '{}'\nwhile test ! -e '{}'; do sleep 0.05; done\n",
            began.display(),
            stop.display()
        );
        std::fs::write(bin.join("git"), text).unwrap();
        std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let model = Model::script([]);
        let mut command =
            if is_prompt { scratch.agent(&[]) } else { scratch.agent(&["run", "-p", "x", "--output-format", "json"]) };
        command.args(model.flags(Wire::Anthropic));
        let running = Running::start(command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())));
        let mode = || std::os::unix::fs::PermissionsExt::mode(&began.metadata().unwrap().permissions());
        eventually("the program", || mode() & 0o100 != 0);
        running.signal(signal);
        let ended = running.end();
        std::fs::write(&stop, "").unwrap();
        ended.assert_code(code);
        assert!(is_prompt || ended.result()["subtype"] == "cancelled", "{ended:#?}");
        assert_eq!(model.requests().len(), 0);
    }
}

#[test]
fn twice_does_not_tell_the_outcome_of_the_run_before() {
    let scratch = Scratch::new();
    scratch.run(&Model::script([Step::text("Before.")]), &["-p", "x"]).assert_code(0);
    let model = Model::script([Step::hang()]);
    let arguments = ["-p", "y", "--continue", "--output-format", "json"];
    let running = Running::start(&mut scratch.run_command(&model, &arguments));
    model.wait_for_requests(1);
    running.signal("INT");
    running.signal("TERM");
    let result = running.end().result();
    assert_eq!(result["result"], "", "{result}");
    assert_eq!(result["subtype"], "cancelled", "{result}");
}

#[test]
fn twice_leaves_at_once() {
    let model = Model::script([Step::call("bash", json!({"command": "touch started; sleep 77.3001"}))]);
    let scratch = Scratch::new();
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--permission-mode", "bypass"]));
    eventually("the tool", || scratch.work("started").exists());
    running.signal("INT");
    running.signal("INT");
    running.end().assert_code(130);
    eventually("the end of its process", || !lives("sleep 77.3001"));
    can_be_gone_on_with(&scratch, vec![Step::text("a"); 2]);
}

/// What a call cost that nobody waited for is not known, unless its price is nothing.
#[test]
fn the_cost_of_a_call_that_was_left_open() {
    for (price, cost) in [(None, serde_json::Value::Null), (Some(3), serde_json::Value::Null), (Some(0), json!(0.0))] {
        let scratch = Scratch::new();
        if let Some(price) = price {
            scratch.configure(&format!("[models.scripted-model]\ninput_usd = {price}\noutput_usd = {price}\n"));
        }
        let model = Model::script([Step::hang()]);
        let elsewhere = model.elsewhere(Wire::Anthropic);
        let elsewhere: Vec<&str> = elsewhere.iter().map(String::as_str).collect();
        let ended = stopped_at(&scratch, &model, "TERM", &elsewhere, || model.requests().len() == 1);
        let result = ended.result();
        assert_eq!((&result["total_cost_usd"], &result["num_turns"]), (&cost, &json!(1)), "{result}");
    }
}

/// The call that a killed run left open is made again, and counts once for each run that made it.
#[test]
fn a_call_that_was_asked_again_is_a_turn_of_the_run_that_did_it() {
    let scratch = Scratch::new();
    let model = Model::script([Step::hang(), Step::text("To the first."), Step::text("To the second.")]);
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "first"]));
    model.wait_for_requests(1);
    running.signal("KILL");
    running.end();
    let ended = scratch.run(&model, &["--continue", "-p", "second", "--output-format", "json"]);
    let result = ended.assert_code(0).result();
    assert_eq!(result["num_turns"], model.requests().len() - 1, "{result}");
}

/// `nohup agent run …`, and a script's `agent run … &`.
#[cfg(target_os = "linux")]
#[test]
fn what_was_ignored_at_the_start_stays_ignored() {
    for (ignored, left, code) in [("INT", "TERM", 143), ("TERM", "INT", 130)] {
        let scratch = Scratch::new();
        let model = Model::script([Step::hang()]);
        let mut command = scratch.command("sh");
        let line = format!("trap '' {ignored}; exec \"$@\"");
        command.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_agent"), "run", "-p", "x", "--output-format", "json"]);
        let running = Running::start(command.args(model.flags(Wire::Anthropic)));
        model.wait_for_requests(1);
        running.signal(ignored);
        running.signal(left);
        let ended = running.end();
        // Of two that are heard the first is told, or gives the code.
        assert_eq!(ended.assert_code(code).result()["subtype"], "cancelled");
        assert_eq!(ended.err.contains("stopping"), left == "INT", "{ignored}: {ended:#?}");
    }
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Done.").after(Duration::from_millis(700))]);
    let mut command = scratch.command("nohup");
    command.args([env!("CARGO_BIN_EXE_agent"), "run", "-p", "x"]).args(model.flags(Wire::Anthropic));
    let running = Running::start(&mut command);
    model.wait_for_requests(1);
    running.signal("HUP");
    assert_eq!(running.end().assert_code(0).out, "Done.\n");
}

/// At the prompt, and in a run; the first signal stops the hooks' processes, and a second one waits for nothing.
#[test]
fn while_the_hooks_at_the_sessions_end_run() {
    let configured = |nap: &str| {
        let scratch = Scratch::new();
        let begun = scratch.path("begun");
        let command =
            format!("trap '' TERM INT; touch '{}'; (setsid sleep {nap} &); sleep {nap}; sleep {nap}", begun.display());
        let hook = format!(
            "[[hooks]]\nevent = \"SessionEnd\"\ncommand = \"{command}\"\ntimeout_ms = 600000\nsandbox = false\n"
        );
        scratch.configure(&hook);
        (scratch, begun)
    };
    for (signal, nap) in [("INT", "77.4001"), ("TERM", "77.4002"), ("QUIT", "77.4005")] {
        let (scratch, begun) = configured(nap);
        let model = Model::script([Step::text("Done.")]);
        let ended = stopped_at(&scratch, &model, signal, &[], || begun.exists());
        assert_eq!(ended.result()["result"], "Done.", "what was answered is told: {ended:#?}");
        eventually("the end of the hook", || !lives(&format!("sleep {nap}")));
        // The hook would run at the end of that one, too.
        scratch.configure("");
        can_be_gone_on_with(&scratch, vec![Step::text("a")]);
    }
    for (signal, code, nap) in [("INT", 130, "77.4003"), ("TERM", 143, "77.4004")] {
        let (scratch, begun) = configured(nap);
        let model = Model::script([]);
        let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
        running.close_stdin();
        eventually("the hook", || begun.exists());
        let since = Instant::now();
        running.signal(signal);
        running.end().assert_code(code);
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
        eventually("the end of the hook", || !lives(&format!("sleep {nap}")));
    }
    let (scratch, begun) = configured("77.4006");
    let model = Model::script([Step::text("Done.")]);
    let running = Running::start(scratch.agent(&["job", "run"]).args(model.flags(Wire::Anthropic)).arg("do it"));
    eventually("the hook", || begun.exists());
    running.signal("TERM");
    running.end().assert_code(143);
    eventually("the end of the hook", || !lives("sleep 77.4006"));

    let (scratch, begun) = configured("77.4005");
    let model = Model::script([Step::text("Done.")]);
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "x"]));
    eventually("the hook", || begun.exists());
    running.signal("INT");
    running.signal("INT");
    running.end().assert_code(130);
    eventually("the end of the hook", || !lives("sleep 77.4005"));
}
