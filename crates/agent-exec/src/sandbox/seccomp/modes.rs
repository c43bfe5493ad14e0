//! Set-user-id and set-group-id: a program that a command leaves behind with one of them runs as the agent's user, whoever starts it.
//!
//! A filter sees the mode, not what it is for. So `chmod g+s` of a directory is refused, too; a directory that inherits the bit from the one
//! it is made in has it without a system call that names it. `mkdir` and `umask` are not here: the kernel ignores these bits in them.

use super::Rules;
use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::MaskedEq;
use seccompiler::{Error, SeccompCondition, SeccompRule};

/// Refuses every call that would set one of the bits.
pub(super) fn rules() -> Result<Rules, Error> {
    let mut rules = Rules::new();
    for &(call, argument) in SETTING {
        rules.insert(call, each_bit(|bit| Ok(vec![has(argument, bit)?]))?);
    }
    for &(call, flags) in OPENING {
        let mut all = Vec::new();
        // The mode is read only by a call that makes a file; otherwise the register holds anything.
        for making in [libc::O_CREAT, UNNAMED] {
            let making = u64::from(making.unsigned_abs());
            all.extend(each_bit(|bit| Ok(vec![has(flags, making)?, has(flags + 1, bit)?]))?);
        }
        rules.insert(call, all);
    }
    Ok(rules)
}

fn each_bit(conditions: impl Fn(u64) -> Result<Vec<SeccompCondition>, Error>) -> Result<Vec<SeccompRule>, Error> {
    [libc::S_ISUID, libc::S_ISGID].into_iter().map(|bit| Ok(SeccompRule::new(conditions(u64::from(bit))?)?)).collect()
}

fn has(argument: u8, bit: u64) -> Result<SeccompCondition, Error> {
    Ok(SeccompCondition::new(argument, Dword, MaskedEq(bit), bit)?)
}

/// The bit of `O_TMPFILE` that is not `O_DIRECTORY`.
const UNNAMED: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;
/// The same number on every architecture; not every C library names it.
const FCHMODAT2: c_long = 452;
/// Which argument is the mode.
#[cfg(target_arch = "x86_64")]
const SETTING: &[(c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
#[cfg(not(target_arch = "x86_64"))]
const SETTING: &[(c_long, u8)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
/// Which argument has the flags; the mode is the next.
#[cfg(target_arch = "x86_64")]
const OPENING: &[(c_long, u8)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];
