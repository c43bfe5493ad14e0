//! The conversation: passes on what the program says, and tells it what comes of that.

use super::asked::{Answered, Questions};
use super::said::{Said, UserMessage};
use super::served::Served;
use crate::commands::acp::CallInsight;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp::session::{Mcp, told};
use crate::screen::answer::Asker;
use crate::screen::approver::Question;
use crate::screen::printer::Printer;
use crate::screen::signals::{Signal, Signals};
use crate::screen::terminal::{self, inline};
use crate::screen::unread;
use crate::screen::view::lost;
use crate::screen::wire::{DenialReport, Line, RunResult, used};
use crate::session::pictured::{Attaching, Pictured};
use agent_acp::{Line as Input, MAX_LINE_BYTES};
use agent_core::agent::{Doing, Turns};
use agent_core::budget::Ledger;
use agent_core::conversation::CallId;
use agent_core::permission::{ApprovalAnswer, Basis, Decision, Ruling};
use agent_core::session::{Outcome, OutcomeKind};
use agent_git::RepositoryHooks;
use agent_mcp::Change;
use agent_runner::{Handle, Notice, Notices};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Why the conversation is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing more will be said, and the agent rests; or the program does not read any more.
    AtRest,
    /// A signal came.
    BySignal(Signal),
    /// The session has ended by itself.
    Ended,
}

/// Where what the program says arrives, the questions of the session, and the numbers of those that have ended.
pub(super) type Arriving = (mpsc::Receiver<Input>, mpsc::UnboundedReceiver<Question>, mpsc::UnboundedReceiver<u64>);

/// A conversation.
pub(super) struct Talk<'a> {
    printer: &'a mut Printer,
    handle: Handle,
    id: String,
    attaching: Attaching,
    insight: CallInsight,
    repository: Arc<RepositoryHooks>,
    /// What the agent does, after how many of the messages that were sent.
    doing: Doing,
    taken: u64,
    /// The number of the last message that stops a turn.
    stop: u64,
    /// Lines of the input so far, and how many of them changed nothing.
    lines: u64,
    rejected: u64,
    /// Messages without a result: the line of each, and how many messages had been sent with it.
    due: Vec<(u64, u64)>,
    /// Messages with one.
    answered: u64,
    /// How the turn ended that has no result yet.
    outcome: Option<Outcome>,
    /// What the turns came to, and how many have a result.
    turns: Turns,
    results: u64,
    /// What was used up to the last result, and is used now.
    told: Ledger,
    used: Ledger,
    /// When what comes in the next result began.
    since: Instant,
    /// The session's state.
    state: String,
    asked_by_hook: BTreeSet<CallId>,
    questions: Questions,
    /// What servers ask.
    served: Served,
}

impl<'a> Talk<'a> {
    /// Of a session that begins. The numbers of questions that have ended arrive where the second value says.
    pub(super) fn new(
        printer: &'a mut Printer,
        settings: &Settings,
        (handle, id): (&Handle, &str),
        attaching: Attaching,
        repository: Arc<RepositoryHooks>,
        before: Ledger,
    ) -> (Self, mpsc::UnboundedReceiver<u64>) {
        let (questions, ended) = Questions::new();
        let talk = Self {
            printer,
            handle: handle.clone(),
            id: id.to_owned(),
            attaching,
            insight: CallInsight::new(settings),
            repository,
            doing: Doing::Working,
            taken: 0,
            stop: 0,
            lines: 0,
            rejected: 0,
            due: Vec::new(),
            answered: 0,
            outcome: None,
            turns: Turns::default(),
            results: 0,
            told: before,
            used: before,
            since: Instant::now(),
            state: String::from("Ready"),
            asked_by_hook: BTreeSet::new(),
            questions,
            served: Served::default(),
        };
        (talk, ended)
    }

