//! Questions at the prompt: shown whole before they can be answered with yes.

mod letters;

use super::Screen;
use crate::config::kept_rules;
use crate::screen::answer::{self, Asker, By, Key};
use crate::screen::approver::Question;
use crate::screen::change::Changes;
use crate::screen::edit::editor::Input;
use crate::screen::lines::Line;
use crate::screen::sheet::{Row, Sheet, wrapped};
use crate::screen::terminal::{self, Tint, clean, forget_half_typed_line, judged};
use crate::screen::view::call_line;
use agent_core::conversation::ToolCall;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use std::time::{Duration, Instant};
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};
use tokio::sync::{mpsc, oneshot};

/// A question that waits for its answer.
pub(super) struct Open {
    pub(super) question: ApprovalQuestion,
    pub(super) answer: oneshot::Sender<ApprovalAnswer>,
    /// All of the call, and what of it was shown.
    sheet: Sheet,
    /// The lines that it changes, where these are shown.
    changes: Option<Changes>,
    /// How it is answered now.
    pub(super) entry: Entry,
    /// The arguments as the person's editor left them, where they were not valid.
    edited: Option<String>,
    /// From then on keys and lines count.
    ready: Instant,
    /// A key that was pressed, and when it counts unless another follows: then both begin a message.
    held: Option<(char, Instant)>,
    /// When the answer is asked for, where a line gives it and that was not done yet.
    prompt_at: Option<Instant>,
}

impl Open {
    /// What asks for the answer.
    const fn label(&self) -> &'static str {
        if self.sheet.is_seen() { ANSWER } else { MORE }
    }

    /// What the person's editor begins with.
    pub(super) fn to_edit(&self) -> String {
        self.edited.clone().unwrap_or_else(|| pretty(self.question.call.arguments.as_str()))
    }
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// By a key.
    Key,
    /// A reason is typed for the no.
    Reason,
    /// The answer is typed.
    Line,
    /// The arguments are with the person's editor.
    Editor,
}

impl Screen {
    /// Returns whether to leave.
    pub(super) fn ask(&mut self, question: Question) -> bool {
        if self.has_input_ended {
            return self.without_answer(question);
        }
        self.view.end_line();
        // In the line editor it is put away, and comes back behind the answer.
        if self.desk.is_none() {
            forget_half_typed_line();
        }
        let (question, answer) = question;
        // However quiet: nobody can answer a question that was not put.
        self.put(Tint::Bold, &format!("allow this call? {}", call_line(&question.call)));
        let open = self.opened(question, answer);
        self.show(open, Sheet::next_part);
        self.desk.iter().for_each(|desk| desk.call("waits for your answer"));
        false
    }

    /// A question of which nothing was shown yet.
    fn opened(&self, question: ApprovalQuestion, answer: oneshot::Sender<ApprovalAnswer>) -> Open {
        let changes = Changes::of(&question.call, &self.directory);
        let sheet = changes.as_ref().map_or_else(|| Sheet::below_heading(&question.call), Sheet::of_changes);
        let entry = if self.desk.is_some() { Entry::Key } else { Entry::Line };
        Open {
            question,
            answer,
            sheet,
            changes,
            entry,
            edited: None,
            ready: Instant::now(),
            held: None,
            prompt_at: None,
        }
    }

    /// Writes a line of a question in rows of the terminal's width: text of the model cannot pass for a row of its own.
    pub(super) fn put(&self, tint: Tint, line: &str) {
        wrapped(&clean(line), terminal::size().0).iter().for_each(|row| self.style.say(tint, row));
    }

