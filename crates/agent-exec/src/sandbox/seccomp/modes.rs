//! Set-user-id and set-group-id: a program that a command leaves behind with one of them runs as the agent's user, whoever starts it.
//!
//! A filter sees the mode, not what it is for. So `chmod g+s` of a directory is refused, too; a directory that inherits the bit from the
//! one it is made in has it without a system call that names it. `mkdir` and `umask` are not here: the kernel ignores these bits in them.

use super::blocks;
use libc::c_long;
use seccompiler::BpfProgram;

/// Refuses every call that would set one of the bits.
pub(super) fn refuse(program: &mut BpfProgram) {
    for &(call, flags) in OPENING {
        // The mode is read only by a call that makes a file; otherwise the register holds anything.
        blocks::bits(program, call, &[(flags, MAKING), (flags + 1, SET_ID)]);
    }
    for &(call, mode) in SETTING {
        blocks::bits(program, call, &[(mode, SET_ID)]);
    }
}

const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
/// `O_TMPFILE` without its bit of `O_DIRECTORY`.
const MAKING: u32 = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY).unsigned_abs();
/// The same number on every architecture; not every C library names it.
const FCHMODAT2: c_long = 452;
/// Which argument is the mode.
#[cfg(target_arch = "x86_64")]
pub(super) const SETTING: &[(c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const SETTING: &[(c_long, u8)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
/// Which argument has the flags; the mode is the next.
#[cfg(target_arch = "x86_64")]
pub(super) const OPENING: &[(c_long, u8)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OPENING: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];
