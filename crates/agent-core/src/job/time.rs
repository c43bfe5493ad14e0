//! Times as people and programs read them: RFC 3339 in UTC, with milliseconds.

use alloc::format;
use alloc::string::String;
use core::fmt;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Writes milliseconds since the Unix epoch as `2026-01-02T03:04:05.678Z`. Times after the year 9999 are written as its end.
#[must_use]
pub fn rfc3339(at_ms: u64) -> String {
    let at_ms = at_ms.min(LAST_MS);
    let (days, ms) = (at_ms / DAY_MS, at_ms % DAY_MS);
    let (year, month, day) = date(days);
    let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Reads what [`rfc3339`] writes, and nothing else.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| -> Option<u64> {
        let digits = text.get(from..to)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, milli) = (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    let time_ms = hour * 3_600_000 + minute * 60_000 + second * 1_000 + milli;
    let at_ms = days(year, month, day)?.checked_mul(DAY_MS)?.checked_add(time_ms)?;
    // Whatever is out of range or written otherwise does not read the same when it is written again.
    (rfc3339(at_ms) == text).then_some(at_ms)
}

/// The date so many days after 1970-01-01. Years are reckoned from March, so that the leap day is a year's last.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, day_of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * from_march + 2) / 5 + day - 1;
    (era * ERA_DAYS + day_of_era).checked_sub(DAYS_TO_EPOCH)
}

/// For `#[serde(with)]` on milliseconds since the Unix epoch.
pub(super) fn serialize<S: Serializer>(at_ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*at_ms))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_str(Time)
}

struct Time;

impl Visitor<'_> for Time {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as 2026-01-02T03:04:05.678Z")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        from_rfc3339(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

const DAY_MS: u64 = 86_400_000;
/// Days of 400 years.
const ERA_DAYS: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: u64 = 719_468;
/// 9999-12-31T23:59:59.999Z.
const LAST_MS: u64 = 253_402_300_799_999;

#[cfg(test)]
mod tests {
    use super::{LAST_MS, from_rfc3339, rfc3339};

    #[test]
    fn known_times() {
        let known = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
        ];
        for (at_ms, text) in known {
            assert_eq!((rfc3339(at_ms).as_str(), from_rfc3339(text)), (text, Some(at_ms)));
        }
        assert_eq!(rfc3339(u64::MAX), rfc3339(LAST_MS));
    }

    #[test]
    fn days_of_every_year_read_back() {
        for day in (0..LAST_MS / 86_400_000).step_by(17) {
            let at_ms = day * 86_400_000 + day % 86_400_000;
            assert_eq!(from_rfc3339(&rfc3339(at_ms)), Some(at_ms));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for wrong in [
            "",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2000-03-00T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.000+00:00",
            "1969-12-31T00:00:00.000Z",
            "0000-01-01T00:00:00.000Z",
            "2026-01-01T00:00:00.000Zé",
        ] {
            assert_eq!(from_rfc3339(wrong), None, "{wrong}");
        }
    }
}