    /// Until nothing more is said and the agent rests, a signal comes, or the session ends.
    pub(super) async fn run(
        &mut self,
        signals: &mut Signals,
        notices: &mut Notices,
        (lines, mut questions, mut ended): Arriving,
        mut mcp: Option<&mut Mcp>,
    ) -> Left {
        // Nothing where the input has ended, or nothing more of it counts.
        let mut lines = Some(lines);
        let mut signalled = None;
        let mut gone = std::pin::pin!(terminal::lost());
        loop {
            if self.rests() && (lines.is_none() || lost().is_some()) {
                return signalled.map_or(Left::AtRest, Left::BySignal);
            }
            tokio::select! {
                biased;
                Some(signal) = signals.recv() => match (signal, signalled) {
                    // The first interrupt ends the turn in order; anything more leaves at once, and the session can be resumed.
                    (Signal::Interrupt, None) => {
                        self.printer.say("stopping (Ctrl-C again quits at once)");
                        unread::signalled();
                        (signalled, lines) = (Some(signal), None);
                        self.served.without_answer();
                        self.handle.cancel();
                    }
                    (signal, before) => {
                        if before.is_some() {
                            unread::leave_at_once();
                        }
                        return Left::BySignal(signal);
                    }
                },
                // An answer without a reader is not worth its price.
                () = &mut gone, if lines.is_some() => {
                    lines = None;
                    self.handle.cancel();
                }
                notice = notices.recv() => {
                    let Some(notice) = notice else { return signalled.map_or(Left::Ended, Left::BySignal) };
                    self.notice(notice, mcp.as_deref_mut(), signalled.is_some());
                }
                Some(question) = questions.recv() => {
                    // The call was told of before it is asked about.
                    while let Ok(notice) = notices.try_recv() {
                        self.notice(notice, mcp.as_deref_mut(), signalled.is_some());
                    }
                    match &lines {
                        Some(_) => self.ask(question),
                        None => drop(question.1.send(ApprovalAnswer::Nobody)),
                    }
                }
                Some(number) = ended.recv() => self.questions.ended(number).into_iter().for_each(|id| self.withdrawn(id)),
                id = self.served.withdrawn() => self.withdrawn(id),
                change = told(mcp.as_deref_mut()) => self.told(change, mcp.as_deref_mut(), lines.is_some()),
                // What follows a stop is said to the turn after it: the session gives back what waits when it stops.
                line = next(lines.as_mut()), if !self.stops() => {
                    let has_ended = line.is_none_or(|line| self.line(line));
                    if has_ended {
                        lines = None;
                        self.questions.without_answer();
                        self.served.without_answer();
                    }
                }
            }
        }
    }

    /// Something was told of a server. What it asks is put to the program, as long as that answers.
    fn told(&mut self, change: Change, mcp: Option<&mut Mcp>, is_answered: bool) {
        match change {
            Change::Asked(question) if is_answered => {
                let report = self.served.put(question, &self.id);
                self.printer.line(&Line::ServerQuestion(report));
            }
            change => {
                let rests = self.rests();
                let told = mcp.and_then(|mcp| mcp.take(change, rests, &self.handle));
                told.iter().for_each(|told| self.printer.say(told));
            }
        }
    }

    /// Whether the agent rests, and has taken all that was sent.
    fn rests(&self) -> bool {
        self.doing == Doing::Idle && self.taken >= self.handle.sent()
    }

    /// Whether a turn is being stopped.
    fn stops(&self) -> bool {
        self.doing == Doing::Stopping || self.taken < self.stop
    }

    /// Takes a line. Returns whether it is the last.
    fn line(&mut self, line: Input) -> bool {
        self.lines += 1;
        let said = match line {
            Input::Text(text) => Said::of(&text),
            Input::TooLong => Err(format!("the line is longer than {MAX_LINE_BYTES} bytes")),
        };
        match said {
            Ok(Said::User { message }) => {
                if let Err(why) = self.message(message) {
                    self.reject(self.lines, &format!("the message is not sent: {why}"));
                }
            }
            Ok(Said::Answer(answer)) => match self.questions.answered(&answer, &self.insight, &self.id) {
                Answered::Taken(told) => told.iter().for_each(|told| self.printer.say(told)),
                Answered::Again(question) => self.printer.line(&Line::Question(*question)),
                Answered::Not(why) => self.reject(self.lines, &why),
            },
            Ok(Said::ServerAnswer(answer)) => {
                if let Err(why) = self.served.answered(answer) {
                    self.reject(self.lines, &why);
                }
            }
            Ok(Said::Cancel {}) => {
                self.handle.cancel();
                self.stop = self.handle.sent();
            }
            Ok(Said::End {}) => return true,
            Err(why) => self.reject(self.lines, &why),
        }
        false
    }

    fn message(&mut self, message: UserMessage) -> Result<(), String> {
        let (text, pictures) = message.parts()?;
        let text = match text.trim().is_empty() {
            true if pictures.is_empty() => return Err(String::from("it is empty")),
            // A message has words.
            true => String::from("(picture)"),
            false => text,
        };
        let Pictured { message, told } = self.attaching.to(&text, &[]).map_err(|why| why.to_string())?;
        let message = self.attaching.with_bytes(message, &pictures).map_err(|why| why.to_string())?;
        told.iter().for_each(|told| self.printer.say(&inline(&format!("attached {told}"))));
        if self.rests() {
            self.since = Instant::now();
        }
        self.handle.input(message);
        self.due.push((self.lines, self.handle.sent()));
        Ok(())
    }

    fn reject(&mut self, line: u64, why: &str) {
        self.rejected += 1;
        self.printer.line(&Line::Rejected { line, error: inline(why), session_id: self.id.clone() });
    }

    fn withdrawn(&mut self, id: String) {
        self.printer.line(&Line::QuestionWithdrawn { id, session_id: self.id.clone() });
    }

    /// Asks the program, unless the question was withdrawn before it could be put.
    fn ask(&mut self, question: Question) {
        if question.1.is_closed() {
            return;
        }
        let asker = if self.asked_by_hook.contains(&question.0.call.id) { Asker::Hook } else { Asker::Policy };
        let report = self.questions.put(question, asker, &self.insight, &self.id);
        self.printer.line(&Line::Question(report));
    }

