//! The interactive prompt, through pipes: lines in, answers out.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::time::Duration;

fn prompt(scratch: &Scratch, model: &Model, arguments: &[&str]) -> Running {
    Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)).args(arguments))
}

fn write(path: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": "two\n"}))
}

#[test]
fn every_line_is_answered_before_it_ends() {
    // The race between the first line and the first prompt is run several times.
    for _ in 0..5 {
        let model = Model::script([Step::text("To hello.").after(Duration::from_millis(50)), Step::text("To again.")]);
        let scratch = Scratch::new();
        let mut running = prompt(&scratch, &model, &[]);
        running.write("hello\nagain\n");
        running.close_stdin();
        let ended = running.end();
        ended.assert_code(0);
        assert!(ended.out.contains("To hello.") && ended.out.contains("To again."), "{ended:#?}");
        model.assert_valid();
        assert!(model.last_body()["messages"].to_string().contains("again"));
    }
}

/// `agent "fix the tests"` begins with that; a word that is no command begins nothing.
#[test]
fn a_task_on_the_command_line_is_the_first_message() {
    let model = Model::script([Step::text("To the task."), Step::text("To the line.")]);
    let scratch = Scratch::new();
    let mut running = Running::start(scratch.agent(&["fix the tests"]).args(model.flags(Wire::Anthropic)));
    running.write("and the docs\n");
    running.close_stdin();
    let ended = running.end();
    ended.assert_code(0);
    assert!(ended.out.contains("To the task.") && ended.out.contains("To the line."), "{ended:#?}");
    assert!(model.requests()[0].body["messages"].to_string().contains("fix the tests"));
    for arguments in [&["sesions"][..], &["sesions", "list"], &["fix it", "sessions", "list"], &["fix it", "and that"]]
    {
        let ended = scratch.ended(arguments);
        assert_eq!(ended.assert_code(2).out, "", "{arguments:?}");
    }
    scratch.ended(&["sesions"]).assert_says("'sessions'").assert_says("agent \"fix the tests\"");
    assert_eq!(model.requests().len(), 2);
}

/// The end of what a command wrote, and how much came before it; its errors too.
#[test]
fn the_last_lines_of_a_command_are_shown() {
    let call = |command: &str| Step::call("bash", json!({"command": command}));
    let failing = "echo first; echo 'cannot find it' >&2; exit 3";
    let model = Model::script([call("seq 12"), call("echo only"), call(failing), Step::text("Done.")]);
    let scratch = Scratch::new();
    let ended = scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]);
    ended.assert_code(0).assert_says("  the last 5 of 12 lines:\n  | 8\n  | 9\n  | 10\n  | 11\n  | 12\n");
    ended.assert_says("• bash echo only\n  only\n").assert_says("cannot find it").assert_says("failed:");
}

/// A summary that the window forces is told, as one that was asked for is.
#[test]
fn an_automatic_summary_is_told() {
    let scratch = Scratch::new();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 3000\n");
    let model = Model::always(Step::text("Well."));
    let mut running = prompt(&scratch, &model, &[]);
    running.write(&format!("{}\n", "some words ".repeat(180)).repeat(6));
    running.close_stdin();
    let ended = running.end();
    ended
        .assert_code(0)
        .assert_says("summarised: about ")
        .assert_says(" tokens became ")
        .assert_says(" (scripted-model)");
    let asked = model.requests().iter().any(|request| request.body.to_string().contains("Summarise this conversation"));
    assert!(asked, "control: it was made");
}

#[test]
fn no_lines_and_commands() {
    let model = Model::script([]);
    let scratch = Scratch::new();
    for lines in ["", "\n\n", "/help\n/nonsense\n/compact\n", "/quit\nnever sent\n"] {
        let mut running = prompt(&scratch, &model, &[]);
        running.write(lines);
        running.close_stdin();
        running.end().assert_code(0);
    }
    assert_eq!(model.requests().len(), 0);
}

