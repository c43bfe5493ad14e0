//! The interactive prompt: shows what happens, passes on what is typed.
//!
//! This is a loop of the screen, not of the agent: lines and signals go to the session, notices come back, and what follows from what is
//! decided by the session alone.

mod agents;
mod asked;
mod back;
mod choosing;
pub(crate) mod custom;
mod desk;
mod does;
mod elsewhere;
mod ends;
mod modes;
mod of_servers;
mod question;
pub(crate) mod registry;
mod reports;
mod servers;
mod shell;
mod sitting;
mod status;
mod waiting;

use crate::commands::sessions::Undos;
use crate::config::settings::Settings;
use crate::mcp::session::Mcp;
use crate::model::effort::{Reach, Wish};
use crate::screen::approver::Question;
use crate::screen::lines::Line;
use crate::screen::signals::{Signal, Signals};
use crate::screen::terminal::{self, Style, one_line};
use crate::screen::unread;
use crate::screen::view::{Level, View, lost};
use crate::session::door::Door;
use crate::session::limits::next_notice;
use crate::session::pictured::Attaching;
use agent_core::agent::{Doing, Rejected, Turns};
use agent_core::budget::{Ledger, LimitReached, Limits, Usd};
use agent_core::conversation::Attachment;
use agent_core::conversation::CallId;
use agent_core::lifecycle::Commitment;
use agent_core::permission::{Basis, Decision, Ruling};
use agent_core::session::{OutcomeKind, SessionConfig, State, Trigger};
use agent_git::RepositoryHooks;
use agent_runner::{Handle, Notice};
use agent_tools::BackgroundCommands;
use agents::{Agents, end_of_order};
use asked::{Asked, of_servers};
use back::end_of_look;
use custom::Custom;
use desk::{Desk, end_of_writing};
use question::{Open, next_line, put_next, until};
use reports::{Report, end_of_report};
pub(crate) use sitting::run;
use sitting::{Keyboard, Next};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use waiting::Waiting;

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
    /// The limit that stands in the way of another model call.
    reached: Option<LimitReached>,
    /// What the session has used.
    used: Ledger,
    /// The agents below, as this program saw them.
    agents: Agents,
    /// What the turns came to: nobody but the exit code tells a script.
    turns: Turns,
    had_unusable_line: bool,
    /// Where the paths of calls begin.
    directory: PathBuf,
    /// The line editor, where the terminal is capable of one.
    desk: Option<Desk>,
    /// Messages that were sent from it while the agent works.
    waiting: Waiting,
    /// Attaches pictures to messages.
    attaching: Attaching,
    /// The session's id; empty where it is not kept.
    id: String,
    /// What holds for the session, and what it was put together from.
    config: Option<Box<SessionConfig>>,
    settings: Arc<Settings>,
    /// The server that models are asked through, what the user calls it, and what was said of the effort.
    reach: Reach,
    provider: String,
    wish: Option<Wish>,
    /// Commands that have to succeed before the work counts as done.
    commitments: Vec<Commitment>,
    /// Commands in files, and the texts of the repository's that were agreed to.
    customs: Vec<Custom>,
    agreed: BTreeSet<String>,
    /// How often Ctrl-C was pressed while a command of the person's runs.
    presses: Arc<AtomicU32>,
    /// What the agent's commands left running.
    background: BackgroundCommands,
    /// The servers whose tools the session has.
    mcp: Option<Mcp>,
    /// What they ask the person.
    asked: Asked,
    /// What the message that is sent next names of servers.
    read_resources: Vec<Attachment>,
    /// Where other programs reach its agents.
    door: Option<Door>,
    /// When turns were taken back here.
    undos: Undos,
    /// A command that runs. Until its end nothing more is read.
    report: Option<Report>,
    /// Where the person goes on when the session is left for another one.
    next: Option<Next>,
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
            reached: None,
            used: *before,
            agents: Agents::default(),
            turns: Turns::default(),
            had_unusable_line: false,
            directory: PathBuf::new(),
            desk: None,
            waiting: Waiting::default(),
            attaching: Attaching::default(),
            id: String::new(),
            config: None,
            settings: Arc::default(),
            reach: Reach::default(),
            provider: String::new(),
            wish: None,
            commitments: Vec::new(),
            customs: Vec::new(),
            agreed: BTreeSet::new(),
            presses: Arc::default(),
            background: BackgroundCommands::default(),
            mcp: None,
            asked: Asked::default(),
            read_resources: Vec::new(),
            door: None,
            undos: Undos::default(),
            report: None,
            next: None,
        }
    }

    /// Until the person leaves, the session ends, or the input does.
    async fn run(
        &mut self,
        notices: &mut agent_runner::Notices,
        signals: &mut Signals,
        Keyboard { lines, changes, .. }: &mut Keyboard,
        mut questions: mpsc::UnboundedReceiver<Question>,
    ) -> u8 {
        // What a key means depends on what the agent does: the session says that first.
        let (mut next_question, mut has_begun) = (None, false);
        let mut frames = tokio::time::interval(status::FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            self.refresh();
            let moves = self.desk.is_some() && (!self.is_idle() || !self.background.running().is_empty());
            let is_reporting = self.report.is_some();
            let ready = self.ready();
            let (writing, looking) = self.desk.as_mut().map(Desk::begun).unwrap_or_default();
            tokio::select! {
                text = end_of_writing(writing) => self.written(text),
                looked = end_of_look(looking) => self.looked(looked),
                result = end_of_report(self.report.as_mut()) => self.reported(result),
                told = of_servers(self.mcp.as_mut(), &mut self.asked) => self.told_of_servers(told),
                taken = end_of_order(&mut self.agents) => self.ordered(taken),
                change = changes.next() => self.changed(change).await,
                _ = frames.tick(), if moves => {}
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
                    Some(notice) => {
                        self.notice(&notice);
                        if !std::mem::replace(&mut has_begun, true) {
                            self.notice_all(notices);
                        }
                    }
                    None => return 1,
                },
                Some(question) = put_next(&mut questions, &mut next_question), if !self.asked.is_open() => {
                    // What was typed before the question is no answer to it.
                    while let Ok(line) = lines.try_recv() {
                        if self.typed(&line) {
                            return self.exit_code();
                        }
                    }
                    // Why it is asked was told before.
                    self.notice_all(notices);
                    has_begun = true;
                    if self.ask(question) {
                        return self.exit_code();
                    }
                }
                line = next_line(lines), if has_begun && !is_reporting && !self.has_input_ended => match line {
                    Some(line) if self.typed(&line) => return self.exit_code(),
                    Some(_) => {}
                    None if self.end_input() => return self.exit_code(),
                    None => {}
                },
                () = terminal::lost() => {}
            }
            if let Some(code) = self.is_over() {
                return code;
            }
        }
    }

    /// The exit code, where nothing can follow in this session.
    fn is_over(&mut self) -> Option<u8> {
        if let Some(why) = lost() {
            self.view.error(&why);
            return Some(OutcomeKind::Failed.exit_code());
        }
        // Whoever pipes lines in wants them all answered first.
        let has_read_all = self.has_input_ended && self.is_idle() && self.report.is_none();
        (has_read_all || self.next.is_some()).then(|| self.exit_code())
    }

    fn notice_all(&mut self, notices: &mut agent_runner::Notices) {
        self.start_servers();
        while let Ok(notice) = notices.try_recv() {
            self.notice(&notice);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        self.view.notice(notice);
        self.agents.notice(notice);
        self.desk.iter_mut().for_each(|desk| desk.status.notice(notice));
        match notice {
            Notice::TurnBegan => self.repository.turn_started(),
            Notice::Doing { doing, taken } => {
                (self.doing, self.taken) = (*doing, *taken);
                self.say_what_is_gone();
                self.prompt_if_idle();
            }
            Notice::Configured(config) => self.configured(config),
            Notice::Rested { agent, run } => self.rested(agent, run.as_ref()),
            Notice::Ruled(Ruling { call, decision: Decision::Ask(Basis::Hook(_)), .. }) => {
                self.asked_by_hook.insert(call.clone());
            }
            Notice::Refused(rejected) => self.refused(rejected),
            Notice::Transition(step) if is_raise_at_rest(step.from, step.on) => {
                self.view.tell("the limits are raised; no work was waiting for that: write what to do next");
            }
            Notice::Spent(ledger) => {
                self.used = *ledger;
                self.spent(ledger.cost_nano_usd);
            }
            Notice::Prompt { outcome, is_new, limit, ledger } => {
                (self.reached, self.used) = (limit.clone(), *ledger);
                self.repository.turn_ended();
                self.look_at_branch();
                if self.is_stopping() {
                    self.view.tell("stopped");
                }
                if let Some(outcome) = outcome.as_ref().filter(|_| *is_new) {
                    self.ended(outcome);
                }
                self.offer_tools();
                self.question = None;
                self.asked_by_hook.clear();
                self.view.end_line();
            }
            Notice::Error { returned_input: texts, .. } | Notice::InputReturned(texts) => self.came_back(texts),
            Notice::Waiting { queued, after_turn } => self.waits(queued, after_turn),
            _ => {}
        }
    }

    /// Returns whether to leave.
    fn interrupt(&mut self) -> bool {
        // The person's own editor has the terminal, and what its keys mean.
        // So has a command that runs.
        if self.stop_reading() {
            return false;
        }
        if self.report.is_some() || self.close_list() || self.desk.as_ref().is_some_and(|desk| desk.writing.is_some()) {
            self.presses.fetch_add(1, Ordering::Relaxed);
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
            self.keep_draft();
            self.desk.iter_mut().for_each(|desk| desk.editor.clear());
            self.view.tell(&format!("{line_end}Ctrl-C again quits; the session is kept"));
            self.prompt("> ");
        } else {
            self.view.break_off();
            self.view.tell("stopping … (Ctrl-C quits at once)");
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
        if self.answers_server(line) {
            return false;
        }
        if line.is_empty() {
            self.prompt_if_idle();
            return false;
        }
        self.command_or_message(line)
    }

    /// What the person asked for and cannot have.
    fn refused(&mut self, rejected: &Rejected) {
        let what = match rejected.event() {
            "BudgetRaised" => "limits not raised",
            "CompactionRequested" | "FocusedCompactionRequested" => "not summarised",
            "UserInput" | "InputAfterTurn" | "InputWithdrawn" => return self.message_refused(rejected),
            _ => return,
        };
        if let Rejected::Session(rejected) = rejected {
            self.view.tell(&format!("{what}: {}", rejected.reason));
        }
    }

    /// Returns whether to leave.
    fn end_input(&mut self) -> bool {
        self.has_input_ended = true;
        self.dismiss_servers();
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
}

/// Whether limits were raised and nothing follows from it.
fn is_raise_at_rest(from: State, on: Trigger) -> bool {
    from == State::WaitingForUserInput && on == Trigger::BudgetRaised
}

const DOUBLE_PRESS: Duration = Duration::from_secs(2);
