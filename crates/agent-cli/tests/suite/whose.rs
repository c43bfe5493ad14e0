//! What the program keeps is this user's alone: what somebody else could have put there, or could change, is refused with what to do.

use crate::support::{Ended, Model, Running, Scratch};
use agent_testkit::http::Step;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

/// A home with a session that is called `one`, and its journal.
fn kept() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("One.")]);
    scratch.run(&model, &["-p", "x", "--session-id", "one"]).assert_code(0);
    let journal = scratch.journals().pop().unwrap();
    (scratch, journal)
}

fn go_on(scratch: &Scratch) -> Ended {
    let model = Model::script([]);
    let ended = scratch.run(&model, &["-p", "y", "--session-id", "one"]);
    assert_eq!(model.requests().len(), 0, "{ended:#?}");
    ended
}

fn open_to_all(path: &Path) {
    let mode = fs::metadata(path).unwrap().permissions().mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o022)).unwrap();
}

/// Puts a link to it in its place.
fn linked(path: &Path) {
    let elsewhere = path.with_extension("elsewhere");
    fs::rename(path, &elsewhere).unwrap();
    symlink(elsewhere, path).unwrap();
}

#[test]
fn a_journal_a_lock_and_their_directories_are_ones_own() {
    type Change = fn(&Path);
    let changes: [(Change, &str); 2] = [(open_to_all, "chmod go-w"), (linked, "symbolic link")];
    for (change, words) in changes {
        for place in ["journal", "lock", "project", "sessions", "state"] {
            let (scratch, journal) = kept();
            let path = match place {
                "journal" => journal.clone(),
                "lock" => journal.with_extension("lock"),
                "project" => journal.parent().unwrap().to_path_buf(),
                "sessions" => scratch.path("state").join("sessions"),
                _ => scratch.path("state"),
            };
            change(&path);
            let ended = go_on(&scratch);
            ended.assert_code(52).assert_says(words).assert_says(path.to_str().unwrap());
            if place != "lock" {
                let shown = scratch.ended(&["sessions", "show", "one"]);
                shown.assert_code(52).assert_says(words);
                assert!(!shown.out.contains("One."), "{shown:#?}");
            }
            if place == "state" || place == "sessions" {
                assert_eq!(
                    scratch.ended(&["doctor"]).assert_code(1).out.matches("NOT ").count(),
                    1,
                    "it says so, once"
                );
            }
        }
    }
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    for place in ["journal", "state"] {
        let (scratch, journal) = kept();
        let path = if place == "journal" { journal } else { scratch.path("state") };
        if chown(&path, Some(65_534), None).is_err() {
            // Only root gives files away.
            return;
        }
        go_on(&scratch).assert_code(52).assert_says("another user").assert_says(path.to_str().unwrap());
    }
}

#[test]
fn a_link_that_leads_nowhere_is_not_made_a_file_elsewhere() {
    let (scratch, journal) = kept();
    let elsewhere = scratch.path("home").join("target");
    fs::remove_file(&journal).unwrap();
    symlink(&elsewhere, &journal).unwrap();
    go_on(&scratch).assert_code(52).assert_says("symbolic link");
    assert!(!elsewhere.exists());
}

#[test]
fn a_configuration_that_others_may_write_is_not_read_and_a_link_is() {
    let scratch = Scratch::new();
    scratch.configure("model = \"m\"\n");
    let config = scratch.path("config").join("config.toml");
    linked(&config);
    let model = Model::script([Step::text("One.")]);
    scratch.run(&model, &["-p", "x"]).assert_code(0);
    open_to_all(&config);
    scratch.run(&model, &["-p", "x"]).assert_code(52).assert_says("chmod go-w");
}

#[test]
fn trust_and_audit_records_that_others_may_write_do_not_count() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    scratch.ended(&["trust", "--show"]).assert_code(0);
    let record = fs::read_dir(scratch.path("state").join("trust")).unwrap().next().unwrap().unwrap().path();
    open_to_all(&record);
    scratch.ended(&["trust", "--show"]).assert_code(1);

    let scratch = Scratch::new();
    let model = Model::always(Step::text("Done."));
    let job = |scratch: &Scratch| {
        let mut command = scratch.agent(&["job", "run", "do it"]);
        Running::start(command.args(model.flags(crate::support::Wire::Anthropic))).end()
    };
    job(&scratch).assert_code(0);
    let audit = fs::read_dir(scratch.path("state").join("audit")).unwrap().next().unwrap().unwrap().path();
    linked(&audit);
    let before = fs::read(&audit).unwrap();
    job(&scratch).assert_says("symbolic link");
    assert_eq!(fs::read(&audit).unwrap(), before);
}
