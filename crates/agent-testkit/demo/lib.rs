//! Durations as people write them: `45s`, `10m`, `1h30m`.

/// Reads a duration such as `1h30m` and returns it in seconds.
///
/// Returns `None` when the text is not a duration.
pub fn read(text: &str) -> Option<u64> {
    let mut total = 0;
    let mut number = None;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0) * 10 + u64::from(digit));
        } else {
            total = number.take()? * seconds_per(c)?;
        }
    }
    if number.is_some() || text.is_empty() {
        return None;
    }
    Some(total)
}

/// Writes seconds as a duration, the largest unit first. Units that are zero are left out.
pub fn write(seconds: u64) -> String {
    let hours = seconds / 3600;
    let minutes = seconds / 60;
    let rest = seconds % 60;
    let mut text = String::new();
    for (count, unit) in [(hours, 'h'), (minutes, 'm'), (rest, 's')] {
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

fn seconds_per(unit: char) -> Option<u64> {
    match unit {
        'h' => Some(3600),
        'm' => Some(60),
        's' => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
