//! What lies in a workspace does not hold up a session that begins.

use super::tests::{found, git, programs, relative, tree};
use super::*;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// What a repository holds does not hold up a session: a pipe in the place of its configuration is not waited for, nor a file read that has
/// no end.
#[test]
fn what_git_would_wait_for_is_not_asked_and_said() {
    let (_root, root) = tree(&["x"]);
    git(&root, &["init", "--quiet"]);
    for number in 0..6 {
        let sub = root.join(format!("s{number}\nagent: all is well"));
        fs::create_dir(&sub).unwrap();
        git(&sub, &["init", "--quiet"]);
        fs::remove_file(sub.join(".git/config")).unwrap();
        assert!(Command::new("mkfifo").arg(sub.join(".git/config")).status().unwrap().success());
    }
    let (_, notes) = found(&root, &[]);
    let of = |text: &str| notes.iter().filter(|note| note.contains(text)).count();
    assert_eq!((of("is not a regular file"), of("did not answer")), (3, 0), "{notes:?}");
    assert_eq!(of("the git configuration of 3 repositories"), 1, "{notes:?}");
    // A name that somebody chose begins no row of its own.
    assert!(of("\\nagent: all is well") > 0 && of("\nagent") == 0, "{notes:?}");

    fs::File::create(root.join(".git/commondir")).unwrap().set_len(1 << 40).unwrap();
    let (settings, notes) = found(&root, &[]);
    assert!(settings.hooks.is_empty() && notes.iter().any(|note| note.contains("1099511627776 bytes")), "{notes:?}");
    fs::remove_file(root.join(".git/index")).unwrap_or_default();
    assert!(Command::new("mkfifo").arg(root.join(".git/index")).status().unwrap().success());
    let warning = Protection::find(&root, &programs(&root)).warning().unwrap();
    assert!(warning.contains("the submodules are unknown") && !warning.contains("answer"), "{warning}");
}

/// However many repositories there are, the questions about them end.
#[test]
fn when_the_time_for_questions_is_over_the_rest_is_said() {
    let (_root, root) = tree(&["x"]);
    git(&root, &["init", "--quiet"]);
    git(&root, &["config", "core.hooksPath", "hk"]);
    let ask = |patience| settings::asked(&root, &programs(&root), &[], Vec::new(), patience);
    let (settings, notes) = ask(Duration::ZERO);
    assert!(settings.hooks.is_empty(), "{settings:?}");
    assert!(notes.iter().any(|note| note.contains("the time for queries to git")), "{notes:?}");
    let (settings, _) = ask(Duration::from_secs(60));
    assert_eq!(relative(&root, settings.hooks), ["hk"], "the control");
}
