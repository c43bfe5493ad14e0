//! Makes a commit message from what the model said and what it changed. The same input gives the same message.

use std::fmt::Write as _;

/// Characters of the first line.
const SUBJECT_LIMIT: usize = 72;
/// Paths listed in the body.
const LISTED_PATHS: usize = 20;

/// The whole message: a conventional first line, the changed paths, the trailer.
pub(crate) fn message(intent: &str, paths: &[&str], trailer: Option<&str>) -> String {
    let mut text = subject(intent, paths);
    text.push_str("\n\n");
    for path in paths.iter().take(LISTED_PATHS) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "- {}", plain(path));
    }
    if paths.len() > LISTED_PATHS {
        let _ = writeln!(text, "- and {} more", paths.len() - LISTED_PATHS);
    }
    if let Some(trailer) = trailer {
        let _ = writeln!(text, "\n{}", plain(trailer));
    }
    text
}

/// The first line, such as `fix: keep the last line`.
pub(crate) fn subject(intent: &str, paths: &[&str]) -> String {
    let said = first_sentence(intent);
    if said.is_empty() {
        return shortened(&format!("{}: update {}", kind("", paths), named(paths)));
    }
    if is_conventional(&said) {
        return shortened(&said);
    }
    shortened(&format!("{}: {}", kind(&said, paths), lowercase_first(&said)))
}

/// What the model said first, without the ways in which models begin.
fn first_sentence(intent: &str) -> String {
    let line = intent
        .lines()
        .filter(|line| !line.trim_start().starts_with("```"))
        .map(|line| plain(line.trim().trim_start_matches(['#', '*', '-', '>', ' '])))
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_default();
    let colon = line.find(": ").filter(|_| !is_conventional(&line));
    let end = line.find(". ").into_iter().chain(colon).min();
    let sentence = end.map_or(line.as_str(), |end| &line[..end]);
    let mut sentence = sentence.trim().trim_end_matches(['.', ':', '!', '*', ' ']);
    while let Some(rest) = BEGINNINGS.iter().find_map(|start| strip_prefix_ignore_case(sentence, start)) {
        sentence = rest;
    }
    sentence.to_owned()
}

/// How models begin what they are about to do.
const BEGINNINGS: &[&str] = &[
    "ok, ",
    "okay, ",
    "now ",
    "sure, ",
    "great, ",
    "first, ",
    "next, ",
    "i'll ",
    "i’ll ",
    "i will ",
    "i am going to ",
    "i'm going to ",
    "let me ",
    "let's ",
    "now, ",
];

const KINDS: &[&str] = &["feat", "fix", "docs", "test", "refactor", "perf", "style", "build", "ci", "chore", "revert"];

/// Words that tell the kind of a change, with the kind.
const WORDS: &[(&str, &[&str])] = &[
    ("fix", &["fix", "fixes", "fixed", "bug", "repair", "correct", "broken"]),
    ("refactor", &["refactor", "rename", "move", "extract", "simplify", "clean"]),
    ("perf", &["faster", "speed", "optimize", "optimise"]),
    ("feat", &["add", "adds", "implement", "create", "introduce", "support"]),
];

fn kind(said: &str, paths: &[&str]) -> &'static str {
    let all = |test: &dyn Fn(&str) -> bool| !paths.is_empty() && paths.iter().all(|path| test(path));
    if all(&|path| path.ends_with(".md") || path.starts_with("docs/")) {
        return "docs";
    }
    if all(&|path| {
        path.starts_with("tests/") || path.contains("/tests/") || path.contains("_test.") || path.contains(".test.")
    }) {
        return "test";
    }
    let said = said.to_lowercase();
    let words: Vec<&str> = said.split(|c: char| !c.is_alphanumeric()).collect();
    WORDS.iter().find(|(_, telling)| telling.iter().any(|word| words.contains(word))).map_or("chore", |(kind, _)| kind)
}

fn named(paths: &[&str]) -> String {
    match paths {
        [one] => plain(one),
        many => format!("{} files", many.len()),
    }
}

/// Whether it is `type: …` or `type(scope): …` already.
fn is_conventional(line: &str) -> bool {
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    let head = head.strip_suffix('!').unwrap_or(head);
    let name = head.split_once('(').map_or(head, |(name, _)| name);
    rest.starts_with(' ') && KINDS.contains(&name) && (name == head || head.ends_with(')'))
}

/// Without characters that steer a terminal or the direction of writing.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
        .filter(|c| !('\u{e0000}'..='\u{e007f}').contains(c))
        .collect()
}

fn lowercase_first(text: &str) -> String {
    let mut characters = text.chars();
    match (characters.next(), characters.as_str()) {
        // An acronym or a name such as `README` stays.
        (Some(_), rest) if rest.starts_with(char::is_uppercase) => text.to_owned(),
        (Some(first), rest) => first.to_lowercase().chain(rest.chars()).collect(),
        (None, _) => String::new(),
    }
}

/// At most the limit, cut between words where there is a place.
fn shortened(text: &str) -> String {
    if text.chars().count() <= SUBJECT_LIMIT {
        return text.to_owned();
    }
    let cut: String = text.chars().take(SUBJECT_LIMIT - 1).collect();
    let end = cut.rfind(' ').filter(|end| *end > SUBJECT_LIMIT / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| text[prefix.len()..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_conventional_and_short() {
        for (intent, paths, expected) in [
            (
                "I'll fix the off-by-one in the parser. Then run tests.",
                &["src/a.rs"][..],
                "fix: fix the off-by-one in the parser",
            ),
            ("Let me add a retry limit:", &["src/a.rs"], "feat: add a retry limit"),
            ("fix(parser): keep the last line", &["src/a.rs"], "fix(parser): keep the last line"),
            ("", &["src/a.rs"], "chore: update src/a.rs"),
            ("", &["a.md", "docs/b.txt"], "docs: update 2 files"),
            ("```\n", &["tests/a.rs"], "test: update tests/a.rs"),
            ("README needs a section", &["README.md"], "docs: README needs a section"),
            ("\u{1b}[31mRename\u{202e} it", &["a.rs"], "chore: [31mRename it"),
            ("I’ll rename it", &["a.rs"], "refactor: rename it"),
        ] {
            assert_eq!(subject(intent, paths), expected, "{intent:?}");
        }
        for long in ["word ".repeat(60), "x".repeat(300), "ä".repeat(300), "語 ".repeat(99)] {
            let subject = subject(&long, &["a"]);
            assert!(subject.chars().count() <= SUBJECT_LIMIT && !subject.contains('\n'), "{subject}");
        }
    }

    #[test]
    fn the_model_cannot_forge_a_trailer() {
        let text = message(
            "fix it\n\nSigned-off-by: Somebody <s@example.org>",
            &["a\nSigned-off-by: x"],
            Some("Assisted-by: agent"),
        );
        assert_eq!(text, "fix: fix it\n\n- aSigned-off-by: x\n\nAssisted-by: agent\n");
    }
}
