//! List prices of common models, for the session's budget.
//!
//! The prices are those that Anthropic (`platform.claude.com`, "Pricing") and OpenAI (`developers.openai.com`, "Pricing") publish for their
//! interfaces, in the standard tier, without batch discounts and surcharges for long contexts. They were compared on [`AS_OF`] with stored
//! copies of those pages, not with the pages of that day: Anthropic's as they were in October 2026, OpenAI's at second hand, as others
//! quoted them in April and June 2026. A model whose price depends on the length of the prompt (Claude Haiku 5.5) is left out. A host that
//! knows better gives the budget its own prices; for a model that is not listed there is no price, rather than a guess.

use super::Price;

/// The day on which the prices were last compared with their sources.
pub const AS_OF: &str = "2026-11-22";

/// The price of a model, by its id or by its id with a date (`…-20250929`, `…-2025-08-07`).
#[must_use]
pub fn lookup(model: &str) -> Option<Price> {
    let exact = |id: &str| PRICES.iter().find(|(known, _)| *known == id).map(|(_, price)| *price);
    // A known id that is followed by a date is the longest prefix there can be.
    exact(model).or_else(|| exact(without_date(model)?))
}

/// Every listed model with its price.
pub fn all() -> impl Iterator<Item = (&'static str, Price)> {
    PRICES.iter().copied()
}

fn without_date(model: &str) -> Option<&str> {
    const FORMS: &[&str] = &["-########", "-####-##-##"];
    FORMS.iter().find_map(|form| {
        let (id, end) = model.split_at_checked(model.len().checked_sub(form.len())?)?;
        let fits = |(expected, found)| {
            if expected == b'#' { u8::is_ascii_digit(&found) } else { expected == found }
        };
        form.bytes().zip(end.bytes()).all(fits).then_some(id)
    })
}

const fn price(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Price {
    Price {
        input_nano_usd: input,
        output_nano_usd: output,
        cache_read_nano_usd: cache_read,
        cache_write_nano_usd: cache_write,
    }
}

/// Id; input, output, cache read, cache write. Anthropic's cache writes are those that live five minutes; OpenAI's cost what input costs.
const PRICES: &[(&str, Price)] = &[
    ("claude-opus-5-5", price(4_000, 20_000, 200, 5_000)),
    ("claude-opus-5", price(5_000, 25_000, 500, 6_250)),
    ("claude-opus-4-8", price(5_000, 25_000, 500, 6_250)),
    ("claude-opus-4-7", price(5_000, 25_000, 500, 6_250)),
    ("claude-opus-4-6", price(5_000, 25_000, 500, 6_250)),
    ("claude-opus-4-5", price(5_000, 25_000, 500, 6_250)),
    ("claude-opus-4-1", price(15_000, 75_000, 1_500, 18_750)),
    ("claude-opus-4", price(15_000, 75_000, 1_500, 18_750)),
    ("claude-opus-4-0", price(15_000, 75_000, 1_500, 18_750)),
    ("claude-sonnet-5-5", price(2_000, 10_000, 100, 2_500)),
    ("claude-sonnet-5", price(2_000, 10_000, 200, 2_500)),
    ("claude-sonnet-4-6", price(3_000, 15_000, 300, 3_750)),
    ("claude-sonnet-4-5", price(3_000, 15_000, 300, 3_750)),
    ("claude-sonnet-4", price(3_000, 15_000, 300, 3_750)),
    ("claude-sonnet-4-0", price(3_000, 15_000, 300, 3_750)),
    ("claude-haiku-4-5", price(1_000, 5_000, 100, 1_250)),
    ("claude-3-7-sonnet", price(3_000, 15_000, 300, 3_750)),
    ("claude-3-5-haiku", price(800, 4_000, 80, 1_000)),
    ("gpt-5.5", price(5_000, 30_000, 500, 5_000)),
    ("gpt-5.4", price(2_500, 15_000, 250, 2_500)),
    ("gpt-5.4-mini", price(750, 4_500, 75, 750)),
    ("gpt-5.4-nano", price(200, 1_250, 20, 200)),
    ("gpt-5.3-codex", price(1_750, 14_000, 175, 1_750)),
    ("gpt-5.2", price(1_750, 14_000, 175, 1_750)),
    ("gpt-5.2-codex", price(1_750, 14_000, 175, 1_750)),
    ("gpt-5.1", price(1_250, 10_000, 125, 1_250)),
    ("gpt-5.1-codex", price(1_250, 10_000, 125, 1_250)),
    ("gpt-5.1-codex-mini", price(250, 2_000, 25, 250)),
    ("gpt-5", price(1_250, 10_000, 125, 1_250)),
    ("gpt-5-codex", price(1_250, 10_000, 125, 1_250)),
    ("gpt-5-mini", price(250, 2_000, 25, 250)),
    ("gpt-5-nano", price(50, 400, 5, 50)),
    ("gpt-5-pro", price(15_000, 120_000, 15_000, 15_000)),
    ("gpt-4.1", price(2_000, 8_000, 500, 2_000)),
    ("gpt-4.1-mini", price(400, 1_600, 100, 400)),
    ("gpt-4.1-nano", price(100, 400, 25, 100)),
    ("gpt-4o", price(2_500, 10_000, 1_250, 2_500)),
    // The first version kept its price.
    ("gpt-4o-2024-05-13", price(5_000, 15_000, 5_000, 5_000)),
    ("gpt-4o-mini", price(150, 600, 75, 150)),
    ("o3", price(2_000, 8_000, 500, 2_000)),
    ("o3-mini", price(1_100, 4_400, 550, 1_100)),
    ("o4-mini", price(1_100, 4_400, 275, 1_100)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_id_and_by_dated_id_only() {
        let input = |model| lookup(model).map(|price| price.input_nano_usd);
        for (model, expected) in [
            ("claude-sonnet-4-5", Some(3_000)),
            ("claude-sonnet-4-5-20250929", Some(3_000)),
            ("claude-sonnet-4-20250514", Some(3_000)),
            ("claude-opus-4-1-20250805", Some(15_000)),
            ("claude-opus-4-5-20251101", Some(5_000)),
            ("gpt-5-2025-08-07", Some(1_250)),
            ("gpt-5-mini-2025-08-07", Some(250)),
            ("gpt-4.1-2025-04-14", Some(2_000)),
            // Neither a variant nor a successor has the price of its namesake.
            ("gpt-5-turbo", None),
            ("gpt-5.9", None),
            ("claude-opus-4-9", None),
            ("claude-haiku-5-5", None),
            ("gpt-5-2025-08", None),
            ("gpt-5-2025-08-07-x", None),
            ("-20250929", None),
            ("语20250929", None),
            ("", None),
        ] {
            assert_eq!(input(model), expected, "{model}");
        }
    }

    #[test]
    fn every_model_is_listed_once_with_sensible_prices() {
        for (index, (id, price)) in all().enumerate() {
            assert!(all().skip(index + 1).all(|(other, _)| other != id), "{id} twice");
            assert!(price.input_nano_usd > 0 && price.output_nano_usd > price.input_nano_usd, "{id}");
            assert!(price.cache_read_nano_usd <= price.input_nano_usd, "{id}");
            assert!(price.cache_write_nano_usd >= price.input_nano_usd, "{id}");
        }
    }
}
