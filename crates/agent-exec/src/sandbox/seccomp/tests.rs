//! What the filter answers, by an interpreter of its instructions.

use super::*;

const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSAL: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
const NOT_THERE: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
const ALL: [Surroundings; 3] =
    [Surroundings::Namespaces, Surroundings::Landlock(Network::None), Surroundings::Landlock(Network::OfTheMachine)];

/// What the kernel hands to a filter: number, architecture, the instruction's address, six arguments.
fn seen(call: c_long, arguments: [u64; 6]) -> Vec<u32> {
    let architecture = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
    let mut words = vec![call as u32, architecture, 0, 0];
    words.extend(arguments.iter().flat_map(|argument| [*argument as u32, (*argument >> 32) as u32]));
    words
}

fn answer(program: &BpfProgram, call: c_long, arguments: [u64; 6]) -> u32 {
    answer_to(program, &seen(call, arguments))
}

fn answer_to(program: &BpfProgram, words: &[u32]) -> u32 {
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let instruction = &program[at];
        let k = instruction.k;
        at += 1;
        let holds = match instruction.code {
            0x20 => {
                value = words[k as usize / 4];
                continue;
            }
            0x54 => {
                value &= k;
                continue;
            }
            0x05 => {
                at += k as usize;
                continue;
            }
            0x06 => return k,
            0x15 => value == k,
            0x25 => value > k,
            0x35 => value >= k,
            0x45 => value & k != 0,
            other => panic!("an instruction that no filter had before: {other:#x}"),
        };
        at += usize::from(if holds { instruction.jt } else { instruction.jf });
    }
}

#[test]
fn every_call_has_its_answer() {
    for surroundings in ALL {
        let program = program(surroundings).unwrap();
        for &call in REFUSED {
            assert_eq!(answer(&program, call, [0; 6]), REFUSAL, "{call}");
        }
        for &call in ABSENT {
            assert_eq!(answer(&program, call, [0; 6]), NOT_THERE, "{call}");
        }
        for call in [libc::SYS_read, libc::SYS_execve, libc::SYS_clone, libc::SYS_openat, libc::SYS_ioctl] {
            assert_eq!(answer(&program, call, [0; 6]), ALLOWED, "{call}");
        }
        let new_user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
        assert_eq!(answer(&program, libc::SYS_unshare, [new_user, 0, 0, 0, 0, 0]), REFUSAL);
        assert_eq!(answer(&program, libc::SYS_fchmodat, [0, 0, 0o4755, 0, 0, 0]), REFUSAL);
        assert_eq!(answer(&program, libc::SYS_ioctl, [0, libc::TIOCSTI, 0, 0, 0, 0]), REFUSAL);
        assert_eq!(answer(&program, libc::SYS_socket, [1, 1, 0, 0, 0, 0]), REFUSAL);
        let internet = u64::from(libc::AF_INET.unsigned_abs());
        let expected = if surroundings == Surroundings::Landlock(Network::None) { REFUSAL } else { ALLOWED };
        assert_eq!(answer(&program, libc::SYS_socket, [internet, 1, 0, 0, 0, 0]), expected);
    }
}

/// Some of its calls have other numbers than the same ones have otherwise, `ioctl` for one.
#[cfg(target_arch = "x86_64")]
#[test]
fn nothing_is_there_in_the_x32_variant() {
    for surroundings in ALL {
        let program = program(surroundings).unwrap();
        let found = (0..1024).filter(|call| answer(&program, call | 0x4000_0000, [0; 6]) != NOT_THERE);
        assert_eq!(found.collect::<Vec<_>>(), Vec::<c_long>::new());
    }
}

#[test]
fn the_filter_is_short() {
    for surroundings in ALL {
        let program = program(surroundings).unwrap();
        assert!(program.len() < 300, "every instruction costs time at every start: {}", program.len());
    }
}

/// The same numbers are other calls there.
#[test]
fn another_instruction_set_is_allowed_nothing() {
    for surroundings in ALL {
        let program = program(surroundings).unwrap();
        for (call, argument) in (0..1024).flat_map(|call| [(call, 0), (call, u64::MAX)]) {
            let mut words = seen(call, [argument; 6]);
            words[1] = 0x4000_0003;
            assert_ne!(answer_to(&program, &words), ALLOWED, "{call} with {argument}");
        }
    }
}

#[test]
fn each_bit_of_a_mode_or_a_namespace_is_seen_where_it_counts() {
    let with = |given: &[(u8, u64)]| {
        let mut arguments = [0; 6];
        given.iter().for_each(|&(argument, value)| arguments[usize::from(argument)] = value);
        arguments
    };
    for surroundings in ALL {
        let program = program(surroundings).unwrap();
        let expect = |call, given: &[(u8, u64)], expected| {
            assert_eq!(answer(&program, call, with(given)), expected, "{call} with {given:?}");
        };
        for bit in 0..64 {
            let bit = 1_u64 << bit;
            let refused_if = |holds: bool| if holds { REFUSAL } else { ALLOWED };
            let sets_id = bit == 0o4000 || bit == 0o2000;
            for &(call, mode) in modes::SETTING {
                expect(call, &[(mode, 0o755 | bit)], refused_if(sets_id));
            }
            for &(call, flags) in modes::OPENING {
                let tmpfile = u64::from((libc::O_TMPFILE & !libc::O_DIRECTORY).unsigned_abs());
                for making in [u64::from(libc::O_CREAT.unsigned_abs()), tmpfile] {
                    expect(call, &[(flags, making), (flags + 1, 0o644 | bit)], refused_if(sets_id));
                }
                expect(call, &[(flags, bit), (flags + 1, 0o644)], ALLOWED);
                expect(call, &[(flags, 0), (flags + 1, bit)], ALLOWED);
            }
            // From CLONE_NEWCGROUP to CLONE_NEWNET, and CLONE_NEWNS; the bit of CLONE_NEWTIME is a signal's in `clone`.
            let divides = bit == 0x2_0000 || (0x200_0000..=0x4000_0000).contains(&bit);
            for call in [libc::SYS_clone, libc::SYS_unshare] {
                expect(call, &[(0, bit)], refused_if(divides));
            }
        }
    }
}
