//! The hooks of a session: the user's own, in a trusted workspace then the repository's, and those that look after the repository.

pub(crate) mod formatters;
pub(crate) mod operands;
pub(crate) mod places;
pub(crate) mod programs;
pub(crate) mod reach;
pub(crate) mod trust;
pub(crate) mod words;

use crate::config::entries::Named;
use crate::config::file::{HookEntry, OnFailureWord};
use crate::config::rule_patterns::is_of_server;
use agent_core::conversation::ToolCall;
use agent_core::hook::{
    Changes, CommitReport, FilesSeen, FormatReport, GitReport, HookEnd, HookError, HookOccasion, HookPoint, HookReport,
    HookRun,
};
use agent_core::ports::{CancelSignal, Hook};
use agent_core::tool::{HookVerdict, Inspection};
use agent_git::RepositoryHooks;
use agent_hooks::{HookConfigError, UserHook, UserHooks};
use agent_tools::Workspace;
use async_trait::async_trait;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// A hook as it would be used, or why it cannot be.
pub(crate) fn check(named: &Named<HookEntry>) -> Result<UserHook, String> {
    hook(&named.entry).map_err(|error| format!("cannot use `hooks` of {}: {error}", named.place()))
}

/// A hook by its entry; where it runs is for [`hook_places`](crate::hooks::places).
pub(crate) fn hook(entry: &HookEntry) -> Result<UserHook, HookConfigError> {
    let mut hook =
        UserHook::new(&entry.event, &entry.command)?.matching(entry.matcher.as_deref().unwrap_or_default())?;
    if let Some(timeout_ms) = entry.timeout_ms {
        hook = hook.within_ms(timeout_ms)?;
    }
    match entry.on_failure {
        OnFailureWord::Warn => Ok(hook),
        OnFailureWord::Block => hook.blocking_on_failure(),
    }
}

/// The key of an entry that is wrong.
pub(crate) const fn key_of(error: &HookConfigError) -> &'static str {
    match error {
        HookConfigError::NoCommand { .. } => "command",
        HookConfigError::Matcher { .. }
        | HookConfigError::NothingToMatch { .. }
        | HookConfigError::NoSuchSubject { .. } => "matcher",
        HookConfigError::Timeout { .. } => "timeout_ms",
        HookConfigError::NoSuchEvent { .. } => "event",
        _ => "on_failure",
    }
}

/// What of a hook's matcher names no tool: what it was meant to look at runs without it.
pub(crate) fn unknown_names(hooks: &[UserHook], tool_names: &[String]) -> Vec<String> {
    let on_tools = hooks.iter().filter(|hook| matches!(hook.point, HookPoint::PreToolUse | HookPoint::PostToolUse));
    let names = on_tools.flat_map(|hook| hook.matcher.names().map(move |name| (hook, name)));
    // Which tools a server has may not be known yet.
    let unknown = names.filter(|(_, name)| !is_of_server(name) && !tool_names.iter().any(|known| known == name));
    unknown.map(|(hook, name)| format!("the hook `{}` at {} names `{name}`", hook.command, hook.point)).collect()
}

/// All hooks of a session; what a formatter changed is known to the tools afterwards.
pub(crate) struct Hooks {
    pub(crate) users: Arc<UserHooks>,
    pub(crate) repository: Arc<RepositoryHooks>,
    pub(crate) workspace: Arc<Workspace>,
}

impl Hooks {
    /// Where the session asks for hooks.
    pub(crate) fn points(users: &UserHooks, auto_commit: bool) -> BTreeSet<HookPoint> {
        let mut points = users.points();
        // What could not be committed while another program held the index.
        points.extend(auto_commit.then_some(HookPoint::SessionEnd));
        points
    }

