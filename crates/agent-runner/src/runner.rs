//! The loop of a tree of agents: what one takes, what follows for the others, in this order.
//!
//! The agents send each other nothing. After each event the driver asks what a parent and a child have to take of each other
//! ([`between`]), writes what the one has taken, and lets the other take it. It decides nothing.

use crate::end::End;
use crate::grounds::Grounds;
use crate::inbox::{Message, NotTaken, Offered, Order, Place};
use crate::member::{Asked, Member};
use crate::notice::{AgentName, Notice};
use crate::nursery::Nursery;
use crate::runtime::expect_timers;
use agent_core::agent::{Agent, Event, Taker, between};
use agent_core::child;
use agent_core::ports::JournalError;
use agent_core::session::{self, SessionConfig};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Drives one agent and all below it: sessions and what binds them. Made by a [`Builder`](crate::Builder); [`run`](Self::run) is its whole
/// life.
pub struct Runner {
    pub(crate) root: Member,
    /// The agents below that are alive, by their places.
    pub(crate) below: BTreeMap<Place, Below>,
    pub(crate) nursery: Option<Arc<dyn Nursery>>,
    /// The workspaces that are made for children, or cleared after them.
    pub(crate) grounds: Grounds,
    pub(crate) inbox: mpsc::UnboundedReceiver<Box<(Place, Message)>>,
    /// Fires when the host detaches or drops its last handle.
    pub(crate) host_gone: CancellationToken,
}

/// An agent below the root.
pub(crate) enum Below {
    Member(Box<Member>, Arc<AgentName>),
    /// Its journal cannot be read, and why.
    Lost(String, Arc<AgentName>),
}

impl Runner {
    /// Continues the session with another configuration: what is made again of a session that was rebuilt, such as a model
    /// call that ended with the program, is made with this one.
    #[must_use]
    pub fn reconfigured(mut self, config: SessionConfig) -> Self {
        self.root.reconfigured = Some(Box::new(config));
        self
    }

    /// Drives the agent until its session is shut down, the host detaches, the agent has ended, or a journal cannot be written. Nothing
    /// that was started is left running, in no agent of the tree; when this future is dropped instead, everything that runs is cancelled
    /// and is dropped a moment later.
    ///
    /// # Panics
    /// Outside of a tokio runtime with timers.
    pub async fn run(mut self) -> (End, Agent) {
        expect_timers();
        let end = match self.drive().await {
            Ok(end) => self.sync_all().await.map_or_else(End::JournalFailed, |()| end),
            Err(error) => End::JournalFailed(error),
        };
        let below = std::mem::take(&mut self.below).into_values();
        let members = below.filter_map(|below| match below {
            Below::Member(member, _) => Some(*member),
            Below::Lost(..) => None,
        });
        let mut all: Vec<Member> = members.collect();
        all.iter_mut().chain([&mut self.root]).for_each(Member::stop);
        for member in all.iter_mut().chain([&mut self.root]) {
            member.performer.stop_everything().await;
        }
        self.grounds.stop_everything().await;
        (end, self.root.agent)
    }

    async fn drive(&mut self) -> Result<End, JournalError> {
        self.open().await?;
        // A session that was rebuilt may have ended before.
        while !self.root.agent.is_over() {
            let (place, message) = self.next().await;
            match message {
                Message::Event(event) => self.take(&place, event).await?,
                Message::Host(event) => {
                    self.root.taken += 1;
                    self.take(&place, event).await?;
                }
                Message::Order(order, answer) => {
                    // Who asked may be gone.
                    let _ = answer.send(self.take_order(&place, order).await?);
                }
                Message::Progress(event, room) => {
                    drop(room);
                    self.take(&place, event.into()).await?;
                }
                Message::Offer(Offered(tools)) => {
                    let offered = self.root.offered(tools);
                    self.take(&place, offered).await?;
                }
                Message::Prepared(prepared) => self.prepared(&place, prepared).await?,
                Message::Cleared(left) => self.cleared(&place, left).await?,
                // The hooks of the end run first. A host that asks a second time does not wait for them.
                Message::Detach if self.root.agent.session().runs_hooks_on_leave() => {
                    self.host_gone.cancel();
                    self.take(&place, session::Event::LeaveRequested.into()).await?;
                }
                // They run because the agent has ended: the host that asks now did not ask before.
                Message::Detach if self.root.agent.session().is_leaving() && !self.host_gone.is_cancelled() => {
                    self.host_gone.cancel();
                }
                Message::Ended if self.root.agent.session().runs_hooks_on_leave() => {
                    self.take(&place, session::Event::LeaveRequested.into()).await?;
                }
                Message::Detach | Message::Ended => return Ok(End::Detached),
            }
        }
        Ok(End::ShutDown)
    }

