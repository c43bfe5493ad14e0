//! Outputs that nobody reads, or slowly: the program answers signals and limits as ever, and loses nothing of what is taken in the end.

use crate::support::{Ended, Model, Running, Scratch, Wire, eventually, lives, program};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A pipe that takes nothing more, and what would have to read it.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b'.'; 512]).is_ok() {}
    while writer.write(b".").is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

/// Which of the outputs is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    Out,
    Err,
    /// Both, by one pipe, as with `2>&1`.
    Both,
    /// Neither, to compare.
    None,
}

impl Unread {
    /// Starts it so; the pipe stays open as long as what is returned with it.
    fn start(self, command: &mut Command) -> (Running, PipeReader) {
        let (reader, writer) = full_pipe();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        match self {
            Self::Out => command.stdout(writer),
            Self::Err => command.stderr(writer),
            Self::Both => command.stdout(writer.try_clone().unwrap()).stderr(writer),
            Self::None => command,
        };
        let running = Running::start_with(command);
        // The command would hold the pipe open, too.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        (running, reader)
    }
}

const ALL: [Unread; 4] = [Unread::None, Unread::Out, Unread::Err, Unread::Both];
const SIGNALS: [(&str, i32); 4] = [("INT", 130), ("TERM", 143), ("HUP", 143), ("QUIT", 143)];

/// Whether it answers signals itself by now: SIGTERM, the fifteenth bit.
fn answers_signals(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & (1 << 14) != 0)
}

/// The journal is whole, and the session can be gone on with.
#[track_caller]
fn goes_on(scratch: &Scratch) {
    scratch.ended(&["sessions", "verify"]).assert_code(0);
    let model = Model::always(Step::text("Back."));
    assert_eq!(scratch.run(&model, &["-p", "y", "--continue"]).assert_code(0).out, "Back.\n");
    model.assert_valid();
}

#[test]
fn a_signal_before_the_model_is_asked() {
    for unread in ALL {
        for (signal, code) in SIGNALS {
            let scratch = Scratch::new();
            let model = Model::script([Step::hang()]);
            let arguments = ["-p", "x", "-v", "--output-format", "stream-json"];
            let (running, _pipe) = unread.start(&mut scratch.run_command(&model, &arguments));
            if unread == Unread::None {
                model.wait_for_requests(1);
            } else {
                eventually("the session", || journal(&scratch).contains("LlmRequest"));
            }
            running.signal(signal);
            let ended = running.end();
            ended.assert_code(code);
            if matches!(unread, Unread::None | Unread::Err) {
                assert_eq!(ended.result()["subtype"], "cancelled", "{ended:#?}");
            }
            assert_eq!(
                model.requests().len(),
                usize::from(unread == Unread::None),
                "{unread:?}: nobody reads, nobody asks"
            );
            goes_on(&scratch);
        }
    }
}

fn journal(scratch: &Scratch) -> String {
    scratch.journals().iter().map(|path| std::fs::read_to_string(path).unwrap_or_default()).collect()
}

/// An answer that no pipe takes whole, and a command that goes on until it is stopped.
fn talks_and_runs(nap: &str) -> Model {
    let command = format!("touch started; sleep {nap} & sleep {nap}");
    let reply = Reply::new().text("word ".repeat(60_000)).pieces_of(5_000).call("bash", json!({"command": command}));
    Model::script([Step::answer(reply), Step::text("Done.")])
}

#[test]
fn a_signal_while_a_tool_runs() {
    let naps = ["77.5001", "77.5002", "77.5003", "77.5004"];
    for (unread, nap) in ALL.into_iter().zip(naps) {
        for (signal, code) in SIGNALS {
            let scratch = Scratch::new();
            let model = talks_and_runs(nap);
            let arguments = ["-p", "x", "--output-format", "stream-json", "--permission-mode", "bypass"];
            // Empty at the start, or the model would not be asked.
            let (reader, writer) = pipe().unwrap();
            let mut command = scratch.run_command(&model, &arguments);
            let running = match unread {
                Unread::None => Running::start(&mut command),
                Unread::Both => Running::start_with(command.stdout(writer.try_clone().unwrap()).stderr(writer)),
                Unread::Out | Unread::Err => Running::start_with(command.stdout(writer).stderr(Stdio::piped())),
            };
            eventually("the tool", || scratch.work("started").exists());
            running.signal(signal);
            running.end().assert_code(code);
            eventually("the end of its processes", || !lives(&format!("sleep {nap}")));
            assert_eq!(model.requests().len(), 1);
            drop(reader);
            goes_on(&scratch);
        }
    }
}

