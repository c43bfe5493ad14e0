//! System calls that a sandboxed command is refused, whatever namespaces it is in.
//!
//! `EPERM` where a program should see that it may not, `ENOSYS` where it should take another way (`clone3` and `openat2` hide their flags
//! from a filter, and every C library falls back to `clone` and `openat`; `io_uring` would do the rest behind our back).
//!
//! The kernel checks and translates a filter anew for every command, which takes longer the longer it is. So there is one, and it is short.

mod blocks;
mod modes;
mod others;
#[cfg(test)]
mod tests;

use super::Network;
use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{BpfProgram, Error, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule};
use std::collections::BTreeMap;

/// What is around the command besides the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// A network namespace of its own: internet sockets lead nowhere, and tests that talk to themselves work.
    Namespaces,
    /// None: no socket at all, unless the network is open for this command.
    Landlock(Network),
}

/// The filter. What programs do most often comes first.
fn program(surroundings: Surroundings) -> Result<BpfProgram, Error> {
    let mut program = BpfProgram::new();
    modes::refuse(&mut program);
    blocks::calls(&mut program, ABSENT, libc::ENOSYS);
    blocks::calls(&mut program, REFUSED, libc::EPERM);
    if matches!(surroundings, Surroundings::Landlock(_)) {
        blocks::calls(&mut program, others::SHARED, libc::EPERM);
    }
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        blocks::bits(&mut program, call, &[(0, NAMESPACES)]);
    }
    program.extend(compile(by_arguments(surroundings)?)?);
    Ok(program)
}

/// What is refused with some arguments.
fn by_arguments(surroundings: Surroundings) -> Result<Rules, Error> {
    let is = |request: u64| SeccompRule::new(vec![SeccompCondition::new(1, Dword, Eq, request)?]);
    let mut refused = Rules::from([
        (libc::SYS_socket, sockets(surroundings)?),
        (libc::SYS_socketpair, pairs()?),
        (libc::SYS_ioctl, vec![is(libc::TIOCSTI)?, is(libc::TIOCLINUX)?, is(libc::TIOCSETD)?]),
    ]);
    if matches!(surroundings, Surroundings::Landlock(_)) {
        refused.extend(others::rules()?);
    }
    Ok(refused)
}

/// Puts this process, and what it starts, behind the filter.
///
/// # Errors
/// Why it could not, as words; then nothing may be started.
pub(crate) fn install(surroundings: Surroundings) -> Result<(), String> {
    let filter = program(surroundings).map_err(|error| format!("make the filter: {error}"))?;
    seccompiler::apply_filter(&filter).map_err(|error| format!("install the filter: {error}"))
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// An empty list of rules refuses the call whatever its arguments are.
fn compile(rules: Rules) -> Result<BpfProgram, Error> {
    let answer = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture)?.try_into()?)
}

/// A Unix socket that somebody listens on is a way out of every namespace (a container daemon's gives away the machine), and so is what no
/// namespace divides, such as the way to a virtual machine's host.
fn sockets(surroundings: Surroundings) -> Result<Vec<SeccompRule>, Error> {
    let allowed = match surroundings {
        Surroundings::Namespaces | Surroundings::Landlock(Network::OfTheMachine) => {
            [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].as_slice()
        }
        Surroundings::Landlock(Network::None) => return Ok(Vec::new()),
    };
    let differs = |family: &i32| SeccompCondition::new(0, Dword, Ne, u64::from(family.unsigned_abs()));
    let conditions: Result<Vec<_>, Error> = allowed.iter().map(|family| Ok(differs(family)?)).collect();
    Ok(vec![SeccompRule::new(conditions?)?])
}

/// A pair that is no connection: either of it can be sent to, or connected with, any socket that has a name.
fn pairs() -> Result<Vec<SeccompRule>, Error> {
    let is = |kind: i32| {
        let condition = SeccompCondition::new(1, Dword, MaskedEq(KIND_OF_SOCKET), u64::from(kind.unsigned_abs()))?;
        Ok(SeccompRule::new(vec![condition])?)
    };
    [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM].into_iter().map(is).collect()
}

/// New namespaces, where a command would have powers again. All of these are in the lower half of the flags.
const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP)
    .unsigned_abs();
/// Without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const KIND_OF_SOCKET: u64 = 0xf;
/// What changes mounts and namespaces, the machine, or the kernel's memory, and the keyrings, which no namespace divides.
const REFUSED: &[c_long] = &[
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];
/// What a program should take another way for.
const ABSENT: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];