    /// What comes next. When the host is gone and nothing is in flight, nothing can come: that is leaving, too.
    async fn next(&mut self) -> (Place, Message) {
        let is_idle = self.root.is_idle() && self.root.agent.alive().is_empty();
        let of_root = |message| (Place::default(), message);
        tokio::select! {
            biased;
            message = self.inbox.recv() => message.map_or_else(|| of_root(Message::Detach), |message| *message),
            () = self.host_gone.cancelled(), if is_idle => of_root(Message::Detach),
            () = std::future::ready(()), if is_idle && self.root.agent.has_ended() => of_root(Message::Ended),
        }
    }

    /// The tree as its journals have it, from the root down: what agents have to take of each other comes before what each does again.
    async fn open(&mut self) -> Result<(), JournalError> {
        self.find_below(&[]).await;
        let mut places: Vec<Place> = vec![Place::default()];
        places.extend(self.below.keys().cloned());
        for place in places {
            self.settle(&place).await?;
            let asked = match self.member(&place) {
                Some(member) if member.is_left || place.is_empty() => member.open().await?,
                Some(_) | None => continue,
            };
            self.do_asked(&place, asked).await?;
            self.begin_again(&place).await?;
            self.settle(&place).await?;
        }
        Ok(())
    }

    /// What was asked about children before this program, as far as their journals do not show it.
    async fn begin_again(&mut self, place: &[u32]) -> Result<(), JournalError> {
        let Some(member) = self.member(place) else { return Ok(()) };
        let alive = member.agent.alive().to_vec();
        let again = alive.into_iter().filter_map(|number| {
            let action = member.agent.kin_of(number)?.child().outstanding()?;
            Some((number, action))
        });
        let again: Vec<Asked> = again.collect();
        self.do_asked(place, again).await
    }

    /// An agent takes an event, and what follows is taken by the others. One that is not there any more takes none.
    pub(crate) async fn take(&mut self, place: &[u32], event: Event) -> Result<(), JournalError> {
        let Some(member) = self.member(place) else { return Ok(()) };
        let asked = member.take(event).await?;
        self.do_asked(place, asked).await?;
        self.settle(place).await
    }

    /// A person's order to an agent.
    async fn take_order(&mut self, place: &[u32], order: Order) -> Result<Result<(), NotTaken>, JournalError> {
        let name = match self.below.get(place) {
            Some(Below::Member(_, name)) => Some(name.clone()),
            None if place.is_empty() => None,
            Some(Below::Lost(found, _)) => return Ok(Err(NotTaken { found: format!("the agent is lost: {found}") })),
            None => return Ok(Err(NotTaken { found: String::from("no such agent is at work") })),
        };
        let (at, event) = order.clone().event(place);
        let Some(member) = self.member(at) else {
            return Ok(Err(NotTaken { found: String::from("the agent above it is lost") }));
        };
        match member.try_take(event).await? {
            Err(rejected) => Ok(Err(NotTaken { found: rejected.to_string() })),
            Ok(asked) => {
                self.root.notify(Notice::Ordered { agent: name, order });
                self.do_asked(at, asked).await?;
                self.settle(at).await.map(Ok)
            }
        }
    }

    /// Lets an agent, its parent and its children take what they have to take of each other, and so on in the whole tree.
    pub(crate) async fn settle(&mut self, place: &[u32]) -> Result<(), JournalError> {
        let mut touched: Vec<Place> = vec![place.into()];
        while let Some(at) = touched.pop() {
            if let Some((number, above)) = at.split_last() {
                self.settle_edge(above, *number, &mut touched).await?;
            }
            let Some(member) = self.member(&at) else { continue };
            let alive = member.agent.alive().to_vec();
            let left_over = self.children_here(&at).into_iter().filter(|number| !alive.contains(number)).collect();
            let numbers = [alive, left_over].concat();
            for number in numbers {
                self.settle_edge(&at, number, &mut touched).await?;
            }
        }
        Ok(())
    }

