//! The interactive prompt: shows what happens, passes on what is typed.
//!
//! This is a loop of the screen, not of the agent: lines and signals go to the session, notices come back, and what follows from what is
//! decided by the session alone.

mod desk;
mod question;

use crate::commands::run::going_on;
use crate::config::options::{Options, OutputFormat, Seat, Verification};
use crate::failure::Failure;
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::approver::{Question, ScreenApprover};
use crate::screen::hint::resume_command;
use crate::screen::keys;
use crate::screen::lines::{self, Line};
use crate::screen::signals::{self, Signal, Signals};
use crate::screen::terminal::{self, PasteMarks, Style, inline, one_line};
use crate::screen::unread;
use crate::screen::view::{Level, View, lost};
use crate::session::apart::{self, opened, settings, unless_signalled};
use crate::session::limits::{Raise, next_notice, next_raise, raised};
use crate::session::setup::Opened;
use agent_core::agent::{Doing, Rejected, Turns};
use agent_core::budget::{Ledger, Limits, Usd};
use agent_core::conversation::CallId;
use agent_core::lifecycle;
use agent_core::permission::{Basis, Decision, Ruling};
use agent_core::session::{Outcome, OutcomeKind};
use agent_git::RepositoryHooks;
use agent_runner::{End, Handle, Notice};
use desk::{Desk, EDITING_HELP, HELP, end_of_writing, is_command};
use question::{Open, next_line, put_next, until};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Runs a session at the prompt, with a first message if there is one, and returns the exit code.
pub(crate) async fn run(options: Options, verification: &Verification, first: Option<&str>) -> Result<u8, Failure> {
    if options.output_format.is_some_and(|format| format != OutputFormat::Text) || options.include_partial_messages {
        return Err(Failure::usage("the prompt writes for people: `--output-format` works only with `agent run`"));
    }
    let mut signals = signals::listen()?;
    let (approver, questions) = ScreenApprover::new();
    let begin = async {
        let (settings, approver) = (settings(&options, Seat::Interactive).await?, Arc::new(approver));
        let chosen = provider::choose(&settings).await?.paced(Unread::IsTheEnd);
        opened(settings, &options, chosen, Some(approver), verification.commitments()).await
    };
    let (opened, settings) = unless_signalled(&mut signals, begin).await?;
    let Opened { runner, handle, mut notices, id, model, before, repository, unfinished, .. } = opened;
    let level = Level::of(options.quiet, options.verbose);
    let mut screen = Screen::new(handle.clone(), repository, level, settings.limits, &before.ledger);
    screen.directory.clone_from(&settings.directory);
    screen.view.show_changes_in(&settings.directory);
    screen.view.tell(&inline(&format!("{model} in {} · session {id}", settings.directory.display())));
    screen.view.tell("Ctrl-C stops the turn, Ctrl-C twice quits; /help for more");
    screen.view.recap(&before.conversation);
    if let Some(left) = &unfinished {
        screen.view.tell(&going_on(left));
    }
    let mode = settings.permissions.mode;
    screen.desk =
        Desk::take(options.plain, screen.style.is_on(), &settings.directory, &model, mode, settings.user.prompt);
    if screen.desk.is_some() {
        screen.view.show_all_it_can();
    }
    let lines = match &screen.desk {
        Some(desk) => keys::read(desk.give_up.clone()),
        None => lines::read(),
    }?;
    let task = tokio::spawn(runner.run());
    let _marks = if screen.desk.is_none() { PasteMarks::ask() } else { None };
    if let Some(first) = first {
        screen.view.said(&format!("> {}", first.trim()));
        handle.input(first.trim());
    }
    let left = screen.run(&mut notices, &mut signals, lines, questions).await;
    // The terminal is given back before the last words, which stay.
    screen.desk = None;
    handle.detach();
    let (ended, cut_short) = apart::ended(task, &mut signals, || {
        screen.view.tell("stopping the end-of-session hooks (Ctrl-C again quits at once)");
        handle.detach();
    })
    .await;
    screen.repository.turn_ended();
    let left = cut_short.map_or(left, |signal| signal.failure().code);
    let Some(ended) = ended else { return Ok(left) };
    let (end, agent) = ended.map_err(|error| Failure::internal(format!("cannot drive the session: {error}")))?;
    let session = agent.session();
    screen.view.last_hooks(&mut notices);
    screen.view.end_line();
    screen.view.spent(session.ledger(), session.has_open_cost());
    if !id.is_empty() {
        screen.view.tell(&format!("to resume: {}", resume_command(&id, &options, Raise::of(session).as_ref())));
    }
    match end {
        End::JournalFailed(error) => Err(Failure::internal(error)),
        _ => Ok(left),
    }
}

