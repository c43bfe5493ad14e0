//! What a host is shown: one stream of notices, in the order in which things happened.

use crate::inbox::Order;
use agent_core::agent::{Doing, Event, Rejected};
use agent_core::budget::{Ledger, LimitReached};
use agent_core::conversation::{Block, CallId, Item, ToolCall};
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookReport, HookRun};
use agent_core::lifecycle::{self, CheckReport, CommitmentId};
use agent_core::llm::{Delta, Usage};
use agent_core::permission::Ruling;
use agent_core::session::{self, Outcome, SessionConfig, Summarised, Transition};
use agent_core::tool::ToolOutcome;
use agent_core::{child, children};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The host's end of the stream. It is not bounded: the runner never waits for a host, so a host should keep reading.
pub type Notices = mpsc::UnboundedReceiver<Notice>;

/// An agent below the session's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentName {
    /// Its session's id.
    pub id: String,
    /// Its name among its parent's children.
    pub name: String,
    /// Where it stands below the root: the numbers of its ancestors among their parents' children, and its own.
    pub place: Vec<u32>,
}

/// Sends what one agent has to show. A host that does not listen any more still gets its work done and recorded.
#[derive(Clone, Debug)]
pub(crate) struct Teller {
    sender: mpsc::UnboundedSender<Notice>,
    /// Nothing for the root.
    agent: Option<Arc<AgentName>>,
}

impl Teller {
    /// Of the root.
    pub(crate) const fn new(sender: mpsc::UnboundedSender<Notice>) -> Self {
        Self { sender, agent: None }
    }

    /// Of an agent below.
    pub(crate) fn of(&self, agent: Arc<AgentName>) -> Self {
        Self { sender: self.sender.clone(), agent: Some(agent) }
    }

    pub(crate) const fn agent(&self) -> Option<&Arc<AgentName>> {
        self.agent.as_ref()
    }

    pub(crate) fn send(&self, notice: Notice) {
        let notice = match &self.agent {
            Some(agent) => Notice::OfAgent { agent: agent.clone(), notice: Box::new(notice) },
            None => notice,
        };
        let _ = self.sender.send(notice);
    }
}