/// What begins with a path is none.
#[test]
fn only_a_word_is_a_command() {
    for (line, is_sent) in [("/etc/hosts", true), ("/etc/hosts is wrong", true), ("/tidy up", true), ("/tidy", false)] {
        let model = Model::script([Step::text("Well.")]);
        let scratch = Scratch::new();
        let mut running = prompt(&scratch, &model, &[]);
        running.write(&format!("{line}\n"));
        running.close_stdin();
        let ended = running.end();
        assert_eq!(ended.assert_code(0).err.contains("unknown command"), !is_sent, "{line}");
        assert_eq!(model.requests().len(), usize::from(is_sent), "{line}");
    }
}

#[test]
fn a_question_is_put_and_answered() {
    for (answer, is_written) in [("y", true), ("n", false), ("n better not", false)] {
        let model = Model::script([write("b.txt"), Step::text("So be it.")]);
        let scratch = Scratch::new();
        // However quiet it is: the question is put.
        let mut running = prompt(&scratch, &model, &["-q"]);
        running.write("go\n");
        running.wait_for("allow this call? write_file b.txt");
        running.write(&format!("{answer}\n"));
        running.wait_for("So be it.");
        running.write("/quit\n");
        running.end().assert_code(0);
        assert_eq!(scratch.work("b.txt").exists(), is_written, "{answer}");
        model.assert_valid();
        let said = model.last_body()["messages"].to_string();
        assert_eq!(said.contains("better not"), answer == "n better not", "the reason reaches the model: {said}");
    }
}

