//! Globs over relative paths: `?` one character, `*` any within a segment, `**` any at all, `**/` also nothing.

use alloc::vec;
use alloc::vec::Vec;

/// Whether the whole path matches. Takes time proportional to pattern times path, whatever is in either.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let tokens = tokens(pattern);
    let path: Vec<char> = path.chars().collect();
    // reached[j]: the tokens so far can match the first j characters.
    let mut reached = vec![false; path.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for token in tokens {
        reached = advance(&token, &reached, &path);
    }
    reached.last().copied().unwrap_or(false)
}

/// The patterns that match, below a directory, what this one matches from where the directory is: at most one for each place in the
/// pattern.
pub(super) fn below<'a>(pattern: &'a str, directory: &str) -> Vec<&'a str> {
    // Where in the pattern one may be, and whether within a segment that `**/` passes over.
    let mut places = with_skipped(pattern, vec![(0, false)]);
    for c in directory.chars().chain(['/']) {
        let mut next = Vec::new();
        for (at, _) in places {
            let rest = pattern.get(at..).unwrap_or_default();
            match tokens(rest).first() {
                Some(Token::One(literal)) if c == *literal => next.push((at + literal.len_utf8(), false)),
                Some(Token::AnyOne) if c != '/' => next.push((at + 1, false)),
                Some(Token::AnyInSegment) if c != '/' => next.push((at, false)),
                Some(Token::Any) => next.push((at, false)),
                Some(Token::AnySegments) => next.push((at, c != '/')),
                Some(Token::One(_) | Token::AnyOne | Token::AnyInSegment) | None => {}
            }
        }
        places = with_skipped(pattern, next);
    }
    let rests = places.into_iter().filter(|(_, is_within)| !is_within).filter_map(|(at, _)| pattern.get(at..));
    rests.filter(|rest| !rest.is_empty()).collect()
}

/// These places, and those after stars that match nothing.
fn with_skipped(pattern: &str, mut places: Vec<(usize, bool)>) -> Vec<(usize, bool)> {
    let mut looked_at = 0;
    while let Some(&(at, is_within)) = places.get(looked_at) {
        looked_at += 1;
        let rest = pattern.get(at..).unwrap_or_default();
        let width = match tokens(rest).first() {
            Some(Token::AnyInSegment) => 1,
            Some(Token::Any) => 2,
            Some(Token::AnySegments) if !is_within => 3,
            Some(Token::One(_) | Token::AnyOne | Token::AnySegments) | None => continue,
        };
        if !places.contains(&(at + width, false)) {
            places.push((at + width, false));
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

enum Token {
    One(char),
    AnyOne,
    AnyInSegment,
    Any,
    /// `**/`: nothing, or whole segments.
    AnySegments,
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let (token, width) = match next {
            '*' if rest.starts_with("**/") => (Token::AnySegments, 3),
            '*' if rest.starts_with("**") => (Token::Any, 2),
            '*' => (Token::AnyInSegment, 1),
            '?' => (Token::AnyOne, 1),
            literal => (Token::One(literal), literal.len_utf8()),
        };
        tokens.push(token);
        rest = rest.get(width..).unwrap_or_default();
    }
    tokens
}

fn advance(token: &Token, reached: &[bool], path: &[char]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    // Whether a star that began earlier still runs.
    let mut running = false;
    for (at, (cell, &was)) in next.iter_mut().zip(reached).enumerate() {
        let before = at.checked_sub(1).and_then(|i| path.get(i).copied());
        let was_before = at.checked_sub(1).and_then(|i| reached.get(i).copied()).unwrap_or(false);
        *cell = match token {
            Token::One(literal) => was_before && before == Some(*literal),
            Token::AnyOne => was_before && before != Some('/'),
            Token::AnyInSegment => {
                running = was || (running && before != Some('/'));
                running
            }
            Token::Any => {
                running |= was;
                running
            }
            Token::AnySegments => {
                let ends_here = running && before == Some('/');
                running |= was;
                was || ends_here
            }
        };
    }
    next
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs_match_whole_paths() {
        let cases = [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src2/a", false),
            ("src/*", "src/a/b.rs", false),
            ("**/b.rs", "b.rs", true),
            ("**/b.rs", "a/x/b.rs", true),
            ("**/b.rs", "a/xb.rs", false),
            ("*.rs", "a.rs", true),
            ("*.rs", "a/b.rs", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("**/**/**/**/**/**/**/x", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/y", false),
            ("", "", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "{pattern} over {path}");
        }
    }
}
