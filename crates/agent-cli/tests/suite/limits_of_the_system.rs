//! Limits of the system, and signals that tell of them: a run ends with its result, whatever runs out.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::process::Command;

/// The program under a limit of the shell's `ulimit`.
fn limited(scratch: &Scratch, limit: &str, arguments: &[&str], model: Option<&Model>) -> Ended {
    let mut command = scratch.command("bash");
    command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_agent")]);
    command.args(arguments).args(model.map(|model| model.flags(Wire::Anthropic)).unwrap_or_default());
    Running::start(&mut command).end()
}

#[test]
fn a_limit_on_file_size_ends_a_run_with_its_result() {
    for (limit, words) in [("-f 0", "ulimit -f"), ("-f 2", "ulimit -f")] {
        let model = Model::always(Step::text("Done."));
        let scratch = Scratch::new();
        let ended =
            limited(&scratch, limit, &["run", "-p", &"long ".repeat(2_000), "--output-format", "json"], Some(&model));
        let result = ended.assert_code(1).result();
        assert_eq!((&result["type"], &result["exit_code"]), (&json!("result"), &json!(1)));
        ended.assert_says(words);
        // Without a journal there is nothing that grows.
        let arguments = ["run", "-p", "x", "--no-session"];
        assert_eq!(limited(&scratch, limit, &arguments, Some(&model)).assert_code(0).out, "Done.\n");
    }
}

#[test]
fn commands_meet_the_limit_on_file_size_as_everywhere() {
    let commands = "grep SigIgn /proc/self/status; head -c 9000000 /dev/zero > big";
    let model = Model::script([Step::call("bash", json!({"command": commands})), Step::text("Done.")]);
    let scratch = Scratch::new();
    let ended = limited(&scratch, "-f 4000", &["run", "-p", "x", "--permission-mode", "bypass"], Some(&model));
    assert_eq!(ended.assert_code(0).out, "Done.\n");
    let told = model.last_body().to_string();
    let mask = told.split("SigIgn:\\t").nth(1).and_then(|rest| u64::from_str_radix(rest.get(..16)?, 16).ok()).unwrap();
    let [pipe, too_large] = [13, 25].map(|number| 1_u64 << (number - 1));
    assert_eq!(mask & (pipe | too_large), 0, "neither is ignored for commands: {told}");
    assert!(told.contains("XFSZ") || told.contains("153") || told.contains("File too large"), "{told}");
}

#[test]
fn a_file_that_could_not_be_written_whole_is_not_left() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", &"long ".repeat(2_000), "--session-id", "one"]).assert_code(0);
    for arguments in [
        ["sessions", "export", "one", "-o", "out.md"],
        ["sessions", "lint", scratch.journals()[0].to_str().unwrap(), "--repair", "out.md"],
    ] {
        limited(&scratch, "-f 1", &arguments, None).assert_code(42).assert_says("out.md").assert_says("File too large");
        assert!(!scratch.work("out.md").exists(), "{arguments:?}");
    }
}

#[test]
fn signals_that_would_end_it_end_it_with_a_result() {
    for name in ["ALRM", "VTALRM", "PROF", "USR1", "USR2", "XCPU", "XFSZ", "PIPE"] {
        let model = Model::script([Step::hang()]);
        let scratch = Scratch::new();
        let running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--output-format", "json"]));
        model.wait_for_requests(1);
        running.signal(name);
        let goes_on = ["XFSZ", "PIPE"].contains(&name);
        if goes_on {
            running.signal("TERM");
        }
        let ended = running.end();
        assert_eq!(ended.assert_code(143).result()["subtype"], "cancelled", "{name}");
        assert_eq!(ended.err.contains("ulimit -t"), name == "XCPU", "{ended:#?}");
    }
}

