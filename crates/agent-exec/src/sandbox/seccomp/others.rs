//! What one process does to another of the same user, where no namespace divides them.
//!
//! Landlock holds what asks for the right to trace (`ptrace`, `process_vm_writev`, `kcmp`, `move_pages`, `pidfd_getfd`, …) and, from Linux
//! 6.12 on, signals. Limits, priorities and the places of processes it does not know, nor memory and queues of System V. A process names
//! itself with 0; the filter does not know its number, so a program that names itself by that is refused, too.

use super::Rules;
use libc::c_long;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, Ne};
use seccompiler::{Error, SeccompCondition, SeccompRule};

/// Refuses what reaches another process; [`SHARED`] is refused whatever its arguments are.
pub(super) fn rules() -> Result<Rules, Error> {
    let mut rules = Rules::new();
    let another = |argument| SeccompCondition::new(argument, Dword, Ne, 0);
    for &call in OF_A_PROCESS {
        rules.insert(call, vec![SeccompRule::new(vec![another(0)?])?]);
    }
    for &(call, all_of_a_user) in OF_A_GROUP {
        let of_a_user = SeccompCondition::new(0, Dword, Eq, all_of_a_user)?;
        rules.insert(call, vec![SeccompRule::new(vec![another(1)?])?, SeccompRule::new(vec![of_a_user])?]);
    }
    // To read another's limits is harmless, and tools do it.
    let sets = SeccompCondition::new(2, Qword, Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![another(0)?, sets])?]);
    Ok(rules)
}

/// The first argument is a process.
const OF_A_PROCESS: &[c_long] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];
/// The first argument is a kind, the second one of it; and which kind is a user.
const OF_A_GROUP: &[(c_long, u64)] = &[(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];
/// System V's memory, queues and semaphores, and the queues of POSIX: their names are those of the whole machine.
pub(super) const SHARED: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
];
