//! Becomes a program within bubblewrap, under Landlock.
//!
//! A process under Landlock may not mount, so this cannot be done before `bwrap`. The helper's program is not looked up here, where its file may not
//! be seen: `launch` hands over a descriptor of it.

use super::arguments::Arguments;
use super::launch::failed;
use crate::sandbox::landlock::{self, Reach};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// Returns only when the program could not be started, with what a shell would say.
pub(super) fn run(mut arguments: Arguments) -> ExitCode {
    let (Some(writable), Some(program)) = (arguments.list(), arguments.next()) else {
        return failed("the helper was called wrongly");
    };
    // The descriptor of the helper's program, above all.
    close_fds::set_fds_cloexec(3, &[]);
    if let Err(what) = landlock::confine(&Reach::InNamespaces { writable: &writable }) {
        return failed(&what);
    }
    let error = Command::new(&program).args(arguments.rest()).exec();
    failed(&format!("start {}: {error}", program.display()))
}
