//! `cargo xtask fuzz-bash [--count N] [--seed N]`: makes so many shell commands at random (a million unless said otherwise), and has the
//! real bash run those that permission rules take for plain: it must run what the rules saw, and nothing else. The short form of it is a
//! test of `agent-tools` like any other.

use std::process::Command;

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let (count, seed) = numbers(words)?;
    let status = Command::new(env!("CARGO"))
        .args([
            "test",
            "--release",
            "--package",
            "agent-tools",
            "--test",
            "suite",
            "bash_fuzz::bash_runs",
            "--",
            "--nocapture",
        ])
        .env("FUZZ_BASH_COUNT", count.to_string())
        .env("FUZZ_BASH_SEED", seed.to_string())
        .status()
        .map_err(|error| format!("run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("bash ran something else than a rule sees: see above".to_owned()) }
}

fn numbers(words: &[&str]) -> Result<(u64, u64), String> {
    let (mut count, mut seed) = (1_000_000, 1);
    let (pairs, rest) = words.as_chunks();
    for [option, value] in pairs {
        let number = value.parse().map_err(|_| format!("`{option} {value}`: `{value}` is no number"))?;
        match *option {
            "--count" if number > 0 => count = number,
            "--seed" => seed = number,
            _ => return Err(format!("`{option} {value}`: {USAGE}")),
        }
    }
    if rest.is_empty() { Ok((count, seed)) } else { Err(USAGE.to_owned()) }
}

const USAGE: &str = "usage: cargo xtask fuzz-bash [--count N] [--seed N]";

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn count_and_seed_are_read_and_nothing_else() {
        assert_eq!(numbers(&[]), Ok((1_000_000, 1)));
        assert_eq!(numbers(&["--seed", "7", "--count", "20"]), Ok((20, 7)));
        for wrong in
            [&["--count"][..], &["--count", "x"], &["--count", "0"], &["--speed", "1"], &["7"], &["--seed", "-1"]]
        {
            assert!(numbers(wrong).is_err(), "{wrong:?}");
        }
    }
}
