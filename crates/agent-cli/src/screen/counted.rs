//! Numbers with their nouns.

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

#[cfg(test)]
mod tests {
    use super::counted;

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