    /// Shows a part of what is asked about, and what can be answered to that.
    fn show(&mut self, mut open: Open, part: fn(&mut Sheet) -> &[Row]) {
        let now = Instant::now();
        open.ready = match (self.is_typed, self.is_typing()) {
            // What a pipe holds was written for it.
            (false, _) => now,
            (true, true) => now + PAUSE,
            (true, false) => now + DEAD_TIME,
        };
        let by = self.by();
        part(&mut open.sheet).iter().for_each(|(tint, line)| self.put(*tint, line));
        if open.sheet.is_seen() {
            let asked = &open.question;
            self.put(Tint::Dim, &format!("  asked because {}", judged(&asked.reason)));
            let rows = answer::short(asked, self.asker(asked), by, terminal::size().0);
            rows.iter().for_each(|row| self.put(Tint::Dim, row));
        } else {
            let (far, how) = (open.sheet.how_far(), answer::to_see_more(by));
            self.put(Tint::Bold, &format!("  {far}: {how}"));
        }
        // A line has no way to show that it does not count yet, but that nothing asks for it.
        if self.desk.is_some() || !self.is_typed {
            self.prompt(open.label());
        } else {
            open.prompt_at = Some(open.ready);
        }
        self.question = Some(open);
    }

    const fn by(&self) -> By {
        if self.desk.is_some() { By::Key } else { By::Line }
    }

    /// Shows what each answer means, and asks again.
    fn explain(&mut self, open: Open) {
        for line in answer::choices(&open.question, self.asker(&open.question), &kept_rules::place(), self.by()) {
            self.put(Tint::Dim, &line);
        }
        self.asked_again(open);
    }

    /// From now on an answer counts, or the key that was pressed does: no other followed.
    pub(super) fn is_ready(&mut self) {
        let now = Instant::now();
        if let Some((letter, _)) = self.question.as_mut().and_then(|open| open.held.take_if(|(_, due)| *due <= now)) {
            return self.struck(letter);
        }
        let due = self.question.as_mut().and_then(|open| open.prompt_at.take().map(|_| open.label()));
        due.into_iter().for_each(|label| self.prompt(label));
    }

    /// Whether this line came before the question could be read, as the lines of a paste do whose beginning was taken for something else.
    /// Then it is no answer, and each further one is waited out.
    pub(super) fn comes_too_early(&mut self) -> bool {
        let Some(open) = self.question.as_mut().filter(|_| self.desk.is_none()) else { return false };
        let now = Instant::now();
        let Some(left) = open.ready.checked_duration_since(now).filter(|left| !left.is_zero()) else { return false };
        open.ready = now + PAUSE;
        open.prompt_at = Some(open.ready);
        if left <= DEAD_TIME {
            self.put(Tint::Dim, "  this line came before the question could be read, and is no answer");
        }
        true
    }

