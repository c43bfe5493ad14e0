//! The tests that hold what a seed says in sentences: each is there, once, and runs.
//!
//! A test is called by its name where only one test has it, otherwise `file::name`, with as much of the file's path as is needed; a
//! scenario by its title.

use crate::data::{SEED_000, SEED_001, SEED_002, SEED_003, SEED_004};
use crate::page::root;
use crate::seed::Held;
use std::path::Path;
use std::{fs, io};

/// A file's path below the root, without its ending, and its text.
struct Source {
    path: String,
    is_code: bool,
    text: String,
}

#[test]
fn every_test_that_holds_a_sentence_is_there() {
    let mut sources = Vec::new();
    let tested =
        ["agent-core", "agent-types", "agent-check", "agent-runner/tests"].map(|name| format!("crates/{name}"));
    for directory in tested.iter().map(String::as_str).chain(["xtask/src"]) {
        read_all(&root().join(directory), directory, &mut sources).unwrap();
    }
    let said = [SEED_000.said, SEED_001.said, SEED_002.said, SEED_003.said, SEED_004.said];
    let mut wrong = Vec::new();
    for said in said.into_iter().flatten() {
        let (Held::By(tests) | Held::Otherwise(_, tests)) = &said.held;
        assert!(!tests.is_empty() || matches!(said.held, Held::Otherwise(..)), "nothing holds `{}`", said.what);
        for test in *tests {
            let found = holders(&sources, test);
            if found.len() != 1 {
                wrong.push(format!("`{}` is held by `{test}`, which is in {found:?}", said.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files with such a test or such a scenario.
fn holders<'a>(sources: &'a [Source], test: &str) -> Vec<&'a str> {
    let (file, name) = if test.contains(' ') { ("", test) } else { test.rsplit_once("::").unwrap_or(("", test)) };
    let is_of = |path: &str| file.is_empty() || path == file || path.ends_with(&format!("/{file}"));
    let holds = |source: &&Source| {
        is_of(&source.path)
            && if source.is_code {
                runs_a_test(&source.text, name)
            } else {
                source.text.lines().any(|line| line.strip_prefix("== ") == Some(name))
            }
    };
    sources.iter().filter(holds).map(|source| source.path.as_str()).collect()
}

/// Whether a function of this name stands under `#[test]` and is not ignored; a helper that is called so holds nothing by itself.
fn runs_a_test(text: &str, name: &str) -> bool {
    text.match_indices(&format!("fn {name}(")).any(|(at, _)| {
        let above = text[..at].rsplit('\n').map(str::trim);
        let attributes = above.skip(1).take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let attributes: Vec<&str> = attributes.filter(|line| line.starts_with("#[")).collect();
        let is_test = attributes.iter().any(|line| *line == "#[test]" || line.starts_with("#[tokio::test"));
        is_test && !attributes.iter().any(|line| line.starts_with("#[ignore"))
    })
}

#[test]
fn a_helper_and_an_ignored_test_hold_nothing() {
    let text = "#[test]\n#[expect(x)]\nfn held() {}\n\nfn helper() {}\n    #[test]\n    fn inner(a in 0..1) {}\n\
                #[test]\n#[ignore = \"slow\"]\nfn ignored() {}\n#[ignore]\n/// Why.\n#[test]\nfn ignored_too() {}\n";
    let runs = |name: &&str| runs_a_test(text, name);
    let names = ["held", "helper", "inner", "ignored", "ignored_too", "nowhere"];
    assert_eq!(names.iter().filter(|name| runs(name)).collect::<Vec<_>>(), [&"held", &"inner"]);
}

#[test]
fn a_name_that_two_tests_have_is_none_without_its_file() {
    let source = |path: &str, is_code, text: &str| Source { path: path.into(), is_code, text: text.into() };
    let held = "#[test]\nfn held() {}\n";
    let sources = [
        source("tests/job/pairs", true, held),
        source("tests/session/pairs", true, held),
        source("tests/session/scenarios/all", false, "== it is held\n> input go\n"),
    ];
    assert_eq!(holders(&sources, "held").len(), 2);
    assert_eq!(holders(&sources, "pairs::held").len(), 2);
    assert_eq!(holders(&sources, "session/pairs::held"), ["tests/session/pairs"]);
    assert_eq!(holders(&sources, "ession/pairs::held"), [""; 0], "no part of a name");
    assert_eq!(holders(&sources, "it is held"), ["tests/session/scenarios/all"]);
    assert_eq!(holders(&sources, "it is not held"), [""; 0]);
}

fn read_all(directory: &Path, shown: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().display();
        let shown = format!("{shown}/{name}");
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            read_all(&path, &shown, sources)?;
        } else if let Some("rs" | "txt") = ending {
            sources.push(Source { path: shown, is_code: ending == Some("rs"), text: fs::read_to_string(path)? });
        }
    }
    Ok(())
}