#[test]
fn the_limit_on_time() {
    for unread in ALL {
        let scratch = Scratch::new();
        let model = Model::script([Step::hang()]);
        let arguments = ["-p", "x", "-v", "--output-format", "stream-json", "--max-wall-time", "1s"];
        let (running, _pipe) = unread.start(&mut scratch.run_command(&model, &arguments));
        running.end().assert_code(60);
        goes_on(&scratch);
    }
    let scratch = Scratch::new();
    let model = talks_and_runs("77.5005");
    let arguments =
        ["-p", "x", "--output-format", "stream-json", "--permission-mode", "bypass", "--max-wall-time", "3s"];
    let (_reader, writer) = pipe().unwrap();
    let running = Running::start_with(scratch.run_command(&model, &arguments).stdout(writer).stderr(Stdio::piped()));
    running.end().assert_code(60);
    assert!(scratch.work("started").exists() && !lives("sleep 77.5005"));
    goes_on(&scratch);
}

/// A run that has ended and waits for its reader.
fn waits_for_its_reader(scratch: &Scratch, model: &Model) -> (Running, PipeReader) {
    let (reader, writer) = pipe().unwrap();
    let mut command = scratch.run_command(model, &["-p", "x", "--session-id", "one"]);
    let running = Running::start_with(command.stdout(writer).stderr(Stdio::piped()));
    // Its journal is let go of: nothing of the session goes on.
    model.wait_for_requests(1);
    eventually("the end of the run", || {
        scratch.ended(&["sessions", "verify", "one"]).code() == 0 && is_at_rest(scratch)
    });
    (running, reader)
}

fn is_at_rest(scratch: &Scratch) -> bool {
    scratch.ended(&["sessions", "show", "one"]).out.contains("WaitingForUserInput")
}

fn long_answer() -> String {
    (0..40_000).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn what_is_read_late_is_there_whole() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text(long_answer())]);
    let (running, mut reader) = waits_for_its_reader(&scratch, &model);
    // As long as the reader takes, and longer than a signal would leave it.
    std::thread::sleep(Duration::from_millis(2_500));
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    running.end().assert_code(0);
    assert!(read == long_answer(), "{} bytes", read.len());
}

/// What a signal leaves to the reader at the end, and that a second one leaves nothing.
#[test]
fn signals_while_the_reader_is_waited_for() {
    let stopped = |signals: &[&str]| {
        let scratch = Scratch::new();
        let model = Model::script([Step::text(long_answer())]);
        let (running, _reader) = waits_for_its_reader(&scratch, &model);
        let since = Instant::now();
        for signal in signals {
            running.signal(signal);
            std::thread::sleep(Duration::from_millis(50));
        }
        (running.end(), since.elapsed())
    };
    let lost = |ended: &Ended| ended.assert_says("the rest of the output was not read").code();
    for (signal, code) in SIGNALS {
        let (ended, took) = stopped(&[signal]);
        assert_eq!(lost(&ended), code, "{signal}");
        assert!(took >= Duration::from_secs(2), "{took:?}");
    }
    // The quickest of some: a busy machine delays one or the other.
    let twice = (0..3).map(|_| stopped(&["INT", "INT"])).inspect(|(ended, _)| assert_eq!(lost(ended), 130));
    let quickest = twice.map(|(_, took)| took).min().unwrap();
    assert!(quickest < Duration::from_secs(2), "{quickest:?}");
    // So it is where the first one still had a turn to stop.
    let twice = (0..3).map(|_| {
        let scratch = Scratch::new();
        let model = Model::script([Step::hang()]);
        let arguments = ["-p", "x", "-v", "--output-format", "stream-json"];
        let (running, _pipe) = Unread::Out.start(&mut scratch.run_command(&model, &arguments));
        eventually("the session", || journal(&scratch).contains("LlmRequest"));
        let since = Instant::now();
        running.signal("INT");
        running.wait_for("stopping");
        running.signal("INT");
        assert_eq!(lost(&running.end()), 130);
        since.elapsed()
    });
    let quickest = twice.min().unwrap();
    assert!(quickest < Duration::from_secs(2), "{quickest:?}");
    // The reader that takes it in that time has it, and the run its own code.
    let scratch = Scratch::new();
    let model = Model::script([Step::text(long_answer())]);
    let (running, mut reader) = waits_for_its_reader(&scratch, &model);
    running.signal("TERM");
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    running.end().assert_code(0);
    assert!(read == long_answer(), "{} bytes", read.len());
}

