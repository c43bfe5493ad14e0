//! Globs over relative paths: `?` one character, `*` any within a segment, `**` any at all, `**/` also nothing.

use alloc::vec;
use alloc::vec::Vec;

/// Whether the whole path matches. Takes time proportional to pattern times path, whatever stands in either.
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
