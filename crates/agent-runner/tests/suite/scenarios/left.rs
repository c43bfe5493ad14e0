//! Sessions as a program left them.

use agent_core::conversation::CallId;
use agent_core::hook::GitReport;
use agent_core::journal::Begun;
use agent_core::llm::{LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::session::table::SessionTable;
use agent_core::session::{Action, Event, Session, SessionConfig, State, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

/// How a program left a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(super) state: State,
    pub(super) is_stopped: bool,
    /// Whether what was in flight had begun.
    pub(super) has_begun: bool,
}

impl Left {
    /// What is known of what had begun.
    pub(crate) fn begun(self) -> Begun {
        if self.has_begun { Begun::unknown() } else { Begun::nothing() }
    }

    /// The session.
    pub(crate) fn session(self, config: SessionConfig, table: &'static SessionTable) -> Session {
        let mut session = Session::with_table(config, table);
        let mut take = |event| {
            let step = session.step(0, event).unwrap();
            step.actions.iter().filter_map(Action::ticket).next_back().unwrap_or(Ticket(0))
        };
        take(Event::Started);
        if self.state != State::WaitingForUserInput {
            let ticket = take(Event::UserInput { text: String::from("go").into() });
            self.enter(ticket, &mut take);
        }
        if self.is_stopped {
            take(Event::CancelRequested);
        }
        assert_eq!((session.state(), session.is_cancel_pending()), (self.state, self.is_stopped));
        session
    }

    /// From the first question on to the state.
    fn enter(self, ticket: Ticket, take: &mut impl FnMut(Event) -> Ticket) {
        let call = CallId::new("1");
        match self.state {
            State::CallingLlm | State::RunningHooks => return,
            State::Error => {
                let error = LlmError::new(LlmErrorKind::Network, "broken");
                take(Event::LlmFailed { ticket, error, chance_permille: 0 });
                return;
            }
            State::Compacting => {
                take(Event::LlmCompleted { ticket, response: LlmResponse::text(&"long ".repeat(500)) });
                take(Event::CompactionRequested);
                return;
            }
            _ => {}
        }
        let raw = RawCall { id: "1".into(), name: "look".into(), arguments: "{}".into(), complete: true };
        let blocks = vec![ResponseBlock::Call(raw)];
        let response = LlmResponse { blocks, stop: StopReason::ToolUse, ..LlmResponse::text("") };
        let ticket = take(Event::LlmCompleted { ticket, response });
        let finding = match self.state {
            State::PreparingTools => return,
            State::SendingToolResults => Finding::UnknownTool { message: String::from("there is none") },
            _ => {
                Finding::Runnable(Inspection { effect: Effect::Changes, subject: Subject::Paths(vec!["a.rs".into()]) })
            }
        };
        let ticket = take(Event::ToolsPrepared { ticket, facts: vec![CallFacts::new(call.clone(), finding)] });
        if matches!(self.state, State::SendingToolResults | State::AwaitingApproval | State::ExecutingTools) {
            return;
        }
        let ticket = take(Event::ToolCompleted { ticket, call, outcome: ToolOutcome::ok("done") });
        let report = GitReport {
            formatting_due: self.state == State::RunningAutoformatters,
            commit_due: self.state == State::CommittingChanges,
            ..GitReport::default()
        };
        if self.state != State::CheckingGitCommits {
            take(Event::GitChecked { ticket, report });
        }
    }
}
