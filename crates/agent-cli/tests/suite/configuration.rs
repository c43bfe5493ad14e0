//! Configuration and instructions: what the user says holds, what a repository says may only tighten.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Lets the model write a file in a repository with this configuration.
fn write_with(scratch: &Scratch, arguments: &[&str]) -> Ended {
    let model =
        Model::script([Step::call("write_file", json!({"path": "b.txt", "content": "two\n"})), Step::text("Done.")]);
    scratch.run(&model, &[&["-p", "x"], arguments].concat())
}

#[test]
fn a_repository_may_deny() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "deny = [\"write_file\"]\n");
    let ended = write_with(&scratch, &["--permission-mode", "bypass", "--allow", "write_file"]);
    ended.assert_code(0).assert_says("denied: write_file");
    assert!(!scratch.work("b.txt").exists());
}

#[test]
fn a_repository_may_deny_below_its_root_too() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "deny = [\"write_file\"]\n");
    scratch.write("deep/er/x.txt", "");
    write_with(&scratch, &["--permission-mode", "bypass", "-C", "deep/er"]).assert_code(0).assert_says("denied");
    assert!(!scratch.work("deep/er/b.txt").exists());
}

/// Paths in its rules are written from the folder that has the file, wherever the agent starts.
#[test]
fn what_a_repository_denies_by_path_stays_denied_from_below() {
    for (rule, is_denied) in [("edit(deep/er/b.txt)", true), ("edit(deep/**)", true), ("edit(other/**)", false)] {
        let scratch = Scratch::repository();
        scratch.write(".agent/config.toml", &format!("deny = [\"{rule}\"]\n"));
        scratch.write("deep/er/x.txt", "");
        write_with(&scratch, &["--permission-mode", "bypass", "-C", "deep/er"]).assert_code(0);
        assert_eq!(!scratch.work("deep/er/b.txt").exists(), is_denied, "{rule}");
    }
}

#[test]
fn a_repository_may_choose_a_stricter_mode_and_lower_limits() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "permission_mode = \"plan\"\n");
    write_with(&scratch, &["--permission-mode", "bypass"]).assert_code(0).assert_says("plan mode");
    assert!(!scratch.work("b.txt").exists());

    scratch.write(".agent/config.toml", "[limits]\nmax_turns = 1\n");
    write_with(&scratch, &["--permission-mode", "bypass", "--max-turns", "9"]).assert_code(53);
}

#[test]
fn a_repository_may_not_widen() {
    let attempts = [
        "allow = [\"write_file\"]",
        "permission_mode = \"bypass\"",
        "provider = \"openai\"",
        "base_url = \"http://127.0.0.1:1/v1\"",
        "model = \"dear\"",
        "auto_commit = true",
        "format_on_edit = true\n[[formatters]]\nextensions = [\"txt\"]\nprogram = \"/bin/true\"",
    ];
    for attempt in attempts {
        let scratch = Scratch::repository();
        scratch.write(".agent/config.toml", &format!("deny = [\"bash\"]\n{attempt}\n"));
        let ended = write_with(&scratch, &["--format-on-edit"]);
        ended.assert_code(61);
        assert!(!scratch.work("b.txt").exists());
        let key = attempt.split([' ', '\n']).next().unwrap();
        if key != "permission_mode" {
            ended.assert_says(&format!("ignored: cannot use `{key}`"));
        }
        assert_eq!(scratch.git(&["rev-list", "--count", "HEAD"]).trim(), "1");
    }
}

#[test]
fn what_tightens_holds_beside_what_is_refused() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "allow = [\"bash\"]\ndeny = [\"write_file\"]\nunknown = 3\n");
    let ended = write_with(&scratch, &["--permission-mode", "bypass"]);
    ended.assert_code(0).assert_says("`allow`").assert_says("`unknown`").assert_says("denied: write_file");
    assert!(!scratch.work("b.txt").exists());
}

