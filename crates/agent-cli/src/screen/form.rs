//! A question of a server as a person answers it at the prompt: first whether at all, then a value after the other, and at last whether
//! they are sent.
//!
//! 1. What the server says stands behind a bar of its own in every row: it cannot pass for words of the program.
//! 2. Nothing is sent before the person has seen all that would be.
//! 3. What was typed goes to the server alone: not to the model, and into no record.

use crate::screen::sheet::{Row, wrapped};
use crate::screen::terminal::{Tint, clean, unmistakable};
use agent_mcp::{Field, FieldKind, Question, Reply, Wants};
use serde_json::{Map, Value};

/// A question and how far it is answered.
pub(crate) struct Form {
    pub(crate) question: Question,
    stage: Stage,
    /// What was said to each field so far.
    values: Vec<Option<Value>>,
}

/// What the next line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Whether the person answers at all.
    Whether,
    /// The value of this field.
    Value(usize),
    /// Whether the values are sent.
    Send,
}

/// What a line came to.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// More is asked.
    Ask,
    /// It does not fit, with the reason.
    Not(String),
    /// The answer.
    Said(Reply),
}

impl Form {
    pub(crate) const fn new(question: Question) -> Self {
        Self { question, stage: Stage::Whether, values: Vec::new() }
    }

    /// Who asks for what, once.
    pub(crate) fn heading(&self, columns: usize) -> Vec<Row> {
        let Question { server, call, message, .. } = &self.question;
        let (server, call) = (unmistakable(server), unmistakable(call));
        let mut rows =
            vec![(Tint::Bold, format!("the MCP server `{server}` asks you something, in the middle of {call}:"))];
        rows.extend(quoted(message, columns, MOST_ROWS));
        if self.question.seems_to_want_secrets() {
            rows.push((
                Tint::Bold,
                String::from(
                    "  it seems to want a password, a key or a token, which servers must not ask for like this: say n",
                ),
            ));
        }
        match &self.question.wants {
            Wants::Form(fields) => {
                let names: Vec<String> = fields.iter().map(|field| unmistakable(&field.title)).collect();
                let what = if names.is_empty() { String::from("nothing but your yes") } else { names.join(", ") };
                rows.push((Tint::Dim, format!("  it wants: {what}")));
                rows.push((Tint::Dim, String::from("  y: answer it · n: decline · Esc or Ctrl-C stops the turn")));
            }
            Wants::Visit(address) => {
                let host = address.split('/').nth(2).unwrap_or_default();
                rows.push((
                    Tint::Dim,
                    format!("  it wants you to go to an address of {host}, which is not opened for you:"),
                ));
                rows.extend(quoted(address, columns, usize::MAX));
                rows.push((
                    Tint::Dim,
                    String::from(
                        "  y: you have been there, or agree to go · n: decline · Esc or Ctrl-C stops the turn",
                    ),
                ));
            }
        }
        rows
    }

    /// What is asked now.
    pub(crate) fn rows(&self, columns: usize) -> Vec<Row> {
        let fields = self.fields();
        match self.stage {
            Stage::Whether => Vec::new(),
            Stage::Value(at) => fields.get(at).map(|field| asked(field, at, fields.len(), columns)).unwrap_or_default(),
            Stage::Send => {
                let said = fields.iter().zip(&self.values);
                let row = |(field, value): (&Field, &Option<Value>)| {
                    let value = value.as_ref().map_or_else(|| String::from("(left out)"), |value| shown(field, value));
                    (Tint::Dim, format!("  {}: {}", unmistakable(&field.title), unmistakable(&value)))
                };
                let mut rows: Vec<Row> = said.map(row).collect();
                let server = unmistakable(&self.question.server);
                rows.push((Tint::Bold, format!("  y: send this to `{server}` · {BACK}: change it · n: decline")));
                rows
            }
        }
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, typed: &str) -> Next {
        let typed = typed.trim();
        match (self.stage, typed) {
            (_, DECLINE) | (Stage::Whether | Stage::Send, "n" | "no") => Next::Said(Reply::Decline),
            (Stage::Whether, "y" | "yes") => match &self.question.wants {
                Wants::Visit(_) => Next::Said(Reply::Accept(Map::new())),
                Wants::Form(fields) if fields.is_empty() => Next::Said(Reply::Accept(Map::new())),
                Wants::Form(_) => self.go(Stage::Value(0)),
            },
            (Stage::Send, "y" | "yes") => {
                let named = self.fields().iter().zip(&self.values);
                let values = named.filter_map(|(field, value)| Some((field.name.clone(), value.clone()?))).collect();
                match self.question.checked(values) {
                    Ok(values) => Next::Said(Reply::Accept(values)),
                    Err(why) => Next::Not(why),
                }
            }
            (Stage::Send, BACK) => self.go(Stage::Value(self.fields().len().saturating_sub(1))),
            (Stage::Value(at), BACK) => self.go(at.checked_sub(1).map_or(Stage::Whether, Stage::Value)),
            (Stage::Whether | Stage::Send, _) => Next::Not(String::from("y or n")),
            (Stage::Value(at), typed) => match self.fields().get(at).map(|field| field.typed(typed)) {
                Some(Ok(value)) => {
                    self.values.truncate(at);
                    self.values.push(value);
                    let is_last = at + 1 >= self.fields().len();
                    self.go(if is_last { Stage::Send } else { Stage::Value(at + 1) })
                }
                Some(Err(why)) => Next::Not(why),
                None => self.go(Stage::Send),
            },
        }
    }

