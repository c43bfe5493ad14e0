//! The runner's inbox: messages from its tasks and from its host, and the host's end for sending.

use agent_core::agent::Event;
use agent_core::budget::Limits;
use agent_core::child;
use agent_core::conversation::UserMessage;
use agent_core::lifecycle::{self, Commitment, LifecycleConfig, TaskMode};
use agent_core::ports::Tool;
use agent_core::session::{self, SessionConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The host's end for sending. Cheap to clone; sending never blocks, and does nothing once the runner has ended.
///
/// When the last handle is dropped, the runner finishes what it is doing and detaches at the next prompt, after the user's hooks at the
/// session's end.
#[derive(Clone, Debug)]
pub struct Handle {
    inbox: Inbox,
    sent: Arc<AtomicU64>,
    _alive: Arc<DropGuard>,
}

impl Handle {
    /// A handle, and what fires when it and all its clones are gone.
    pub(crate) fn new(inbox: Inbox) -> (Self, CancellationToken) {
        let gone = CancellationToken::new();
        (Self { inbox, sent: Arc::default(), _alive: Arc::new(gone.clone().drop_guard()) }, gone)
    }

    /// The user's message. While the session is busy it is queued and goes out at the next opportunity; checks that run are stopped for it.
    pub fn input(&self, text: impl Into<UserMessage>) {
        self.event(session::Event::UserInput { text: text.into() });
    }

    /// The user's message, which waits for the end of the turn. It then begins the next one; a stop hands it back. Without a running
    /// turn it is an ordinary [message](Self::input).
    pub fn send_after_turn(&self, text: impl Into<UserMessage>) {
        self.event(session::Event::InputAfterTurn { text: text.into() });
    }

    /// Takes a message back that has not gone out, by its text: it comes back as [`Notice::InputReturned`](crate::Notice::InputReturned).
    /// Of several with the same text it is one that waits for the end of the turn, and the newest. Refused when none waits.
    pub fn withdraw(&self, text: impl Into<String>) {
        self.event(session::Event::InputWithdrawn { text: text.into() });
    }

    /// Stops the turn or the checks. Does nothing while the agent is idle.
    pub fn cancel(&self) {
        self.event(session::Event::CancelRequested);
    }

    /// Asks for a summary of the conversation, to make room.
    pub fn compact(&self) {
        self.event(session::Event::CompactionRequested);
    }

    /// Asks for a summary that keeps in detail what the focus names. Refused if the focus is blank.
    pub fn compact_keeping(&self, focus: impl Into<String>) {
        self.event(session::Event::FocusedCompactionRequested { focus: focus.into() });
    }

    /// Changes the limits; work that a limit had stopped continues.
    pub fn set_limits(&self, limits: Limits) {
        self.event(session::Event::BudgetRaised { limits });
    }

    /// Changes model, tools, limits or permissions for what comes.
    pub fn reconfigure(&self, config: SessionConfig) {
        self.event(session::Event::Reconfigured { config: Box::new(config) });
    }

    /// Offers further tools from now on, behind those that are there. One whose name is taken is not offered.
    pub fn offer(&self, tools: Vec<Arc<dyn Tool>>) {
        // A runner that has ended offers nothing any more.
        self.inbox.send(Message::Offer(Offered(tools)));
    }

    /// Binds the agent to one more commitment. Refused while it is bound to none.
    pub fn add_commitment(&self, commitment: Commitment) {
        self.event(lifecycle::Event::CommitmentAdded { commitment });
    }

    /// Says how a bound agent works from now on.
    pub fn set_mode(&self, mode: TaskMode) {
        self.event(lifecycle::Event::ModeChanged { mode });
    }

    /// Binds the agent to these commitments from now on, in place of those it had.
    pub fn bind(&self, config: LifecycleConfig) {
        self.event(Event::Bound(Box::new(config)));
    }

    /// A person's order to an agent of the tree, which stands where its [name](crate::AgentName) says; no number is the root. It is sent at
    /// once; what is returned says whether it was taken.
    pub fn order(&self, place: &[u32], order: Order) -> impl Future<Output = Result<(), NotTaken>> + Send + use<> {
        let (answer, taken) = oneshot::channel();
        self.inbox.at(place.into()).send(Message::Order(order, answer));
        async { taken.await.unwrap_or(Err(NotTaken { found: String::from("the session has ended") })) }
    }

    /// Dismisses a bound agent and detaches. Its session can be resumed.
    pub fn dismiss(&self) {
        self.event(lifecycle::Event::Dismissed);
        self.detach();
    }

    /// Ends the session permanently.
    pub fn shut_down(&self) {
        self.event(session::Event::ShutdownRequested);
    }

    /// Detaches so that the session can be resumed: running work is stopped, and the session stays as it is. Only at a prompt do the
    /// user's hooks at the session's end run first; detaching again does not wait for them.
    pub fn detach(&self) {
        // A runner that has ended is detached already.
        self.inbox.send(Message::Detach);
    }

    /// How many messages were sent with this handle and its clones. Once as many [were taken](crate::Notice::Doing), what the agent does is
    /// what it does after all of them.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(crate) fn event(&self, event: impl Into<Event>) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.inbox.send(Message::Host(event.into()));
    }
}