    fn notice(&mut self, notice: Notice, mcp: Option<&mut Mcp>, is_signalled: bool) {
        self.printer.notice(&notice);
        match notice {
            Notice::TurnBegan => self.repository.turn_started(),
            Notice::Transition(row) => self.state = format!("{:?}", row.to),
            Notice::Ruled(Ruling { call, decision: Decision::Ask(Basis::Hook(_)), .. }) => {
                self.asked_by_hook.insert(call);
            }
            Notice::Spent(ledger) => self.used = ledger,
            Notice::InputReturned(messages) | Notice::Error { returned_input: messages, .. }
                if !messages.is_empty() =>
            {
                self.printer.line(&Line::Returned { messages, session_id: self.id.clone() });
            }
            Notice::Refused(rejected) if is_message(rejected.event()) => {
                let at = self.due.iter().position(|(_, sent)| *sent > self.taken);
                if let Some(at) = at {
                    let (line, _) = self.due.remove(at);
                    self.reject(line, &format!("the message is not sent: {rejected}"));
                }
            }
            Notice::Prompt { outcome, is_new, ledger, .. } => {
                self.used = ledger;
                if is_new {
                    self.outcome = outcome;
                }
                self.asked_by_hook.clear();
                self.repository.turn_ended();
                mcp.into_iter().for_each(|mcp| mcp.offer(&self.handle));
            }
            // What its commitments came to stands above how the turn ended.
            Notice::Rested { run: Some(outcome), .. } => self.outcome = Some(outcome),
            Notice::Doing { doing, taken } => {
                (self.doing, self.taken) = (doing, taken);
                if doing == Doing::Idle {
                    // No call waits any more; their results say what became of them.
                    self.questions.all_ended().into_iter().for_each(|id| self.withdrawn(id));
                }
                // What a signal stops is told in the last result.
                if doing == Doing::Idle && !is_signalled && lost().is_none() {
                    self.tell_result();
                }
            }
            _ => {}
        }
    }

    /// The agent rests: the result of what led here, if anything did.
    fn tell_result(&mut self) {
        let before = self.due.len();
        let taken = self.taken;
        self.due.retain(|(_, sent)| *sent > taken);
        let answered = (before - self.due.len()) as u64;
        let outcome = self.outcome.take();
        if answered == 0 && outcome.is_none() {
            return;
        }
        self.answered += answered;
        let outcome = outcome.unwrap_or_else(|| {
            let mut outcome = Outcome::new(OutcomeKind::Cancelled);
            outcome.error = Some(String::from("the messages did not go to the model"));
            outcome
        });
        // One that the program stopped is no failure.
        if outcome.kind != OutcomeKind::Cancelled {
            self.turns.add(&outcome);
        }
        self.results += 1;
        let (num_turns, total_cost_usd, usage) = used(&self.told, &self.used, false);
        let Outcome { kind, text, error, denials, evidence, .. } = outcome;
        let result = RunResult {
            subtype: kind.subtype(),
            is_error: kind != OutcomeKind::Success,
            exit_code: kind.exit_code(),
            result: text,
            verification: evidence.words(),
            error,
            session_id: self.id.clone(),
            num_turns,
            duration_ms: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            total_cost_usd,
            usage,
            permission_denials: denials.iter().map(|denial| DenialReport::of(denial, None)).collect(),
            agents: Vec::new(),
            terminal_state: self.state.clone(),
            raise: None,
            messages: Some(self.answered),
        };
        (self.told, self.since) = (self.used, Instant::now());
        self.printer.turn(result);
    }

    /// The exit code of a conversation that ended at rest.
    ///
    /// # Errors
    /// It was none: nothing that was said had a result.
    pub(super) fn exit_code(&self) -> Result<u8, Failure> {
        match (self.turns.gravest(), self.results, self.rejected) {
            (_, 0, 0) => Err(Failure::input("there is no message: standard input has none")),
            (_, 0, _) => Err(Failure::input("no line of standard input could be used as a message")),
            (Some(kind), ..) if kind != OutcomeKind::Success => Ok(kind.exit_code()),
            (_, _, 0) => Ok(0),
            _ => Ok(UNUSABLE_INPUT),
        }
    }

    /// How the turn ended that has no result yet, what was used before it, and when it began.
    pub(super) fn open(&mut self) -> (Option<Outcome>, Ledger, Instant) {
        (self.outcome.take(), self.told, self.since)
    }
}

/// The next line, where there is room for what is said to it; never where the input has ended.
async fn next(lines: Option<&mut mpsc::Receiver<Input>>) -> Option<Input> {
    match lines {
        Some(lines) => {
            terminal::room().await;
            lines.recv().await
        }
        None => std::future::pending().await,
    }
}

/// Whether an event is a message to the agent.
fn is_message(event: &str) -> bool {
    matches!(event, "UserInput" | "InputReceived")
}

const UNUSABLE_INPUT: u8 = 42;
