//! How large the request was and how large it may be, out of the words for a full context window.

use super::Detail;

/// The tokens of the request and the most there may be, as far as the server gave them.
pub(super) fn numbers(detail: &Detail) -> (Option<u64>, Option<u64>) {
    if detail.prompt_tokens.is_some() || detail.window_tokens.is_some() {
        return (detail.prompt_tokens, detail.window_tokens);
    }
    let message = detail.message.to_lowercase();
    let first = |phrases: &[&str]| phrases.iter().find_map(|phrase| number_after(&message, phrase));
    let limit = first(LIMITS);
    // `190000 + 20000 > 200000`: what comes before the sign is the request.
    if let Some((before, after)) = message.split_once(" > ") {
        let limit = number_after(after, "").or(limit);
        return (sum_at_end(before), limit);
    }
    (first(REQUESTS), limit)
}

/// The number after a phrase, perhaps with a few small words between.
fn number_after(message: &str, phrase: &str) -> Option<u64> {
    let (_, after) = message.split_once(phrase)?;
    let start = after.find(|c: char| c.is_ascii_digit())?;
    let words = after.get(..start)?;
    if words.len() > LONGEST_GAP_BYTES || words.contains(['.', ';']) {
        return None;
    }
    number(after.get(start..)?)
}

/// A number that may be grouped by commas.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    let digits: String = text.get(..end)?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The sum that a text ends with, with or without the word for what is counted.
fn sum_at_end(text: &str) -> Option<u64> {
    let text = text.trim_end_matches("tokens").trim_end();
    let start = text.rfind(|c: char| !c.is_ascii_digit() && !matches!(c, ' ' | '+' | ',')).map_or(0, |at| at + 1);
    let parts = text.get(start..)?.split('+').map(|part| number(part.trim()));
    parts.sum()
}

/// What comes before the limit. Lower case.
const LIMITS: &[&str] = &[
    "maximum context length is",       // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
    "context length is only",          // vLLM
    "maximum model length",            // vLLM
    "maximum prompt length is",        // xAI
    "limit",                           // OpenAI's tokens of a minute
    "greater than the context length", // LM Studio
];

/// What comes before the request's size.
const REQUESTS: &[&str] = &[
    "you requested",             // OpenAI, vLLM, OpenRouter, DeepSeek
    "your messages resulted in", // OpenAI
    "you passed",                // vLLM
    "but the request contains",  // xAI
    "requested",                 // OpenAI's tokens of a minute
    "prompt contains",           // Mistral
    "trying to keep the first",  // LM Studio
];

const LONGEST_GAP_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_every_wording() {
        let cases = [
            ("prompt is too long: 3333404 tokens > 200000 maximum", Some(3_333_404), Some(200_000)),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                Some(210_000),
                Some(200_000),
            ),
            (
                "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages)",
                Some(1_250_025),
                Some(1_048_565),
            ),
            (
                "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens",
                Some(2_500_021),
                Some(200_000),
            ),
            (
                "This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,001 tokens.",
                Some(130_001),
                Some(128_000),
            ),
            (
                "You passed 5000 input tokens and requested 1 output tokens. However, the model's context length is only 4096 tokens",
                Some(5000),
                Some(4096),
            ),
            (
                "Request too large for gpt-4: Limit 10000, Requested 20000. The input or output tokens must be reduced",
                Some(20_000),
                Some(10_000),
            ),
            ("Your input exceeds the context window of this model.", None, None),
            ("the limit. See rule 17", None, None),
        ];
        for (message, requested, limit) in cases {
            let detail = Detail { message: message.to_owned(), ..Detail::default() };
            assert_eq!(numbers(&detail), (requested, limit), "{message}");
        }
    }

    #[test]
    fn numbers_of_their_own_win_over_words() {
        let body = br#"{"error":{"message":"the request exceeds the available context size (limit 1)","n_prompt_tokens":9,"n_ctx":4}}"#;
        assert_eq!(numbers(&Detail::of_body(body)), (Some(9), Some(4)));
    }

    #[test]
    fn no_text_makes_it_panic() {
        for message in
            [" > ", "é > é", "limit", "limit é1", "1 + > 2", "99999999999999999999999 > 1", "you requested ,,,"]
        {
            let detail = Detail { message: message.to_owned(), ..Detail::default() };
            let _ = numbers(&detail);
        }
    }
}
