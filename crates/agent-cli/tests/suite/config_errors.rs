//! What is wrong in the user's configuration is said with file, line and key, before anything runs.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;

/// Ends a run with exit code 52 before the model is asked, and `agent doctor` says the same.
#[track_caller]
fn refused(config: &str, line: usize, key: &str, words: &str) {
    let scratch = Scratch::new();
    scratch.configure(config);
    let model = Model::script([]);
    let ended = scratch.run(&model, &["-p", "x"]);
    ended.assert_code(52).assert_says("config.toml").assert_says(words);
    assert!(ended.err.contains(&format!("line {line}")), "{config}: {ended:#?}");
    assert!(ended.err.contains(key), "{config}: {ended:#?}");
    assert_eq!(model.requests().len(), 0);
    let doctor = scratch.ended(&["doctor"]);
    let told = doctor.assert_code(1).out.lines().find(|line| line.starts_with("NOT") && line.contains("config.toml"));
    let told = told.unwrap_or_else(|| panic!("{doctor:#?}"));
    assert!(told.contains(&format!("line {line}")) && told.contains(key), "{told}");
}

#[test]
fn hooks_and_formatters_name_their_place() {
    let hook = |rest: &str| format!("model = \"m\"\n\n[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"true\"\n{rest}\n");
    refused("[[hooks]]\nevent = \"Nope\"\ncommand = \"true\"\n", 2, "hooks.event", "no event `Nope`");
    refused("[[hooks]]\nevent = \"Stop\"\ncommand = \"\"\n", 3, "hooks.command", "needs a command");
    refused(&hook("timeout_ms = 0"), 6, "hooks.timeout_ms", "must be 1 to");
    refused(&hook("matcher = \"(\""), 6, "hooks.matcher", "matcher");
    refused(&hook("timeout_ms = \"x\""), 6, "timeout_ms", "invalid type");
    refused(&hook("colour = 1"), 6, "colour", "unknown field");
    let second = format!("{}[[hooks]]\nevent = \"Stop\"\nmatcher = \"bash\"\ncommand = \"true\"\n", hook(""));
    refused(&second, 9, "hooks.matcher", "takes no matcher");
    let formatter = |program: &str, extensions: &str| {
        format!("format_on_edit = true\n[[formatters]]\nextensions = {extensions}\nprogram = \"{program}\"\n")
    };
    refused(&formatter("fmt", "[\"rs\"]"), 4, "formatters.program", "absolute");
    refused(&formatter("/bin/cat", "[]"), 3, "formatters.extensions", "no file extensions");
    refused("[[formatters]]\nextensions = [\"rs\"]\n", 1, "program", "missing field");
    for name in ["../../../x", "..", ".", "", "deep/style", "/etc/style", "style/"] {
        let settings = format!("{}settings = [\"style\", \"{name}\"]\n", formatter("/bin/cat", "[\"rs\"]"));
        refused(&settings, 5, "settings", "not the name of a file");
    }
}

#[test]
fn limits_and_waits_name_their_place() {
    refused("[limits]\nmax_wall_time = \"soon\"\n", 2, "max_wall_time", "no");
    refused("[limits]\nmax_turns = 1\nmax_budget_usd = \"-1\"\n", 3, "max_budget_usd", "dollars");
    refused("[timeouts]\nidle = \"never\"\n", 2, "idle", "duration");
    refused("[timeouts]\nfirst_byte = \"0s\"\n", 2, "first_byte", "is too short");
}

#[test]
fn rules_name_their_place_and_a_deny_rule_for_no_tool_stops_the_run() {
    refused("deny = [\n  \"bash(rm:*)\",\n  \"bsh(rm:*)\",\n]\n", 3, "deny", "names no tool");
    refused("deny = [\"edit({a,b})\"]\n", 1, "deny", "does not list alternatives");
    refused("deny = [\"edit(\"]\n", 1, "deny", "expected `tool`");
    for (theirs, own) in [
        ("Bash(rm:*)", "bash(rm:*)"),
        ("Read(./.env)", "read(.env)"),
        ("Edit(src/**)", "edit(src/**)"),
        ("Write(src/**)", "edit(src/**)"),
        ("Grep", "grep"),
        ("BASH", "bash"),
    ] {
        refused(&format!("# mine\ndeny = [\"{theirs}\"]\n"), 2, "deny", &format!("write `{own}`"));
    }
    // One that allows leaves a question to be asked, and is said.
    let scratch = Scratch::new();
    scratch.configure("allow = [\"Bash(ls:*)\"]\n");
    let model = Model::script([Step::text("Done.")]);
    scratch.run(&model, &["-p", "x"]).assert_code(0).assert_says("line 1").assert_says("write `bash(ls:*)`");
    // On the command line both are errors.
    for flag in ["--allow", "--deny"] {
        let ended = Scratch::new().run(&Model::script([]), &["-p", "x", flag, "Bash(ls:*)"]);
        ended.assert_code(52).assert_says("write `bash(ls:*)`");
    }
}

#[test]
fn a_rule_that_covers_nothing_is_shown() {
    let scratch = Scratch::repository();
    scratch.configure("deny = [\"Bash(rm:*)\", \"bash(ls:*)\"]\n");
    scratch.write(".agent/config.toml", "deny = [\"Reed(x)\"]\n");
    let shown = scratch.ended(&["config", "show"]).assert_code(0).out.clone();
    let told: Vec<&str> = shown.lines().filter(|line| line.contains("NOT USABLE")).collect();
    assert_eq!(told.len(), 2, "{shown}");
    assert!(told[0].contains("write `bash(rm:*)`") && told[1].contains("Reed(x)"), "{told:?}");
    let doctor = scratch.ended(&["doctor"]);
    assert!(doctor.assert_code(1).out.contains("Reed(x)"), "{doctor:#?}");
    // What a repository forbids and nobody can tell stops a run, too.
    scratch.configure("");
    scratch.run(&Model::script([]), &["-p", "x"]).assert_code(52).assert_says("Reed(x)");
}

#[test]
fn waits_for_an_answer_are_set_by_flag_and_configuration() {
    let shown = |scratch: &Scratch, arguments: &[&str]| {
        let out = scratch.ended(&[&["config", "show"], arguments].concat()).assert_code(0).out.clone();
        out.lines().filter(|line| line.starts_with("timeouts.")).map(str::to_owned).collect::<Vec<_>>()
    };
    let scratch = Scratch::new();
    let built_in = shown(&scratch, &[]);
    assert!(built_in.len() == 2 && built_in.iter().all(|line| line.contains("120000") && line.contains("built in")));
    scratch.configure("[timeouts]\nfirst_byte = \"5m\"\nidle = \"7s\"\n");
    let told = shown(&scratch, &["--idle-timeout", "9s"]).join("\n");
    assert!(told.contains("300000") && told.contains("9000") && told.contains("command line"), "{told}");

    // It is what a silent server is given.
    scratch.configure("[timeouts]\nfirst_byte = \"150ms\"\n");
    let model = Model::always(Step::hang());
    let ended = scratch.run(&model, &["-p", "x"]);
    ended.assert_code(62).assert_says("150 ms; to wait longer, use `--first-byte-timeout`");
    let stall = agent_testkit::Reply::new().text("a few words to begin with");
    let model = Model::always(Step::stall(stall, 4));
    scratch.configure("");
    let flags = ["-p", "x", "--idle-timeout", "170ms", "--first-byte-timeout", "1m"];
    scratch.run(&model, &flags).assert_code(62).assert_says("170 ms; to wait longer, use `--idle-timeout`");
}
