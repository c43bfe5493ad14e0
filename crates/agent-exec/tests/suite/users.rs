//! The same as an ordinary user: root may do what others may not, and is refused less.

use crate::support::HELPER_COPY;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn all_of_it_as_an_ordinary_user() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("skipped: this is an ordinary user already");
        return;
    }
    // Programs are built where others may not go, in some checkouts.
    let open_to_all = Permissions::from_mode(0o755);
    let directory = tempfile::Builder::new().permissions(open_to_all).tempdir_in("/var/tmp").unwrap();
    let [own, helper] = ["suite", "helper"].map(|name| directory.path().join(name));
    copy_program(std::env::current_exe().unwrap(), &own);
    copy_program(env!("CARGO_BIN_EXE_agent-exec-helper").into(), &helper);
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&own).args(arguments);
        command.env(HELPER_COPY, &helper).current_dir("/").stdin(Stdio::null());
        command.output()
    };
    if !as_nobody(&["--list"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no setpriv, or no other user");
        return;
    }
    let output =
        as_nobody(&["hostile::", "sandbox::", "depth::", "trees::", "running::", "places::", "ways::"]).unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("running 0 tests"), "{printed}");
}

/// Another program copies: a file that this process holds open for writing, and with it whatever another test starts meanwhile, is busy.
fn copy_program(from: PathBuf, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}
