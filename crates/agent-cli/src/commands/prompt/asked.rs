//! What servers ask the person in the middle of a call, at the prompt: one question after the other, and none while the session asks.
//!
//! 1. Each step of a question has to stand there for a moment before a line answers it: lines that were typed ahead, or pasted without
//!    marks, would answer what nobody has seen.
//! 2. A server may take its question back at any moment, also while a value is typed for it. What is typed then is no message: the line is
//!    ended first, and goes nowhere.

use super::Screen;
use super::question::{DEAD_TIME, PAUSE};
use crate::mcp::session::{Mcp, told as told_next};
use crate::screen::form::{Form, Next, told};
use crate::screen::terminal::{self, Tint, forget_half_typed_line, inline};
use agent_mcp::{Change, Question, Reply};
use std::collections::VecDeque;
use std::time::Instant;

/// The questions of servers.
#[derive(Default)]
pub(super) struct Asked {
    /// The one that is answered now.
    open: Option<Open>,
    /// The server of one that was withdrawn while its answer was typed: the line that ends the typing is no message.
    gone: Option<String>,
    waiting: VecDeque<Question>,
}

struct Open {
    form: Form,
    /// From then on a line counts.
    ready: Instant,
}

impl Asked {
    /// Whether the next line answers one.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some() || self.gone.is_some()
    }

    /// Resolves when the one that is answered now is withdrawn; never where none is.
    async fn withdrawn(&mut self) {
        match &mut self.open {
            Some(open) => open.form.question.withdrawn().await,
            None => std::future::pending().await,
        }
    }
}

/// What comes of servers.
pub(super) enum Told {
    Change(Change),
    /// The question that is answered now is withdrawn.
    Withdrawn,
}

/// What comes next of servers.
pub(super) async fn of_servers(mcp: Option<&mut Mcp>, asked: &mut Asked) -> Told {
    tokio::select! {
        change = told_next(mcp) => Told::Change(change),
        () = asked.withdrawn() => Told::Withdrawn,
    }
}

impl Screen {
    /// Whether the next line is an answer, to the session or to a server.
    pub(super) const fn is_asked(&self) -> bool {
        self.question.is_some() || self.asked.is_open()
    }

    /// A server asks.
    pub(super) fn server_asks(&mut self, question: Question) {
        // Behind a pipe nobody reads it.
        if !self.is_typed || self.has_input_ended {
            self.view.tell(&inline(&format!("{}: declined, nobody is there to answer", told(&question))));
            return question.answer(Reply::Decline);
        }
        self.asked.waiting.push_back(question);
    }

    /// Puts the next one, where nothing else is answered or has the terminal.
    pub(super) fn ask_for_servers(&mut self) {
        let is_elsewhere = self.desk.as_ref().is_some_and(|desk| desk.writing.is_some()) || self.report.is_some();
        while !self.is_asked() && !is_elsewhere {
            let Some(question) = self.asked.waiting.pop_front() else { return };
            if question.is_withdrawn() {
                continue;
            }
            self.view.end_line();
            if self.desk.is_none() {
                forget_half_typed_line();
            }
            let form = Form::new(question);
            self.put_rows(&form.heading(terminal::size().0));
            self.prompt(ANSWER);
            self.desk.iter().for_each(|desk| desk.call("waits for your answer"));
            self.asked.open = Some(Open { form, ready: Instant::now() + DEAD_TIME });
        }
    }

    /// A line that answers a server. Returns whether it was one.
    pub(super) fn answers_server(&mut self, line: &str) -> bool {
        if self.asked.gone.take().is_some() {
            self.put(Tint::Dim, "  what you typed for it goes nowhere");
            self.prompt_if_idle();
            return true;
        }
        let Some(Open { mut form, mut ready }) = self.asked.open.take() else { return false };
        let columns = terminal::size().0;
        let now = Instant::now();
        if now < ready {
            self.put(Tint::Dim, "  this line came before the question could be read, and is no answer");
            // Each further one is waited out.
            ready = now + PAUSE;
        } else {
            ready = now + DEAD_TIME;
            match form.line(line) {
                Next::Said(reply) => {
                    let said = match &reply {
                        Reply::Accept(_) => "sent",
                        Reply::Decline | Reply::Cancel => "declined",
                    };
                    self.put(Tint::Dim, &format!("  {said}"));
                    form.question.answer(reply);
                    return true;
                }
                Next::Not(why) => self.put(Tint::Dim, &format!("  {why}")),
                Next::Ask if form.is_new() => self.put_rows(&form.heading(columns)),
                Next::Ask => self.put_rows(&form.rows(columns)),
            }
        }
        self.prompt(ANSWER);
        self.asked.open = Some(Open { form, ready });
        true
    }

    /// The one that is open needs no answer any more.
    pub(super) fn server_asks_no_more(&mut self) {
        let Some(open) = self.asked.open.take() else { return };
        let server = inline(&open.form.question.server);
        // Without the line editor the terminal has what is typed, and does not tell.
        let is_typing = self.desk.as_ref().is_none_or(|desk| !desk.editor.is_blank() || self.is_typing());
        if is_typing && !self.is_stopping() {
            self.view.tell(&format!(
                "the question of the MCP server {server} is withdrawn: press Enter, and what you typed for it goes nowhere"
            ));
            self.prompt(ANSWER);
            self.asked.gone = Some(server);
        } else {
            self.view.tell(&format!("the question of the MCP server {server} is withdrawn"));
            self.prompt_if_idle();
        }
    }

    /// Nobody answers any more: they are dismissed.
    pub(super) fn dismiss_servers(&mut self) {
        self.asked = Asked::default();
    }

    fn put_rows(&self, rows: &[(Tint, String)]) {
        rows.iter().for_each(|(tint, row)| self.put(*tint, row));
    }
}

const ANSWER: &str = "  answer: ";
