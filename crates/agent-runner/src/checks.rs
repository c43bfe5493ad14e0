//! The checks of an agent's commitments: shell commands, one after the other, each bounded in time.

use crate::hooks::Verdicts;
use crate::inbox::{Inbox, Message};
use crate::notice::{Notice, Teller};
use crate::stop::{Stop, past_grace};
use crate::tool_calls::{Toolbox, facts};
use agent_core::agent::{Event as AgentEvent, check_report};
use agent_core::conversation::ToolCall;
use agent_core::hook::FilesSeen;
use agent_core::lifecycle::{
    Assertion, Check, CheckEnd, CheckReport, Commitment, CommitmentId, Event, FilesChecked, Ticket,
};
use agent_core::ports::{Clock, Command, CommandRunner, Hook};
use agent_core::tool::HookVerdict;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// The checks that run. Those that take the place of others wait until these have ended, so that never two commands run beside each other.
#[derive(Default)]
pub(crate) struct Checks {
    /// Stops them when it is dropped.
    stop: Option<DropGuard>,
    /// Fires when they have ended, however they ended.
    ended: Option<CancellationToken>,
}

impl Checks {
    /// Stops what runs, and then starts this.
    pub(crate) fn start<F>(&mut self, tasks: &TaskTracker, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let before = self.ended.replace(ended.clone());
        self.stop = Some(stop.clone().drop_guard());
        let work = work(stop.clone());
        tasks.spawn(async move {
            let _ended = ended.drop_guard();
            // A check that is stopped meanwhile waits too, because later ones wait for all earlier ones. It takes no longer than the
            // grace.
            if let Some(before) = before {
                before.cancelled().await;
            }
            if !stop.is_cancelled() {
                work.await;
            }
        });
    }

    /// Stops what runs. It has a moment to end by itself.
    pub(crate) fn stop(&mut self) {
        self.stop = None;
    }

    /// Fires when nothing runs any more.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let ended = self.ended.clone();
        async move {
            if let Some(ended) = ended {
                ended.cancelled().await;
            }
        }
    }
}

/// Who runs the commands, and where.
#[derive(Clone)]
pub(crate) struct Checker {
    pub(crate) commands: Option<Arc<dyn CommandRunner>>,
    /// Knows how the files are that the checks are about.
    pub(crate) hook: Arc<dyn Hook>,
    pub(crate) directory: String,
    pub(crate) clock: Arc<dyn Clock>,
    /// The commands as the host gave them, by commitment: the machines hold them without secrets. Nothing for those that were read from a
    /// journal.
    originals: Vec<String>,
}

impl Checker {
    /// One that has nothing to run commands with yet.
    pub(crate) fn new(clock: &Arc<dyn Clock>, hook: Arc<dyn Hook>) -> Self {
        let (clock, directory) = (Arc::clone(clock), String::from("/"));
        Self { commands: None, hook, directory, clock, originals: Vec::new() }
    }

    /// Keeps the commands of an event, before anything is redacted. They count when the agent took the event.
    pub(crate) fn originals_of(event: &AgentEvent) -> Originals {
        let command = |bound: &Commitment| bound.assertion.command.clone();
        match event {
            AgentEvent::Bound(config) => Originals::All(config.commitments.iter().map(command).collect()),
            AgentEvent::Lifecycle(Event::CommitmentAdded { commitment }) => Originals::One(command(commitment)),
            AgentEvent::Lifecycle(_)
            | AgentEvent::Session(_)
            | AgentEvent::Child { .. }
            | AgentEvent::Ordered(_)
            | AgentEvent::HeldBelow(_)
            | AgentEvent::Released
            | AgentEvent::Attended => Originals::None,
        }
    }

    pub(crate) fn keep(&mut self, originals: Originals) {
        match originals {
            Originals::All(commands) => self.originals = commands,
            Originals::One(command) => self.originals.push(command),
            Originals::None => {}
        }
    }

    /// The command to run: the original, if this program was given it.
    fn original<'a>(&'a self, commitment: CommitmentId, assertion: &'a Assertion) -> &'a str {
        self.originals.get(commitment.0).map_or(&assertion.command, String::as_str)
    }

