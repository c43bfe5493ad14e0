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
