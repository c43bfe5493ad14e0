//! The user's own hooks: programs that read in JSON what happens, and may object.
//!
//! ```text
//! occasion -> the hooks configured for its point that match, one after the other
//!          -> each: JSON on its standard input, a clean environment, a limit of time and output
//!          -> exit 0 passes, perhaps with a JSON answer; exit 2 objects; everything else is a failure
//!          -> one report: what they said, taken together
//! ```
//!
//! 1. A hook that fails is reported, and lets pass what it was asked about unless it is configured to block.
//! 2. Nothing that it started is left when it has been run, and nothing of what it prints beyond a limit is kept.
//! 3. What runs outside of the sandbox for a repository is a copy of the bytes that were trusted.
//! 4. The order is that of the configuration. After an objection that decides, no further hook runs.

mod answer;
mod config;
mod first_line;
mod input;
mod matcher;
mod pinned;
mod script;

pub use config::{HookConfigError, OnFailure, Runs, UserHook};
pub use first_line::FirstLine;
pub use matcher::{Matcher, MatcherError};
pub use pinned::{Grounds, PinnedScript};
pub use script::Script;

use agent_types::conversation::ToolCall;
use agent_types::hook::{EndedCall, HookEnd, HookOccasion, HookPoint, HookReport, HookRun};
use agent_types::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Exit};
use agent_types::tool::HookVerdict;
use answer::Said;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Runs the user's hooks of one session.
pub struct UserHooks {
    hooks: Vec<UserHook>,
    directory: PathBuf,
    /// Where the agent works; the same, unless it works in a worktree.
    workspace: PathBuf,
    session_id: OnceLock<String>,
    runner: Arc<dyn CommandRunner>,
    sandboxed: Arc<dyn CommandRunner>,
}

impl std::fmt::Debug for UserHooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserHooks").field("hooks", &self.hooks).finish_non_exhaustive()
    }
}

impl UserHooks {
    /// Hooks that run in a directory, which must be absolute: with the first runner, or with the second those that want a sandbox.
    #[must_use]
    pub fn new(
        hooks: Vec<UserHook>,
        directory: PathBuf,
        runner: Arc<dyn CommandRunner>,
        sandboxed: Arc<dyn CommandRunner>,
    ) -> Self {
        Self { hooks, workspace: directory.clone(), directory, session_id: OnceLock::new(), runner, sandboxed }
    }

    /// The same hooks for an agent of the session that works elsewhere: that is the `cwd` which they read. Those that run as the user run
    /// where they did before, for there their scripts were judged; the others run there, with this runner.
    #[must_use]
    pub fn working_in(&self, workspace: PathBuf, sandboxed: Arc<dyn CommandRunner>) -> Self {
        let (hooks, directory, session_id) = (self.hooks.clone(), self.directory.clone(), self.session_id.clone());
        Self { hooks, directory, workspace, session_id, runner: self.runner.clone(), sandboxed }
    }

    /// Sets the id of the session, once; until then hooks get an empty id.
    pub fn is_of(&self, session_id: &str) {
        // A session has one id; who says another is not believed.
        let _ = self.session_id.set(session_id.to_owned());
    }

    /// The points at which hooks run, for the session's configuration.
    #[must_use]
    pub fn points(&self) -> BTreeSet<HookPoint> {
        self.hooks.iter().map(|hook| hook.point).collect()
    }

    /// Runs what is configured for an occasion.
    pub async fn run(&self, occasion: &HookOccasion, cancel: &dyn CancelSignal) -> HookReport {
        let mut report = HookReport::default();
        match occasion {
            HookOccasion::PostToolUse { calls } => {
                for ended in calls {
                    self.run_all(About::Ended(ended), cancel, &mut report).await;
                }
            }
            HookOccasion::PreToolUse { call } => self.run_all(About::Call(call), cancel, &mut report).await,
            other => self.run_all(About::Session(other), cancel, &mut report).await,
        }
        report
    }

    /// Runs the hooks that match, until one has said what decides.
    async fn run_all(&self, about: About<'_>, cancel: &dyn CancelSignal, report: &mut HookReport) {
        for hook in
            self.hooks.iter().filter(|hook| hook.point == about.point() && hook.matcher.matches(about.subject()))
        {
            if cancel.is_cancelled() || report.stop.is_some() {
                return;
            }
            // A hook before a call gets the call as the hook before it changed it.
            let changed = match (about, &report.arguments) {
                (About::Call(call), Some(arguments)) => Some(ToolCall { arguments: arguments.clone(), ..call.clone() }),
                _ => None,
            };
            let about = changed.as_ref().map_or(about, About::Call);
            let (run, said) = self.run_one(hook, about, cancel).await;
            report.runs.push(run);
            if take(report, said, about.point()) {
                return;
            }
        }
    }

