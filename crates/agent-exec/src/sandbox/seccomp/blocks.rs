//! The short parts of the filter, which stand before the rules of the library.
//!
//! The library writes several instructions for each call and for each bit of an argument, and the kernel translates all of them for every
//! command. A list of calls that have one answer needs one instruction for each, and a test of several bits needs one. No part allows
//! anything: what it does not refuse reaches the next part, and at the end the library's rules, which refuse other instruction sets.

use libc::c_long;
use seccompiler::{BpfProgram, sock_filter};

/// These calls have this answer. The x32 variant of the instruction set has numbers of its own for the same calls, and nothing uses it: as
/// a whole it has the answer, too.
pub(super) fn calls(program: &mut BpfProgram, calls: &[c_long], errno: i32) {
    let is_x32 = cfg!(target_arch = "x86_64").then_some((AT_LEAST, X32));
    let equal = calls.iter().map(|&call| (EQUALS, number(call)));
    let tests: Vec<(u16, u32)> = is_x32.into_iter().chain(equal).collect();
    program.push(statement(LOAD, NUMBER));
    let mut left = tests.len();
    for (code, k) in tests {
        left -= 1;
        // To the answer behind the last of them; after that one, past it.
        let jt = u8::try_from(left).unwrap_or(u8::MAX);
        program.push(sock_filter { code, jt, jf: u8::from(left == 0), k });
    }
    program.push(refusal(errno));
}

/// This call is refused with `EPERM` when in each of these arguments at least one of the bits is set; only the lower half is looked at.
pub(super) fn bits(program: &mut BpfProgram, call: c_long, arguments: &[(u8, u32)]) {
    program.push(statement(LOAD, NUMBER));
    let mut left = arguments.len() * 2 + 1;
    program.push(sock_filter { code: EQUALS, jt: 0, jf: u8::try_from(left).unwrap_or(u8::MAX), k: number(call) });
    for &(argument, mask) in arguments {
        left -= 2;
        program.push(statement(LOAD, ARGUMENTS + u32::from(argument) * ARGUMENT_BYTES));
        let jf = u8::try_from(left).unwrap_or(u8::MAX);
        program.push(sock_filter { code: HAS_A_BIT, jt: 0, jf, k: mask });
    }
    program.push(refusal(libc::EPERM));
}

fn refusal(errno: i32) -> sock_filter {
    statement(ANSWER, libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

const fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// No call has a number that does not fit.
fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

/// Where the number of the call and its arguments are in what a filter sees; every instruction set here keeps the lower half first.
const NUMBER: u32 = 0;
const ARGUMENTS: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const HAS_A_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const ANSWER: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const X32: u32 = 0x4000_0000;
