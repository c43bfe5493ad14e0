//! Formatters: real programs, made of a shell.

use super::formatting;
use super::support::{Agent, Repo, TestRunner};
use agent_git::HooksConfig;
use agent_hooks::{FormatterConfig, FormatterInput, Formatters, SettingsFile};
use agent_types::ports::CommandRunner;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

/// A formatter that writes capital letters, or does something else.
fn formatter(script: &str, input: FormatterInput) -> FormatterConfig {
    FormatterConfig {
        extensions: vec!["txt".to_owned()],
        program: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), script.to_owned(), "formatter".to_owned(), "{file}".to_owned()],
        input,
        settings: Vec::new(),
        new_files: true,
        // One script sleeps for a minute.
        timeout_ms: if script.starts_with("sleep") { 200 } else { 20_000 },
    }
}

const STDIN: &str = "tr a-z A-Z";
const FILE: &str = "tr a-z A-Z < \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"";

fn agent(repo: &Repo, formatter: FormatterConfig) -> Agent {
    formatting(repo.agent(), vec![formatter])
}

#[test]
fn changed_files_are_formatted_and_then_committed() {
    for (script, input) in [(STDIN, FormatterInput::Stdin), (FILE, FormatterInput::File)] {
        let Some(repo) = Repo::new() else { return };
        repo.write("old.txt", "OLD\n");
        repo.make_executable("old.txt");
        repo.write("other.txt", "not formatted\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "texts"]);
        let agent = agent(&repo, formatter(script, input));
        agent.change("old.txt", Some("OLD new\n"));
        agent.change("new.txt", Some("new\n"));
        agent.change("other.txt", Some("not formatted, changed\n"));
        agent.change("a.rs", Some("a2\n"));
        let paths = ["a.rs", "new.txt", "old.txt", "other.txt"];
        let report = agent.check(&paths);
        assert!(report.formatting_due && report.commit_due);
        let report = agent.format(&paths);
        assert_eq!(report.changed_paths, ["new.txt", "old.txt"]);
        assert!(report.commit_due);
        assert!(
            report.notes.len() == 1
                && report.notes[0].contains("other.txt was not formatted: it was not formatted before"),
            "{report:?}"
        );
        assert_eq!(repo.read("old.txt"), "OLD NEW\n");
        assert_eq!(repo.read("other.txt"), "not formatted, changed\n");
        let mode = fs::metadata(repo.project.join("old.txt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(agent.try_commit(&paths).unwrap().notes, Vec::<String>::new());
        assert_eq!(repo.git(&["show", "HEAD:old.txt"]), "OLD NEW\n");
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        assert!(!agent.check(&["a.rs"]).formatting_due);
    }
}

#[test]
fn a_formatter_that_misbehaves_leaves_the_file_and_a_note() {
    for (script, input, reason) in [
        ("exit 3", FormatterInput::Stdin, "status 3"),
        ("echo oops >&2; exit 1", FormatterInput::Stdin, "oops"),
        ("cat > /dev/null", FormatterInput::Stdin, "left an empty file"),
        ("printf '\\377\\376'", FormatterInput::Stdin, "not text"),
        ("sleep 60", FormatterInput::Stdin, "too long"),
        ("kill -9 $$", FormatterInput::Stdin, "killed"),
        ("rm \"$1\"", FormatterInput::File, "left an empty file"),
        (": > \"$1\"", FormatterInput::File, "left an empty file"),
        ("printf X >> \"$1\"; exit 1", FormatterInput::File, "status 1"),
    ] {
        let Some(repo) = Repo::new() else { return };
        let agent = agent(&repo, formatter(script, input));
        agent.change("new.txt", Some("new\n"));
        let report = agent.format(&["new.txt"]);
        assert!(report.notes.len() == 1 && report.notes[0].contains(reason), "{script}: {report:?} is not {reason}");
        assert_eq!(report.changed_paths, Vec::<String>::new());
        assert_eq!(repo.read("new.txt"), "new\n", "{script}");
        let names: Vec<_> = fs::read_dir(&repo.project).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 5, "nothing is left behind: {names:?}");
    }
}

#[test]
fn a_formatter_that_is_missing_or_only_named_is_a_note() {
    for (program, reason) in [("/nonexistent/formatter", "start `/nonexistent"), ("sh", "must be an absolute path")] {
        let Some(repo) = Repo::new() else { return };
        let agent =
            agent(&repo, FormatterConfig { program: program.into(), ..formatter(STDIN, FormatterInput::Stdin) });
        agent.change("new.txt", Some("new\n"));
        let report = agent.format(&["new.txt"]);
        assert!(report.notes.len() == 1 && report.notes[0].contains(reason), "{report:?}");
    }
}

#[test]
fn what_is_not_known_or_not_a_file_is_not_formatted() {
    let Some(repo) = Repo::new() else { return };
    let agent = agent(&repo, formatter(STDIN, FormatterInput::Stdin));
    repo.write("unannounced.txt", "x\n");
    fs::write(repo.directory.path().join("outside.txt"), "outside\n").unwrap();
    agent.announce("link.txt");
    symlink("../outside.txt", repo.project.join("link.txt")).unwrap();
    agent.change("gone.txt", Some("x\n"));
    fs::remove_file(repo.project.join("gone.txt")).unwrap();
    let report = agent.format(&["gone.txt", "link.txt", "unannounced.txt"]);
    assert_eq!(report.changed_paths, Vec::<String>::new());
    assert_eq!(report.notes.len(), 2, "{report:?}");
    assert_eq!(fs::read_to_string(repo.directory.path().join("outside.txt")).unwrap(), "outside\n");
    assert_eq!(repo.read("unannounced.txt"), "x\n");
}

/// A formatter that takes all files at once.
fn for_many(script: &str) -> FormatterConfig {
    let mut formatter = formatter(script, FormatterInput::Files);
    formatter.arguments = ["-c", script, "formatter", "{files}"].map(str::to_owned).to_vec();
    formatter
}

#[test]
fn many_files_are_one_process() {
    let Some(repo) = Repo::new() else { return };
    let agent = agent(&repo, for_many("for f; do tr a-z A-Z < \"$f\" > \"$f.x\" && mv \"$f.x\" \"$f\"; done"));
    let paths: Vec<String> = (0..50).map(|number| format!("deep/{number:02}/new file.txt")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    paths.iter().for_each(|path| agent.change(path, Some("new\n")));
    let started = agent.processes();
    let report = agent.format(&paths);
    assert_eq!(report.changed_paths, paths);
    assert_eq!(agent.processes() - started, 1);
    assert!(paths.iter().all(|path| repo.read(path) == "NEW\n"));
}

#[test]
fn a_formatter_of_many_that_misbehaves_leaves_the_files_and_notes() {
    for (script, reason, processes) in [
        ("for f; do : > \"$f\"; done", "left an empty file", 1),
        ("rm \"$@\"", "left an empty file", 1),
        ("for f; do ln -sf /etc/passwd \"$f\"; done", "left an empty file", 1),
        ("for f; do rm \"$f\" && mkfifo \"$f\"; done", "left an empty file", 1),
        ("for f; do printf '\\377' > \"$f\"; done", "not text", 1),
        // Each is tried alone, for the sake of those without a fault.
        ("for f; do echo X > \"$f\"; done; exit 1", "status 1", 3),
        ("for f; do echo X > \"$f\"; done; kill -9 $$", "killed", 3),
        // Not when nobody knows when it would end.
        ("sleep 60", "too long", 1),
    ] {
        let Some(repo) = Repo::new() else { return };
        let agent = agent(&repo, for_many(script));
        ["one.txt", "two.txt"].into_iter().for_each(|path| agent.change(path, Some("new\n")));
        let report = agent.format(&["one.txt", "two.txt"]);
        assert!(
            report.notes.len() == 2 && report.notes.iter().all(|note| note.contains(reason)),
            "{script}: {report:?}"
        );
        assert_eq!(report.changed_paths, Vec::<String>::new());
        assert_eq!((repo.read("one.txt").as_str(), repo.read("two.txt").as_str()), ("new\n", "new\n"), "{script}");
        assert_eq!(agent.processes(), processes, "{script}");
    }
}

/// Settings are where the formatter looks for them; what stands beside the copies is not what it could spoil.
#[test]
fn settings_files_stand_beside_the_copies() {
    let Some(repo) = Repo::new() else { return };
    repo.write("style", "z\n");
    repo.write("deep/style", "y\n");
    let script = "for f; do s=$(cat \"$(dirname \"$f\")/style\" 2>/dev/null || cat style); echo \"$s\" > \"$f\"; done";
    let settings = vec![SettingsFile { name: "style".to_owned(), sign: None }];
    let agent = agent(&repo, FormatterConfig { settings, ..for_many(script) });
    ["a.txt", "deep/b.txt", "deep/er/c.txt"].into_iter().for_each(|path| agent.change(path, Some("new\n")));
    agent.format(&["a.txt", "deep/b.txt", "deep/er/c.txt"]);
    assert_eq!((repo.read("a.txt"), repo.read("deep/b.txt")), ("z\n".to_owned(), "y\n".to_owned()));
    assert_eq!(repo.read("deep/er/c.txt"), "z\n");
    assert_eq!((repo.read("style"), repo.read("deep/style")), ("z\n".to_owned(), "y\n".to_owned()));
}

/// A host may take the names from anywhere: what is no name makes no link.
#[test]
fn settings_files_stand_nowhere_else() {
    for (name, is_formatted) in [("style", true), ("../style", false), ("deep/../../style", false), ("..", false)] {
        let Some(repo) = Repo::new() else { return };
        let scratch = repo.directory.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        repo.write("style", "z\n");
        fs::write(repo.directory.path().join("style"), "theirs\n").unwrap();
        let settings = vec![SettingsFile { name: name.to_owned(), sign: None }];
        let script = "for f; do echo done > \"$f\"; done";
        let mut agent = repo.agent();
        let runner = Arc::clone(&agent.runner) as Arc<dyn CommandRunner>;
        let formatters = Formatters::new(vec![FormatterConfig { settings, ..for_many(script) }], runner);
        agent.hooks = agent.hooks.formatting_with(Arc::new(formatters.with_scratch(scratch.clone())));
        agent.change("a.txt", Some("new\n"));
        let report = agent.format(&["a.txt"]);
        assert_eq!(repo.read("a.txt") == "done\n", is_formatted, "{name}: {report:?}");
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "{name}: nothing is left outside of the copies");
    }
}

/// A command in the background swaps a directory with a link while the formatter runs.
#[test]
fn a_formatted_text_is_not_written_through_a_link() {
    for swapped in [false, true] {
        let Some(repo) = Repo::new() else { return };
        let outside = repo.directory.path().join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("folder/x.txt"), "small\n").unwrap();
        repo.write("d/x.txt", "OLD\n");
        let (project, link) = (repo.project.clone(), outside.join("folder"));
        let swap = move |arguments: &[String]| {
            let is_formatter = arguments.iter().any(|argument| argument.contains("tr a-z"));
            if swapped && is_formatter && !project.join("d").is_symlink() {
                fs::rename(project.join("d"), project.join("e")).unwrap();
                symlink(&link, project.join("d")).unwrap();
            }
        };
        let formatter = FormatterConfig {
            extensions: vec!["txt".to_owned()],
            program: "/bin/sh".into(),
            arguments: ["-c", "tr a-z A-Z", "formatter"].map(str::to_owned).to_vec(),
            input: FormatterInput::Stdin,
            settings: Vec::new(),
            new_files: true,
            timeout_ms: 20_000,
        };
        let runner = TestRunner { before: Some(Box::new(swap)), ..TestRunner::default() };
        let config = HooksConfig { auto_commit: false, ..repo.config() };
        let agent = formatting(Agent::with_runner(config, runner), vec![formatter]);
        agent.change("d/x.txt", Some("small\n"));
        let report = agent.format(&["d/x.txt"]);
        assert_eq!(report.changed_paths.is_empty(), swapped, "{report:?}");
        assert_eq!(fs::read_to_string(outside.join("folder/x.txt")).unwrap(), "small\n");
        let written = Path::new(if swapped { "e/x.txt" } else { "d/x.txt" });
        assert_eq!(repo.read(written.to_str().unwrap()), if swapped { "small\n" } else { "SMALL\n" });
    }
}

/// What the host protects is protected by where it is, too: what undo does not write, no formatter writes.
#[test]
fn what_the_host_protects_is_not_formatted() {
    for is_protected in [false, true] {
        let Some(repo) = Repo::new() else { return };
        let own = repo.project.join("own");
        let config = HooksConfig {
            auto_commit: false,
            protected: Vec::from_iter(is_protected.then(|| own.clone())),
            ..repo.config()
        };
        let agent = formatting(Agent::new(config), vec![for_many("for f; do echo done > \"$f\"; done")]);
        agent.change("own/x.txt", Some("new\n"));
        let report = agent.format(&["own/x.txt"]);
        assert_eq!(repo.read("own/x.txt") == "done\n", !is_protected, "{report:?}");
        assert_eq!(report.notes.iter().any(|note| note.contains("protected")), is_protected, "{report:?}");
    }
}
