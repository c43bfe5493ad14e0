//! Takes known secrets out of text where it enters, so that journal, machine and screen see the same.

use agent_core::conversation::Arguments;
use agent_core::hook::HookReport;
use agent_core::journal::LifecycleEntry;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, LifecycleConfig};
use agent_core::llm::{Delta, RawCall, ResponseBlock};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::{Event, SessionConfig};
use agent_core::tool::{CallFacts, Finding, HookVerdict, Subject};

/// Replaces known secrets in what the machines take and tell.
#[derive(Clone, Default)]
pub(crate) struct Redactor(agent_core::redact::Redactor);

impl Redactor {
    pub(crate) fn new(secrets: &[String]) -> Self {
        Self(agent_core::redact::Redactor::new(secrets))
    }

    /// The event without secrets.
    pub(crate) fn event(&self, mut event: Event) -> Event {
        if self.0.is_empty() {
            return event;
        }
        match &mut event {
            Event::UserInput { text } | Event::ToolProgress { text, .. } => self.text(text),
            Event::Reconfigured { config } => self.config(config),
            Event::LlmDelta { delta: Delta::Text(text) | Delta::Thinking(text), .. } => self.text(text),
            Event::LlmCompleted { response, .. } => {
                response.blocks.iter_mut().for_each(|block| self.block(block));
                self.text(&mut response.model);
            }
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
        if self.0.is_empty() {
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
        self.0.json(&mut text);
        // Replacing text within JSON strings keeps it JSON; should it not, a call is better run as it was allowed than changed.
        if let Ok(clean) = Arguments::parse(&text) {
            *arguments = clean;
        }
    }

    /// A seal holds for the text that it was made for. Reasoning with a secret in it loses its seal, and so it does not go back to the provider:
    /// it could go only with the secret, and then the secret would have to be kept.
    fn block(&self, block: &mut ResponseBlock) {
        match block {
            ResponseBlock::Text(text) => self.text(text),
            ResponseBlock::Call(RawCall { id, name, arguments, complete: _ }) => {
                self.text(id);
                self.text(name);
                self.0.json(arguments);
            }
            ResponseBlock::Thinking { text, signature } => {
                if self.0.finds(text) || signature.as_deref().is_some_and(|seal| self.is_in_json(seal)) {
                    *signature = None;
                }
                self.text(text);
            }
            ResponseBlock::RedactedThinking { data } => self.text(data),
            ResponseBlock::Opaque { dialect: _, json } => self.0.json(json),
        }
    }

    /// Whether JSON holds a secret, however it is spelt.
    fn is_in_json(&self, json: &str) -> bool {
        let mut clean = json.to_owned();
        self.0.json(&mut clean);
        clean != json
    }

    /// How much of a text can be redacted by itself, whatever follows.
    pub(crate) fn settled_bytes(&self, text: &str) -> usize {
        self.0.settled_bytes(text)
    }

    fn texts(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    pub(crate) fn text(&self, text: &mut String) {
        self.0.text(text);
    }
}