    /// Runs the checks in order, so that two builds do not wait for each other's locks, and reports each. Those that may not run come with
    /// the reason. When stopping is asked for, what runs has a moment to end by itself and is dropped then, and nothing more is reported.
    pub(crate) async fn run(
        self,
        checks: Vec<Judged>,
        ticket: Ticket,
        inbox: Inbox,
        notices: Teller,
        stop: CancellationToken,
    ) {
        let mut seen = self.files().await;
        for Judged { check: Check { commitment, assertion }, denied, call } in checks {
            notices.send(Notice::CheckStarted { command: assertion.command.clone() });
            let denied = match (denied, call) {
                (None, Some((call, guard))) => guard.objection(call, &stop).await,
                (denied, _) => denied,
            };
            let mut report = match denied {
                Some(found) => ended(CheckEnd::NotStarted { found }),
                None => self.check(self.original(commitment, &assertion), assertion.timeout_ms, &stop).await,
            };
            let now = self.files().await;
            report.files = seen.as_ref().zip(now.as_ref()).map(|(before, after)| checked(before, after));
            seen = now;
            if stop.is_cancelled() {
                return;
            }
            let completed = Event::CheckCompleted { ticket, commitment, report };
            inbox.send(Message::Event(completed.into()));
        }
    }

    /// How the files are that the checks are about; `None` where that is not known, or cannot be asked.
    async fn files(&self) -> Option<FilesSeen> {
        let hook = self.hook.clone();
        tokio::task::spawn_blocking(move || hook.files()).await.ok().flatten()
    }

    /// One check. Any failure of it is its result.
    async fn check(&self, command: &str, timeout_ms: u64, stop: &CancellationToken) -> CheckReport {
        let Some(commands) = &self.commands else {
            return ended(CheckEnd::NotStarted { found: String::from("this program runs no commands") });
        };
        let command = self.command(command, timeout_ms);
        let signal = Stop(stop.clone());
        let work = AssertUnwindSafe(commands.run(&command, &signal)).catch_unwind();
        let overdue_ms = timeout_ms.saturating_add(PATIENCE_MS);
        tokio::select! {
            biased;
            result = work => match result {
                Ok(result) => check_report(result),
                Err(_) => ended(CheckEnd::Broke { found: String::from("its runner panicked") }),
            },
            () = past_grace(stop) => ended(CheckEnd::Broke { found: String::from("it was stopped") }),
            () = self.clock.sleep_ms(overdue_ms) => ended(CheckEnd::TimedOut),
        }
    }

    fn command(&self, command: &str, timeout_ms: u64) -> Command {
        Command {
            program: String::from("sh"),
            // A command may begin with a dash.
            arguments: vec![String::from("-c"), String::from("--"), command.to_owned()],
            directory: self.directory.clone(),
            environment: Vec::new(),
            stdin: Vec::new(),
            timeout_ms,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        }
    }
}

/// A check, and whether it may run.
pub(crate) struct Judged {
    pub(crate) check: Check,
    /// Why the policy does not let it run.
    pub(crate) denied: Option<String>,
    /// As a call, which hooks are asked about, where a model asked for the check.
    pub(crate) call: Option<(ToolCall, Guard)>,
}

/// What is asked about a check as about a call.
pub(crate) struct Guard {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) verdicts: Verdicts,
}

impl Guard {
    /// Why a hook does not let the check run as it is.
    async fn objection(&self, call: ToolCall, stop: &CancellationToken) -> Option<String> {
        let known = facts(&self.toolbox, &self.verdicts, call, stop).await;
        let report = known.hooks.as_deref();
        if let Some(reason) = report.and_then(|report| report.stop.clone()) {
            return Some(reason);
        }
        if report.is_some_and(|report| report.arguments.is_some()) {
            return Some(String::from("a hook would change it"));
        }
        match known.verdict {
            HookVerdict::None | HookVerdict::Allow { .. } => None,
            HookVerdict::Ask { reason } | HookVerdict::Deny { reason } => Some(format!("a hook objects: {reason}")),
        }
    }
}

/// The commands of an event as the host gave them.
pub(crate) enum Originals {
    /// Of all commitments.
    All(Vec<String>),
    /// Of one more.
    One(String),
    /// It has none.
    None,
}

fn ended(end: CheckEnd) -> CheckReport {
    CheckReport::new(end, String::new())
}

fn checked(before: &FilesSeen, after: &FilesSeen) -> FilesChecked {
    let changed = after.changed_since(before).take(MAX_CHANGED).map(String::from).collect();
    FilesChecked { before: before.mark().into(), after: after.mark().into(), changed }
}

/// Most files that are named as changed while a check ran.
const MAX_CHANGED: usize = 5;
const OUTPUT_LIMIT_BYTES: usize = 32 * 1024;
/// How much longer than its own time-out a command is waited for: ending a process tree takes a moment, too.
const PATIENCE_MS: u64 = 5_000;