    async fn commit_left(&self, cancel: &dyn CancelSignal) -> Option<HookRun> {
        let begun = Instant::now();
        let done = self.repository.commit_left(cancel).await?;
        let (end, message) = match done {
            Ok(CommitReport { commit: Some(commit), .. }) => (
                HookEnd::Passed,
                format!("committed the changes of an earlier run that were still uncommitted: {}", commit.subject),
            ),
            Ok(CommitReport { notes, .. }) => (HookEnd::Passed, notes.join("; ")),
            Err(error) => (HookEnd::Failed, error.to_string()),
        };
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (point, command) = (HookPoint::SessionEnd, String::from("commit the remaining changes"));
        Some(HookRun { point, command, call: None, took_ms, end, message })
    }
}

#[async_trait]
impl Hook for Hooks {
    fn acts_before_tools(&self) -> bool {
        self.repository.acts_before_tools() || self.users.points().contains(&HookPoint::PreToolUse)
    }

    async fn run(&self, occasion: &HookOccasion, cancel: &dyn CancelSignal) -> HookReport {
        let mut report = self.users.run(occasion, cancel).await;
        if *occasion == HookOccasion::SessionEnd {
            report.runs.extend(self.commit_left(cancel).await);
        }
        report
    }

    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        self.repository.before_tool(call, inspection).await
    }

    async fn tool_begins(&self, call: &ToolCall, judged: &Inspection) {
        self.repository.tool_begins(call, judged).await;
    }

    async fn check_git(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.repository.check_git(changes, cancel).await
    }

    async fn format(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        let report = self.repository.format(changes, cancel).await?;
        report.changed_paths.iter().for_each(|path| self.workspace.note_changed(path));
        Ok(report)
    }

    fn files(&self) -> Option<FilesSeen> {
        self.repository.files()
    }

    async fn commit(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.repository.commit(changes, cancel).await
    }
}

/// The hooks of an agent below, for which its own start and stop are other points than those of the session.
pub(crate) struct OfSubagent {
    pub(crate) hooks: Arc<dyn Hook>,
    pub(crate) id: String,
    pub(crate) name: String,
}

#[async_trait]
impl Hook for OfSubagent {
    fn acts_before_tools(&self) -> bool {
        self.hooks.acts_before_tools()
    }

    async fn run(&self, occasion: &HookOccasion, cancel: &dyn CancelSignal) -> HookReport {
        self.hooks.run(&occasion.of_subagent(&self.id, &self.name), cancel).await
    }

    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        self.hooks.before_tool(call, inspection).await
    }

    async fn tool_begins(&self, call: &ToolCall, judged: &Inspection) {
        self.hooks.tool_begins(call, judged).await;
    }

    async fn check_git(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.hooks.check_git(changes, cancel).await
    }

    async fn format(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        self.hooks.format(changes, cancel).await
    }

    fn files(&self) -> Option<FilesSeen> {
        self.hooks.files()
    }

    async fn commit(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.hooks.commit(changes, cancel).await
    }
}

/// The hooks of an agent below the session's own: the user's hooks guard its calls, and what the repository's keep of the state before a
/// call is kept. Looking at the repository, formatting and committing are the session's own agent's.
#[derive(Clone)]
pub(crate) struct ChildHooks {
    pub(crate) users: Arc<UserHooks>,
    pub(crate) repository: Arc<RepositoryHooks>,
}

#[async_trait]
impl Hook for ChildHooks {
    fn acts_before_tools(&self) -> bool {
        self.repository.acts_before_tools() || self.users.points().contains(&HookPoint::PreToolUse)
    }

    async fn run(&self, occasion: &HookOccasion, cancel: &dyn CancelSignal) -> HookReport {
        self.users.run(occasion, cancel).await
    }

    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        self.repository.before_tool(call, inspection).await
    }

    async fn tool_begins(&self, call: &ToolCall, judged: &Inspection) {
        self.repository.tool_begins(call, judged).await;
    }

    fn files(&self) -> Option<FilesSeen> {
        self.repository.files()
    }
}
