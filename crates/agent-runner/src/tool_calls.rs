//! Tool calls: what they would do, and doing it.

use crate::hooks::Verdicts;
use crate::inbox::{Inbox, send};
use crate::progress::Progress;
use crate::stop::{Stop, past_grace};
use agent_core::conversation::{CallId, ToolCall};
use agent_core::instructions::KnownInstructions;
use agent_core::permission::Exclusions;
use agent_core::ports::{Tool, ToolContext};
use agent_core::session::{Event, Session, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, ToolOutcome, ToolSpec};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The tools by name, in the order in which they are offered.
pub(crate) struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// The same with further tools behind them; one whose name is taken is left out.
    pub(crate) fn with(&self, further: Vec<Arc<dyn Tool>>) -> Self {
        let mut all = Self::new(self.tools.clone());
        for tool in further {
            if all.find(&tool.spec().name).is_none() {
                all.tools.push(tool);
            }
        }
        all
    }

    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// What a call would do.
    pub(crate) fn inspect(&self, call: &ToolCall) -> Finding {
        let Some(tool) = self.find(&call.name) else {
            return Finding::UnknownTool { message: self.unknown(&call.name) };
        };
        let inspected = std::panic::catch_unwind(AssertUnwindSafe(|| tool.inspect(&call.arguments)));
        match inspected {
            Ok(Ok(inspection)) => Finding::Runnable(inspection),
            Ok(Err(message)) => Finding::InvalidArguments { message: format!("not run: {message}") },
            Err(_) => Finding::InvalidArguments { message: format!("not run: the tool `{}` failed", call.name) },
        }
    }

    /// Why a call would fail, where its tool can tell. What the tool reads for that may take a while.
    async fn foresee(&self, call: &ToolCall) -> Option<String> {
        let (tool, arguments) = (Arc::clone(self.find(&call.name)?), call.arguments.clone());
        // A tool that panics here has foreseen nothing.
        tokio::task::spawn_blocking(move || tool.foresee(&arguments)).await.ok().flatten()
    }

    /// Whether a call only reads, so that running it once more changes nothing.
    pub(crate) fn only_reads(&self, call: &ToolCall) -> bool {
        matches!(self.inspect(call), Finding::Runnable(inspection) if inspection.effect == Effect::Reads)
    }

    fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name.as_ref() == name)
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.spec().name.as_ref()).collect();
        let shown: String = name.chars().take(SHOWN_NAME_CHARS).collect();
        let more = if shown.len() < name.len() { " …" } else { "" };
        format!("not run: there is no tool `{shown}`{more}; the tools are: {}", names.join(", "))
    }
}

/// Finds out what the calls would do and what the user's hooks say about them.
pub(crate) async fn prepare(
    toolbox: Arc<Toolbox>,
    verdicts: Verdicts,
    calls: Vec<ToolCall>,
    ticket: Ticket,
    inbox: Inbox,
    stop: CancellationToken,
) {
    let mut found = Vec::with_capacity(calls.len());
    let mut is_stopped = false;
    for call in calls {
        // Nothing runs any more: the others are only looked at.
        let known = if is_stopped { inspected(&toolbox, call) } else { facts(&toolbox, &verdicts, call, &stop).await };
        is_stopped |= known.hooks.as_ref().is_some_and(|report| report.stop.is_some());
        found.push(known);
    }
    send(&inbox, Event::ToolsPrepared { ticket, facts: found });
}

/// What a call would do, and what the user's hooks say about that.
pub(crate) async fn facts(
    toolbox: &Toolbox,
    verdicts: &Verdicts,
    mut call: ToolCall,
    stop: &CancellationToken,
) -> CallFacts {
    let mut known = inspected(toolbox, call.clone());
    if !matches!(known.finding, Finding::Runnable(_)) {
        return known;
    }
    if let Some(mut report) = verdicts.of_users(&call, stop).await {
        known.verdict = std::mem::take(&mut report.verdict);
        if let Some(arguments) = &report.arguments {
            call.arguments = arguments.clone();
            known.finding = toolbox.inspect(&call);
        }
        let is_stop = report.stop.is_some();
        known.hooks = Some(Box::new(report));
        if is_stop || matches!(known.verdict, HookVerdict::Deny { .. }) {
            return known;
        }
    }
    if let Finding::Runnable(inspection) = &known.finding {
        let verdict = verdicts.on(&call, inspection, stop).await;
        known.verdict = std::mem::take(&mut known.verdict).and(verdict);
        if inspection.effect == Effect::Changes {
            known.foreseen = toolbox.foresee(&call).await;
        }
    }
    known
}

/// What a call would do, without asking for approval.
fn inspected(toolbox: &Toolbox, call: ToolCall) -> CallFacts {
    let finding = toolbox.inspect(&call);
    CallFacts::new(call.id, finding)
}

/// What the session decided about a call that runs, for its tool.
pub(crate) struct Judged {
    exclusions: Exclusions,
    judged: Inspection,
    known: KnownInstructions,
}

impl Judged {
    pub(crate) fn of(session: &Session, call: &CallId) -> Self {
        Self { exclusions: session.exclusions(call), judged: session.judged(call), known: session.known_instructions() }
    }
}

/// Runs a call when its group has room for another, and reports the result. After a cancel it has a moment to end by
/// itself; then it is dropped.
pub(crate) async fn run(
    toolbox: Arc<Toolbox>,
    hook: Verdicts,
    call: ToolCall,
    judged: Judged,
    progress: Progress,
    width: Arc<Semaphore>,
    stop: CancellationToken,
) {
    let progress = Arc::new(progress);
    let Judged { exclusions, judged, known } = judged;
    let cancel = Arc::new(Stop(stop.clone()));
    let (effect, opening) = (judged.effect, judged.subject.opening().cloned());
    let context = ToolContext { progress: progress.clone(), cancel, exclusions, effect, opening, known };
    let work = async {
        let _room = tokio::select! {
            biased;
            () = stop.cancelled() => return ToolOutcome::interrupted("stopped by the user before it started"),
            room = width.acquire() => room,
        };
        if let Err(why) = hook.begin(&call, &judged).await {
            return ToolOutcome::not_run(why);
        }
        match toolbox.find(&call.name) {
            Some(tool) => tool.run(&call, &context).await,
            None => ToolOutcome::failed(toolbox.unknown(&call.name)),
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = AssertUnwindSafe(work).catch_unwind() => {
            outcome.unwrap_or_else(|_| ToolOutcome::failed(format!("the tool `{}` failed internally", call.name)))
        }
        () = past_grace(&stop) => ToolOutcome::interrupted("stopped by the user"),
    };
    progress.end(outcome);
}

/// How many calls of one group run at a time.
pub(crate) const WIDTH: usize = 8;
/// How much of a name that no tool has is repeated to the model.
const SHOWN_NAME_CHARS: usize = 100;
