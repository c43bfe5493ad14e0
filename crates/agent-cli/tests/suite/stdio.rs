//! Standard input is read only when it was asked for; standard output may be gone or full.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// However long it takes: half of an input would be taken for all of it.
#[test]
fn a_slow_input_is_waited_for_to_its_end_and_that_is_said() {
    for (prompt, first) in [
        (&["-p", "explain this"][..], ""),
        (&["explain", "this"], "the first line\n"),
        (&["-q", "-p", "explain this"], ""),
    ] {
        let model = Model::script([Step::text("Hi.")]);
        let scratch = Scratch::new();
        let mut command = scratch.run_command(&model, prompt);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::start_fed(&mut command, Stdio::piped());
        running.write(first);
        let is_quiet = prompt.contains(&"-q");
        if is_quiet {
            std::thread::sleep(Duration::from_millis(2_000));
        } else {
            running.wait_for("reading standard input to its end, which goes with the prompt");
        }
        running.write("the last line\n");
        running.close_stdin();
        let ended = running.end();
        assert_eq!(ended.assert_code(0).err.contains("reading standard input"), !is_quiet, "{}", ended.err);
        let said = model.last_body()["messages"][0].to_string();
        let input = format!("{first}the last line").replace('\n', "\\n");
        assert!(said.contains(&format!("explain this\\n\\n{input}")), "{said}");
    }
}

