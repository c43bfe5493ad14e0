//! Golden files that something else reads too, so that they cannot be snapshots of insta. They are accepted by the same command:
//! `INSTA_UPDATE=always cargo test`.

use std::path::Path;
use std::{env, fs};

/// Compares a file with the text it should have. When changes are accepted, it is rewritten instead.
///
/// # Errors
/// Where they differ, or why the file cannot be written.
pub fn compare(path: &Path, text: &str) -> Result<(), String> {
    let kept = fs::read_to_string(path).unwrap_or_default();
    if kept == text {
        return Ok(());
    }
    if !env::var("INSTA_UPDATE").is_ok_and(|mode| accepts(&mode)) {
        return Err(format!("{} (INSTA_UPDATE=always accepts)\n{}", path.display(), difference(&kept, text)));
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("write {}: {error}", path.display()))
}

/// Whether insta itself overwrites snapshots in this mode.
fn accepts(mode: &str) -> bool {
    matches!(mode, "always" | "force")
}

/// The first lines that differ after the last that does not, and the heading they are under. Long lines are shown around the difference.
fn difference(kept: &str, text: &str) -> String {
    let (kept, text): (Vec<_>, Vec<_>) = (kept.lines().collect(), text.lines().collect());
    let same = kept.iter().zip(&text).take_while(|(a, b)| a == b).count();
    let heading = text[..same].iter().rev().find(|line| line.starts_with("==")).unwrap_or(&"");
    let column = match (kept.get(same), text.get(same)) {
        (Some(kept), Some(text)) => kept.chars().zip(text.chars()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    };
    let part = |line: &&str| line.chars().skip(column.saturating_sub(60)).take(160).collect::<String>();
    let shown = |sign: char, lines: &[&str]| -> String {
        lines.iter().skip(same.saturating_sub(1)).take(9).map(|line| format!("  {sign}{}\n", part(line))).collect()
    };
    format!("  line {} {heading}\n{}{}", same + 1, shown('-', &kept), shown('+', &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_overwrites_snapshots_overwrites_files() {
        for mode in ["", "no", "new", "unseen", "auto", "1"] {
            assert!(!accepts(mode), "{mode}");
        }
        assert!(accepts("always") && accepts("force"));
    }

    #[test]
    fn the_first_difference_is_shown_with_its_place() {
        let long = "x".repeat(200);
        let shown = difference(&format!("== a\nsame\n{long}1\n"), &format!("== a\nsame\n{long}2\nmore\n"));
        assert!(shown.starts_with("  line 3 == a\n  -"), "{shown}");
        assert!(shown.contains("xx1\n") && shown.contains("xx2\n") && shown.contains("+\n"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 80), "{shown}");
    }
}
