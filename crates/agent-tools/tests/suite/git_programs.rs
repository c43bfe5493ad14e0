//! Git in calls with the `git` door, in a repository whose configuration names programs; and what such a call leaves for the next.

use crate::walls::{Walled, asking, everywhere, git};
use agent_exec::{Access, Mechanism};
use agent_types::git_programs::{Held, PROGRAMS};
use agent_types::tool::ToolStatus;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

fn bubbled() -> impl Iterator<Item = Walled> {
    everywhere(Access::WorkspaceWrite).into_iter().filter(|walled| walled.mechanism == Mechanism::Bubblewrap)
}

/// Gives every setting that is held a program of its own, which leaves a mark where commands can write. Returns the marks' directory.
fn plant(walled: &Walled) -> PathBuf {
    let marks = walled.root().join("marks");
    fs::create_dir(&marks).unwrap();
    for setting in PROGRAMS {
        let is_held = matches!(setting.held, Held::Set(_) | Held::Variable(..));
        if !is_held || setting.key == "core.hooksPath" {
            continue;
        }
        let trap = walled.root().join(format!("trap-{}", setting.key));
        fs::write(&trap, format!("#!/bin/sh\ntouch {}\nexit 1\n", marks.join(setting.key).display())).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        git(&walled.root(), &["config", setting.key, trap.to_str().unwrap()]);
    }
    let hook = walled.root().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", marks.join("core.hooksPath").display())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for (key, value) in [("commit.gpgSign", "true"), ("tag.gpgSign", "true"), ("user.name", "a"), ("user.email", "a@b")]
    {
        git(&walled.root(), &["config", key, value]);
    }
    marks
}

fn marks(directory: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut all: Vec<String> = entries.collect();
    all.sort();
    all
}

#[tokio::test]
async fn no_program_of_a_held_setting_runs_with_open_records() {
    for walled in bubbled() {
        let root = walled.root();
        let directory = plant(&walled);
        fs::write(root.join("file"), "changed\n").unwrap();
        let run = async |command: &str| walled.run(asking(command, &json!({"git": true}))).await;
        let (status, text) = run("git add file && git commit -m 'by the agent'").await;
        assert_eq!(status, ToolStatus::Ok, "{text}");
        assert!(text.contains("not signed, although `commit.gpgSign` is set"), "{text}");
        for command in [
            "git tag -a -m x v1",
            "git tag -a v2",
            "git commit --amend",
            "git log --show-signature",
            "git stash",
            "git rebase --interactive HEAD~1",
            "git add -p",
            "git fetch https://localhost:1/x",
            "git fetch ssh://localhost:1/x",
            "git fetch git://localhost:1/x",
        ] {
            let (_, text) = run(command).await;
            assert!(!text.contains("not run"), "{command}: {text}");
            assert_eq!(marks(&directory), Vec::<String>::new(), "{command}: {text}");
        }
        // Each trap is one, where nothing holds it.
        fs::write(root.join("file"), "changed again\n").unwrap();
        let user = |command: &str| Command::new("bash").args(["-c", command]).current_dir(&root).output().unwrap();
        for command in [
            "git -c commit.gpgSign=false commit --no-verify --allow-empty",
            "git add file; git commit -m x; git commit -S --no-verify -m x; echo y | git add -p",
            "git -c commit.gpgSign=false commit --no-verify -qam x; git -c commit.gpgSign=false rebase -i --root",
            "git fetch ssh://localhost:1/x; git fetch git://localhost:1/x; git -c commit.gpgSign=false commit --no-verify",
            "for format in openpgp x509 ssh; do git -c gpg.format=$format -c user.signingKey=x commit -S --no-verify -m x; done",
            "git -c gpg.format=ssh -c user.signingKey= -c gpg.ssh.program=true commit -S --no-verify -m x",
        ] {
            user(command);
        }
        let ran = marks(&directory);
        for key in
            ["core.fsmonitor", "core.hooksPath", "core.editor", "sequence.editor", "core.sshCommand", "core.gitProxy"]
        {
            assert!(ran.iter().any(|mark| mark == key), "control, {key}: {ran:?}");
        }
        assert!(ran.iter().any(|mark| mark.starts_with("gpg.")), "control: {ran:?}");
    }
}

