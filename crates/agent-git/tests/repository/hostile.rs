//! Repositories that want to run something. Each trap leaves a canary file when it runs; a positive control shows that it would.

use super::support::{Agent, Repo};
use std::fs;
use std::path::PathBuf;

/// Plants every trap that git knows, and returns the canary.
fn plant(repo: &Repo) -> PathBuf {
    let root = repo.directory.path().canonicalize().unwrap();
    let canary = root.join("canary");
    let trap = root.join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\n", canary.display())).unwrap();
    make_executable(&trap);
    let trap = trap.to_str().unwrap();
    for name in [
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "credential.helper",
        "gpg.program",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "core.askPass",
        "core.alternateRefsCommand",
    ] {
        repo.git(&["config", name, trap]);
    }
    for (name, value) in [("commit.gpgSign", "true"), ("log.showSignature", "true"), ("core.splitIndex", "true")] {
        repo.git(&["config", name, value]);
    }
    for hook in [
        "pre-commit",
        "post-commit",
        "commit-msg",
        "prepare-commit-msg",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
    ] {
        let path = repo.project.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(trap, &path).unwrap();
        make_executable(&path);
    }
    drop(fs::remove_file(&canary));
    canary
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn nothing_that_the_repository_chooses_is_run() {
    for (attributes, committed) in
        [("", true), ("* diff=evil merge=evil\n", true), ("* filter=evil diff=evil\n", false)]
    {
        let Some(repo) = Repo::new() else { return };
        let canary = plant(&repo);
        repo.write(".gitattributes", attributes);
        let agent = repo.agent();
        agent.change("a.rs", Some("a2\n"));
        agent.change("new.rs", Some("new\n"));
        // A commit by somebody else, made without running the traps, is news.
        let other =
            repo.git(&["-c", "core.fsmonitor=false", "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other"]);
        fs::write(repo.project.join(".git/refs/heads/main"), other).unwrap();
        drop(fs::remove_file(&canary));
        assert_eq!(agent.check(&["a.rs", "new.rs"]).commits.len(), 1);
        let report = agent.try_commit(&["a.rs", "new.rs"]).unwrap();
        assert_eq!(report.commit.is_some(), committed, "{report:?}");
        assert!(!canary.exists(), "{}", fs::read_to_string(&canary).unwrap());
        // The control: the user's own git does run them.
        repo.try_git(&["status"]);
        assert!(canary.exists(), "the traps are no traps");
    }
}

/// A partial clone fetches what it misses, by the program its remote names.
#[test]
fn a_missing_object_is_not_fetched() {
    let Some(repo) = Repo::new() else { return };
    let canary = plant(&repo);
    let trap = repo.directory.path().join("trap.sh");
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{} %S", trap.display())),
        ("protocol.ext.allow", "always"),
    ] {
        repo.git(&["config", name, value]);
    }
    let tree = repo.git(&["-c", "core.fsmonitor=false", "rev-parse", "HEAD^{tree}"]);
    let tree = tree.trim();
    fs::remove_file(repo.project.join(".git/objects").join(&tree[..2]).join(&tree[2..])).unwrap();
    drop(fs::remove_file(&canary));
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let error = agent.try_commit(&["a.rs"]).unwrap_err();
    assert!(!canary.exists(), "{error}: {}", fs::read_to_string(&canary).unwrap());
    repo.try_git(&["-c", "core.fsmonitor=false", "ls-tree", "HEAD"]);
    assert!(canary.exists(), "the trap is no trap");
}

/// Replacement objects and grafts change what history is, not what is committed.
#[test]
fn replaced_objects_are_not_taken_for_the_real_ones() {
    let Some(repo) = Repo::new() else { return };
    let real = repo.git(&["rev-parse", "HEAD:a.rs"]);
    repo.write("evil", "evil\n");
    let evil = repo.git(&["hash-object", "-w", "evil"]);
    fs::remove_file(repo.project.join("evil")).unwrap();
    repo.git(&["replace", real.trim(), evil.trim()]);
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
}

/// Programs of the user's own configuration are not run either: a commit of the agent is not the place for them.
#[test]
fn the_users_own_hooks_and_filters_are_not_run() {
    let Some(repo) = Repo::new() else { return };
    let canary = repo.directory.path().join("canary");
    let hooks = repo.home().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::write(hooks.join("reference-transaction"), format!("#!/bin/sh\ntouch '{}'\n", canary.display())).unwrap();
    make_executable(&hooks.join("reference-transaction"));
    let config = repo.home().join(".gitconfig");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, format!("{text}[core]\nhooksPath = {}\n", hooks.display())).unwrap();
    let agent: Agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
    assert!(!canary.exists());
    repo.git(&["commit", "-q", "--allow-empty", "-m", "control"]);
    assert!(canary.exists(), "the trap is no trap");
}

/// Looking into a submodule runs what the submodule configures, so nobody looks there.
#[test]
fn a_dirty_submodule_runs_nothing() {
    let (Some(repo), Some(inner)) = (Repo::new(), Repo::new()) else { return };
    let from = inner.project.to_str().unwrap();
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    repo.git(&["commit", "-qm", "submodule"]);
    let canary = repo.directory.path().canonicalize().unwrap().join("canary");
    let trap = repo.directory.path().join("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", canary.display())).unwrap();
    make_executable(&trap);
    for name in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.evil.textconv"] {
        repo.git(&["-C", "sub", "config", name, trap.to_str().unwrap()]);
    }
    repo.write("sub/.gitattributes", "* filter=evil diff=evil\n");
    repo.write("sub/a.rs", "dirty\n");
    drop(fs::remove_file(&canary));
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    agent.change("sub/b.rs", Some("b2\n"));
    let report = agent.finish(&["a.rs", "sub/b.rs"]);
    assert!(report.commit.is_some() && report.notes[0].contains("sub/b.rs was not committed"), "{report:?}");
    assert_eq!(repo.last_commit(), "fix: fix it\nM\ta.rs\n");
    assert!(!canary.exists());
    repo.try_git(&["status"]);
    assert!(canary.exists(), "the trap is no trap");
}

