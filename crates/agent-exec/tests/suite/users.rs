//! The same as an ordinary user: root may do what others may not, and is refused less.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

#[test]
fn all_of_it_as_an_ordinary_user() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("skipped: this is an ordinary user already");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let as_nobody = |program: &std::ffi::OsStr| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).stdin(Stdio::null());
        command
    };
    // The program, and what it starts, lie where others may not go in some checkouts; some containers have no other user.
    let can_start = as_nobody(own.as_os_str()).arg("--list").output().is_ok_and(|output| output.status.success());
    let helper = std::path::Path::new(env!("CARGO_BIN_EXE_agent-exec-helper"));
    let can_help = as_nobody(helper.as_os_str()).output().is_ok_and(|output| output.status.code() == Some(2));
    if !can_start || !can_help {
        println!("skipped: nobody else may start the test programs, or there is no setpriv or no other user");
        return;
    }
    let output = as_nobody(own.as_os_str()).args(["hostile::", "sandbox::", "trees::", "running::"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("running 0 tests"), "{printed}");
}