/// The answer is whole within a moment, so the signal comes when the work has ended and its output waits for a reader.
#[test]
fn a_signal_at_the_very_end() {
    for (signal, code) in SIGNALS {
        let scratch = Scratch::new();
        let model = Model::script([Step::text("a".repeat(6_000_000))]);
        let (_reader, writer) = pipe().unwrap();
        let mut command = scratch.run_command(&model, &["-p", "x", "--output-format", "json"]);
        let running = Running::start_with(command.stdout(writer).stderr(Stdio::piped()));
        model.wait_for_requests(1);
        std::thread::sleep(Duration::from_millis(100));
        running.signal(signal);
        running.end().assert_code(code);
    }
}

#[test]
fn a_job() {
    for unread in ALL {
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let scratch = Scratch::new();
            let model = Model::script([Step::hang()]);
            let mut command = scratch.agent(&["job", "run", "-v", "--output-format", "json"]);
            command.args(model.flags(Wire::Anthropic)).arg("do it");
            let (running, _pipe) = unread.start(&mut command);
            if matches!(unread, Unread::None | Unread::Out) {
                // Of a job, standard output is written to at its end only.
                model.wait_for_requests(1);
            } else {
                eventually("its handlers", || answers_signals(running.id()));
            }
            running.signal(signal);
            running.end().assert_code(code);
            let records = scratch.ended(&["job", "audit"]).assert_code(0).lines();
            assert_eq!(records.len(), 1, "{unread:?}: the record is written");
        }
    }
}

#[test]
fn the_demo() {
    for unread in [Unread::Out, Unread::Err] {
        let scratch = Scratch::new();
        let place = scratch.path("place").display().to_string();
        let (running, _pipe) = unread.start(&mut scratch.agent(&["demo", "--dir", &place]));
        eventually("the session", || answers_signals(running.id()) && !scratch.journals().is_empty());
        running.signal("INT");
        running.end().assert_code(130);
    }
}

/// What answers no signals itself ends by them as any program does.
#[test]
fn what_only_reports() {
    for arguments in [&["doctor"][..], &["tools"], &["--help"], &["completions", "bash"], &["diagram", "session"]] {
        for (signal, number) in [("INT", 2), ("TERM", 15)] {
            let scratch = Scratch::new();
            let (running, _pipe) = Unread::Out.start(&mut scratch.agent(arguments));
            eventually("its waiting", || waits_in_a_pipe(running.id()));
            running.signal(signal);
            let ended = running.end();
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(number), "{arguments:?}");
        }
    }
}

/// Whether the process's first thread waits for the reader of a pipe.
fn waits_in_a_pipe(id: u32) -> bool {
    // Number 1 is `write` on x86-64, 64 on arm64; then its first argument, standard output.
    let call = std::fs::read_to_string(format!("/proc/{id}/syscall")).unwrap_or_default();
    ["1 0x1 ", "64 0x1 "].iter().any(|write| call.starts_with(write))
}

/// Every line arrives once and whole, however slowly it is read.
#[test]
fn a_slow_reader() {
    let calls = |number| Step::call("read_file", json!({"path": "a.txt", "offset": number}));
    let model = || {
        let text = Reply::new().text(long_answer()).pieces_of(50);
        Model::script([calls(1), calls(1), Step::answer(text)])
    };
    let arguments = ["-p", "x", "-v", "--output-format", "stream-json", "--include-partial-messages"];
    let scratch = Scratch::repository();
    let (mut reader, writer) = pipe().unwrap();
    let model = model();
    let mut command = scratch.run_command(&model, &arguments);
    let running = Running::start_with(command.stdout(writer.try_clone().unwrap()).stderr(writer));
    drop(command);
    let (mut read, mut piece) = (Vec::new(), [0; 16 * 1024]);
    while let length @ 1.. = reader.read(&mut piece).unwrap() {
        read.extend_from_slice(&piece[..length]);
        std::thread::sleep(Duration::from_millis(2));
    }
    running.end().assert_code(0);
    let read = String::from_utf8(read).unwrap();
    let (mut text, mut last) = (String::new(), String::new());
    let mut order = Vec::new();
    for line in read.lines() {
        match serde_json::from_str::<serde_json::Value>(line) {
            Ok(value) => {
                text.push_str(value["event"]["text"].as_str().unwrap_or_default());
                last = value["type"].to_string();
                if let (Some(from), Some(on)) = (value["from"].as_str(), value["trigger"].as_str()) {
                    order.push(format!("{from} + {on} => {}", value["to"].as_str().unwrap()));
                }
            }
            // For people: the same transition, right behind the one for programs.
            Err(_) if line.contains(" => ") && !line.starts_with("lifecycle") => {
                assert_eq!(order.last().map(String::as_str), Some(line), "the order of both outputs is kept");
            }
            Err(_) => {}
        }
    }
    assert!(text == long_answer(), "{} bytes", text.len());
    assert_eq!(last, "\"result\"");
    assert!(order.len() > 20, "{}", order.len());
}