    /// A key was pressed, or something pasted, while a question waits that one key answers. Returns whether that was meant for it.
    pub(super) fn pressed(&mut self, input: &Input) -> bool {
        let Some(open) = self.question.as_mut().filter(|open| open.entry != Entry::Line || self.desk.is_some()) else {
            return false;
        };
        let is_letter = |key: &KeyEvent| {
            let is_plain = !key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT);
            is_plain && matches!(key.code, KeyCode::Char(_) | KeyCode::Enter | KeyCode::Escape)
        };
        let key = match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => *key,
            Input::Paste(_) | Input::PasteWaits { .. } if open.entry == Entry::Key => {
                // What stands beside a paste is of the same message.
                open.ready = Instant::now() + PAUSE;
                self.withdraw_letter();
                if matches!(input, Input::Paste(_)) {
                    self.put(Tint::Dim, "  a paste is no answer");
                }
                return matches!(input, Input::Paste(_));
            }
            Input::Key(_) | Input::Paste(_) | Input::PasteWaits { .. } => return false,
        };
        // Who edits has not answered.
        if !is_letter(&key) && self.withdraw_letter() {
            return false;
        }
        let Some(open) = self.question.as_mut() else { return false };
        match (open.entry, key.code) {
            (Entry::Reason | Entry::Line, KeyCode::Escape) => {
                open.entry = Entry::Key;
                self.desk.iter_mut().for_each(|desk| desk.editor.clear());
                true
            }
            (Entry::Key, KeyCode::Char(_) | KeyCode::Enter)
                if !key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT) =>
            {
                let letter = if let KeyCode::Char(letter) = key.code { letter } else { '\r' };
                self.struck_at(letter, Instant::now());
                true
            }
            _ => false,
        }
    }

    /// Stops the turn. A question that is open is withdrawn, and its call does not run.
    pub(super) fn stop(&mut self) {
        self.handle.cancel();
        self.stop = self.handle.sent();
    }

    fn struck(&mut self, letter: char) {
        let Some(mut open) = self.question.take() else { return };
        let key = answer::key(letter, open.sheet.is_seen());
        if let (Some(Key::Answer(_) | Key::Stop), Some(desk)) = (key, &self.desk) {
            self.view.said(&format!("{}{letter}", desk.label));
        }
        match key {
            Some(Key::Answer(line)) => return self.answer(line, open),
            Some(Key::More) => return self.show(open, Sheet::next_part),
            Some(Key::Rest) => return self.show(open, Sheet::rest),
            Some(Key::Help) => return self.explain(open),
            Some(Key::Stop) => return self.stop(),
            Some(Key::Reason) => open.entry = Entry::Reason,
            Some(Key::Line) => open.entry = Entry::Line,
            Some(Key::Edit) if self.edit_elsewhere(&open) => open.entry = Entry::Editor,
            Some(Key::Edit) | None => {}
        }
        self.question = Some(open);
    }

    /// What the person's editor has made of the arguments.
    pub(super) fn edited_arguments(&mut self, text: &str) {
        let Some(mut open) = self.question.take() else { return };
        open.entry = Entry::Key;
        let is_same = |text: &str| pretty(text) == pretty(open.question.call.arguments.as_str());
        if is_same(text) {
            self.put(Tint::Dim, "  the arguments are as they were");
            self.question = Some(open);
        } else {
            open.edited = Some(text.to_owned());
            self.answer(&format!("e {}", text.trim()), open);
        }
    }

    /// Whether keys were pressed just now.
    pub(super) fn is_typing(&self) -> bool {
        let last = self.desk.as_ref().and_then(|desk| desk.last_key);
        last.is_some_and(|last| last.elapsed() < TYPING)
    }

    /// When an answer begins to count, if a question waits for one. It may have passed where the answer is still to be asked for.
    pub(super) fn ready(&self) -> Option<Instant> {
        let Some(open) = &self.question else {
            return self.desk.as_ref()?.choosing.as_ref()?.waits_until();
        };
        let held = open.held.map(|(_, due)| due);
        held.or(open.prompt_at).or(Some(open.ready).filter(|ready| *ready > Instant::now()))
    }

    /// What was typed at an open question.
    pub(super) fn answer(&mut self, line: &str, open: Open) {
        let is_seen = open.sheet.is_seen();
        let reason = format!("n {line}");
        let line = match (open.entry, line) {
            (Entry::Reason, "") => return self.asked_again(open),
            (Entry::Reason, _) => &reason,
            _ => line,
        };
        match line {
            "" if !is_seen => return self.show(open, Sheet::next_part),
            "rest" if !is_seen => return self.show(open, Sheet::rest),
            "?" => return self.explain(open),
            _ => {}
        }
        let asker = self.asker(&open.question);
        // After `:` a line answers, also where keys do.
        let by = if open.entry == Entry::Line { By::Line } else { self.by() };
        let read = match is_seen {
            true => answer::read(line, &open.question, asker),
            false => answer::read_unseen(line, &open.question, asker, by),
        };
        match read {
            // What was shown is what is allowed.
            Ok(ApprovalAnswer::Allow { arguments: None, .. })
                if open.changes.is_some() && open.changes != Changes::of(&open.question.call, &self.directory) =>
            {
                self.put(Tint::Bold, "  the file has changed since it was shown; the call now changes this:");
                let open = self.opened(open.question, open.answer);
                self.show(open, Sheet::next_part);
            }
            // An approval that was withdrawn meanwhile needs no answer.
            Ok(given) => {
                match &given {
                    ApprovalAnswer::Allow { arguments: None, .. } => {
                        self.view.change_was_shown(&open.question.call.id);
                    }
                    ApprovalAnswer::Allow { arguments: Some(arguments), .. } => {
                        let call = ToolCall { arguments: arguments.clone(), ..open.question.call.clone() };
                        self.view.change_is_another(&call);
                    }
                    ApprovalAnswer::Deny { .. } | ApprovalAnswer::Nobody => {}
                }
                drop(open.answer.send(self.keeping(given)));
            }
            Err(why) => {
                self.put(Tint::Dim, &format!("  {why}"));
                self.asked_again(open);
            }
        }
    }

    fn asked_again(&mut self, mut open: Open) {
        self.prompt(open.label());
        open.prompt_at = None;
        if self.desk.is_some() {
            open.entry = Entry::Key;
        }
        self.question = Some(open);
    }

    fn asker(&self, question: &ApprovalQuestion) -> Asker {
        if self.asked_by_hook.contains(&question.call.id) { Asker::Hook } else { Asker::Policy }
    }

    /// An answer that is to hold for sessions to come is kept first. Where it cannot be, it holds for this one.
    fn keeping(&mut self, answer: ApprovalAnswer) -> ApprovalAnswer {
        let ApprovalAnswer::Allow { scope: ApprovalScope::Always(rules), arguments } = answer else { return answer };
        let scope = match kept_rules::keep_all(&rules, &self.directory, &self.settings.servers) {
            Ok(told) => {
                told.iter().for_each(|told| self.view.tell(told));
                ApprovalScope::Always(rules)
            }
            Err(error) => {
                let these = if rules.len() == 1 { "the rule applies" } else { "the rules apply" };
                self.view.error(&format!("{error}; {these} to this session only"));
                ApprovalScope::Session(rules)
            }
        };
        ApprovalAnswer::Allow { scope, arguments }
    }

    /// Returns whether to leave: a person who closes the terminal on a question has not answered it, and finds it again on resuming. Behind
    /// a pipe nobody is left who could ever answer.
    pub(super) fn without_answer(&mut self, (_, answer): Question) -> bool {
        if self.is_typed {
            self.view.tell("the question stays open");
        } else {
            let _ = answer.send(ApprovalAnswer::Nobody);
        }
        self.is_typed
    }
}