    fn go(&mut self, stage: Stage) -> Next {
        self.stage = stage;
        Next::Ask
    }

    fn fields(&self) -> &[Field] {
        match &self.question.wants {
            Wants::Form(fields) => fields,
            Wants::Visit(_) => &[],
        }
    }

    /// Whether the person has not agreed to answer yet.
    pub(crate) fn is_new(&self) -> bool {
        self.stage == Stage::Whether
    }
}

/// What a field is, and how it is answered.
fn asked(field: &Field, at: usize, of: usize, columns: usize) -> Vec<Row> {
    let needed = if field.is_needed { ", needed" } else { "" };
    let noun = field.kind.noun();
    let mut rows = vec![(Tint::Bold, format!("  {} of {of}: {} ({noun}{needed})", at + 1, unmistakable(&field.title)))];
    if !field.description.is_empty() {
        rows.extend(quoted(&field.description, columns, MOST_ROWS));
    }
    if let FieldKind::One(choices) | FieldKind::Several { choices, .. } = &field.kind {
        let row = |(at, choice): (usize, &agent_mcp::Choice)| {
            (Tint::Dim, format!("    {} {}", at + 1, unmistakable(&choice.title)))
        };
        rows.extend(choices.iter().enumerate().map(row));
    }
    let how = match &field.kind {
        FieldKind::YesNo => "y or n · ",
        FieldKind::One(_) => "its number · ",
        FieldKind::Several { .. } => "their numbers, with commas · ",
        FieldKind::Text { .. } | FieldKind::Number { .. } => "",
    };
    let enter = match &field.default {
        Some(default) => format!("Enter alone: {} · ", unmistakable(&shown(field, default))),
        None if field.is_needed => String::new(),
        None => String::from("Enter alone leaves it out · "),
    };
    rows.push((Tint::Dim, format!("  {how}{enter}{BACK} · {DECLINE} declines")));
    rows
}

/// A value in the words of its field.
fn shown(field: &Field, value: &Value) -> String {
    let title = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match &field.kind {
            FieldKind::One(choices) | FieldKind::Several { choices, .. } => {
                choices.iter().find(|choice| choice.value == text).map_or(text, |choice| choice.title.clone())
            }
            FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::YesNo => text,
        }
    };
    match value {
        Value::Array(values) => values.iter().map(title).collect::<Vec<_>>().join(", "),
        Value::Bool(is_yes) => String::from(if *is_yes { "yes" } else { "no" }),
        value => title(value),
    }
}

/// Words of the server, each row behind a bar.
fn quoted(text: &str, columns: usize, most: usize) -> Vec<Row> {
    let text = clean(text).into_owned();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let rows = lines.flat_map(|line| wrapped(&unmistakable(line), columns.saturating_sub(BAR.len()).max(10)));
    let mut rows: Vec<Row> = rows.map(|row| (Tint::Dim, format!("{BAR}{row}"))).collect();
    if rows.len() > most {
        let left = rows.len() - most;
        rows.truncate(most);
        rows.push((Tint::Dim, format!("  [{left} more rows are not shown]")));
    }
    rows
}

/// In one line: who asks what.
pub(crate) fn told(question: &Question) -> String {
    let Question { server, call, message, .. } = question;
    let message = clean(message);
    let end = message.floor_char_boundary(MOST_TOLD_BYTES);
    let more = if end < message.len() { "…" } else { "" };
    format!(
        "the MCP server {server} asks in the middle of {call}: \"{}{more}\"",
        message.get(..end).unwrap_or_default()
    )
}

/// Words that are no answer, but say what to do with it.
const BACK: &str = "/back";
const DECLINE: &str = "/no";
const BAR: &str = "  | ";
const MOST_ROWS: usize = 30;
const MOST_TOLD_BYTES: usize = 300;
