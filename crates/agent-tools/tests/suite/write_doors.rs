//! The door for writing: what is opened is what was there when the question was made. Each attack succeeds when it is made before the
//! question, which shows that nothing else holds it.

use crate::walls::{Walled, asking, everywhere, git};
use agent_exec::Access;
use agent_types::tool::{Effect, Opening, ToolStatus, Walls};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn opening(walled: &Walled, arguments: &Value) -> Opening {
    match walled.walls(arguments) {
        Walls::Opened(opening) => *opening,
        other => panic!("{other:?}"),
    }
}

/// What puts something else at a path: what was there before is not destroyed.
type Replacing = fn(&Path, &Path);

const REPLACEMENTS: [(&str, Replacing); 3] = [
    ("another directory is renamed to it", |at, victim| {
        fs::rename(at, at.with_extension("was")).unwrap();
        fs::rename(victim, at).unwrap();
    }),
    ("a new directory is made", |at, _| {
        fs::rename(at, at.with_extension("was")).unwrap();
        fs::create_dir(at).unwrap();
    }),
    ("both change places", |at, victim| {
        let directory = fs::File::open(at.parent().unwrap()).unwrap();
        let names = [at, victim].map(|path| path.file_name().unwrap());
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(&directory, names[0], &directory, names[1], flags).unwrap();
    }),
];

#[tokio::test]
async fn what_was_replaced_after_the_question_is_not_opened() {
    for (what, replace) in REPLACEMENTS {
        for walled in everywhere(Access::WorkspaceWrite) {
            let mechanism = walled.mechanism;
            let (at, victim) = (walled.base().join("beside"), walled.base().join("victim"));
            fs::create_dir(&victim).unwrap();
            fs::write(victim.join("precious"), "before\n").unwrap();
            let arguments = asking(
                &format!("echo after > {}/precious", at.display()),
                &json!({"write": [at.display().to_string()]}),
            );
            let decided = opening(&walled, &arguments);
            replace(&at, &victim);
            let call = |opening| walled.bench.call_decided("bash", arguments.clone(), Effect::Changes, Some(opening));
            let outcome = call(decided).await;
            assert_eq!(outcome.status, ToolStatus::Failed, "{mechanism:?}: {what}: {outcome:?}");
            assert!(outcome.content.contains("was replaced after the question"), "{what}: {outcome:?}");
            let written = || fs::read_to_string(at.join("precious")).is_ok_and(|text| text == "after\n");
            assert!(!written(), "{mechanism:?}: {what}");
            let outcome = call(opening(&walled, &arguments)).await;
            assert!(outcome.status == ToolStatus::Ok && written(), "control, {mechanism:?}: {what}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_call_opens_nothing_that_was_not_decided_about() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let beside = walled.base().join("beside").display().to_string();
        let arguments = asking(&format!("echo x > {beside}/new"), &json!({"write": [beside]}));
        let other = opening(&walled, &asking("true", &json!({"network": true})));
        for decided in [None, Some(other)] {
            let outcome = walled.bench.call_decided("bash", arguments.clone(), Effect::Changes, decided).await;
            assert!(outcome.content.contains("other doors were decided about"), "{outcome:?}");
        }
        // A journal of an earlier version does not say what was there.
        let unmarked = Opening { places: Vec::new(), ..opening(&walled, &arguments) };
        let outcome = walled.bench.call_decided("bash", arguments.clone(), Effect::Changes, Some(unmarked)).await;
        assert_eq!(outcome.status, ToolStatus::Failed, "{outcome:?}");
        assert!(!walled.base().join("beside/new").exists());
        assert_eq!(walled.run(arguments).await.0, ToolStatus::Ok, "control");
    }
}

#[tokio::test]
async fn a_bare_repository_is_not_opened_nor_a_directory_in_it() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let bare = walled.base().join("store");
        git(&walled.root(), &["init", "-q", "--bare", bare.to_str().unwrap()]);
        for path in [bare.clone(), bare.join("hooks"), bare.join("objects/info")] {
            let error = walled.refused(&json!({"write": [path], "reason": "r"}), "ls");
            assert!(error.contains("git's own data"), "{path:?}: {error}");
        }
        fs::remove_file(bare.join("HEAD")).unwrap();
        opening(&walled, &asking("ls", &json!({"write": [bare]})));
    }
}

/// What is written by one name of a file changes what all its names show.
#[tokio::test]
async fn a_file_with_another_name_is_not_opened() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let (file, other) = (walled.base().join("notes"), walled.base().join("other"));
        fs::write(&file, "mine\n").unwrap();
        opening(&walled, &asking("ls", &json!({"write": [file]})));
        fs::hard_link(&file, &other).unwrap();
        for path in [&file, &other] {
            let error = walled.refused(&json!({"write": [path], "reason": "r"}), "ls");
            assert!(error.contains("a hard link"), "{path:?}: {error}");
        }
    }
}
