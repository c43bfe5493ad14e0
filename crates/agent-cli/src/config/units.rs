//! Money, durations and sizes as people write them.

use serde::Deserialize;

/// Money in billionths of a dollar, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NanoUsd(pub(crate) u64);

/// Milliseconds, as people write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationMs(pub(crate) u64);

/// Dollars with up to nine decimals, such as `2` or `0.50`.
pub(crate) fn parse_usd(text: &str) -> Result<NanoUsd, String> {
    let wrong = || format!("`{text}` is not an amount in dollars such as `2` or `0.50`");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return Err(wrong());
    }
    let dollars: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let billionths: u64 = format!("{fraction:0<9}").parse().map_err(|_| wrong())?;
    let total = dollars.checked_mul(1_000_000_000).and_then(|nano| nano.checked_add(billionths));
    total.map(NanoUsd).ok_or_else(wrong)
}

/// An amount as [`parse_usd`] reads it.
pub(crate) fn usd(NanoUsd(nano): NanoUsd) -> String {
    let text = format!("{}.{:09}", nano / 1_000_000_000, nano % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with `ms`, `s`, `m` or `h`; without a unit seconds.
pub(crate) fn parse_duration(text: &str) -> Result<DurationMs, String> {
    let wrong = || format!("`{text}` is not a duration such as `90s`, `10m` or `1h`");
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).map(DurationMs).ok_or_else(wrong)
}

/// A duration for which something is waited.
pub(crate) fn parse_wait(text: &str) -> Result<DurationMs, String> {
    match parse_duration(text)? {
        DurationMs(0) => Err(format!("`{text}` is too short: every wait would fail at once")),
        wait => Ok(wait),
    }
}

/// A duration that may be long: also with `d` for days and `w` for weeks. A number alone would be anything, so it needs its unit.
pub(crate) fn parse_age(text: &str) -> Result<DurationMs, String> {
    let wrong = || format!("`{text}` is not an age such as `90d`, `12w` or `36h`");
    let days = |number: &str, days: u64| {
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(days * 24 * 3_600_000).map(DurationMs).ok_or_else(wrong)
    };
    match text.strip_suffix('d').map(|number| (number, 1)).or_else(|| text.strip_suffix('w').map(|n| (n, 7))) {
        Some((number, factor)) => days(number, factor),
        None if text.ends_with(|c: char| c.is_ascii_digit()) => Err(wrong()),
        None => parse_duration(text).map_err(|_| wrong()),
    }
}

/// Bytes, as people write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Bytes(pub(crate) u64);

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_size(&text)
    }
}

/// A number with `B`, `kB`, `MB` or `GB`, in whatever case.
pub(crate) fn parse_size(text: &str) -> Result<Bytes, String> {
    let wrong = || format!("`{text}` is not a size such as `500MB` or `2GB`");
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).map(Bytes).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_need_their_units() {
        let day = 24 * 3_600_000;
        for (text, ms) in [("90d", 90 * day), ("2w", 14 * day), ("36h", 36 * 3_600_000), ("0d", 0)] {
            assert_eq!(parse_age(text), Ok(DurationMs(ms)), "{text}");
        }
        for wrong in ["", "d", "90", "-1d", "1y", "99999999999999999d", "1 d"] {
            assert!(parse_age(wrong).is_err(), "{wrong}");
        }
        for (text, bytes) in [("0B", 0), ("7kb", 7_000), ("500MB", 500_000_000), ("2 GB", 2_000_000_000)] {
            assert_eq!(parse_size(text), Ok(Bytes(bytes)), "{text}");
        }
        for wrong in ["", "5", "MB", "-1MB", "1TB2", "99999999999999GB", "1.5GB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn dollars_are_exact() {
        assert_eq!(parse_usd("2"), Ok(NanoUsd(2_000_000_000)));
        assert_eq!(parse_usd("0.5"), Ok(NanoUsd(500_000_000)));
        assert_eq!(parse_usd(".000000001"), Ok(NanoUsd(1)));
        for nano in [0, 1, 500_000_000, 2_000_000_000, u64::MAX] {
            assert_eq!(parse_usd(&usd(NanoUsd(nano))), Ok(NanoUsd(nano)));
        }
        for wrong in ["", ".", "-1", "1e3", "1.0000000001", "99999999999999", "1,5", "NaN"] {
            assert!(parse_usd(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("90"), Ok(DurationMs(90_000)));
        assert_eq!(parse_duration("250ms"), Ok(DurationMs(250)));
        assert_eq!(parse_duration("1h"), Ok(DurationMs(3_600_000)));
        for wrong in ["", "s", "1d", "-1s", "99999999999999999999h", "1 s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
