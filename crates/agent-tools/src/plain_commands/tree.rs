//! A command as a list of word lists, by way of tree-sitter's syntax tree.
//!
//! Only nodes that are known here are taken, and between them only blanks and the operators that separate commands: every byte of the text is
//! accounted for. So a text that the grammar reads otherwise than bash does would have to be made of plain and quoted words alone.

use super::is_plain_char;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// The words of each command, in order. Nothing when the text is anything but plain commands and what separates them.
pub(super) fn commands(text: &str) -> Option<Vec<Vec<String>>> {
    let tree = parse(text)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut reading = Reading { text, commands: Vec::new(), seen: 0 };
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
            "&&" | "||" | "|" | ";" | "\n" => drop(reading.take(node)?),
            _ => return None,
        }
    }
    let rest = text.get(reading.seen..)?;
    (is_blank(rest) && !reading.commands.is_empty()).then_some(reading.commands)
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
}

impl<'a> Reading<'a> {
    fn command(&mut self, node: Node<'_>) -> Option<()> {
        let mut words = Vec::new();
        for part in children(node) {
            if part.kind() == "file_redirect" {
                self.redirect(part)?;
                continue;
            }
            let word = match part.kind() {
                "command_name" => children(part),
                _ => vec![part],
            };
            let [word] = word[..] else { return None };
            if !words.is_empty() && word.start_byte() == self.seen {
                return None;
            }
            words.push(self.word(word)?);
        }
        self.commands.push(words);
        Some(())
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
        let written = self.take(node)?;
        match node.kind() {
            "word" | "number" => written.chars().all(is_plain_char).then_some(written),
            "raw_string" => inside(written, '\'').filter(|text| !text.contains('\'')),
            "string" => inside(written, '"').filter(|text| !text.contains(['"', '$', '`', '\\'])),
            _ => None,
        }
    }

    /// One of the few that lead nowhere: to another output, or to nothing.
    fn redirect(&mut self, node: Node<'_>) -> Option<()> {
        let written = self.take(node)?;
        let is_known = node.kind() == "file_redirect" && HARMLESS.contains(&written.replace(' ', "").as_str());
        is_known.then_some(())
    }

    /// The text of a node. Before it nothing but blanks may stand.
    fn take(&mut self, node: Node<'_>) -> Option<&'a str> {
        let before = self.text.get(self.seen..node.start_byte())?;
        let written = self.text.get(node.byte_range())?;
        self.seen = node.end_byte();
        is_blank(before).then_some(written)
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// What stands between two marks.
fn inside(written: &str, mark: char) -> Option<&str> {
    written.strip_prefix(mark)?.strip_suffix(mark)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n'))
}

/// Far longer than the longest command takes, also on a machine that is busy.
const LONGEST: Duration = Duration::from_millis(500);
/// Redirects that create, change and read no file, without their blanks.
const HARMLESS: &[&str] = &[
    "2>&1",
    "1>&2",
    ">&1",
    ">&2",
    ">/dev/null",
    "1>/dev/null",
    "2>/dev/null",
    "&>/dev/null",
    ">>/dev/null",
    "2>>/dev/null",
    "</dev/null",
];
