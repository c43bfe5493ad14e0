//! A command as a list of word lists, by way of tree-sitter's syntax tree.
//!
//! Only nodes that are known here are taken, and between them only blanks and the operators that separate commands: every byte of the text
//! is accounted for. Where the tree says that one command continues or another begins, the text must agree: within a command only
//! blanks and tabs stand between words, and between two commands stands an operator or a line break. So a text that the grammar reads
//! otherwise than bash does could consist of plain and quoted words only.

use super::is_plain_char;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// The words of each command, in order. `None` if the text is anything but plain commands and what separates them.
pub(super) fn commands(text: &str) -> Option<Vec<Vec<String>>> {
    let tree = parse(text)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut reading = Reading { text, commands: Vec::new(), seen: 0, last: Last::Separator };
    let mut open = vec![root];
    // A stack of its own: a long chain of operators is a deep tree.
    while let Some(node) = open.pop() {
        match node.kind() {
            // Redirections of nothing: bash runs no program, and what follows depends on that.
            "redirected_statement" if children(node).into_iter().all(|part| part.kind() == "file_redirect") => {
                return None;
            }
            "program" | "list" | "pipeline" | "redirected_statement" => open.extend(children(node).into_iter().rev()),
            "command" => reading.command(node)?,
            "file_redirect" => reading.redirect(node)?,
            "&&" | "||" | "|" | ";" | "\n" => reading.separator(node)?,
            _ => return None,
        }
    }
    reading.finish()
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let begun = Instant::now();
    let mut in_time = |_: &tree_sitter::ParseState| {
        if begun.elapsed() < LONGEST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |from, _| bytes.get(from..).unwrap_or_default(), None, Some(options))
}

/// How far the text is accounted for, and what was found.
struct Reading<'a> {
    text: &'a str,
    commands: Vec<Vec<String>>,
    seen: usize,
    last: Last,
}

/// What the part of the text that was accounted for ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A line break or `;`, or nothing yet: a command may follow.
    Separator,
    /// `&&`, `||` or `|`: a command must follow.
    Operator,
    /// A command, whole so far.
    Command,
}

impl<'a> Reading<'a> {
    fn command(&mut self, node: Node<'_>) -> Option<()> {
        if self.breaks_before(node)? {
            self.last = if self.last == Last::Operator { Last::Operator } else { Last::Separator };
        }
        if self.last == Last::Command {
            return None;
        }
        let mut words = Vec::new();
        for (number, part) in children(node).into_iter().enumerate() {
            if part.kind() == "file_redirect" {
                self.redirect(part)?;
                continue;
            }
            let word = match part.kind() {
                "command_name" => children(part),
                _ => vec![part],
            };
            let [word] = word[..] else { return None };
            // Only blanks keep the words of a command apart: a line break begins another one.
            if number > 0 && self.blanks_before(word)? == 0 {
                return None;
            }
            words.push(self.word(word)?);
            self.last = Last::Command;
        }
        self.commands.push(words);
        Some(())
    }

    fn separator(&mut self, node: Node<'_>) -> Option<()> {
        if node.kind() == "\n" {
            self.breaks_before(node)?;
        } else if self.last == Last::Command {
            self.blanks_before(node)?;
        } else {
            return None;
        }
        self.seen = node.end_byte();
        self.last = match node.kind() {
            ";" => Last::Separator,
            "\n" if self.last != Last::Operator => Last::Separator,
            _ => Last::Operator,
        };
        Some(())
    }

    /// What was found, if all of the text is accounted for.
    fn finish(self) -> Option<Vec<Vec<String>>> {
        let rest = self.text.get(self.seen..)?;
        let is_whole = rest.chars().all(|c| is_blank(c) || c == '\n') && self.last != Last::Operator;
        (is_whole && !self.commands.is_empty()).then_some(self.commands)
    }

    /// A word as the shell passes it on.
    fn word(&mut self, node: Node<'_>) -> Option<String> {
        let mut word = String::new();
        if node.kind() == "concatenation" {
            for (number, part) in children(node).into_iter().enumerate() {
                // Its parts stand side by side.
                if number > 0 && part.start_byte() != self.seen {
                    return None;
                }
                word.push_str(self.part(part)?);
            }
        } else {
            word.push_str(self.part(node)?);
        }
        Some(word)
    }

