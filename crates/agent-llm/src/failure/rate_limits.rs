//! A provider's limits, out of the headers in which providers tell them.
//!
//! ```text
//! anthropic-ratelimit-<name>-{limit,remaining,reset}     reset as a date (RFC 3339)
//! x-ratelimit-{limit,remaining,reset}-<name>             reset as a duration: 1m30s, 20ms (OpenAI, Groq, Mistral)
//! x-ratelimit-{limit,remaining,reset}                    reset as milliseconds since 1970 (OpenRouter)
//! ```

use agent_types::llm::RateLimit;
use reqwest::header::HeaderMap;
use std::time::{Duration, SystemTime};

/// The limits, sorted by name.
pub(super) fn of(headers: &HeaderMap, now: SystemTime) -> Vec<RateLimit> {
    let mut limits: Vec<RateLimit> = Vec::new();
    for (header, value) in headers {
        let Some((name, field)) = parts_of(header.as_str()) else { continue };
        let Ok(text) = value.to_str() else { continue };
        let name = if name.is_empty() { "requests" } else { name };
        let limit = match limits.iter_mut().position(|limit| limit.name == name) {
            Some(position) => &mut limits[position],
            None => {
                limits.push(RateLimit { name: name.to_owned(), ..RateLimit::default() });
                let last = limits.len() - 1;
                &mut limits[last]
            }
        };
        let text = text.trim();
        match field {
            "limit" => limit.limit = text.parse().ok(),
            "remaining" => limit.remaining = text.parse().ok(),
            _ => limit.reset_ms = reset_ms(text, now),
        }
    }
    limits.retain(|limit| limit.limit.is_some() || limit.remaining.is_some() || limit.reset_ms.is_some());
    limits.sort_by(|one, other| one.name.cmp(&other.name));
    limits
}

/// When what is used up is there again: the longest wait of all. `None` if nothing is said to be used up.
pub(super) fn wait_ms(limits: &[RateLimit]) -> Option<u64> {
    let used_up = limits.iter().filter(|limit| limit.remaining == Some(0));
    used_up.filter_map(|limit| limit.reset_ms).max()
}

/// The limit's name and which of its numbers the header has.
fn parts_of(header: &str) -> Option<(&str, &str)> {
    if let Some(rest) = header.strip_prefix("anthropic-ratelimit-") {
        let (name, field) = rest.rsplit_once('-')?;
        return FIELDS.contains(&field).then_some((name, field));
    }
    let rest = header.strip_prefix("x-ratelimit-")?;
    let (field, name) = rest.split_once('-').unwrap_or((rest, ""));
    FIELDS.contains(&field).then_some((name, field))
}

fn reset_ms(text: &str, now: SystemTime) -> Option<u64> {
    duration_ms(text).or_else(|| {
        let then = match text.parse::<u64>() {
            // So many milliseconds since 1970, or seconds.
            Ok(number) if number > 100_000_000_000 => {
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(number))?
            }
            Ok(number) if number > 1_000_000_000 => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(number))?,
            Ok(seconds) => return seconds.checked_mul(1000),
            Err(_) => date(text)?,
        };
        let left = then.duration_since(now).unwrap_or_default();
        u64::try_from(left.as_millis()).ok()
    })
}

/// A duration such as `1h2m3.5s` or `20ms`.
fn duration_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total_ms = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = rest.split_at(end);
        let number: f64 = number.parse().ok()?;
        let unit_end = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        let (unit, after) = unit.split_at(unit_end);
        total_ms += number
            * match unit {
                "ms" => 1.0,
                "s" => 1000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                "d" => 86_400_000.0,
                _ => return None,
            };
        rest = after;
    }
    // The cast saturates.
    (!text.is_empty()).then_some(total_ms.ceil() as u64)
}

/// A date such as `2026-01-27T12:00:00Z`, in UTC.
fn date(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once('T')?;
    let time = time.strip_suffix('Z')?.split('.').next()?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    if !(1970..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
    {
        return None;
    }
    // Days since 1970, with the year taken to begin in March so that the leap day is its last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = years / 4 - years / 100 + years / 400;
    let days = years * 365 + leap_days + (153 * months + 2) / 5 + day - 1;
    let days = days.checked_sub(DAYS_TO_1970)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second.min(60);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

const FIELDS: &[&str] = &["limit", "remaining", "reset"];

/// From 1 March of the year 0.
const DAYS_TO_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(headers: &[(&'static str, &'static str)], now_seconds: u64) -> Vec<RateLimit> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        of(&headers.collect(), SystemTime::UNIX_EPOCH + Duration::from_secs(now_seconds))
    }

    fn limit(name: &str, limit: u64, remaining: u64, reset_ms: u64) -> RateLimit {
        let (limit, remaining, reset_ms) = (Some(limit), Some(remaining), Some(reset_ms));
        RateLimit { name: name.to_owned(), limit, remaining, reset_ms }
    }

    #[test]
    fn every_family_of_headers() {
        let anthropic = [
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2000-03-01T00:01:00Z"),
            ("anthropic-ratelimit-input-tokens-limit", "30000"),
            ("anthropic-ratelimit-input-tokens-remaining", "29000"),
            ("anthropic-ratelimit-input-tokens-reset", "2000-02-29T23:59:00Z"),
        ];
        let seen = limits(&anthropic, 951_868_800);
        assert_eq!(seen, [limit("input-tokens", 30_000, 29_000, 0), limit("requests", 50, 0, 60_000)]);
        assert_eq!(wait_ms(&seen), Some(60_000));

        let openai = [
            ("x-ratelimit-limit-tokens", "150000000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1m30.5s"),
            ("x-ratelimit-limit-requests", "30000"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "2ms"),
        ];
        let seen = limits(&openai, 0);
        assert_eq!(seen, [limit("requests", 30_000, 0, 2), limit("tokens", 150_000_000, 0, 90_500)]);
        assert_eq!(wait_ms(&seen), Some(90_500));

        let openrouter =
            [("x-ratelimit-limit", "20"), ("x-ratelimit-remaining", "19"), ("x-ratelimit-reset", "1700000005000")];
        let seen = limits(&openrouter, 1_700_000_000);
        assert_eq!(seen, [limit("requests", 20, 19, 5000)]);
        assert_eq!(wait_ms(&seen), None);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let odd = [
            ("x-ratelimit-limit-tokens", "many"),
            ("x-ratelimit-reset-tokens", "soon"),
            ("x-ratelimit-over-secondary-limit", "1"),
            ("anthropic-ratelimit-unified-status", "allowed"),
            ("anthropic-ratelimit-x-reset", "2026-13-01T00:00:00Z"),
            ("anthropic-ratelimit-y-reset", "2026-01-01"),
        ];
        assert_eq!(limits(&odd, 0), []);
    }

    #[test]
    fn dates_are_counted_right() {
        let seconds =
            |text: &str| date(text).map(|then| then.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs());
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:30:45.25Z"), Some(1_709_209_845));
        assert_eq!(seconds("2026-11-22T02:47:42Z"), Some(1_795_315_662));
        assert_eq!(seconds("1969-12-31T00:00:00Z"), None);
    }
}
