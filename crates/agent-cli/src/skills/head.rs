//! What stands at the head of a `SKILL.md`, in YAML between two rows of `---`, and the text behind it.

use serde::Deserialize;

/// A skill as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: Option<String>,
    pub(super) description: String,
    /// The tools that the author suggests. Shown, and never a permission.
    pub(super) allowed_tools: Option<String>,
    /// What the skill needs, for people.
    pub(super) compatibility: String,
}

/// As written; keys that are not known are left alone.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Written {
    name: Option<String>,
    description: Option<String>,
    allowed_tools: Option<String>,
    compatibility: Option<String>,
}

/// Reads the head of a file.
///
/// # Errors
/// Why the file is no skill.
pub(super) fn read(text: &str) -> Result<Head, String> {
    let (head, _) = parted(text).ok_or("it does not begin with a head between two rows of `---`")?;
    if head.len() > MAX_BYTES {
        return Err(format!("its head has {} bytes, but the limit is {MAX_BYTES}", head.len()));
    }
    // A colon in a plain text is a common slip.
    let written: Written = serde_saphyr::from_str(head)
        .or_else(|error| serde_saphyr::from_str(&quoted(head)).map_err(|_| error))
        .map_err(|error| format!("its head is no YAML that describes a skill: {}", first_line(&error.to_string())))?;
    let description =
        written.description.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if description.is_empty() {
        return Err(String::from("its head has no `description`"));
    }
    let Written { name, description: _, allowed_tools, compatibility } = written;
    Ok(Head { name, description, allowed_tools, compatibility: compatibility.unwrap_or_default() })
}

/// The text behind the head.
pub(super) fn body(text: &str) -> &str {
    parted(text).map_or(text, |(_, body)| body).trim()
}

fn parted(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != MARK {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == MARK {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// The same head with every value of a line of its own in quotes, where it holds a colon and has none.
fn quoted(head: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((key, value))
            if value.contains(": ")
                && !key.starts_with([' ', '#'])
                && !value.trim_start().starts_with(['"', '\'', '|', '>', '[', '{']) =>
        {
            format!("{key}: '{}'\n", value.trim().replace('\'', "''"))
        }
        _ => format!("{line}\n"),
    };
    head.lines().map(line).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

const MARK: &str = "---";
const MAX_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str) -> Result<Head, String> {
        read(&format!("---\n{head}\n---\nbody\n"))
    }

    #[test]
    fn a_head_says_what_the_skill_is_for() {
        let head = of("name: pdf-tools\ndescription: >\n  Reads\n  PDF files.\nlicense: MIT\nmetadata:\n  a: b\nallowed-tools: Bash(git:*) Read").unwrap();
        assert_eq!(head.name.as_deref(), Some("pdf-tools"));
        assert_eq!(head.description, "Reads PDF files.");
        assert_eq!(head.allowed_tools.as_deref(), Some("Bash(git:*) Read"));
    }

    #[test]
    fn a_colon_in_a_plain_text_is_read_as_it_was_meant() {
        let head = of("name: x\ndescription: Use this: it's \"good\"").unwrap();
        assert_eq!(head.description, "Use this: it's \"good\"");
    }

    #[test]
    fn what_is_no_skill_is_refused() {
        for (text, why) in [
            ("no head", "does not begin"),
            ("---\nname: x\ndescription: never ends\n", "does not begin"),
            ("---\nname: x\n---\n", "no `description`"),
            ("---\nname: x\ndescription: '  '\n---\n", "no `description`"),
            ("---\nname: [x\n---\n", "no YAML"),
            ("---\n- a\n- b\n---\n", "no YAML"),
            ("---\ndescription: {a: b}\n---\n", "no YAML"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
        assert!(of(&format!("description: {}", "x".repeat(MAX_BYTES))).unwrap_err().contains("limit"));
    }

    /// Anchors that would grow without end are an error, and cost no memory.
    #[test]
    fn a_bomb_is_an_error() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let below = format!("*a{},", level - 1).repeat(9);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", below.trim_end_matches(',')));
        }
        bomb.push_str("description: *a11\n");
        of(&bomb).unwrap_err();
    }

    #[test]
    fn the_text_behind_the_head_is_the_body() {
        assert_eq!(body("---\nname: x\n---\n\nDo it.\n"), "Do it.");
        assert_eq!(body("---\r\nname: x\r\n---\r\nDo it.\r\n"), "Do it.");
        assert_eq!(body("Do it."), "Do it.");
    }
}