/// Of an answer that is not read a little is taken and no more.
#[test]
fn what_nobody_reads_does_not_fill_the_memory() {
    let scratch = Scratch::new();
    let model = Model::script([Step::answer(Reply::new().text("word ".repeat(1_500_000)).pieces_of(100))]);
    let (reader, writer) = pipe().unwrap();
    let arguments = ["-p", "x", "--output-format", "stream-json", "--include-partial-messages"];
    let running = Running::start_with(scratch.run_command(&model, &arguments).stdout(writer).stderr(Stdio::piped()));
    eventually("the answer", || rustix::io::ioctl_fionread(&reader).unwrap() > 4_000);
    // Long enough for all of it, where nothing holds it up.
    std::thread::sleep(Duration::from_secs(4));
    running.signal("TERM");
    let ended = running.end();
    let lost = ended
        .assert_code(143)
        .err
        .split("the output was not read: up to ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let lost: u64 = lost.unwrap().parse().unwrap();
    // A megabyte waits; the whole answer has more than fifteen.
    assert!((1..4_000_000).contains(&lost), "{lost}");
}

/// A pipe that another program has made one that refuses what it cannot take at once.
#[test]
fn an_output_that_does_not_block() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text(long_answer())]);
    let (mut reader, writer) = pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    let running = Running::start_with(scratch.run_command(&model, &["-p", "x"]).stdout(writer).stderr(Stdio::piped()));
    model.wait_for_requests(1);
    std::thread::sleep(Duration::from_millis(300));
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    running.end().assert_code(0);
    assert!(read == long_answer(), "{} bytes", read.len());
}

/// A prompt whose terminal is stopped with Ctrl-S, in the middle of an answer; and the agent's process.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
fn at_a_stopped_terminal(scratch: &Scratch, model: &Model) -> Option<(Running, String)> {
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `script` of util-linux is not there, so there is no terminal to test on");
        return None;
    }
    let flags = model.flags(Wire::Anthropic).join(" ");
    let line = format!("echo $$ > pid; exec {} {flags}", program().display());
    let mut command = scratch.command("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
    let mut running = Running::start(&mut command);
    running.wait_for("> ");
    running.write("\x13go\r");
    model.wait_for_requests(1);
    Some((running, scratch.read("pid").trim().to_owned()))
}

fn signal(signal: &str, id: &str) {
    assert!(Command::new("kill").args([&format!("-{signal}"), id]).status().unwrap().success());
}

#[test]
fn a_prompt_on_a_stopped_terminal() {
    for (signals, code) in [(&["TERM"][..], 143), (&["HUP"], 143), (&["QUIT"], 143), (&["INT", "INT"], 130)] {
        let scratch = Scratch::new();
        let model = Model::script([Step::text(long_answer())]);
        let Some((running, id)) = at_a_stopped_terminal(&scratch, &model) else { return };
        // The session goes on although nothing of it can be shown.
        eventually("the answer", || journal(&scratch).contains("line 39999"));
        for name in signals {
            signal(name, &id);
            // Two at once would be one.
            std::thread::sleep(Duration::from_millis(100));
        }
        let ended = running.end();
        ended.assert_code(code);
        assert!(!ended.out.contains("line 39999"), "it was stopped");
        scratch.ended(&["sessions", "verify"]).assert_code(0);
    }
    // Ctrl-Q goes on where it was, and nothing is missing.
    let scratch = Scratch::new();
    let model = Model::script([Step::text(long_answer())]);
    let Some((mut running, _)) = at_a_stopped_terminal(&scratch, &model) else { return };
    eventually("the answer", || journal(&scratch).contains("line 39999"));
    running.write("\x11");
    // What is typed is shown wherever the output is.
    running.wait_for("line 39999");
    running.write("/quit\r");
    let shown = running.end().assert_code(0).out.replace('\r', "");
    assert!(shown.contains(&long_answer()), "{} bytes", shown.len());
}

/// A turn that is stopped by Ctrl-C on a terminal that shows nothing.
#[test]
fn a_turn_is_stopped_on_a_stopped_terminal() {
    let scratch = Scratch::new();
    let command = json!({"command": "touch started; sleep 77.5006"});
    scratch.configure("allow = [\"bash\"]\n");
    let model = Model::script([Step::call("bash", command)]);
    let Some((mut running, id)) = at_a_stopped_terminal(&scratch, &model) else { return };
    eventually("the tool", || scratch.work("started").exists());
    signal("INT", &id);
    eventually("the end of its process", || !lives("sleep 77.5006"));
    running.write("\x11");
    running.wait_for("stopped");
    running.write("/quit\r");
    running.end().assert_code(0);
}