/// What a repository forbids holds or nothing runs: a slip of the pen beside a rule does not take the rule away.
#[test]
fn what_may_forbid_something_and_cannot_be_read_is_an_error() {
    for broken in [
        "deny = [\"write_file\"]\nallow = [",
        "deny = [\"write_file\", \"oops(\"]",
        "deny = [\"write_file\", 3]",
        "deny = \"write_file\"",
        "deny = [\"write_file\"]\nlimits = 3",
        "deny = [\"write_file\"]\n[limits]\nmax_wall_time = \"soon\"",
        "deny = [\"write_file\"]\npermission_mode = \"plann\"",
        "deny = [\"write_file\"]\nsandbox = \"on\"",
        "deny = [\"write_file\"]\ndeny = []",
    ] {
        let scratch = Scratch::repository();
        scratch.write(".agent/config.toml", broken);
        for arguments in [&["--permission-mode", "bypass"][..], &["--permission-mode", "bypass", "-C", "deep"]] {
            fs::create_dir_all(scratch.work("deep")).unwrap();
            write_with(&scratch, arguments).assert_code(52).assert_says(".agent/config.toml");
            assert!(!scratch.work("b.txt").exists() && !scratch.work("deep/b.txt").exists(), "{broken}");
        }
        scratch.ended(&["doctor"]).assert_code(1);
        scratch.ended(&["trust", "--yes"]).assert_code(52);
    }
    let scratch = Scratch::repository();
    std::os::unix::fs::symlink(scratch.path("elsewhere.toml"), scratch.work("link")).unwrap();
    fs::write(scratch.path("elsewhere.toml"), "deny = [\"write_file\"]\n").unwrap();
    fs::create_dir(scratch.work(".agent")).unwrap();
    fs::rename(scratch.work("link"), scratch.work(".agent/config.toml")).unwrap();
    write_with(&scratch, &["--permission-mode", "bypass"])
        .assert_code(52)
        .assert_says("a link that leads out of the project");
    fs::remove_file(scratch.path("elsewhere.toml")).unwrap();
    write_with(&scratch, &["--permission-mode", "bypass"]).assert_code(52).assert_says("a broken link");
    assert!(!scratch.work("b.txt").exists());
    // The same of its folder.
    fs::remove_dir_all(scratch.work(".agent")).unwrap();
    std::os::unix::fs::symlink("gone", scratch.work(".agent")).unwrap();
    write_with(&scratch, &["--permission-mode", "bypass"]).assert_code(52).assert_says("a broken link");
    // The control: without a file, or where `.agent` is something else, there is nothing to forbid anything.
    for file in [None, Some(".agent")] {
        let scratch = Scratch::repository();
        file.into_iter().for_each(|file| scratch.write(file, "not ours"));
        write_with(&scratch, &["--permission-mode", "bypass"]).assert_code(0);
        assert!(scratch.work("b.txt").exists());
    }
}

#[test]
fn a_repository_cannot_raise_a_limit() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "[limits]\nmax_turns = 100\n");
    let ended = write_with(&scratch, &["--max-turns", "1", "--permission-mode", "bypass"]);
    ended.assert_code(53).assert_says("`max_turns` from the repository: it would loosen");
}