#[test]
fn one_answer_for_all_calls_of_a_tool() {
    let model = Model::script([write("b.txt"), write("c.txt"), Step::text("So be it.")]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for("allow this call? write_file b.txt");
    running.write("a\n");
    running.wait_for("So be it.");
    running.close_stdin();
    let ended = running.end();
    assert_eq!(ended.assert_code(0).err.matches("allow this call?").count(), 1, "{ended:#?}");
    assert!(scratch.work("b.txt").exists() && scratch.work("c.txt").exists());
}

/// It would be asked again whatever a rule says.
#[test]
fn a_question_of_a_hook_offers_only_what_it_can_be_answered_with() {
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look twice"}}'"#;
    let hook = format!("[[hooks]]\nevent = \"PreToolUse\"\ncommand = '''{ask}'''\n");
    for (is_asked_by_hook, hook) in [(false, ""), (true, &*hook)] {
        let scratch = Scratch::new();
        scratch.configure(hook);
        let model = Model::script([write("b.txt"), Step::text("So be it.")]);
        let mut running = prompt(&scratch, &model, &[]);
        running.write("go\n");
        running.wait_for("allow this call?");
        running.write("s\n");
        if is_asked_by_hook {
            running.wait_for("a hook asked, and no rule");
            running.write("y\n");
        }
        running.wait_for("So be it.");
        running.write("/quit\n");
        let ended = running.end();
        ended.assert_code(0).assert_says("y yes");
        assert_eq!(ended.err.contains("s session"), !is_asked_by_hook, "{ended:#?}");
    }
}

#[test]
fn a_question_that_nobody_can_answer_is_not_waited_for() {
    let model = Model::script([write("b.txt"), Step::text("So be it.")]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.close_stdin();
    assert!(running.end().assert_code(61).out.contains("So be it."));
    assert!(!scratch.work("b.txt").exists());

    // The same when the input ends while the question stands.
    let model = Model::script([write("b.txt"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for("allow this call?");
    running.close_stdin();
    assert!(running.end().assert_code(61).out.contains("So be it."));
    assert!(!scratch.work("b.txt").exists());
}

#[test]
fn a_notice_of_what_it_costs() {
    let scratch = Scratch::new();
    scratch.configure("[models.scripted-model]\ninput_usd = 60000\noutput_usd = 0\n");
    let list = || Step::answer(Reply::new().call("list_files", json!({})));
    let model = Model::script([list(), list(), Step::text("Done.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.close_stdin();
    let ended = running.end();
    // Six dollars a call.
    assert_eq!(ended.assert_code(0).err.matches("so far").count(), 3, "{ended:#?}");
    ended.assert_says("this session has cost");

    // What was paid before is no news.
    let model = Model::script([Step::text("Done.")]);
    scratch.configure("[models.scripted-model]\ninput_usd = 1\noutput_usd = 0\n");
    let mut running = prompt(&scratch, &model, &["--continue"]);
    running.write("go\n");
    running.close_stdin();
    assert!(!running.end().assert_code(0).err.contains("so far"));
}

#[test]
fn output_formats_belong_to_run() {
    let scratch = Scratch::new();
    for arguments in [&["--output-format", "json"][..], &["--include-partial-messages"]] {
        scratch.ended(arguments).assert_code(2).assert_says("agent run");
    }
}

#[test]
fn signals_at_the_prompt() {
    let model = Model::script([Step::hang()]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    model.wait_for_requests(1);
    running.signal("INT");
    running.wait_for("stopping");
    running.signal("TERM");
    running.end().assert_code(143).assert_says("agent resume");
}

#[test]
fn no_key_is_said_here_too() {
    Scratch::new().ended(&[]).assert_code(41).assert_says("agent demo");
}

#[test]
fn what_was_typed_ahead_comes_back_with_a_cancel() {
    let model = Model::script([Step::hang()]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &["-v"]);
    running.write("go\n");
    model.wait_for_requests(1);
    running.write("and then this\n");
    running.wait_for("CallingLlm + UserInput");
    running.signal("INT");
    running.wait_for("not sent: and then this");
    running.close_stdin();
    running.end().assert_code(130);
    assert_eq!(model.requests().len(), 1);
}

/// Nobody sees the screen of a script.
#[test]
fn what_is_piped_in_ends_with_the_gravest_that_came_of_it() {
    let denied = || Model::script([write("b.txt"), Step::text("So be it.")]);
    let refused = || Model::script([Step::status(401), Step::text("Better.")]);
    for (model, lines, code) in [
        (denied(), "go\n", 61),
        (refused(), "go\n", 41),
        (refused(), "go\nagain\n", 41),
        (Model::script([Step::text("Well.")]), "go\n", 0),
        (Model::script([Step::text("Well.")]), "a\u{fc}\n", 0),
    ] {
        let scratch = Scratch::new();
        let mut running = prompt(&scratch, &model, &[]);
        running.write(lines);
        running.close_stdin();
        running.end().assert_code(code);
    }
}

#[test]
fn a_line_that_is_not_text_is_shown_and_the_next_one_is_sent() {
    let model = Model::script([Step::text("To good.")]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &[]);
    running.write_bytes(b"bad \xff line\ngood line\n");
    running.close_stdin();
    let ended = running.end();
    ended.assert_code(42).assert_says("not sent, it is not UTF-8: bad \u{fffd} line");
    assert!(ended.out.contains("To good."), "{ended:#?}");
}

#[test]
fn a_limit_can_be_raised_where_it_stopped_the_work() {
    let model = Model::script([write("b.txt"), Step::text("Done at last.")]);
    let scratch = Scratch::new();
    let mut running = prompt(&scratch, &model, &["--max-turns", "1", "--permission-mode", "bypass"]);
    running.write("go\n");
    running.wait_for("/more raises the limits");
    running.write("/more\n");
    running.wait_for("Done at last.");
    running.write("/quit\n");
    running.end().assert_code(0);
    assert_eq!(scratch.read("b.txt"), "two\n");
}

#[test]
fn parallel_results_say_whose_they_are() {
    let calls =
        Reply::new().call("read_file", json!({"path": "a.txt"})).call("read_file", json!({"path": "missing.txt"}));
    let model = Model::script([Step::answer(calls), Step::text("Done.")]);
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    let ended = scratch.run(&model, &["-p", "go"]);
    ended.assert_code(0);
    // By its name, or because it stands right behind its call.
    let lines: Vec<&str> = ended.err.lines().collect();
    let failed = lines.iter().position(|line| line.contains("failed")).unwrap();
    let follows = lines[failed - 1].ends_with("read_file missing.txt");
    assert!(lines[failed].contains("missing.txt: failed") || follows, "{}", ended.err);
}

fn command(text: &str) -> Step {
    Step::call("bash", json!({"command": text}))
}

#[test]
fn all_that_runs_is_shown_line_by_line() {
    let scratch = Scratch::new();
    let model = Model::script([command("cargo test\n\u{2800}\ttouch PWNED\u{a0}x"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for("allow this call? bash cargo test … (2 lines)");
    running.wait_for("  1 | cargo test\n");
    running.wait_for("  2 | \\u{2800}\\ttouch PWNED\\u{a0}x\n");
    running.wait_for("y yes");
    running.write("n\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0);
}

#[test]
fn what_was_not_shown_whole_cannot_be_allowed() {
    let far: String = (0..150).map(|number| format!("true {number}\n")).collect();
    let call = || command(&format!("{far}touch b.txt"));
    for (answers, is_run, expected) in [
        (&["y", "a", "k bash", "", "y", "", "y"][..], true, 4),
        (&["y", "rest", "y"], true, 1),
        (&["y", "n"], false, 1),
        (&["", "n"], false, 0),
        (&["e {\"command\": \"touch c.txt\"}"], false, 0),
    ] {
        let scratch = Scratch::new();
        let model = Model::script([call(), Step::text("So be it.")]);
        let mut running = prompt(&scratch, &model, &["--sandbox", "off"]);
        running.write("go\n");
        running.wait_for("60 of 152 rows shown");
        for answer in answers {
            running.write(&format!("{answer}\n"));
        }
        running.wait_for("So be it.");
        running.close_stdin();
        let ended = running.end();
        ended.assert_code(0);
        assert_eq!(scratch.work("b.txt").exists(), is_run, "{answers:?}: {ended:#?}");
        assert_eq!(scratch.work("c.txt").exists(), answers[0].starts_with('e'), "{ended:#?}");
        assert_eq!(ended.err.contains("touch b.txt"), is_run, "shown before it is allowed: {ended:#?}");
        let refusals = ended.err.matches("see the whole call before you allow it").count();
        assert_eq!(refusals, expected, "{ended:#?}");
    }
    // Blanks push nothing out of sight: what is behind them is on the first part.
    let scratch = Scratch::new();
    let model = Model::script([command(&format!("true{}; touch b.txt", " ".repeat(9_000))), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for("command: true[9000 blanks]; touch b.txt");
    running.write("n\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0);
    assert!(!scratch.work("b.txt").exists());
}

/// Behind a pipe that ends nobody has seen the rest.
#[test]
fn an_input_that_ends_before_all_was_shown_denies() {
    let far: String = (0..150).map(|number| format!("true {number}\n")).collect();
    let scratch = Scratch::new();
    let model = Model::script([command(&format!("{far}touch b.txt")), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &["--sandbox", "off"]);
    running.write("go\n");
    running.wait_for("60 of 152 rows shown");
    running.write("y\ny\n\ny\n");
    running.close_stdin();
    running.end().assert_code(61);
    assert!(!scratch.work("b.txt").exists());
    assert!(model.last_body()["messages"].to_string().contains("no one could be asked"));
}

#[test]
fn a_rule_for_a_file_says_what_it_covers() {
    for (step, is_said) in [(write("b.txt"), true), (command("touch b.txt"), false)] {
        let scratch = Scratch::new();
        let model = Model::script([step, Step::text("So be it.")]);
        let mut running = prompt(&scratch, &model, &[]);
        running.write("go\n");
        running.wait_for("? more");
        running.write("n\n");
        running.wait_for("So be it.");
        running.close_stdin();
        let ended = running.end();
        assert_eq!(ended.assert_code(0).err.contains("also every later change"), is_said, "{ended:#?}");
    }
}