    async fn run_one(&self, hook: &UserHook, about: About<'_>, cancel: &dyn CancelSignal) -> (HookRun, Said) {
        let began = Instant::now();
        let (answer, was_stopped) = match self.start(hook, about, cancel).await {
            Err(fault) => (Err(format!("it did not run: {fault}")), false),
            Ok(result) => {
                let was_stopped = matches!(&result, Ok(output) if output.exit == Exit::Cancelled);
                (answer::read(&result, hook.timeout_ms, about.point()).map(|said| of_hook(hook, said)), was_stopped)
            }
        };
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let said = match answer {
            Ok(said) => said,
            Err(fault) if hook.on_failure == OnFailure::Block && !was_stopped => Said::objection(about.point(), &fault),
            Err(fault) => Said::failure(fault),
        };
        let run = HookRun {
            point: about.point(),
            command: hook.command.clone(),
            call: about.call().map(|call| call.id.clone()),
            took_ms,
            end: said.end,
            message: said.message.clone(),
        };
        (run, said)
    }

    /// Runs a hook where it is to run, or says why it is not run.
    async fn start(
        &self,
        hook: &UserHook,
        about: About<'_>,
        cancel: &dyn CancelSignal,
    ) -> Result<Result<CommandOutput, CommandError>, String> {
        let directory = self.directory.display().to_string();
        let mut command = Command {
            program: String::from("/bin/sh"),
            arguments: vec![String::from("-c"), hook.command.clone()],
            environment: vec![(String::from("AGENT_PROJECT_DIR"), directory.clone())],
            directory,
            stdin: input::of(about, self.session_id.get().map_or("", String::as_str), &self.workspace),
            timeout_ms: hook.timeout_ms,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        };
        let runner = match &hook.runs {
            Runs::Nowhere(why) => return Err(why.clone()),
            Runs::AsUser => &self.runner,
            Runs::Sandboxed => {
                command.directory = self.workspace.display().to_string();
                &self.sandboxed
            }
            Runs::Pinned(pinned) => {
                let prepared = pinned.prepare()?;
                command.program.clone_from(&prepared.program);
                command.arguments.clone_from(&prepared.arguments);
                command.environment.extend(prepared.search_path.clone().map(|path| (String::from("PATH"), path)));
                let result = self.runner.run(&command, cancel).await;
                drop(prepared);
                return Ok(result);
            }
        };
        if let Some(changed) = hook.script.as_ref().filter(|script| !script.is_unchanged()) {
            return Err(format!("{} changed since it was trusted", changed.path().display()));
        }
        Ok(runner.run(&command, cancel).await)
    }
}

/// What a hook said, without what it may not say.
fn of_hook(hook: &UserHook, mut said: Said) -> Said {
    if !hook.may_allow && matches!(said.verdict, HookVerdict::Allow { .. }) {
        said.verdict = HookVerdict::None;
        let before = if said.message.is_empty() { String::new() } else { format!("{}; ", said.message) };
        said.message = format!("{before}its `allow` is ignored: the model's commands could change what it runs");
    }
    said
}

/// Adds the answer of one hook, and returns whether it decides.
fn take(report: &mut HookReport, said: Said, point: HookPoint) -> bool {
    report.context.extend(said.context);
    report.stop = report.stop.take().or(said.stop);
    // Who allowed the call has not seen the arguments that another hook gave it since.
    if said.arguments.is_some() && matches!(report.verdict, HookVerdict::Allow { .. }) {
        report.verdict = HookVerdict::None;
    }
    report.arguments = said.arguments.or(report.arguments.take());
    report.verdict = std::mem::take(&mut report.verdict).and(said.verdict);
    if let Some(reason) = said.block {
        report.block = Some(match report.block.take() {
            Some(earlier) => format!("{earlier}\n{reason}"),
            None => reason,
        });
    }
    // After the calls and at the end of a turn all problems are reported at once.
    let is_decided = report.block.is_some() && matches!(point, HookPoint::UserPromptSubmit | HookPoint::PreCompact);
    is_decided || report.stop.is_some() || matches!(report.verdict, HookVerdict::Deny { .. })
}

/// What one run of a hook is about.
#[derive(Clone, Copy)]
enum About<'a> {
    Call(&'a ToolCall),
    Ended(&'a EndedCall),
    Session(&'a HookOccasion),
}

impl<'a> About<'a> {
    const fn point(self) -> HookPoint {
        match self {
            Self::Call(_) => HookPoint::PreToolUse,
            Self::Ended(_) => HookPoint::PostToolUse,
            Self::Session(occasion) => occasion.point(),
        }
    }

    fn call(self) -> Option<&'a ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            Self::Ended(ended) => Some(&ended.call),
            Self::Session(_) => None,
        }
    }

    /// What a matcher looks at.
    fn subject(self) -> &'a str {
        match self {
            Self::Session(occasion) => input::subject(occasion),
            Self::Call(_) | Self::Ended(_) => self.call().map_or("", |call| call.name.as_ref()),
        }
    }
}

impl Said {
    fn failure(fault: String) -> Self {
        Self { end: HookEnd::Failed, message: fault, ..Self::default() }
    }
}

/// Of each output of a hook.
const OUTPUT_LIMIT_BYTES: usize = 64 * 1024;
