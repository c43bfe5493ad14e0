//! Numbers with their nouns.

use agent_core::budget::Usd;

/// `1 model call`, `2 model calls`, `3 retries`.
pub(crate) fn counted(count: impl Into<u128>, noun: &str) -> String {
    let count = count.into();
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// A number in three digits or four.
pub(crate) fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        100_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// An amount of money in US dollars. Less than a hundredth of a cent is not rounded to it.
pub(crate) fn usd(nano_usd: u64) -> String {
    match nano_usd {
        1..100_000 => String::from("<0.0001"),
        _ => Usd(nano_usd).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, usd};

    #[test]
    fn a_small_cost_is_no_larger_one() {
        assert_eq!([0, 1, 99_999, 100_000, 100_001].map(usd), ["0.0000", "<0.0001", "<0.0001", "0.0001", "0.0002"]);
    }

    #[test]
    fn one_of_them_is_singular() {
        let said = [
            counted(0_u64, "tool call"),
            counted(1_u64, "tool call"),
            counted(2_u64, "retry"),
            counted(1_u64, "retry"),
        ];
        assert_eq!(said, ["0 tool calls", "1 tool call", "2 retries", "1 retry"]);
    }
}