/// The old content of the second file does not fit; that of the first was kept before, and comes back.
#[test]
fn a_record_that_cannot_grow_keeps_what_it_has() {
    let scratch = Scratch::repository();
    // Text that does not become smaller.
    let old: String = (0..60_000_u64).map(|line| format!("{:x}\n", line.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    scratch.write("a.txt", "mine\n");
    scratch.write("big.txt", &old);
    let model = Model::script([
        Step::call("read_file", json!({ "path": "a.txt" })),
        Step::call("write_file", json!({ "path": "a.txt", "content": "new\n" })),
        Step::call("read_file", json!({ "path": "big.txt", "limit": 1 })),
        Step::call("write_file", json!({ "path": "big.txt", "content": "new\n" })),
        Step::text("Done."),
    ]);
    let arguments = ["run", "-p", "x", "--permission-mode", "bypass", "--no-auto-commit"];
    // In units of 1,024 bytes: enough for the journal, and not for a record of the second file.
    let ended = limited(&scratch, "-f 200", &arguments, Some(&model));
    ended.assert_says("undo cannot restore");
    assert_eq!(fs::read_to_string(scratch.work("a.txt")).unwrap(), "new\n", "{ended:#?}");
    let undone = scratch.ended(&["undo"]);
    assert_eq!(fs::read_to_string(scratch.work("a.txt")).unwrap(), "mine\n", "{undone:#?}");
}

/// The program for another user, of whom no process runs; nothing where there can be none. Limits of processes do not hold root.
struct OtherUser {
    scratch: Scratch,
    user: String,
}

impl OtherUser {
    #[expect(clippy::print_stdout, reason = "what was skipped is said")]
    fn new(number: u32) -> Option<Self> {
        let user = (70_000 + 2 * (std::process::id() % 1_000_000) + number).to_string();
        let can = Command::new("setpriv").args(["--reuid", &user, "--clear-groups", "true"]).output();
        if !can.is_ok_and(|output| output.status.success()) {
            println!("not tried: `setpriv` cannot become another user here");
            return None;
        }
        let scratch = Scratch::repository();
        // Another program copies: a file that this process holds open for writing is busy in whatever another test starts meanwhile.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_agent")).arg(scratch.path("agent")).status();
        assert!(copied.unwrap().success());
        let changed = |program: &str, arguments: [&str; 2]| {
            let mut command = scratch.command(program);
            assert!(command.arg("-R").args(arguments).arg(scratch.path("")).status().unwrap().success());
        };
        changed("chown", ["-h", &user]);
        changed("chmod", ["-f", "u+rwX"]);
        Some(Self { scratch, user })
    }

    fn command(&self, most_processes: u32, arguments: &[&str]) -> Command {
        let mut command = self.scratch.command("prlimit");
        command.arg(format!("--nproc={most_processes}"));
        command.args(["setpriv", "--reuid", &self.user, "--clear-groups"]).arg(self.scratch.path("agent"));
        command.args(arguments);
        command
    }
}

#[test]
fn a_thread_or_process_that_cannot_be_started_is_an_error() {
    let Some(user) = OtherUser::new(0) else { return };
    let mut done = 0;
    for most in 1..16 {
        let calls = [
            Step::call("bash", json!({"command": "echo hi"})),
            Step::call("grep", json!({"pattern": "one"})),
            Step::call("write_file", json!({"path": format!("new-{most}.txt"), "content": "new\n"})),
            Step::text("Done."),
        ];
        let model = Model::script(calls);
        let arguments = ["run", "-p", "x", "--permission-mode", "bypass", "--sandbox", "off", "--auto-commit"];
        let mut command = user.command(most, &arguments);
        command.args(["--output-format", "json"]).args(model.flags(Wire::Anthropic));
        let ended = Running::start(&mut command).end();
        assert!(!ended.err.contains("panicked") && !ended.out.contains("panicked"), "{most}: {ended:#?}");
        let told = model.requests().last().map(|request| request.body.to_string()).unwrap_or_default();
        assert!(!told.contains("panicked") && !told.contains("the tool failed internally"), "{most}: {told}");
        let result = ended.result();
        assert_eq!(result["exit_code"], ended.code(), "{most}: {ended:#?}");
        match ended.code() {
            0 => done += 1,
            _ => {
                ended.assert_says("ulimit -u");
            }
        }
    }
    assert!(done > 0, "none had enough");
}

/// At the prompt and elsewhere, too.
#[test]
fn what_only_reads_needs_no_second_thread_and_the_prompt_says_that_it_has_none() {
    let Some(user) = OtherUser::new(1) else { return };
    for most in 1..4 {
        for arguments in [&["--version"][..], &["sessions", "list"], &["config", "show"], &["tools"]] {
            let ended = Running::start(&mut user.command(most, arguments)).end();
            assert!(!ended.err.contains("panicked"), "{most}: {ended:#?}");
        }
        let model = Model::script([]);
        let ended = Running::start(user.command(most, &[]).args(model.flags(Wire::Anthropic))).end();
        assert!(!ended.err.contains("panicked"), "{most}: {ended:#?}");
        if most == 1 {
            ended.assert_code(1).assert_says("ulimit -u");
        }
    }
}