#[tokio::test]
async fn options_that_start_programs_do_not_get_the_records() {
    for walled in bubbled() {
        for command in [
            "git rebase --exec 'touch x' HEAD~1",
            "git rebase --exe 'touch x' HEAD~1",
            "git rebase -fx 'touch x' HEAD~1",
            "git rebase -x'touch x' HEAD~1",
        ] {
            let said = walled.refused(&json!({"git": true, "reason": "r"}), command);
            assert!(said.contains("runs commands") || said.contains("plain git commands"), "{command}: {said}");
        }
        for command in
            ["git commit -S -m x", "git commit -m x --gpg-sign=key", "git tag -s v1", "git push --signed origin main"]
        {
            let said = walled.refused(&json!({"git": true, "reason": "r"}), command);
            assert!(said.contains("hidden from commands"), "{command}: {said}");
        }
        for command in [
            "git merge -s evil topic",
            "git merge --no-edit -sevil topic",
            "git merge --strategy=evil topic",
            "git merge topic -s",
            "git rebase -is evil HEAD~1",
            "git rebase --strat evil HEAD~1",
            "git pull -s evil",
            "git cherry-pick --strategy evil topic",
            "git revert --strateg=evil HEAD",
        ] {
            let said = walled.refused(&json!({"git": true, "reason": "r"}), command);
            assert!(said.contains("plain git commands"), "{command}: {said}");
        }
        for command in [
            "git rebase HEAD",
            "git commit -s -m x",
            "git commit -ms",
            "git tag v1",
            "git push origin main",
            "git merge --no-edit --stat topic",
            "git merge -m s topic",
        ] {
            let found = walled.bench.inspect("bash", &asking(command, &json!({"git": true})));
            assert!(found.is_ok(), "control, {command}: {found:?}");
        }
    }
}

/// A filter of the configuration runs while git has its records open. What it lays down there is away before anybody's git comes.
#[tokio::test]
async fn links_that_a_filter_laid_down_in_the_records_are_gone_before_the_next_git() {
    for walled in bubbled() {
        let root = walled.root();
        let precious = walled.base().join("precious");
        fs::write(&precious, "mine\n").unwrap();
        let filter = root.join("filter.sh");
        let lines = ["COMMIT_EDITMSG", "FETCH_HEAD"]
            .map(|name| format!("ln -sf {} {}", precious.display(), root.join(".git").join(name).display()));
        fs::write(&filter, format!("#!/bin/sh\n{}\ncat\n", lines.join("\n"))).unwrap();
        fs::set_permissions(&filter, fs::Permissions::from_mode(0o755)).unwrap();
        git(&root, &["config", "filter.evil.clean", filter.to_str().unwrap()]);
        fs::write(root.join(".gitattributes"), "file filter=evil\n").unwrap();
        fs::write(root.join("file"), "changed\n").unwrap();
        let (_, text) = walled.run(asking("git add file", &json!({"git": true}))).await;
        assert!(text.contains("`.git/COMMIT_EDITMSG` is a symbolic link") && text.contains("FETCH_HEAD"), "{text}");
        git(&root, &["-c", "filter.evil.clean=cat", "commit", "-qm", "by the user"]);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine\n");
        // Without the look afterwards, the user's git writes through the link.
        fs::remove_file(root.join(".git/COMMIT_EDITMSG")).unwrap();
        symlink(&precious, root.join(".git/COMMIT_EDITMSG")).unwrap();
        let (status, text) = walled.run(asking("git branch side", &json!({"git": true}))).await;
        assert!(status == ToolStatus::Failed && text.contains("COMMIT_EDITMSG"), "a later door is not opened: {text}");
        git(&root, &["-c", "filter.evil.clean=cat", "commit", "-q", "--allow-empty", "-m", "control"]);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "control\n", "control");
    }
}
