//! Takes known secrets out of text where it enters, so that journal, machine and screen see the same.

use agent_core::agent::Event;
use agent_core::child;
use agent_core::conversation::{Arguments, Attachment, UserMessage};
use agent_core::hook::{CommitInfo, CommitReport, FormatReport, GitReport, HookReport, HookRun};
use agent_core::instructions::Instructions;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, FilesChecked};
use agent_core::llm::{Delta, LlmError, LlmErrorFacts, LlmResponse, RateLimit, RawCall, ResponseBlock};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::picture::Picture;
use agent_core::session::{self, SessionConfig};
use agent_core::tool::{
    CallFacts, Door, Finding, HookVerdict, Inspection, Opening, Subject, ToolOutcome, ToolSpec, Walls,
};
use std::sync::Arc;

/// Replaces known secrets in what the machines take and tell.
#[derive(Clone, Default)]
pub(crate) struct Redactor(agent_core::redact::Redactor);

impl Redactor {
    pub(crate) fn new(secrets: &[String]) -> Self {
        Self(agent_core::redact::Redactor::new(secrets))
    }

    /// The event without secrets: nothing else reaches the journal, the machines and the screen.
    pub(crate) fn event(&self, event: Event) -> Event {
        if self.0.is_empty() {
            return event;
        }
        match event {
            Event::Session(event) => Event::Session(self.session_event(event)),
            Event::Lifecycle(event) => Event::Lifecycle(self.lifecycle_event(event)),
            Event::Bound(mut config) => {
                config.commitments.iter_mut().for_each(|bound| self.commitment(bound));
                Event::Bound(config)
            }
            // What comes from another agent of the tree was redacted where it arose; policies hold what the user wrote.
            Event::Child { number, event } => Event::Child { number, event: Box::new(self.child_event(*event)) },
            Event::Ordered(order) => Event::Ordered(order),
            Event::HeldBelow(_) | Event::Released | Event::Attended => event,
        }
    }

    /// What a driver found is its own words, and a message is a person's.
    fn child_event(&self, mut event: child::Event) -> child::Event {
        if let child::Event::BeginFailed { found: text, .. }
        | child::Event::Lost { found: text, .. }
        | child::Event::MessageSent { text } = &mut event
        {
            self.text(text);
        }
        event
    }

    fn session_event(&self, mut event: session::Event) -> session::Event {
        use session::Event;
        match &mut event {
            Event::UserInput { text } | Event::InputAfterTurn { text } => self.message(text),
            Event::InputWithdrawn { text }
            | Event::FollowUp { text, used_ms: _ }
            | Event::ToolProgress { ticket: _, call: _, text } => self.text(text),
            Event::Reconfigured { config } => self.config(config),
            Event::LlmDelta { ticket: _, delta: Delta::Text(text) | Delta::Thinking(text) } => self.text(text),
            Event::LlmCompleted { ticket: _, response } => self.response(response),
            Event::LlmFailed { ticket: _, error, chance_permille: _ } => self.error(error),
            Event::LlmAborted { ticket: _, partial_text } => self.text(partial_text),
            Event::ToolsPrepared { ticket: _, facts } => facts.iter_mut().for_each(|fact| self.fact(fact)),
            Event::ApprovalAnswered { ticket: _, call: _, answer, changed } => {
                self.answer(answer);
                changed.iter_mut().for_each(|fact| self.fact(fact));
            }
            Event::ToolCompleted { ticket: _, call: _, outcome } => {
                let ToolOutcome { status: _, content, changed_paths, pictures, instructions } = outcome;
                self.text(content);
                // The path names the file, which a later look at it must find again.
                for Instructions { path: _, digest: _, text, unusable } in instructions {
                    self.text(text);
                    unusable.iter_mut().for_each(|why| self.text(why));
                }
                self.texts(changed_paths);
                pictures.iter_mut().for_each(|picture| self.picture(picture));
            }
            Event::GitChecked { ticket: _, report } => {
                let GitReport { commits, formatting_due: _, commit_due: _, notes } = report;
                commits.iter_mut().for_each(|commit| self.commit(commit));
                self.texts(notes);
            }
            Event::FormattersFinished { ticket: _, report } => {
                let FormatReport { changed_paths, commit_due: _, notes } = report;
                self.texts(changed_paths);
                self.texts(notes);
            }
            Event::ChangesCommitted { ticket: _, report: CommitReport { commit, notes } } => {
                commit.iter_mut().for_each(|commit| self.commit(commit));
                self.texts(notes);
            }
            Event::HooksFinished { ticket: _, report } => self.report(report),
            Event::HookFailed { ticket: _, message: text } | Event::HooksStoppedTurn { ticket: _, reason: text } => {
                self.text(text);
            }
            Event::FocusedCompactionRequested { focus } => self.text(focus),
            Event::BudgetRaised { limits: _ }
            | Event::LlmInterrupted { ticket: _ }
            | Event::RetryTimeout { ticket: _ }
            | Event::DeadlineReached { ticket: _ }
            | Event::Started
            | Event::CompactionRequested
            | Event::CancelRequested
            | Event::LeaveRequested
            | Event::SessionResumed { begun: _, calls: _ }
            | Event::ShutdownRequested => {}
        }
        event
    }

