//! What is in progress is done, or the program dies in the middle of it and another one resumes the tree.

use super::{Place, Task, Tree};
use agent_core::agent::{Agent, Event, Step};
use agent_core::child;
use agent_core::conversation::ToolCall;
use agent_core::hook::GitReport;
use agent_core::journal::Begun;
use agent_core::lifecycle;
use agent_core::llm::{LlmError, LlmErrorKind, LlmResponse};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Action, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

impl Tree {
    /// The task at a place of the list is done so.
    pub fn finish(&mut self, number: usize, answer: impl Fn(&Agent, &Place) -> LlmResponse) {
        use agent_core::session::Event as Session;
        let task = self.tasks.remove(number);
        let at = task.at().clone();
        let is_cancelled = self.agent(&at).session().is_cancel_pending();
        let events: Vec<Event> = match task {
            Task::Model { ticket, .. } if is_cancelled => {
                vec![Session::LlmAborted { ticket, partial_text: String::new() }.into()]
            }
            Task::Model { ticket, .. } => {
                let response = answer(self.agent(&at), &at);
                vec![Session::LlmCompleted { ticket, response }.into()]
            }
            Task::Prepare { ticket, calls, .. } => {
                let effect = |call: &ToolCall| {
                    let arguments = call.arguments.as_str();
                    let changes = arguments.contains("shared") || arguments.contains("worktree");
                    if changes { Effect::Changes } else { Effect::Reads }
                };
                let facts = calls.iter().map(|call| {
                    let inspection = Inspection { effect: effect(call), subject: Subject::None };
                    CallFacts::new(call.id.clone(), Finding::Runnable(inspection))
                });
                vec![Session::ToolsPrepared { ticket, facts: facts.collect() }.into()]
            }
            Task::Tool { ticket, call, .. } => {
                let outcome = ToolOutcome::ok("read");
                vec![Session::ToolCompleted { ticket, call, outcome }.into()]
            }
            // Every second one is allowed.
            Task::Approve { ticket, call, .. } => {
                let is_allowed = self.now_ms.is_multiple_of(2);
                let allow = ApprovalAnswer::Allow { arguments: None, scope: ApprovalScope::Once };
                let answer = if is_allowed { allow } else { ApprovalAnswer::Nobody };
                vec![Session::ApprovalAnswered { ticket, call, answer, changed: None }.into()]
            }
            Task::Git { ticket, .. } => vec![Session::GitChecked { ticket, report: GitReport::default() }.into()],
            Task::Check { ticket, checks, .. } => {
                let kept = |check: lifecycle::Check| {
                    let end = lifecycle::CheckEnd::Exited { code: 0 };
                    let report = lifecycle::CheckReport::new(end, String::new());
                    lifecycle::Event::CheckCompleted { ticket, commitment: check.commitment, report }.into()
                };
                checks.into_iter().map(kept).collect()
            }
            Task::Make { number, .. } => {
                self.made(&at, number);
                self.settle();
                return;
            }
            Task::Clear { number, .. } => {
                let run = self.agent(&at).kin_of(number).unwrap().child().run();
                let event = child::Event::Cleared { run, left: child::Left::Nothing };
                vec![Event::Child { number, event: Box::new(event) }]
            }
            Task::CleanUp { ticket, .. } => vec![lifecycle::Event::CleanupCompleted { ticket }.into()],
        };
        for event in events {
            // A late answer is refused.
            let _ = self.take(&at, event);
            self.settle();
        }
    }

    /// The model call at a place of the list fails for good.
    pub fn fail(&mut self, number: usize) {
        let Task::Model { at, ticket } = self.tasks.remove(number) else { panic!("only a model call fails so") };
        let error = LlmError::new(LlmErrorKind::InvalidRequest, "it fails");
        let failed = agent_core::session::Event::LlmFailed { ticket, error, chance_permille: 0 };
        // A late one is refused.
        let _ = self.take(&at, failed.into());
        self.settle();
    }

    /// Does whatever is to be done, oldest first, until nothing is.
    pub fn run(&mut self, answer: impl Fn(&Agent, &Place) -> LlmResponse) {
        for _ in 0..5_000 {
            if self.tasks.is_empty() {
                return;
            }
            self.now_ms += 1;
            self.finish(0, &answer);
        }
        panic!("it never ends: {:?}", self.tasks);
    }

    /// The program dies: of every journal a part is left that has what is durable. Another program resumes the tree.
    pub fn crash(&mut self, mut kept: impl FnMut(usize) -> usize) {
        self.tasks.clear();
        for node in self.nodes.values_mut() {
            let loose = node.journal.len() - node.durable;
            let records = node.durable + kept(loose).min(loose);
            *node = node.replayed(records);
        }
        self.now_ms += self.down_ms;
        let places: Vec<Place> = self.nodes.keys().cloned().collect();
        self.settle();
        for at in places {
            self.resume(&at);
        }
    }

    fn resume(&mut self, at: &[u32]) {
        let agent = self.agent(at);
        if agent.is_dismissed() || !agent.session().is_started() {
            if at.is_empty() {
                self.tell(&[], agent_core::session::Event::Started.into());
            }
            return;
        }
        let event = Begun::unknown().resumption(agent, |_| true);
        self.tell(at, event.into());
        let outstanding: Vec<Action> = self.agent(at).outstanding().into_iter().map(|open| open.action).collect();
        let known = self.tasks.clone();
        let is_known = |ticket: Ticket| {
            known.iter().any(|task| match task {
                Task::Model { at: place, ticket: open }
                | Task::Prepare { at: place, ticket: open, .. }
                | Task::Tool { at: place, ticket: open, .. }
                | Task::Approve { at: place, ticket: open, .. }
                | Task::Git { at: place, ticket: open } => place == at && *open == ticket,
                Task::Check { .. } | Task::CleanUp { .. } | Task::Make { .. } | Task::Clear { .. } => false,
            })
        };
        let again = outstanding.into_iter().filter(|action| action.ticket().is_some_and(|ticket| !is_known(ticket)));
        let mut step = Step::empty();
        step.session.actions = again.collect();
        let checks = self.agent(at).lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        let is_open = |task: &Task| matches!(task, Task::Check { at: place, .. } | Task::CleanUp { at: place, .. } if place == at);
        if !known.iter().any(is_open) {
            step.up.actions = checks;
        }
        self.perform(at, step);
        let begins: Vec<(u32, child::Action)> =
            self.agent(at).kin().filter_map(|kin| Some((kin.child().number(), kin.child().outstanding()?))).collect();
        for (number, action) in begins.into_iter().filter(|(number, _)| !self.makes(at, *number)).collect::<Vec<_>>() {
            self.act(at, number, &action);
        }
        self.settle();
    }
}