/// What the person sees, and what the next line is for.
struct Screen {
    handle: Handle,
    repository: Arc<RepositoryHooks>,
    view: View,
    style: Style,
    /// What the agent does, after how many of the messages that were sent.
    doing: Doing,
    taken: u64,
    /// The number of the message that asked for a stop.
    stop: u64,
    has_input_ended: bool,
    /// Whether somebody sat at a terminal when it began: of one that was closed since, nobody could tell any more.
    is_typed: bool,
    /// The cost at which the next notice is due.
    notice_at_nano_usd: u64,
    last_interrupt: Option<Instant>,
    question: Option<Open>,
    /// Calls about which a hook wants a person to be asked.
    asked_by_hook: BTreeSet<CallId>,
    /// What the person allowed at the start, and how often as much again.
    limits: Limits,
    raises: u64,
    /// What the session has used.
    used: Ledger,
    /// What the turns came to: nobody but the exit code tells a script.
    turns: Turns,
    had_unusable_line: bool,
    /// Where the paths of calls begin.
    directory: PathBuf,
    /// The line editor, where the terminal is capable of one.
    desk: Option<Desk>,
}

impl Screen {
    fn new(handle: Handle, repository: Arc<RepositoryHooks>, level: Level, limits: Limits, before: &Ledger) -> Self {
        let mut view = View::new(true, level);
        view.watch(limits);
        Self {
            handle,
            repository,
            view,
            style: Style::for_stderr(),
            doing: Doing::Working,
            taken: 0,
            stop: 0,
            has_input_ended: false,
            is_typed: std::io::stdin().is_terminal(),
            notice_at_nano_usd: next_notice(before.cost_nano_usd),
            last_interrupt: None,
            question: None,
            asked_by_hook: BTreeSet::new(),
            limits,
            raises: 0,
            used: *before,
            turns: Turns::default(),
            had_unusable_line: false,
            directory: PathBuf::new(),
            desk: None,
        }
    }

    /// Until the person leaves, the session ends, or the input does.
    async fn run(
        &mut self,
        notices: &mut agent_runner::Notices,
        signals: &mut Signals,
        mut lines: mpsc::UnboundedReceiver<Line>,
        mut questions: mpsc::UnboundedReceiver<Question>,
    ) -> u8 {
        let mut next_question = None;
        let mut changes = self.desk.as_mut().map(|desk| mem::take(&mut desk.changes)).unwrap_or_default();
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        loop {
            self.refresh();
            let is_edited = self.desk.is_some();
            let ready = self.ready();
            let writing = self.desk.as_mut().and_then(|desk| desk.writing.as_mut());
            tokio::select! {
                text = end_of_writing(writing) => self.written(text),
                change = changes.next() => self.changed(change).await,
                _ = seconds.tick(), if is_edited => {}
                () = until(ready) => self.is_ready(),
                Some(signal) = signals.recv() => match signal {
                    Signal::Terminate => return 143,
                    Signal::Interrupt if self.interrupt() => {
                        unread::leave_at_once();
                        return 130;
                    }
                    Signal::Interrupt => {}
                },
                notice = notices.recv() => match notice {
                    Some(notice) => self.notice(&notice),
                    None => return 1,
                },
                Some(question) = put_next(&mut questions, &mut next_question) => {
                    // What was typed before the question is no answer to it.
                    while let Ok(line) = lines.try_recv() {
                        if self.typed(&line) {
                            return self.exit_code();
                        }
                    }
                    // Why it is asked was told before.
                    while let Ok(notice) = notices.try_recv() {
                        self.notice(&notice);
                    }
                    if self.ask(question) {
                        return self.exit_code();
                    }
                }
                line = next_line(&mut lines), if !self.has_input_ended => match line {
                    Some(line) if self.typed(&line) => return self.exit_code(),
                    Some(_) => {}
                    None if self.end_input() => return self.exit_code(),
                    None => {}
                },
                () = terminal::lost() => {}
            }
            if let Some(why) = lost() {
                self.view.error(&why);
                return OutcomeKind::Failed.exit_code();
            }
            // Whoever pipes lines in wants them all answered first.
            if self.has_input_ended && self.is_idle() {
                return self.exit_code();
            }
        }
    }

