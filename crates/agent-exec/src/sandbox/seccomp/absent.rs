//! System calls that are answered "not there", before anything else is looked at: the other rules have another answer.

use libc::c_long;
use seccompiler::{BpfProgram, sock_filter};

/// A filter with these calls in front of it. The x32 variant of the instruction set goes with them as a whole: it has numbers of its own for the
/// same calls, and nothing uses it.
pub(super) fn first(calls: &[c_long], filter: BpfProgram) -> BpfProgram {
    let is_x32 = cfg!(target_arch = "x86_64").then_some((AT_LEAST, X32));
    let equal = calls.iter().filter_map(|&call| Some((EQUALS, u32::try_from(call).ok()?)));
    let tests: Vec<(u16, u32)> = is_x32.into_iter().chain(equal).collect();
    let mut program = vec![sock_filter { code: LOAD, jt: 0, jf: 0, k: NUMBER }];
    let mut left = tests.len();
    for (code, k) in tests {
        left -= 1;
        // To the answer behind the last of them; after that one, past it.
        let jt = u8::try_from(left).unwrap_or(u8::MAX);
        program.push(sock_filter { code, jt, jf: u8::from(left == 0), k });
    }
    program.push(sock_filter { code: ANSWER, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs() });
    program.extend(filter);
    program
}

/// Where the number of the call is in what a filter sees.
const NUMBER: u32 = 0;
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const ANSWER: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const X32: u32 = 0x4000_0000;