/// What a person asks of one agent of a tree, in this program or in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is to stop, with all that work for it. The root's turn is stopped as by [`Handle::cancel`].
    Stop,
    /// A message. It answers a question that the agent waits with.
    Say(String),
}

impl Order {
    /// The order as an event, of the agent at the place that comes with it. An agent below is its parent's to order.
    pub(crate) fn event(self, place: &[u32]) -> (&[u32], Event) {
        let event = match (place.split_last(), self) {
            (None, Self::Stop) => return (place, session::Event::CancelRequested.into()),
            (None, Self::Say(text)) => return (place, session::Event::UserInput { text: text.into() }.into()),
            (Some(_), Self::Stop) => child::Event::StopRequested { by: child::StopCause::Person },
            (Some(_), Self::Say(text)) if text.trim().is_empty() => child::Event::MessageSent { text },
            (Some(_), Self::Say(text)) => child::Event::MessageSent { text: format!("The user says:\n{text}") },
        };
        let (number, above) = place.split_last().map_or((0, place), |(number, above)| (*number, above));
        (above, Event::Child { number, event: Box::new(event) })
    }
}

/// An order that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}")]
pub struct NotTaken {
    /// What stood in the way.
    pub found: String,
}

/// What arrives at a runner.
#[derive(Debug)]
pub(crate) enum Message {
    /// A person's order to the agent, and who waits to hear whether it was taken.
    Order(Order, oneshot::Sender<Result<(), NotTaken>>),
    Event(Event),
    /// What the host sends.
    Host(Event),
    /// What a call reports, with the room that it takes until it is seen.
    Progress(session::Event, OwnedSemaphorePermit),
    /// Further tools.
    Offer(Offered),
    /// The workspace of its own for an agent that is to begin is made, or why it is not.
    Prepared(Result<(), String>),
    /// What is left of the workspace that an agent had for itself.
    Cleared(child::Left),
    /// The agent has ended, and nothing is in flight.
    Ended,
    Detach,
}

/// Where an agent stands below the root: the numbers of its ancestors among their parents' children, and its own. Empty for the root.
pub(crate) type Place = Arc<[u32]>;

/// Tools of a host.
pub(crate) struct Offered(pub(crate) Vec<Arc<dyn Tool>>);

impl std::fmt::Debug for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| &tool.spec().name)).finish()
    }
}

/// The one inbox of all agents of a tree, as one of them sees it.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    place: Place,
    sender: mpsc::UnboundedSender<Box<(Place, Message)>>,
}

impl Inbox {
    /// Of the root.
    pub(crate) fn new(sender: mpsc::UnboundedSender<Box<(Place, Message)>>) -> Self {
        Self { place: Arc::default(), sender }
    }

    /// Of another agent of the tree.
    pub(crate) fn at(&self, place: Place) -> Self {
        Self { place, sender: self.sender.clone() }
    }

    /// A runner that has ended needs no message any more.
    pub(crate) fn send(&self, message: Message) {
        let _ = self.sender.send(Box::new((self.place.clone(), message)));
    }
}

/// Puts an event into the inbox.
pub(crate) fn send(inbox: &Inbox, event: session::Event) {
    inbox.send(Message::Event(event.into()));
}
