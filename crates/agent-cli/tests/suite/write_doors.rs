//! The door for writing, as a person meets it: what was shown is what is opened, and what other programs act on in it stays as it is.

use crate::support::{Model, Running, Scratch, Wire, has_any_sandbox, has_bubblewrap};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

fn opening(command: &str, path: &Path) -> Step {
    let sandbox = json!({"write": [path], "reason": "the task needs it"});
    Step::call("bash", json!({ "command": command, "sandbox": sandbox }))
}

/// Asks, does something meanwhile, says yes, and returns what the model was told.
fn allowed(scratch: &Scratch, command: &str, path: &Path, meanwhile: impl FnOnce()) -> String {
    let model = Model::script([opening(command, path), Step::text("So be it.")]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("asked because it asks to write");
    meanwhile();
    running.write("y\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0);
    model.last_body()["messages"].to_string()
}

#[test]
fn what_is_replaced_between_the_question_and_the_answer_is_not_written() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = Scratch::repository_in("/var/tmp");
    let (given, precious) = (scratch.path("given"), scratch.path("precious"));
    for directory in [&given, &precious] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(precious.join("file"), "before\n").unwrap();
    let command = format!("echo after > {}/file", given.display());
    let told = allowed(&scratch, &command, &given, || {
        fs::rename(&given, scratch.path("was")).unwrap();
        fs::rename(&precious, &given).unwrap();
    });
    assert!(told.contains("was replaced after the question"), "{told}");
    assert_eq!(fs::read_to_string(given.join("file")).unwrap(), "before\n");
    allowed(&scratch, &command, &given, || {});
    assert_eq!(fs::read_to_string(given.join("file")).unwrap(), "after\n", "control");
}

/// A repository with a worktree or without, at any depth, and one that a command makes of four files.
#[test]
fn a_write_door_changes_no_repository_and_what_becomes_one_is_set_aside() {
    if !has_bubblewrap() {
        return;
    }
    let scratch = Scratch::repository_in("/var/tmp");
    let given = scratch.path("given");
    let prepare = || {
        let _ = fs::remove_dir_all(&given);
        fs::create_dir_all(given.join("deep/er")).unwrap();
        for (name, bare) in [("deep/er/store", "--bare"), ("deep/tree", "--quiet")] {
            scratch.git(&["init", "--quiet", bare, given.join(name).to_str().unwrap()]);
        }
    };
    let command = format!(
        "cd {}/deep; echo x >> er/store/config; echo x > er/store/hooks/post-receive; echo x >> tree/.git/config; \
         mv er/store moved; mkdir -p made/objects made/refs && echo 'ref: refs/heads/x' > made/HEAD && echo '[core]' > made/config; \
         echo x > free",
        given.display()
    );
    let changed =
        |name: &str| fs::read_to_string(given.join("deep").join(name)).is_ok_and(|text| text.ends_with("x\n"));
    let is_repository = || {
        let made = given.join("deep/made");
        let git = Command::new("git").args(["rev-parse", "--is-bare-repository"]).current_dir(made).output().unwrap();
        git.status.success()
    };
    prepare();
    let told = allowed(&scratch, &command, &given, || {});
    for name in ["er/store/config", "er/store/hooks/post-receive", "tree/.git/config"] {
        assert!(!changed(name), "{name}: {told}");
    }
    // What is copied from it becomes none.
    assert!(changed("free") && !given.join("deep/moved/HEAD").exists(), "{told}");
    assert!(told.contains("HEAD.set-aside-") && !is_repository(), "{told}");
    prepare();
    Command::new("bash").args(["-c", &command]).status().unwrap();
    assert!(changed("moved/config") && changed("moved/hooks/post-receive") && changed("tree/.git/config"), "control");
    assert!(is_repository(), "control");
}

#[test]
fn a_write_door_tells_what_other_programs_run_of_what_came() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = Scratch::repository_in("/var/tmp");
    let given = scratch.path("given");
    fs::create_dir_all(given.join("sub")).unwrap();
    for more in [&[][..], &["--sandbox", "read-only"]] {
        let model = Model::script([
            opening(&format!("echo x > {}/sub/.envrc; echo x > {0}/plain", given.display()), &given),
            Step::text("So be it."),
        ]);
        let mut running = Running::start(scratch.agent(more).args(model.flags(Wire::Anthropic)));
        running.write("go\n");
        running.wait_for("asked because it asks to write");
        running.write("y\n");
        running.wait_for("So be it.");
        running.close_stdin();
        let told = running.end();
        told.assert_code(0);
        assert!(told.err.contains(".envrc"), "{told:#?}");
        let told = model.last_body()["messages"].to_string();
        assert!(told.contains("new or changed while commands ran") && told.contains("sub/.envrc"), "{more:?}: {told}");
        fs::remove_file(given.join("sub/.envrc")).unwrap();
    }
}