    fn message(&self, message: &mut UserMessage) {
        let UserMessage { text, attached, author: _, pictures } = message;
        self.text(text);
        for Attachment { name, part: _, text } in attached {
            self.shared(name);
            self.text(text);
        }
        pictures.iter_mut().for_each(|picture| self.picture(picture));
    }

    /// Its bytes are not here, and are never looked at: what a picture shows cannot be redacted.
    fn picture(&self, picture: &mut Picture) {
        let Picture { digest: _, kind: _, bytes: _, width: _, height: _, name } = picture;
        self.shared(name);
    }

    fn shared(&self, shared: &mut Arc<str>) {
        if self.0.finds(shared) {
            let mut text = shared.to_string();
            self.text(&mut text);
            *shared = text.into();
        }
    }

    fn response(&self, response: &mut LlmResponse) {
        let LlmResponse { blocks, stop, usage: _, model } = response;
        blocks.iter_mut().for_each(|block| self.block(block));
        if let Some(reason) = stop.other_mut() {
            self.text(reason);
        }
        self.text(model);
    }

    fn error(&self, error: &mut LlmError) {
        let LlmError { kind: _, message, status: _, retry_after_ms: _, facts, partial: _ } = error;
        self.text(message);
        for LlmErrorFacts { wait: _, requested_tokens: _, limit_tokens: _, rate_limits } in
            facts.iter_mut().map(|facts| &mut **facts)
        {
            for RateLimit { name, limit: _, remaining: _, reset_ms: _ } in rate_limits {
                self.text(name);
            }
        }
    }

    fn commit(&self, commit: &mut CommitInfo) {
        let CommitInfo { id, subject, stat: _ } = commit;
        self.text(id);
        self.text(subject);
    }

    fn lifecycle_event(&self, mut event: lifecycle::Event) -> lifecycle::Event {
        match &mut event {
            lifecycle::Event::InputReceived { text } => self.message(text),
            lifecycle::Event::Signalled { signal: _, summary: text } => self.text(text),
            lifecycle::Event::CheckCompleted { ticket: _, commitment: _, report } => {
                let CheckReport { end, output, files } = report;
                self.text(output);
                if let Some(FilesChecked { before: _, after: _, changed }) = files {
                    self.texts(changed);
                }
                match end {
                    CheckEnd::Broke { found } | CheckEnd::NotStarted { found } => self.text(found),
                    CheckEnd::Stale { changed } => self.texts(changed),
                    CheckEnd::Exited { code: _ } | CheckEnd::Killed { signal: _ } | CheckEnd::TimedOut => {}
                }
            }
            lifecycle::Event::CommitmentAdded { commitment } => self.commitment(commitment),
            lifecycle::Event::ModeChanged { mode: _ }
            | lifecycle::Event::TurnEnded { end: _, time_left_ms: _ }
            | lifecycle::Event::WorkResumed
            | lifecycle::Event::CancelRequested
            | lifecycle::Event::TimedOut { ticket: _ }
            | lifecycle::Event::BudgetExceeded
            | lifecycle::Event::SessionEnded
            | lifecycle::Event::Dismissed
            | lifecycle::Event::CleanupCompleted { ticket: _ } => {}
        }
        event
    }

