//! The example that shows how to embed the runner is run, and is as short as it says.

use std::process::Command;

#[test]
fn the_example_of_embedding_runs() {
    // Cargo builds examples beside the tests and puts them there.
    let test = std::env::current_exe().unwrap();
    let example = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples")
        .join(format!("embed{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&example).output().unwrap_or_else(|error| {
        panic!("{}: {error}; a plain `cargo test -p agent-runner` builds it", example.display())
    });
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("ToolFinished") && shown.ends_with("Success: 4 words.\n"), "{shown}");
}

#[test]
fn it_takes_less_than_sixty_lines_of_code() {
    let source = include_str!("../../examples/embed.rs");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    assert!(source.lines().filter(is_code).count() < 60, "{}", source.lines().filter(is_code).count());
}
