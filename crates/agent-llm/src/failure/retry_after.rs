//! How long a server asks to wait.

use reqwest::header::HeaderMap;
use std::time::SystemTime;

/// The waiting time in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date. `None` if there is no value that
/// makes sense. No upper limit is applied: the caller has one.
pub(super) fn milliseconds(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let value = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = value("retry-after-ms").and_then(|text| number(text, 1.0)) {
        return Some(ms);
    }
    let text = value("retry-after")?;
    number(text, 1000.0).or_else(|| until(text, now))
}

/// A finite number that is not negative, times `unit`, rounded up.
fn number(text: &str, unit: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    // The cast saturates.
    (number.is_finite() && number >= 0.0).then_some((number * unit).ceil() as u64)
}

/// Time left until a date; zero when it has passed.
fn until(text: &str, now: SystemTime) -> Option<u64> {
    let date = httpdate::parse_http_date(text).ok()?;
    let left = date.duration_since(now).unwrap_or_default();
    Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    fn after(name: &'static str, text: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(name, text.parse().unwrap());
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        milliseconds(&headers, now)
    }

    #[test]
    fn seconds_and_dates_and_milliseconds() {
        assert_eq!(after("retry-after", "1"), Some(1000));
        assert_eq!(after("retry-after", " 0.25 "), Some(250));
        assert_eq!(after("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(10_000));
        assert_eq!(after("retry-after", "Sat, 06 Nov 1993 08:49:47 GMT"), Some(0));
        assert_eq!(after("retry-after-ms", "1500"), Some(1500));
    }

    #[test]
    fn what_makes_no_sense_is_nothing_and_what_is_huge_stays_a_number() {
        for text in ["-1", "NaN", "inf", "soon", ""] {
            assert_eq!(after("retry-after", text), None, "{text}");
        }
        assert_eq!(after("retry-after", "1e300"), Some(u64::MAX));
        assert_eq!(after("retry-after", "99999999999999999999"), Some(u64::MAX));
    }

    #[test]
    fn milliseconds_win_over_seconds() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after-ms", "20".parse().unwrap());
        headers.insert("retry-after", "3".parse().unwrap());
        assert_eq!(milliseconds(&headers, SystemTime::UNIX_EPOCH), Some(20));
    }
}