    fn notice(&mut self, notice: &Notice) {
        self.view.notice(notice);
        match notice {
            Notice::TurnBegan => self.repository.turn_started(),
            Notice::Doing { doing, taken } => {
                (self.doing, self.taken) = (*doing, *taken);
                self.prompt_if_idle();
            }
            Notice::Rested { agent, run } => self.rested(agent, run.as_ref()),
            Notice::Ruled(Ruling { call, decision: Decision::Ask(Basis::Hook(_)), .. }) => {
                self.asked_by_hook.insert(call.clone());
            }
            Notice::Refused(rejected) => self.refused(rejected),
            Notice::Spent(ledger) => {
                self.used = *ledger;
                self.spent(ledger.cost_nano_usd);
            }
            Notice::Prompt { outcome, is_new, .. } => {
                self.repository.turn_ended();
                if self.is_stopping() {
                    self.view.tell("stopped");
                }
                if let Some(outcome) = outcome.as_ref().filter(|_| *is_new) {
                    self.ended(outcome);
                }
                self.question = None;
                self.asked_by_hook.clear();
                self.view.end_line();
            }
            Notice::Error { returned_input: texts, .. } | Notice::InputReturned(texts) => {
                for text in texts {
                    self.view.tell(&format!("not sent: {text}"));
                }
            }
            _ => {}
        }
    }

    /// Tells how the checks of a message ended. What a turn itself failed for was told before.
    fn rested(&mut self, agent: &lifecycle::Outcome, run: Option<&Outcome>) {
        let is_told = matches!(
            agent,
            lifecycle::Outcome::NotKept { .. }
                | lifecycle::Outcome::Uncheckable { .. }
                | lifecycle::Outcome::Waiting { .. }
                | lifecycle::Outcome::TimedOut { .. }
                | lifecycle::Outcome::BudgetExceeded
        );
        if let Some(error) = run.and_then(|run| run.error.as_deref()).filter(|_| is_told) {
            self.view.tell(&inline(error));
        }
    }

    /// A turn came to this.
    fn ended(&mut self, outcome: &Outcome) {
        if matches!(outcome.kind, OutcomeKind::Budget | OutcomeKind::CallLimit) {
            self.view.tell("/more raises the limits by their initial amounts and continues");
        }
        self.turns.add(outcome);
    }

    /// What leaving in order means. A person saw what happened; a script sees only this.
    fn exit_code(&self) -> u8 {
        if self.is_typed {
            return 0;
        }
        match self.turns.gravest() {
            Some(kind) if kind != OutcomeKind::Success => kind.exit_code(),
            _ if self.had_unusable_line => UNUSABLE_INPUT,
            _ => 0,
        }
    }

    /// Returns whether to leave.
    fn interrupt(&mut self) -> bool {
        // The person's own editor has the terminal, and what its keys mean.
        if self.desk.as_ref().is_some_and(|desk| desk.writing.is_some()) {
            return false;
        }
        self.desk.iter().for_each(|desk| desk.give_up.paste());
        let again = self.last_interrupt.is_some_and(|at| at.elapsed() < DOUBLE_PRESS);
        self.last_interrupt = Some(Instant::now());
        if self.is_stopping() || (self.is_idle() && again) {
            return true;
        }
        if self.is_idle() {
            let line_end = if self.desk.is_some() { "" } else { "\n" };
            self.desk.iter_mut().for_each(|desk| desk.editor.clear());
            self.view.tell(&format!("{line_end}Ctrl-C again quits; the session is kept"));
            self.prompt("> ");
        } else {
            self.view.tell("stopping … (Ctrl-C again quits at once)");
            self.stop();
        }
        false
    }