/// Keys of git with a word in their names that programs have. Git's list of its settings says nothing about what they are for.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "command", "cmd", "program", "editor", "pager", "askpass", "hook", "textconv", "clean", "smudge", "process", "vcs", "fsmonitor", "external",
    "uploadpack", "receivepack", "helper", "driver", "tunnel", "browser", "viewer", "httpd", "proxy", "filter", "exec", ".path", "smtpserver",
    "alias", "update",
];
/// With such a word, and no program: numbers, choices, names of files that are read.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "advice.fetchShowForcedUpdates", "advice.ignoredHook", "advice.pushRefNeedsUpdate", "advice.pushUpdateRejected",
    "advice.submodulesNotUpdated", "advice.updateSparsePath", "advice.waitingForEditor", "clean.requireForce", "color.pager",
    "color.status.updated", "column.clean", "commit.cleanup", "commitGraph.maxNewFilters", "completion.commands",
    "core.fsmonitorHookVersion", "core.logAllRefUpdates", "diff.<driver>.binary", "diff.<driver>.cachetextconv",
    "diff.<driver>.trustExitCode", "diff.<driver>.wordRegex", "diff.<driver>.xfuncname", "fetch.showForcedUpdates",
    "fsck.gitmodulesUpdate", "fsmonitor.allowRemote", "fsmonitor.socketDir", "gc.repackFilter", "gc.repackFilterTo", "gitcvs.dbDriver",
    "http.proxy", "http.proxyAuthMethod", "http.proxySSLCAInfo", "http.proxySSLCert", "http.proxySSLCertPasswordProtected",
    "http.proxySSLKey", "include.path", "includeIf.<condition>.path", "merge.<driver>.name", "merge.<driver>.recursive",
    "notes.rewrite.<command>", "rebase.abbreviateCommands", "rebase.rescheduleFailedExec", "rebase.updateRefs",
    "receive.fsck.gitmodulesUpdate", "receive.shallowUpdate", "receive.updateServerInfo", "remote.<name>.partialclonefilter",
    "remote.<name>.proxy", "remote.<name>.proxyAuthMethod", "remote.<name>.skipDefaultUpdate", "repack.updateServerInfo",
    "rerere.autoUpdate", "sendemail.aliasFileType", "sendemail.aliasesFile", "sendemail.smtpServerOption", "sendemail.smtpServerPort",
    "uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter", "uploadpack.allowReachableSHA1InWant", "uploadpack.allowRefInWant",
    "uploadpack.allowTipSHA1InWant", "uploadpack.hideRefs", "uploadpack.keepAlive", "uploadpackfilter.<filter>.allow",
    "uploadpackfilter.allow", "uploadpackfilter.tree.maxDepth",
];

/// A later git may know more of them; then this test names the new ones.
#[test]
fn every_setting_of_git_that_starts_a_program_is_in_the_table() {
    use agent_types::git_programs::PROGRAMS;
    let Ok(said) = std::process::Command::new("git").args(["help", "--config"]).output() else { return };
    let text = String::from_utf8(said.stdout).unwrap();
    let is_listed = |key: &str| PROGRAMS.iter().any(|setting| setting.key.eq_ignore_ascii_case(key));
    let tells = |key: &str| TELLING.iter().any(|word| key.to_ascii_lowercase().contains(word));
    let is_harmless = |key: &str| HARMLESS.iter().any(|known| key.eq_ignore_ascii_case(known));
    let keys: Vec<&str> = text.lines().filter(|line| line.contains('.') && !line.contains(' ')).collect();
    let unknown: Vec<&&str> = keys.iter().filter(|key| tells(key) && !is_listed(key) && !is_harmless(key)).collect();
    assert!(unknown.is_empty(), "start they a program? {unknown:?}");
    assert!(keys.len() > 500 && keys.iter().filter(|key| is_listed(key)).count() > 30, "git's list is not what it was");
}

#[test]
fn a_wish_for_signatures_is_said_once_and_starts_no_program() {
    let Some(repo) = Repo::new() else { return };
    let canary = plant(&repo);
    repo.git(&["config", "gpg.openpgp.program", repo.directory.path().join("trap.sh").to_str().unwrap()]);
    drop(fs::remove_file(&canary));
    let agent = repo.agent();
    let mut said = Vec::new();
    for text in ["a2\n", "a3\n"] {
        agent.change("a.rs", Some(text));
        let report = agent.try_commit(&["a.rs"]).unwrap();
        assert!(report.commit.is_some(), "{report:?}");
        said.extend(report.notes.into_iter().filter(|note| note.contains("not signed")));
    }
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(!canary.exists(), "{}", fs::read_to_string(&canary).unwrap());
    repo.try_git(&[
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "-S",
        "--allow-empty",
        "-m",
        "x",
    ]);
    assert!(canary.exists(), "the trap is no trap");
}