    /// The command that runs is the original, which the driver keeps: from a journal it cannot run again.
    fn commitment(&self, commitment: &mut Commitment) {
        self.text(&mut commitment.promise);
        self.text(&mut commitment.assertion.command);
    }

    /// A system prompt is made of files that may hold anything, and what describes a tool may be the words of a server. Models, the names
    /// of tools and rules are the host's own: a call needs them as they are, and another rule would allow or deny something else.
    pub(crate) fn config(&self, config: &mut SessionConfig) {
        let SessionConfig {
            models: _,
            system,
            tools,
            limits: _,
            retry: _,
            permissions: _,
            compact_at_permille: _,
            summaries: _,
            max_result_bytes: _,
            hooks: _,
            instructions: _,
            agents: _,
        } = config;
        let mut text = system.to_string();
        self.text(&mut text);
        *system = text.into();
        let clean = tools.iter().map(|tool| self.tool(tool));
        *tools = clean.collect();
    }

    fn tool(&self, tool: &ToolSpec) -> ToolSpec {
        let ToolSpec { name, description, input_schema } = tool;
        let (mut description, mut schema) = (description.clone(), (**input_schema).clone());
        self.shared(&mut description);
        let input_schema = if self.0.schema(&mut schema) { Arc::new(schema) } else { input_schema.clone() };
        ToolSpec { name: name.clone(), description, input_schema }
    }

    fn fact(&self, fact: &mut CallFacts) {
        let CallFacts { call: _, finding, verdict, hooks, foreseen } = fact;
        foreseen.iter_mut().for_each(|why| self.text(why));
        match finding {
            Finding::Runnable(Inspection { effect: _, subject }) => self.subject(subject),
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => self.text(message),
        }
        self.verdict(verdict);
        hooks.iter_mut().for_each(|report| self.report(report));
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
        for HookRun { point: _, command, call: _, took_ms: _, end: _, message } in runs {
            self.text(command);
            self.text(message);
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
            Subject::Command { text, plain, carries_over: _, beyond_reading, walls } => {
                self.text(text);
                beyond_reading.iter_mut().for_each(|why| self.text(why));
                plain.iter_mut().for_each(|commands| self.texts(commands));
                self.walls(walls);
            }
            Subject::Paths(paths) => self.texts(paths),
            Subject::Files { paths, families, akin } => {
                self.texts(paths);
                self.texts(families);
                self.texts(akin);
            }
            // Nothing, or something that is not known here yet.
            _ => {}
        }
    }

    fn walls(&self, walls: &mut Walls) {
        match walls {
            Walls::Usual => {}
            Walls::Reading { akin } => self.texts(akin),
            Walls::Opened(opening) => {
                let Opening { doors, reason, places: _ } = &mut **opening;
                self.text(reason);
                for door in doors {
                    match door {
                        Door::Write(path) => self.text(path),
                        Door::Network | Door::Git | Door::Outside => {}
                    }
                }
            }
        }
    }

    fn answer(&self, answer: &mut ApprovalAnswer) {
        match answer {
            ApprovalAnswer::Deny { reason } => self.text(reason),
            ApprovalAnswer::Allow { scope, arguments } => {
                // Calls are compared without their secrets, so a rule with one would never fit another call.
                if let ApprovalScope::Session(rules) | ApprovalScope::Always(rules) = scope
                    && rules.iter().any(|rule| self.0.finds(&rule.to_string()))
                {
                    *scope = ApprovalScope::Once;
                }
                arguments.iter_mut().for_each(|arguments| self.arguments(arguments));
            }
            ApprovalAnswer::Nobody => {}
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

    /// A seal holds for the text that it was made for. Reasoning with a secret in it loses its seal, and so it does not go back to the
    /// provider: it could be sent only with the secret, which would then be stored.
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
            ResponseBlock::Opaque { dialect, json } => {
                self.text(dialect);
                self.0.json(json);
            }
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

#[cfg(test)]
mod tests;
