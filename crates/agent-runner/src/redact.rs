//! Takes known secrets out of text where it enters, so that journal, machine and screen see the same.

use agent_core::conversation::Arguments;
use agent_core::hook::HookReport;
use agent_core::journal::LifecycleEntry;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, LifecycleConfig};
use agent_core::llm::{Delta, ResponseBlock};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::{Event, SessionConfig};
use agent_core::tool::{CallFacts, Finding, HookVerdict, Subject};
use std::sync::Arc;

/// Replaces known secrets.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Longest first, so that one that is part of another does not spare the rest of it.
    secrets: Arc<[String]>,
}

impl Redactor {
    /// Short values are left alone: replacing them would garble ordinary text.
    pub(crate) fn new(secrets: &[String]) -> Self {
        let long = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES);
        let mut secrets: Vec<String> = long.cloned().collect();
        // Arguments of calls are JSON text, in which a secret may be spelt otherwise.
        let escaped: Vec<String> = secrets.iter().map(|secret| escaped(secret)).collect();
        secrets.extend(escaped);
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets: secrets.into() }
    }

    /// The event without secrets.
    pub(crate) fn event(&self, mut event: Event) -> Event {
        if self.secrets.is_empty() {
            return event;
        }
        match &mut event {
            Event::UserInput { text } | Event::ToolProgress { text, .. } => self.text(text),
            Event::Reconfigured { config } => self.config(config),
            Event::LlmDelta { delta: Delta::Text(text) | Delta::Thinking(text), .. } => self.text(text),
            Event::LlmCompleted { response, .. } => response.blocks.iter_mut().for_each(|block| self.block(block)),
            Event::LlmFailed { error, .. } => self.text(&mut error.message),
            Event::LlmAborted { partial_text, .. } => self.text(partial_text),
            Event::ToolsPrepared { facts, .. } => facts.iter_mut().for_each(|fact| self.fact(fact)),
            Event::ApprovalAnswered { answer, changed, .. } => {
                self.answer(answer);
                changed.iter_mut().for_each(|fact| self.fact(fact));
            }
            Event::ToolCompleted { outcome, .. } => self.text(&mut outcome.content),
            Event::GitChecked { report, .. } => {
                report.commits.iter_mut().for_each(|commit| self.text(&mut commit.subject));
                self.texts(&mut report.notes);
            }
            Event::FormattersFinished { report, .. } => self.texts(&mut report.notes),
            Event::ChangesCommitted { report, .. } => {
                report.commit.iter_mut().for_each(|commit| self.text(&mut commit.subject));
                self.texts(&mut report.notes);
            }
            Event::HooksFinished { report, .. } => self.report(report),
            Event::HookFailed { message: text, .. } | Event::HooksStoppedTurn { reason: text, .. } => self.text(text),
            Event::Started
            | Event::BudgetRaised { .. }
            | Event::CompactionRequested
            | Event::CancelRequested
            | Event::LeaveRequested
            | Event::ShutdownRequested
            | Event::LlmInterrupted { .. }
            | Event::RetryTimeout { .. }
            | Event::DeadlineReached { .. } => {}
        }
        event
    }

    /// The event of a lifecycle without secrets.
    pub(crate) fn lifecycle_event(&self, mut event: lifecycle::Event) -> lifecycle::Event {
        if self.secrets.is_empty() {
            return event;
        }
        match &mut event {
            lifecycle::Event::InputReceived { text } | lifecycle::Event::Signalled { summary: text, .. } => {
                self.text(text);
            }
            lifecycle::Event::CheckCompleted { report: CheckReport { end, output }, .. } => {
                self.text(output);
                if let CheckEnd::Broke { found } | CheckEnd::NotStarted { found } = end {
                    self.text(found);
                }
            }
            // The command has to run as it is; what is recorded and told of it is redacted there.
            lifecycle::Event::CommitmentAdded { commitment } => self.text(&mut commitment.promise),
            lifecycle::Event::ModeChanged { .. }
            | lifecycle::Event::TurnEnded { .. }
            | lifecycle::Event::CancelRequested
            | lifecycle::Event::TimedOut { .. }
            | lifecycle::Event::BudgetExceeded
            | lifecycle::Event::SessionEnded
            | lifecycle::Event::Dismissed
            | lifecycle::Event::CleanupCompleted { .. } => {}
        }
        event
    }

    /// A lifecycle's configuration as it may be told of. Commands have to run as they are.
    pub(crate) fn lifecycle_config(&self, mut config: LifecycleConfig) -> LifecycleConfig {
        config.commitments.iter_mut().for_each(|bound| self.text(&mut bound.promise));
        config
    }

    /// A lifecycle's record as it may be kept: commands that hold a secret cannot be run again from there.
    pub(crate) fn lifecycle_entry(&self, mut entry: LifecycleEntry) -> LifecycleEntry {
        match &mut entry {
            LifecycleEntry::Began(config) => config.commitments.iter_mut().for_each(|bound| self.commitment(bound)),
            LifecycleEntry::Event(lifecycle::Event::CommitmentAdded { commitment }) => self.commitment(commitment),
            _ => {}
        }
        entry
    }

    fn commitment(&self, commitment: &mut Commitment) {
        self.text(&mut commitment.promise);
        self.text(&mut commitment.assertion.command);
    }

    /// A system prompt is made of files that may hold anything.
    pub(crate) fn config(&self, config: &mut SessionConfig) {
        let mut system = config.system.to_string();
        self.text(&mut system);
        config.system = system.into();
    }

    fn fact(&self, fact: &mut CallFacts) {
        match &mut fact.finding {
            Finding::Runnable(inspection) => self.subject(&mut inspection.subject),
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => self.text(message),
        }
        self.verdict(&mut fact.verdict);
        if let Some(report) = &mut fact.hooks {
            self.report(report);
        }
    }

    fn verdict(&self, verdict: &mut HookVerdict) {
        match verdict {
            HookVerdict::Allow { reason } | HookVerdict::Ask { reason } | HookVerdict::Deny { reason } => {
                self.text(reason);
            }
            HookVerdict::None => {}
        }
    }

    fn report(&self, report: &mut HookReport) {
        let HookReport { runs, context, block, stop, verdict, arguments } = report;
        for run in runs {
            self.text(&mut run.command);
            self.text(&mut run.message);
        }
        self.texts(context);
        block.iter_mut().chain(stop).for_each(|reason| self.text(reason));
        self.verdict(verdict);
        if let Some(arguments) = arguments {
            self.arguments(arguments);
        }
    }

    fn subject(&self, subject: &mut Subject) {
        match subject {
            Subject::Command { text, plain, .. } => {
                self.text(text);
                plain.iter_mut().for_each(|commands| self.texts(commands));
            }
            Subject::Paths(paths) | Subject::Files { paths, .. } => self.texts(paths),
            // Nothing, or something that is not known here yet.
            _ => {}
        }
    }

    fn answer(&self, answer: &mut ApprovalAnswer) {
        match answer {
            ApprovalAnswer::Deny { reason } => self.text(reason),
            ApprovalAnswer::Allow { arguments: Some(arguments), .. } => self.arguments(arguments),
            ApprovalAnswer::Allow { arguments: None, .. } | ApprovalAnswer::Nobody => {}
        }
    }

    fn arguments(&self, arguments: &mut Arguments) {
        let mut text = arguments.as_str().to_owned();
        self.text(&mut text);
        // Replacing text within JSON strings keeps it JSON; should it not, a call is better run as it was allowed than changed.
        if let Ok(clean) = Arguments::parse(&text) {
            *arguments = clean;
        }
    }

    /// Sealed reasoning is left as it came: changing it would break its seal.
    fn block(&self, block: &mut ResponseBlock) {
        match block {
            ResponseBlock::Text(text) => self.text(text),
            ResponseBlock::Call(call) => self.text(&mut call.arguments),
            ResponseBlock::Thinking { text, signature: None } => self.text(text),
            ResponseBlock::Thinking { .. } | ResponseBlock::RedactedThinking { .. } | ResponseBlock::Opaque { .. } => {}
        }
    }

    /// How much of a text can be redacted by itself, whatever follows: what is behind may be the beginning of a secret.
    pub(crate) fn settled_bytes(&self, text: &str) -> usize {
        let begun = |secret: &String| {
            let most = secret.len().min(text.len() + 1);
            (1..most).rev().find(|&n| secret.get(..n).is_some_and(|beginning| text.ends_with(beginning)))
        };
        let mut settled = text.len() - self.secrets.iter().filter_map(begun).max().unwrap_or_default();
        // A whole secret that lies across the cut stays together.
        while let Some(start) = self.secrets.iter().find_map(|secret| across(text, secret, settled)) {
            settled = start;
        }
        settled
    }

    fn texts(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    pub(crate) fn text(&self, text: &mut String) {
        for secret in self.secrets.iter() {
            if text.contains(secret) {
                *text = text.replace(secret, REDACTED);
            }
        }
    }
}

/// Where a secret begins that lies across this place.
fn across(text: &str, secret: &str, place: usize) -> Option<usize> {
    text.match_indices(secret).map(|(start, _)| start).find(|start| *start < place && place < start + secret.len())
}

/// The text as it stands in a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// What stands in a journal, and in what the model and the host are told, where a secret was.
pub const REDACTED: &str = "[redacted]";
const MIN_SECRET_BYTES: usize = 8;
