//! The same inside of a container: this program runs its own tests again in another pid namespace.

use std::process::{Command, Stdio};

#[test]
fn where_our_session_is_outside_of_the_pid_namespace() {
    in_namespace(&["--pid", "--fork", "--mount-proc"], &["trees::", "running::"]);
}

/// Only process groups can be found there; nothing that `/proc` shows may be taken for ours.
#[test]
fn where_the_process_table_is_another_namespaces() {
    let without_daemons = [
        "running::exits_are_told_apart",
        "running::outputs_are_separate_or_in_order",
        "running::endless_output_is_bounded",
        "trees::a_command_without_background_leaves_nothing_to_end",
    ];
    in_namespace(&["--pid", "--fork"], &without_daemons);
}

#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
fn in_namespace(options: &[&str], tests: &[&str]) {
    let unshare = |program: &std::path::Path, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.arg("--map-root-user").args(options).arg(program).args(arguments).stdin(Stdio::null());
        command
    };
    let possible = unshare("true".as_ref(), &[]).output().is_ok_and(|output| output.status.success());
    if !possible {
        println!("skipped: this machine does not let us make a namespace with unshare {options:?}");
        return;
    }
    let output = unshare(&std::env::current_exe().unwrap(), tests).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("running 0 tests"), "{printed}");
}