#[test]
fn what_a_repository_says_that_is_looser_is_told() {
    let scratch = Scratch::repository();
    let all =
        "permission_mode = \"bypass\"\nsandbox = \"off\"\n[limits]\nmax_wall_time = \"9h\"\nmax_repetitions = 9\n";
    scratch.write(".agent/config.toml", all);
    let run = |arguments: &[&str]| {
        let ended = scratch.run(&Model::script([Step::text("Done.")]), &[&["-p", "x"], arguments].concat());
        let told = ended.assert_code(0).err.lines().filter(|line| line.contains("it would loosen"));
        told.filter_map(|line| line.split('`').nth(1)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run(&[]), ["permission_mode", "sandbox"], "no limit of time holds, and 9 is fewer than 500");
    assert_eq!(run(&["--max-wall-time", "1h"]), ["permission_mode", "sandbox", "max_wall_time"]);
    // What is as strict, or stricter, is no news.
    assert_eq!(run(&["--permission-mode", "bypass", "--sandbox", "off", "--max-wall-time", "10h"]), [""; 0]);
}

/// Another place in every directory: what is forbidden there would not hold in the next one.
#[test]
fn places_that_are_relative_are_errors() {
    let relative = [
        ("AGENT_STATE_HOME", &["AGENT_STATE_HOME"][..]),
        ("AGENT_CONFIG_HOME", &["AGENT_CONFIG_HOME"]),
        ("HOME", &["HOME", "AGENT_CONFIG_HOME"]),
    ];
    for (name, variables) in relative {
        let scratch = Scratch::new();
        let model = Model::script([]);
        let with = |mut command: Command| {
            for variable in variables {
                let value = if *variable == name { "here" } else { "" };
                command.env(variable, value);
            }
            Running::start(&mut command).end()
        };
        let words = format!("{name} must be an absolute path");
        let ended = with(scratch.run_command(&model, &["-p", "x", "--output-format", "json"]));
        assert_eq!(ended.assert_code(52).assert_says(&words).result()["subtype"], "error_config");
        with(scratch.agent(&["sessions", "list"])).assert_code(52).assert_says(&words);
        assert!(with(scratch.agent(&["doctor"])).assert_code(1).out.contains(&words));
        assert_eq!(fs::read_dir(scratch.path("work")).unwrap().count(), 0);
    }
}

#[test]
fn files_that_are_no_files() {
    // What a repository's would have forbidden is not known, so that is an error like the user's own.
    for is_users in [false, true] {
        for kind in ["pipe", "directory", "huge", "types", "binary"] {
            let scratch = Scratch::repository();
            let path = if is_users { scratch.path("config") } else { scratch.work(".agent") }.join("config.toml");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match kind {
                "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "directory" => fs::create_dir(&path).unwrap(),
                "huge" => fs::File::create(&path).unwrap().set_len(100 * 1024 * 1024).unwrap(),
                "types" => fs::write(&path, "deny = 7\nlimits = \"x\"\n").unwrap(),
                _ => fs::write(&path, b"\xff\xfe\0\0").unwrap(),
            }
            let model = Model::script([Step::text("Done.")]);
            let ended = scratch.run(&model, &["-p", "x"]);
            ended.assert_code(52).assert_says("config.toml");
        }
    }
}

#[test]
fn what_holds_is_shown_with_who_says_so() {
    let scratch = Scratch::repository();
    let secret = "http://me:s3cret@127.0.0.1:1/v1?api_key=s3cret";
    scratch.configure(&format!(
        "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{secret}\"\ndeny = [\"bash(rm:*)\"]\n[limits]\nmax_turns = 50\nmax_tool_calls = 9\n"
    ));
    scratch.write(".agent/config.toml", "permission_mode = \"plan\"\ndeny = [\"glob\"]\n[limits]\nmax_turns = 5\n");
    let arguments = ["config", "show", "--max-tool-calls", "7", "--allow", "grep"];
    let shown = |more: &[&str]| {
        let mut command = scratch.agent(&[&arguments[..], more].concat());
        let ended = Running::start(command.env("ANTHROPIC_API_KEY", "sk-secret-secret")).end();
        assert!(!ended.assert_code(0).out.contains("s3cret") && !ended.out.contains("sk-secret"), "{ended:#?}");
        ended
    };
    let told = shown(&["--json"]).result();
    let (user, repository, flags) = ("the user's configuration", "the repository's configuration", "command line");
    for (key, value, source) in [
        ("provider", json!("openai"), user),
        ("model", json!("m"), user),
        ("base_url", json!("http://127.0.0.1:1/v1"), "the configuration"),
        ("ANTHROPIC_API_KEY", json!("set, not shown"), "environment"),
        ("OPENAI_API_KEY", json!("not set"), "environment"),
        ("permission_mode", json!("plan"), repository),
        ("allow", json!("grep"), "the command line"),
        ("deny", json!("bash(rm:*)"), user),
        ("deny", json!("glob"), repository),
        ("limits.max_turns", json!(5), repository),
        ("limits.max_tool_calls", json!(7), flags),
        ("limits.max_failures_in_row", json!(30), "built in for `run`, no limit at the prompt"),
        ("limits.max_total_tokens", json!(null), "no limit"),
        ("auto_commit", json!(false), "built in"),
    ] {
        let expected = json!({"key": key, "value": value, "source": source});
        assert!(told["settings"].as_array().unwrap().contains(&expected), "{expected} is not in {told:#}");
    }
    let text = shown(&[]).out;
    let line = text.lines().find(|line| line.starts_with("limits.max_turns ")).unwrap();
    assert!(line.ends_with(" 5  (the repository's configuration)"), "{text}");
    // What could not be read for a run cannot be shown.
    scratch.configure("nonsense = 1\n");
    scratch.ended(&["config", "show"]).assert_code(52).assert_says("nonsense");
}

#[test]
fn the_users_file_is_taken_and_flags_stand_above_it() {
    let scratch = Scratch::repository();
    scratch.configure("model = \"configured\"\npermission_mode = \"accept-edits\"\n[limits]\nmax_turns = 1\n");
    write_with(&scratch, &[]).assert_code(53);
    assert_eq!(scratch.read("b.txt"), "two\n");
    write_with(&scratch, &["--max-turns", "5"]).assert_code(0);

    let model = Model::script([Step::text("a")]);
    let url = model.server().url();
    Running::start(&mut scratch.agent(&["run", "-p", "x", "--provider", "anthropic", "--base-url", &url]))
        .end()
        .assert_code(0);
    assert_eq!(model.last_body()["model"], "configured");
}

#[test]
fn instructions_from_the_root_down() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root.");
    scratch.write("deep/AGENTS.md", "Rule of the folder.");
    fs::write(scratch.path("AGENTS.md"), "Rule from outside.").unwrap();
    let model = Model::script([Step::text("a")]);
    scratch.run(&model, &["-p", "x", "-C", "deep"]).assert_code(0);
    let system = model.last_body()["system"].to_string();
    let (root, folder) = (system.find("Rule of the root.").unwrap(), system.find("Rule of the folder.").unwrap());
    assert!(root < folder, "the closest has the last word");
    assert!(!system.contains("from outside"));
}