    fn part(&mut self, node: Node<'_>) -> Option<&'a str> {
        // The blanks before its first part were looked at.
        self.seen = node.end_byte();
        let written = self.text.get(node.byte_range())?;
        match node.kind() {
            "word" | "number" => is_taken_as_it_is(written).then_some(written),
            "raw_string" => inside(written, '\'').filter(|text| !text.contains('\'')),
            "string" => inside(written, '"').filter(|text| !text.contains(['"', '$', '`', '\\'])),
            _ => None,
        }
    }

    /// One of the few that lead nowhere: to another output, or to nothing.
    fn redirect(&mut self, node: Node<'_>) -> Option<()> {
        let parts = children(node);
        let (descriptor, operator, destination) = match parts[..] {
            [descriptor, operator, destination] if descriptor.kind() == "file_descriptor" => {
                (Some(descriptor), operator, destination)
            }
            [operator, destination] => (None, operator, destination),
            _ => return None,
        };
        let behind = self.text.get(..self.seen)?;
        if self.last == Last::Command {
            let is_apart = self.blanks_before(node)? > 0;
            // A number right before an operator is a descriptor, and one right after a word is a part of it.
            if !is_apart && (descriptor.is_some() || behind.ends_with(|c: char| c.is_ascii_digit())) {
                return None;
            }
        } else {
            self.breaks_before(node)?;
            // `;&>` is `;&` and `>`.
            if self.seen > 0 && self.seen == node.start_byte() {
                return None;
            }
        }
        self.seen = node.start_byte();
        let descriptor = descriptor.map_or(Some(""), |descriptor| self.take(descriptor, 0))?;
        let operator = self.take(operator, 0)?;
        let destination = self.take(destination, MOST_BLANKS)?;
        self.last = Last::Command;
        HARMLESS.contains(&(descriptor, operator, destination)).then_some(())
    }

    /// The text of a node, before which at most so many blanks stand.
    fn take(&mut self, node: Node<'_>, blanks: usize) -> Option<&'a str> {
        if self.blanks_before(node)? > blanks {
            return None;
        }
        self.seen = node.end_byte();
        self.text.get(node.byte_range())
    }

    /// How many blanks stand before a node, if nothing else does.
    fn blanks_before(&self, node: Node<'_>) -> Option<usize> {
        let before = self.text.get(self.seen..node.start_byte())?;
        before.chars().all(is_blank).then_some(before.len())
    }

    /// Whether line breaks stand before a node; `None` if anything but those and blanks does.
    fn breaks_before(&self, node: Node<'_>) -> Option<bool> {
        let before = self.text.get(self.seen..node.start_byte())?;
        before.chars().all(|c| is_blank(c) || c == '\n').then(|| before.contains('\n'))
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Whether nothing in it means anything to bash: `~` does only at the beginning, or behind `=` or `:`. Git names commits so: `HEAD~1`,
/// `HEAD^`.
fn is_taken_as_it_is(written: &str) -> bool {
    let before = std::iter::once(' ').chain(written.chars());
    let follows_a_name = |before: char| before.is_ascii_alphanumeric() || matches!(before, '~' | '^');
    written.chars().zip(before).all(|(c, before)| is_plain_char(c) || matches!(c, '~' | '^') && follows_a_name(before))
}

/// What stands between two marks.
fn inside(written: &str, mark: char) -> Option<&str> {
    written.strip_prefix(mark)?.strip_suffix(mark)
}

/// What keeps words apart, and commands together.
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Far longer than the longest command takes, also on a machine that is busy.
const LONGEST: Duration = Duration::from_millis(500);
/// More than there are.
const MOST_BLANKS: usize = super::MOST_BYTES;
/// Redirects that create, change and read no file: descriptor, operator and destination.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("2", ">&", "1"),
    ("1", ">&", "2"),
    ("", ">&", "1"),
    ("", ">&", "2"),
    ("", ">", "/dev/null"),
    ("1", ">", "/dev/null"),
    ("2", ">", "/dev/null"),
    ("", "&>", "/dev/null"),
    ("", ">>", "/dev/null"),
    ("2", ">>", "/dev/null"),
    ("", "<", "/dev/null"),
];
