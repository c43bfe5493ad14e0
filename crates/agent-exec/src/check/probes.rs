//! The probes: what is tried, and what should come of it.
//!
//! A new one is a row of [`PROBES`] and a function in `attempts.rs`. Where it has something to spoil, `canaries.rs` lays that, looks at it
//! afterwards, and hands over its name.

use super::attempts::{self, Surroundings};
use std::io;
use std::time::Duration;

/// One thing to be tried.
pub(super) struct Probe {
    pub(super) id: &'static str,
    /// Fits after "a command can".
    pub(super) what: &'static str,
    pub(super) expectation: Expectation,
    /// How long its effect may take to be seen.
    pub(super) patience: Duration,
    pub(super) attempt: fn(&Surroundings) -> io::Result<()>,
}

/// What should come of it in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// It fails.
    Fails,
    /// It may seem to succeed, but nothing is seen of it outside.
    LeavesNoTrace,
    /// It succeeds, and no sandbox here can hold it; users learn of it. It counts as neither good nor bad.
    Known,
    /// It succeeds: a sandbox in which nothing works holds nothing worth holding.
    Works,
}

const fn fails(id: &'static str, what: &'static str, attempt: fn(&Surroundings) -> io::Result<()>) -> Probe {
    Probe { id, what, expectation: Expectation::Fails, patience: Duration::ZERO, attempt }
}

const fn no_trace(id: &'static str, what: &'static str, attempt: fn(&Surroundings) -> io::Result<()>) -> Probe {
    Probe { id, what, expectation: Expectation::LeavesNoTrace, patience: Duration::from_millis(50), attempt }
}

const fn works(id: &'static str, what: &'static str, attempt: fn(&Surroundings) -> io::Result<()>) -> Probe {
    Probe { id, what, expectation: Expectation::Works, patience: Duration::ZERO, attempt }
}

pub(super) const PROBES: &[Probe] = &[
    works("write-workspace", "write in the workspace", attempts::write_workspace),
    works("write-temporary", "write in its temporary directory", attempts::write_temporary),
    works("run-programs", "run other programs", attempts::run_programs),
    fails("create-outside", "create a file outside the workspace", attempts::create_outside),
    fails("change-outside", "change a file outside", attempts::change_outside),
    fails("delete-outside", "delete a file outside", attempts::delete_outside),
    fails("move-outside", "move a file from outside into the workspace", attempts::move_outside),
    fails("link-outside", "write to a file outside through a hard link", attempts::hard_link),
    Probe {
        expectation: Expectation::Known,
        ..works(
            "link-made-before",
            "write to a file outside through an existing hard link",
            attempts::hard_link_made_before,
        )
    },
    fails("named-pipe", "write to a named pipe outside", attempts::named_pipe),
    fails("set-id-file", "create a set-user-id file", attempts::set_id_file),
    fails("read-hidden", "read what is hidden, such as keys", attempts::read_hidden),
    fails("lock-hidden", "lock another session", attempts::lock_hidden),
    fails("through-link", "write to a file outside through a symbolic link", attempts::symbolic_link),
    fails("directory-outside", "create a directory outside", attempts::directory_outside),
    fails("mode-outside", "change the permissions of a file outside", attempts::mode_outside),
    fails("times-outside", "change the times of a file outside", attempts::times_outside),
    fails("git-config", "change the repository's configuration", attempts::git_config),
    fails("git-hook", "plant a git hook", attempts::git_hook),
    fails("git-replaced", "replace the repository's .git", attempts::git_replaced),
    fails("agent-config", "change the agent's configuration", attempts::agent_config),
    no_trace("git-made", "leave a new repository in the workspace", attempts::git_made),
    no_trace("agent-made", "leave a new agent configuration in the workspace", attempts::agent_made),
    no_trace("shared-temporary", "leave a file in the shared /tmp", attempts::shared_temporary),
    fails("read-temporary", "read other programs' files in /tmp", attempts::read_temporary),
    fails("tcp", "connect to a server on this machine", attempts::tcp),
    no_trace("udp", "send a datagram to this machine", attempts::udp),
    fails("unix-socket", "talk to a service over a Unix socket", attempts::unix_socket),
    fails("unix-datagram", "send to a service over a Unix socket", attempts::unix_datagram),
    fails("abstract-socket", "talk to a service over an abstract Unix socket", attempts::abstract_socket),
    fails("vsock", "reach the host of this virtual machine", attempts::vsock),
    fails("see-processes", "see other processes", attempts::see_processes),
    fails("read-environment", "read the environment of another process", attempts::read_environment),
    fails("read-memory", "open the memory of another process", attempts::read_memory),
    fails("signal", "end another process", attempts::signal),
    fails("limits", "lower another process's limits", attempts::limits),
    fails("priority", "change another process's priority or processors", attempts::priority),
    fails("terminal", "read from another terminal", attempts::other_terminal),
    fails("shared-memory", "read another process's shared memory", attempts::read_shared_memory),
    fails("old-shared-memory", "reach another process's System V shared memory", attempts::old_shared_memory),
    fails("inherit-environment", "find a secret in its own environment", attempts::inherit_environment),
    fails("inherit-descriptor", "use a file that the agent has open", attempts::inherit_descriptor),
    Probe {
        id: "outlive",
        what: "leave a daemon behind",
        expectation: Expectation::LeavesNoTrace,
        patience: Duration::from_millis(700),
        attempt: attempts::outlive,
    },
    fails("set-user-id", "gain the rights of a set-user-id program", attempts::new_privileges),
    fails("unfiltered-calls", "use system calls that the filter refuses", attempts::unfiltered),
    fails("user-namespace", "create a namespace in which it is root", attempts::user_namespace),
    fails("kernel-settings", "open a kernel setting for writing", attempts::kernel_settings),
    fails("devices", "open a device for writing", attempts::devices),
];