/// One thing to show.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// An agent below has something to show.
    OfAgent {
        /// Which.
        agent: Arc<AgentName>,
        /// What.
        notice: Box<Self>,
    },
    /// An agent below has begun, or continues in this program.
    AgentBegun {
        /// Which.
        agent: Arc<AgentName>,
        /// Its task.
        task: String,
        /// The model that answers it.
        model: Arc<str>,
    },
    /// An agent below has an outcome, which its parent's journal has.
    AgentEnded {
        /// Which.
        agent: Arc<AgentName>,
        /// Its outcome.
        outcome: child::Outcome,
        /// What it and those below it spent.
        spent: child::lease::Spent,
    },
    /// A person's order to an agent was taken.
    Ordered {
        /// Which; nothing for the root.
        agent: Option<Arc<AgentName>>,
        /// What was asked of it.
        order: Order,
    },
    /// The machine of a child of the agent moved.
    ChildMoved {
        /// The child's number among the agent's children.
        number: u32,
        /// How.
        transition: child::Transition,
    },
    /// The machine over all children of the agent moved.
    ChildrenMoved(children::Transition),
    /// The machine moved.
    Transition(Transition),
    /// A piece of the model's answer.
    Delta(Delta),
    /// The pieces shown of the last answer are discarded.
    Discarded,
    /// A summary has taken the place of what was said before.
    Summarised(Summarised),
    /// A complete answer.
    Message {
        /// Its blocks.
        blocks: Vec<Block>,
        /// What it used, when the provider said so.
        usage: Option<Usage>,
    },
    /// What has been used so far, after every complete answer and whenever an agent below has an outcome.
    Spent(Ledger),
    /// A turn began: the model is asked something new.
    TurnBegan,
    /// Four fifths of the time are used that a turn may take.
    TimeNear {
        /// How much that is, in milliseconds.
        used_ms: u64,
        /// Of how much.
        limit_ms: u64,
    },
    /// The policy decided about a call, or a person did.
    Ruled(Ruling),
    /// A call begins.
    ToolStarted(ToolCall),
    /// A running call reports something.
    ToolProgress {
        /// The call.
        call: CallId,
        /// What it reports.
        text: String,
    },
    /// A call ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// Its result.
        outcome: ToolOutcome,
    },
    /// Every call of an answer has its result.
    RoundClosed {
        /// The round as it is in the history.
        round: Arc<Item>,
    },
    /// One of the user's hooks ran.
    HookRan(HookRun),
    /// The repository was looked at.
    GitChecked(GitReport),
    /// The formatters ran.
    Formatted(FormatReport),
    /// The agent's changes were committed.
    Committed(CommitReport),
    /// A model call is repeated after a while.
    RetryScheduled {
        /// How long that takes, in milliseconds.
        delay_ms: u64,
        /// Which attempt failed, counted from 1.
        failed_attempts: u32,
        /// Why.
        reason: String,
    },
    /// Something went wrong.
    Error {
        /// What was attempted, what was found, what can be done.
        message: String,
        /// Messages of the user that come back because sending them again is no use.
        returned_input: Vec<String>,
    },
    /// Messages that were typed ahead come back: they were taken back, or the turn was stopped.
    InputReturned(Vec<String>),
    /// Which messages wait to go out, whenever that is not as it was. Each can be [taken back](crate::Handle::withdraw).
    Waiting {
        /// Those that go out with the next results, oldest first.
        queued: Vec<String>,
        /// Those that wait for the end of the turn, oldest first.
        after_turn: Vec<String>,
    },
    /// The agent waits for input: the turn has ended, and so have the checks of what binds it.
    Prompt {
        /// How the run ended that led here; nothing before the first.
        outcome: Option<Outcome>,
        /// Whether that run has just ended. A session that is resumed at rest has the outcome that it had.
        is_new: bool,
        /// What has been used so far.
        ledger: Ledger,
        /// The limit that stands in the way of another model call, with what that call is thought to need.
        limit: Option<LimitReached>,
    },
    /// What the agent does from here on, and after how many messages of the host: it is really idle once all that
    /// [were sent](crate::Handle::sent) were taken.
    Doing {
        /// What it does.
        doing: Doing,
        /// How many messages were taken, refused ones included.
        taken: u64,
    },
    /// What holds for the session: at its beginning, and whenever its models, permissions or limits are not as they were.
    Configured(Box<SessionConfig>),
    /// An event did not fit and changed nothing.
    Refused(Rejected),
    /// The agent's lifecycle moved. This and what follows come from an agent that is bound to commitments.
    Lifecycle(lifecycle::Transition),
    /// A commitment is being checked.
    CheckStarted {
        /// With this command.
        command: String,
    },
    /// A check ended.
    CheckFinished {
        /// The commitment.
        commitment: CommitmentId,
        /// Its result.
        report: CheckReport,
    },
    /// The model got a gap report.
    GapReport {
        /// The report.
        text: String,
        /// How many gap reports there were since the last message.
        round: u32,
    },
    /// The agent is at rest.
    Rested {
        /// Its result.
        agent: lifecycle::Outcome,
        /// How the run ended that led here.
        run: Option<Outcome>,
    },
}

impl Notice {
    /// What an accepted event itself must show, besides what the machine makes of it.
    pub(crate) fn of(event: &Event) -> Vec<Self> {
        let event = match event {
            Event::Session(event) => event,
            Event::Lifecycle(lifecycle::Event::CheckCompleted { commitment, report, .. }) => {
                return vec![Self::CheckFinished { commitment: *commitment, report: report.clone() }];
            }
            Event::Child { .. }
            | Event::Ordered(_)
            | Event::HeldBelow(_)
            | Event::Lifecycle(_)
            | Event::Bound(_)
            | Event::Released
            | Event::Attended => {
                return Vec::new();
            }
        };
        match event {
            session::Event::ToolCompleted { call, outcome, .. } => {
                vec![Self::ToolFinished { call: call.clone(), outcome: outcome.clone() }]
            }
            session::Event::HooksFinished { report, .. } => Self::of_runs(report).collect(),
            session::Event::ToolsPrepared { facts, .. } => {
                facts.iter().filter_map(|fact| fact.hooks.as_deref()).flat_map(Self::of_runs).collect()
            }
            session::Event::ApprovalAnswered { changed: Some(fact), .. } => {
                fact.hooks.iter().flat_map(|report| Self::of_runs(report)).collect()
            }
            session::Event::GitChecked { report, .. } => vec![Self::GitChecked(report.clone())],
            session::Event::FormattersFinished { report, .. } => vec![Self::Formatted(report.clone())],
            session::Event::ChangesCommitted { report, .. } => vec![Self::Committed(report.clone())],
            _ => Vec::new(),
        }
    }

    fn of_runs(report: &HookReport) -> impl Iterator<Item = Self> {
        report.runs.iter().cloned().map(Self::HookRan)
    }
}