/// The next line, where there is room for what is said to it.
pub(super) async fn next_line(lines: &mut mpsc::UnboundedReceiver<Line>) -> Option<Line> {
    terminal::room().await;
    lines.recv().await
}

/// The next question, once everything is written that came before it: what is typed until then cannot be meant for it.
pub(super) async fn put_next(
    questions: &mut mpsc::UnboundedReceiver<Question>,
    next: &mut Option<Question>,
) -> Option<Question> {
    if next.is_none() {
        *next = questions.recv().await;
    }
    terminal::written().await;
    // One that was withdrawn meanwhile is not put.
    next.take().filter(|(_, answer)| !answer.is_closed())
}

/// Waits for a time, where there is one.
pub(super) async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

/// Arguments as they are edited.
pub(super) fn pretty(arguments: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| arguments.to_owned())
}

/// What stands before the line while a question is answered so.
pub(super) const fn label(entry: Entry, is_ready: bool, label: &'static str) -> &'static str {
    match entry {
        Entry::Key if !is_ready => "  … ",
        Entry::Key | Entry::Line => label,
        Entry::Reason => "  no, because: ",
        Entry::Editor => "  in your editor ",
    }
}

/// A question that has just appeared was not read.
pub(super) const DEAD_TIME: Duration = Duration::from_millis(300);
/// Who was typing a message when it appeared goes on for a while: a key answers when none was pressed for so long.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Between two keys of a message there is seldom more.
const TYPING: Duration = Duration::from_secs(3);
const ANSWER: &str = "  answer: ";
const MORE: &str = "  more: ";