/// As a parent program or `ssh` may leave one open: nothing is sent, and a signal ends the wait.
#[test]
fn a_pipe_that_never_ends_is_no_input_of_the_run_until_a_signal_ends_it() {
    let model = Model::script([]);
    let scratch = Scratch::new();
    let mut command = scratch.run_command(&model, &["-p", "hello"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::start_fed(&mut command, Stdio::piped());
    running.wait_for("(`< /dev/null` where it has nothing); Ctrl-C ends the run");
    running.signal("INT");
    running.end().assert_code(130);
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn without_standard_input_the_prompt_is_the_task() {
    let model = Model::script([Step::text("Hi.")]);
    let scratch = Scratch::new();
    let mut command = scratch.run_command(&model, &["-p", "hello"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Running::start_fed(&mut command, Stdio::null()).end();
    assert_eq!(ended.assert_code(0).out, "Hi.\n");
    assert!(!ended.err.contains("standard input"), "{}", ended.err);
}

#[test]
fn standard_input_is_joined_to_the_prompt() {
    for (input, is_joined) in [("error: line 1\nerror: line 2\n", true), ("", false), (" \n", false)] {
        for by_file in [false, true] {
            let model = Model::script([Step::text("Hi.")]);
            let scratch = Scratch::new();
            let mut command = scratch.run_command(&model, &["-p", "explain this"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let file = scratch.path("log.txt");
            std::fs::write(&file, input).unwrap();
            let mut running = match by_file {
                true => Running::start_fed(&mut command, File::open(&file).unwrap().into()),
                false => Running::start_fed(&mut command, Stdio::piped()),
            };
            if !by_file {
                running.write(input);
                running.close_stdin();
            }
            running.end().assert_code(0);
            let sent = model.last_body()["messages"][0]["content"].to_string();
            let expected = if is_joined { format!("explain this\n\n{input}") } else { "explain this".to_owned() };
            assert!(sent.contains(&json!(expected).to_string().replace('"', "")), "{sent}");
        }
    }
}

#[test]
fn input_beside_the_prompt_that_cannot_be_used() {
    let scratch = Scratch::new();
    let file = scratch.path("input");
    for (bytes, why) in [(b"\xff\xfe".to_vec(), "UTF-8"), (vec![b'x'; 5 * 1024 * 1024], "longer than")] {
        let model = Model::script([]);
        std::fs::write(&file, bytes).unwrap();
        let mut command = scratch.run_command(&model, &["-p", "explain this"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let ended = Running::start_fed(&mut command, File::open(&file).unwrap().into()).end();
        assert!(ended.assert_code(42).err.contains(why), "{}", ended.err);
        assert_eq!(model.requests().len(), 0);
    }
}

#[test]
fn input_that_does_not_end_is_read_within_the_limit_on_time() {
    let scratch = Scratch::new();
    let model = Model::script([]);
    let mut command = scratch.run_command(&model, &["-p", "explain this", "--max-wall-time", "300ms"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start_fed(&mut command, Stdio::piped());
    running.write("the first line of many\n");
    // `end` leaves standard input open.
    let ended = running.end();
    assert!(ended.assert_code(42).err.contains("did not end within `--max-wall-time`"), "{}", ended.err);
    assert_eq!(model.requests().len(), 0);
}

/// The other end of the pipe may be a program that set it so for itself.
#[test]
fn a_pipe_that_does_not_block_is_waited_for() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Hi.")]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    let mut command = scratch.run_command(&model, &["-p", "explain this"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::start_fed(&mut command, Stdio::from(reader));
    for line in ["one\n", "two\n"] {
        writer.write_all(line.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(writer);
    running.end().assert_code(0);
    assert!(model.last_body()["messages"][0].to_string().contains("one\\ntwo"));
}

#[test]
fn the_prompt_from_standard_input() {
    for arguments in [&["-"][..], &["-p", "-"], &[]] {
        let model = Model::script([Step::text("Hi.")]);
        let scratch = Scratch::new();
        let mut running = Running::start(&mut scratch.run_command(&model, arguments));
        running.write("from the pipe\n");
        running.close_stdin();
        assert_eq!(running.end().assert_code(0).out, "Hi.\n");
        assert!(model.last_body()["messages"][0].to_string().contains("from the pipe"), "{arguments:?}");
    }
}

#[test]
fn a_signal_while_standard_input_is_waited_for() {
    let model = Model::script([]);
    let scratch = Scratch::new();
    let running = Running::start(&mut scratch.run_command(&model, &["--output-format", "json"]));
    crate::support::eventually("its handler", || handles_interrupts(running.id()));
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.assert_code(130).result()["subtype"], "cancelled");
}

/// Whether the process has a handler of its own for SIGINT, the second bit of the mask.
fn handles_interrupts(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("2").trim().to_owned();
    u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & 2 != 0)
}

#[test]
fn input_that_is_no_text() {
    let model = Model::script([]);
    let scratch = Scratch::new();
    let bytes = scratch.path("bytes");
    std::fs::write(&bytes, b"\xff\xfe\xfd").unwrap();
    let output = scratch.run_command(&model, &["-"]).stdin(File::open(bytes).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(42));
    let output = scratch.run_command(&model, &[]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_reader_that_is_gone() {
    for format in ["text", "json", "stream-json"] {
        let model = Model::script([Step::text("x".repeat(200_000))]);
        let scratch = Scratch::new();
        let mut command = scratch.run_command(&model, &["-p", "x", "--output-format", format]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{format}: {err}");
        assert!(!err.contains("panicked") && err.contains("its reader is gone"), "{err}");
        // Where something is written before the model is asked, it is not.
        assert_eq!(model.requests().len(), usize::from(format != "stream-json"), "{format}");
    }
    let mut command = Scratch::new().command("sh");
    let scratch = Scratch::new();
    command.current_dir(scratch.path("work"));
    let script = format!("{} diagram session --format json | head -c 10; true", env!("CARGO_BIN_EXE_agent"));
    let output = command.args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// `agent run --output-format stream-json | head -1`, and lines that are piped into a prompt.
#[test]
fn what_nobody_reads_is_not_paid_for() {
    let endless = || Model::always(Step::call("list_files", json!({})));
    for arguments in [&["run", "-p", "x", "--output-format", "stream-json"][..], &[]] {
        let (scratch, model) = (Scratch::new(), endless());
        let model = if arguments.is_empty() {
            Model::always(Step::text("One line.\n").after(Duration::from_millis(800)))
        } else {
            model
        };
        let mut command = scratch.command("sh");
        let script = "yes again | head -n 200 | { \"$@\"; echo $? > code; } | head -n 1";
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_agent")]).args(arguments);
        let ended = Running::start(command.args(model.flags(Wire::Anthropic))).end();
        assert_eq!(scratch.read("code"), "1\n", "{ended:#?}");
        ended.assert_says("its reader is gone");
        assert_eq!(ended.out.lines().count(), 1, "{ended:#?}");
        assert!(model.requests().len() < 20, "{}", model.requests().len());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for format in ["text", "json", "stream-json"] {
        let model = Model::script([Step::text("Hi.")]);
        let scratch = Scratch::new();
        let mut command: Command = scratch.run_command(&model, &["-p", "x", "--output-format", format]);
        let output = command.stdin(Stdio::null()).stdout(full()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{format}: {err}");
        assert!(err.contains("write the output"), "{err}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_every_report() {
    let scratch = Scratch::new();
    let place = scratch.path("place").display().to_string();
    for arguments in [&["doctor"][..], &["demo", "-q", "--dir", &place], &["tools"], &["--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = scratch.agent(arguments).stdin(Stdio::null()).stdout(full).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.contains("No space left on device"), "{arguments:?}: {err}");
    }
}

/// The same program with descriptors as a shell leaves them: `redirects` such as `>&-`.
fn redirected(command: &Command, redirects: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" \"$@\" {redirects}")]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    shell.stdin(Stdio::null());
    shell
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_output_is_an_error_of_every_report_and_the_null_device_is_none() {
    let scratch = Scratch::new();
    for arguments in [
        &["doctor"][..],
        &["tools"],
        &["--help"],
        &["--version"],
        &["config", "show"],
        &["completions", "bash"],
        &["man"],
        &["diagram", "session"],
        &["commands"],
    ] {
        for (redirects, code) in [
            (">&-", 1),
            (">&- <&-", 1),
            ("1</dev/null", 1),
            (">&- 2>&- <&-", 1),
            (">/dev/null", 0),
            ("1<>/dev/null", 0),
            (">/dev/null 2>&-", 0),
        ] {
            let output = redirected(&scratch.agent(arguments), redirects).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{arguments:?} {redirects}: {err}");
            let is_said = err.contains("standard output is closed, or open for reading only");
            assert_eq!(is_said, code == 1 && !redirects.contains("2>&-"), "{arguments:?} {redirects}: {err}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_with_its_output_closed_fails_and_its_journal_holds_no_output() {
    for format in ["text", "json", "stream-json"] {
        for (redirects, code) in [(">&-", 1), ("<&- >&- 2>&-", 1), ("<&- 2>&-", 0), ("<&-", 0)] {
            let model = Model::script([Step::text("Hi.")]);
            let scratch = Scratch::new();
            let command = scratch.run_command(&model, &["-p", "x", "--output-format", format]);
            let output = redirected(&command, redirects).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{format} {redirects}: {err}");
            assert_eq!(err.contains("write the output"), redirects == ">&-", "{err}");
            // Whatever else was opened has another number: nothing that is printed stands in it.
            for journal in scratch.journals() {
                let text = std::fs::read_to_string(journal).unwrap();
                assert!(text.lines().all(|line| line.starts_with("{\"sum\":")), "{text}");
            }
        }
    }
}