#[test]
fn instructions_are_cut_and_do_not_lead_outside() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", &format!("Begin.{}The end.", "long ".repeat(20_000)));
    scratch.write("deep/x", "");
    fs::write(scratch.path("secret"), "the outside").unwrap();
    std::os::unix::fs::symlink(scratch.path("secret"), scratch.work("deep/AGENTS.md")).unwrap();
    let model = Model::script([Step::text("a")]);
    scratch.run(&model, &["-p", "x", "-C", "deep"]).assert_code(0).assert_says("link that leads out of the project");
    let system = model.last_body()["system"].to_string();
    assert!(system.contains("Begin.") && system.contains("bytes left out") && !system.contains("The end."));
    assert!(system.len() < 40_000 && !system.contains("the outside"));
}

/// The user's own file comes first; one that others may write is not used. The project's imports follow the file that names them.
#[test]
fn instructions_of_the_user_and_imports() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root, see @docs/style.instructions.md.");
    scratch.write("docs/style.instructions.md", "Rule of style.");
    let own = scratch.path("config/AGENTS.md");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "Rule of the user.").unwrap();
    let model = Model::always(Step::text("a"));
    let prompt = |says: &[&str]| {
        let ended = scratch.run(&model, &["-p", "x"]);
        ended.assert_code(0);
        for words in says {
            ended.assert_says(words);
        }
        model.last_body()["system"].to_string()
    };
    let system = prompt(&[]);
    let at = |part: &str| system.find(part).unwrap_or_else(|| panic!("{part} in {system}"));
    assert!(at("Rule of the user.") < at("Rule of the root") && at("Rule of the root") < at("Rule of style."));
    fs::set_permissions(&own, fs::Permissions::from_mode(0o666)).unwrap();
    let system = prompt(&["cannot read the instructions", "config/AGENTS.md"]);
    assert!(!system.contains("Rule of the user.") && system.contains("Rule of style."), "{system}");
}

#[test]
fn limits_that_nobody_set() {
    // The journal's first record says what a session began with.
    let limits = |scratch: &Scratch| {
        let journal = fs::read_to_string(scratch.journals().pop().unwrap()).unwrap();
        let header: serde_json::Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        find(&header, "limits").unwrap().clone()
    };
    let scratch = Scratch::new();
    scratch.run(&Model::script([Step::text("a")]), &["-p", "x"]).assert_code(0);
    let headless = limits(&scratch);
    assert_eq!((&headless["max_model_calls"], &headless["max_tool_calls"]), (&json!(500), &json!(2000)));
    assert!(headless["max_cost_nano_usd"].is_null());

    let scratch = Scratch::new();
    let model = Model::script([]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.close_stdin();
    running.end().assert_code(0);
    let interactive = limits(&scratch);
    assert!(interactive["max_model_calls"].is_null() && interactive["max_tool_calls"].is_null(), "{interactive}");
}

/// The member of this name, wherever it is.
fn find<'a>(value: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    let members = value.as_object()?;
    members.get(name).or_else(|| members.values().find_map(|member| find(member, name)))
}

#[test]
fn who_commits_and_what_the_message_ends_with() {
    for (config, author, trailer) in [
        ("", "A User <user@example.invalid>", "Assisted-by: agent"),
        ("[commits]\nauthor = \"A Bot <bot@x>\"\ntrailer = \"Made-by: bot\"\n", "A Bot <bot@x>", "Made-by: bot"),
        ("[commits]\ntrailer = \"\"\n", "A User <user@example.invalid>", ""),
    ] {
        let scratch = Scratch::repository();
        scratch.configure(config);
        write_with(&scratch, &["--permission-mode", "accept-edits", "--auto-commit"]).assert_code(0);
        assert_eq!(scratch.git(&["log", "-1", "--format=%an <%ae>"]).trim(), author);
        assert_eq!(scratch.git(&["log", "-1", "--format=%cn <%ce>"]).trim(), author);
        assert_eq!(scratch.git(&["log", "-1", "--format=%(trailers)"]).trim(), trailer);
    }
    for wrong in ["author = \"nobody\"", "trailer = \"no token\"", "autor = \"A <a@b>\""] {
        let scratch = Scratch::repository();
        scratch.configure(&format!("[commits]\n{wrong}\n"));
        write_with(&scratch, &[]).assert_code(52).assert_says("config.toml");
        let scratch = Scratch::repository();
        scratch.write(".agent/config.toml", "[commits]\nauthor = \"A Bot <bot@x>\"\n");
        write_with(&scratch, &["--permission-mode", "accept-edits", "--auto-commit"])
            .assert_says("ignored: cannot use `commits`");
        assert_eq!(
            scratch.git(&["log", "-1", "--format=%an"]).trim(),
            "A User",
            "a repository does not choose who commits"
        );
    }
}
