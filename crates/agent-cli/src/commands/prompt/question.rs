//! Questions at the prompt: shown whole before they can be answered with yes.

use super::Screen;
use crate::config::kept_rules;
use crate::screen::answer::{self, Asker};
use crate::screen::approver::Question;
use crate::screen::change::Changes;
use crate::screen::lines::Line;
use crate::screen::sheet::{Row, Sheet, wrapped};
use crate::screen::terminal::{self, Tint, clean, forget_half_typed_line, inline, unmistakable};
use crate::screen::view::call_line;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use tokio::sync::{mpsc, oneshot};

/// A question that waits for its answer.
pub(super) struct Open {
    pub(super) question: ApprovalQuestion,
    pub(super) answer: oneshot::Sender<ApprovalAnswer>,
    /// All of the call, and what of it was shown.
    sheet: Sheet,
    /// The lines that it changes, where these are shown.
    changes: Option<Changes>,
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
        self.put(Tint::Bold, &format!("allow this call? {}", unmistakable(&call_line(&question.call))));
        let open = self.opened(question, answer);
        self.show(open, Sheet::next_part);
        false
    }

    /// A question of which nothing was shown yet.
    fn opened(&self, question: ApprovalQuestion, answer: oneshot::Sender<ApprovalAnswer>) -> Open {
        let changes = Changes::of(&question.call, &self.directory);
        let sheet = changes.as_ref().map_or_else(|| Sheet::of(&question.call), Sheet::of_changes);
        Open { question, answer, sheet, changes }
    }

    /// Writes a line of a question in rows of the terminal's width: text of the model cannot pass for a row of its own.
    fn put(&self, tint: Tint, line: &str) {
        wrapped(&clean(line), terminal::size().0).iter().for_each(|row| self.style.say(tint, row));
    }

    /// Shows a part of what is asked about, and what can be answered to that.
    fn show(&mut self, mut open: Open, part: fn(&mut Sheet) -> &[Row]) {
        part(&mut open.sheet).iter().for_each(|(tint, line)| self.put(*tint, line));
        if open.sheet.is_seen() {
            let asked = &open.question;
            self.put(Tint::Dim, &format!("  asked because {}", inline(&asked.reason)));
            for line in answer::choices(asked, self.asker(asked), &kept_rules::place()) {
                self.put(Tint::Dim, &line);
            }
            self.prompt(ANSWER);
        } else {
            self.put(Tint::Bold, &format!("  {}: {}", open.sheet.how_far(), answer::TO_SEE_MORE));
            self.prompt(MORE);
        }
        self.question = Some(open);
    }

    /// What was typed at an open question.
    pub(super) fn answer(&mut self, line: &str, open: Open) {
        let is_seen = open.sheet.is_seen();
        match line {
            "" if !is_seen => return self.show(open, Sheet::next_part),
            "rest" if !is_seen => return self.show(open, Sheet::rest),
            _ => {}
        }
        let read = if is_seen { answer::read } else { answer::read_unseen };
        match read(line, &open.question, self.asker(&open.question)) {
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
                if let ApprovalAnswer::Allow { arguments: None, .. } = given {
                    self.view.change_was_shown(&open.question.call.id);
                }
                drop(open.answer.send(self.keeping(given)));
            }
            Err(why) => {
                self.put(Tint::Dim, &format!("  {why}"));
                self.prompt(if is_seen { ANSWER } else { MORE });
                self.question = Some(open);
            }
        }
    }

    fn asker(&self, question: &ApprovalQuestion) -> Asker {
        if self.asked_by_hook.contains(&question.call.id) { Asker::Hook } else { Asker::Policy }
    }

    /// An answer that is to hold for sessions to come is kept first. Where it cannot be, it holds for this one.
    fn keeping(&mut self, answer: ApprovalAnswer) -> ApprovalAnswer {
        let ApprovalAnswer::Allow { scope: ApprovalScope::Always(rule), arguments } = answer else { return answer };
        let scope = match kept_rules::keep(&rule) {
            Ok(()) => {
                self.view.tell(&format!("saved in {}", inline(&kept_rules::place())));
                ApprovalScope::Always(rule)
            }
            Err(error) => {
                self.view.error(&format!("{error}; the rule applies to this session only"));
                ApprovalScope::Session(rule)
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

const ANSWER: &str = "  answer: ";
const MORE: &str = "  more: ";
