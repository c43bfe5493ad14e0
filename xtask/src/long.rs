//! Tests that are short by default, at their full length.

use std::process::Command;

/// The real program, killed at random moments and resumed; and undos, a twentieth as many.
pub(crate) fn kill_loop(runs: u32) -> Result<(), String> {
    test("agent-cli", "suite", "kill_loop::", &[("KILL_LOOP_RUNS", u64::from(runs))])?;
    test("agent-git", "repository", "undo_kills::", &[("KILLS", u64::from(runs).div_ceil(20))])
}

/// A journal cut at every byte, and damaged 100,000 times.
pub(crate) fn journal_damage() -> Result<(), String> {
    test("agent-runner", "suite", "journal_damage::", &[("JOURNAL_CUT_STEP", 1), ("JOURNAL_DAMAGE_RUNS", 100_000)])
}

/// `fuzz [SECONDS]`: breaks recorded streams at random (for 60 s by default) and checks what must hold of every stream.
pub(crate) fn fuzz(words: &[&str]) -> Result<(), String> {
    let seconds = match words {
        [] => 60,
        [seconds] => seconds.parse().map_err(|_| format!("`{seconds}` is not a number of seconds"))?,
        _ => return Err("usage: cargo xtask fuzz [SECONDS]".to_owned()),
    };
    test("agent-llm", "fuzz", "broken_streams", &[("FUZZ_SECONDS", seconds)])
}

/// `fuzz-bash [--count N] [--seed N]`: makes random shell commands (a million by default), and has the real bash run those that permission
/// rules take for plain: it must run what the rules saw, and nothing else. A twentieth as many are made of programs that read, and run
/// with these.
pub(crate) fn fuzz_bash(words: &[&str]) -> Result<(), String> {
    let (count, seed) = count_and_seed(words)?;
    let amounts = [("FUZZ_BASH_COUNT", count), ("FUZZ_BASH_SEED", seed)];
    test("agent-tools", "suite", "bash_fuzz::bash_runs", &amounts)?;
    test("agent-tools", "suite", "reading_commands_write_nothing", &amounts)
}

fn count_and_seed(words: &[&str]) -> Result<(u64, u64), String> {
    let (mut count, mut seed) = (1_000_000, 1);
    let (pairs, rest) = words.as_chunks();
    for [option, value] in pairs {
        let number = value.parse().map_err(|_| format!("`{option} {value}`: `{value}` is not a number"))?;
        match *option {
            "--count" if number > 0 => count = number,
            "--seed" => seed = number,
            _ => return Err(format!("`{option} {value}`: {FUZZ_BASH}")),
        }
    }
    if rest.is_empty() { Ok((count, seed)) } else { Err(FUZZ_BASH.to_owned()) }
}

fn test(package: &str, suite: &str, name: &str, amounts: &[(&str, u64)]) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--release", "--package", package, "--test", suite, name, "--", "--nocapture"]);
    command.envs(amounts.iter().map(|(variable, amount)| (variable, amount.to_string())));
    let status = command.status().map_err(|error| format!("start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed ({status}): see above")) }
}

const FUZZ_BASH: &str = "usage: cargo xtask fuzz-bash [--count N] [--seed N]";

#[cfg(test)]
mod tests {
    use super::count_and_seed;

    #[test]
    fn count_and_seed_are_read_and_nothing_else() {
        assert_eq!(count_and_seed(&[]), Ok((1_000_000, 1)));
        assert_eq!(count_and_seed(&["--seed", "7", "--count", "20"]), Ok((20, 7)));
        for wrong in
            [&["--count"][..], &["--count", "x"], &["--count", "0"], &["--speed", "1"], &["7"], &["--seed", "-1"]]
        {
            assert!(count_and_seed(wrong).is_err(), "{wrong:?}");
        }
    }
}