    /// The children that are here, the lost ones and those that have an outcome included.
    fn children_here(&self, at: &[u32]) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut next = Some(1);
        // From one child to the next: what is below them is passed over.
        while let Some(from) = next
            && let Some((place, _)) = self.below.range(place_of(at, from)..).next()
            && let Some(number) = place.strip_prefix(at).and_then(<[u32]>::first)
        {
            numbers.push(*number);
            next = number.checked_add(1);
        }
        numbers
    }

    /// One parent and one child.
    async fn settle_edge(&mut self, above: &[u32], number: u32, touched: &mut Vec<Place>) -> Result<(), JournalError> {
        let below = place_of(above, number);
        loop {
            let (child, found) = match self.below.get(&below) {
                Some(Below::Member(member, _)) => (Some(&member.agent), None),
                Some(Below::Lost(found, _)) => (None, Some(found.as_str())),
                None => (None, None),
            };
            let parent = if above.is_empty() { Some(&self.root.agent) } else { self.agent(above) };
            let Some(taker) = parent.and_then(|parent| between(parent, number, child, found)) else { break };
            // What one has taken is on the disk before the other acts on it.
            let (source, target, event): (&[u32], &[u32], Event) = match taker {
                Taker::Parent(event) => (&below, above, event),
                Taker::Child(event) => (above, &below, event),
            };
            if let Some(member) = self.member(source) {
                member.sync().await?;
            }
            self.show_end(&below, &event);
            let Some(member) = self.member(target) else { break };
            let asked = member.take(event).await?;
            Box::pin(self.do_asked(target, asked)).await?;
            touched.push(target.into());
        }
        self.let_go(&below).await
    }

    /// A child whose outcome its parent has needs nothing any more.
    async fn let_go(&mut self, below: &[u32]) -> Result<(), JournalError> {
        let is_over = match self.below.get(below) {
            // One that is lost has nothing to be dismissed from.
            Some(Below::Member(member, _)) => {
                let is_lost = !member.agent.has_task() && self.kin(below).is_none_or(child::Child::has_rested);
                member.agent.is_dismissed() || is_lost
            }
            Some(Below::Lost(..)) => self.kin(below).is_none_or(child::Child::has_rested),
            None => return Ok(()),
        };
        if !is_over {
            return Ok(());
        }
        if let Some(Below::Member(mut member, _)) = self.below.remove(below) {
            member.sync().await?;
            member.stop();
            member.performer.stop_everything().await;
        }
        self.clear(below);
        Ok(())
    }

    /// Does what an agent asks about its children. A stop and a message are seen in its journal.
    async fn do_asked(&mut self, place: &[u32], asked: Vec<Asked>) -> Result<(), JournalError> {
        for (number, action) in asked {
            match action {
                child::Action::BeginChild { run, .. } => self.begin(place, number, run).await?,
                child::Action::WithdrawBegin { run } => self.withdraw(place, number, run).await?,
                // Where the child is still here it is let go before.
                child::Action::ClearWorkspace { .. } => self.clear(&place_of(place, number)),
                child::Action::SendMessage { .. }
                | child::Action::StopChild { .. }
                | child::Action::InheritChildren { .. }
                | child::Action::HandOver { .. } => {}
            }
        }
        Ok(())
    }

    /// Tells the host of an outcome that a parent takes.
    pub(crate) fn show_end(&self, below: &[u32], event: &Event) {
        let (Event::Child { event, .. }, Some(kin)) = (event, self.kin(below)) else { return };
        let (outcome, spent) = match &**event {
            child::Event::Rested { rest, .. } if !kin.is_apart() => (rest.outcome.clone(), rest.spent),
            child::Event::Cleared { left, .. } if kin.has_begun() => match kin.outcome().cloned() {
                Some(mut outcome) => {
                    outcome.left = left.clone().for_outcome();
                    (outcome, *kin.spent())
                }
                None => return,
            },
            _ => return,
        };
        if let Some(agent) = self.name(below) {
            self.root.notify(Notice::AgentEnded { agent, outcome, spent });
        }
    }

    pub(crate) fn name(&self, below: &[u32]) -> Option<Arc<AgentName>> {
        match self.below.get(below) {
            Some(Below::Member(_, name) | Below::Lost(_, name)) => Some(name.clone()),
            // Its journal is gone.
            None => {
                let (id, name) = (self.nursery.as_ref()?.id(below), self.kin(below)?.name().to_owned());
                Some(Arc::new(AgentName { id, name, place: below.to_vec() }))
            }
        }
    }

    pub(crate) fn agent(&self, place: &[u32]) -> Option<&Agent> {
        match place {
            [] => Some(&self.root.agent),
            _ => match self.below.get(place)? {
                Below::Member(member, _) => Some(&member.agent),
                Below::Lost(..) => None,
            },
        }
    }

    pub(crate) fn kin(&self, below: &[u32]) -> Option<&child::Child> {
        let (number, above) = below.split_last()?;
        Some(self.agent(above)?.kin_of(*number)?.child())
    }

    pub(crate) fn member(&mut self, place: &[u32]) -> Option<&mut Member> {
        match place {
            [] => Some(&mut self.root),
            _ => match self.below.get_mut(place)? {
                Below::Member(member, _) => Some(member),
                Below::Lost(..) => None,
            },
        }
    }

    async fn sync_all(&mut self) -> Result<(), JournalError> {
        self.root.sync().await?;
        for below in self.below.values_mut() {
            if let Below::Member(member, _) = below {
                member.sync().await?;
            }
        }
        Ok(())
    }
}

pub(crate) fn place_of(above: &[u32], number: u32) -> Place {
    above.iter().copied().chain([number]).collect()
}