    /// Returns whether to leave.
    fn typed(&mut self, line: &Line) -> bool {
        match line {
            Line::Text(text) => self.line(text.trim()),
            Line::Input(input) => self.edited(input),
            Line::Unusable { shown, reason } => {
                self.view.line_was_typed();
                self.had_unusable_line = true;
                self.view.error(&format!("not sent, {reason}: {}", one_line(shown, 200)));
                self.prompt_if_idle();
                false
            }
        }
    }

    /// Returns whether to leave.
    fn line(&mut self, line: &str) -> bool {
        self.view.line_was_typed();
        // Whoever goes on typing did not mean to leave; the next Ctrl-C is a first one.
        self.last_interrupt = None;
        if self.comes_too_early() {
            return false;
        }
        if let Some(open) = self.question.take() {
            self.answer(line, open);
            return false;
        }
        match line {
            "" => self.prompt_if_idle(),
            "/quit" | "/exit" => return true,
            "/compact" => self.handle.compact(),
            "/more" => {
                self.raises = next_raise(&self.limits, self.raises, &self.used);
                // What the limit cut short goes on, and may end well.
                self.turns = Turns::default();
                let raised = raised(&self.limits, self.raises);
                self.view.watch(raised);
                self.handle.set_limits(raised);
            }
            "/help" => {
                let editing = if self.desk.is_some() { EDITING_HELP } else { &[] };
                HELP.iter().chain(editing).for_each(|line| self.view.tell(line));
                self.prompt_if_idle();
            }
            unknown if is_command(unknown) => {
                self.view.tell(&format!("unknown command {unknown}; /help lists the commands"));
                self.prompt_if_idle();
            }
            text => self.handle.input(text),
        }
        false
    }

    /// What the person asked for and cannot have.
    fn refused(&mut self, rejected: &Rejected) {
        let what = match rejected.event() {
            "BudgetRaised" => "limits not raised",
            "CompactionRequested" => "not summarised",
            _ => return,
        };
        if let Rejected::Session(rejected) = rejected {
            self.view.tell(&format!("{what}: {}", rejected.reason));
        }
    }

    /// Returns whether to leave.
    fn end_input(&mut self) -> bool {
        self.has_input_ended = true;
        if self.is_typed && !self.is_idle() && self.question.is_none() {
            self.view.tell("the input has ended: quits when the turn does (Ctrl-C stops it)");
        }
        self.question.take().is_some_and(|open| self.without_answer((open.question, open.answer)))
    }

    /// Without a limit on money somebody should see where it goes.
    fn spent(&mut self, nano_usd: u64) {
        if nano_usd >= self.notice_at_nano_usd {
            let spent = Usd(nano_usd);
            self.view.tell(&format!("this session has cost {spent} USD so far; set a limit with `--max-budget-usd`"));
            self.notice_at_nano_usd = next_notice(nano_usd);
        }
    }

    /// Whether the agent waits for a message, and was sent none since it said so.
    fn is_idle(&self) -> bool {
        self.doing == Doing::Idle && self.taken >= self.handle.sent()
    }

    /// Whether a stop was asked for and is not complete.
    fn is_stopping(&self) -> bool {
        self.doing == Doing::Stopping || self.taken < self.stop
    }

    fn prompt_if_idle(&mut self) {
        if self.is_idle() {
            self.prompt("> ");
        }
    }

    fn prompt(&mut self, text: &'static str) {
        if let Some(desk) = &mut self.desk {
            desk.label = text;
            self.view.end_line();
        } else if self.is_typed {
            self.view.prompt(text);
        } else {
            self.view.end_line();
        }
    }
}

const UNUSABLE_INPUT: u8 = 42;
const DOUBLE_PRESS: Duration = Duration::from_secs(2);
