//! How the agents below begin, again after another program too, and what is done with the workspaces that they have for themselves.

use crate::inbox::Place;
use crate::notice::{AgentName, Notice};
use crate::nursery::Found;
use crate::runner::{Below, Runner, place_of};
use agent_core::agent::{Birth, Event};
use agent_core::child;
use agent_core::ports::JournalError;
use agent_core::session;
use std::sync::Arc;

impl Runner {
    pub(crate) async fn withdraw(&mut self, place: &[u32], number: u32, run: u32) -> Result<(), JournalError> {
        let below = place_of(place, number);
        if self.below.contains_key(&below) || self.grounds.stop(&below) {
            return Ok(());
        }
        self.not_begun(place, number, run, String::from("it was stopped before it began")).await
    }

    async fn not_begun(&mut self, place: &[u32], number: u32, run: u32, found: String) -> Result<(), JournalError> {
        let event = child::Event::BeginFailed { run, found };
        Box::pin(self.take(place, Event::Child { number, event: Box::new(event) })).await
    }

    /// Begins a child, as far as its journal does not have it.
    pub(crate) async fn begin(&mut self, place: &[u32], number: u32, run: u32) -> Result<(), JournalError> {
        let Some(member) = self.member(place) else { return Ok(()) };
        member.sync().await?;
        let Some(birth) = member.agent.birth(number) else { return Ok(()) };
        let below = place_of(place, number);
        match self.nursery.clone() {
            Some(nursery) if birth.is_apart && !self.below.contains_key(&below) => {
                let name = AgentName { id: nursery.id(&below), name: birth.name, place: below.to_vec() };
                let inbox = self.root.performer.inbox.at(below);
                self.grounds.prepare(nursery, Arc::new(name), inbox);
                Ok(())
            }
            Some(_) | None => self.begin_with(place, run, &below, birth).await,
        }
    }

    /// Begins a child that has what it works in.
    async fn begin_with(&mut self, place: &[u32], run: u32, below: &Place, birth: Birth) -> Result<(), JournalError> {
        if !self.below.contains_key(below)
            && let Err(found) = self.make(below, &birth).await?
        {
            return self.not_begun(place, birth.number, run, found).await;
        }
        self.give_task(below, birth).await
    }

    /// The workspace of its own for a child that is to begin is made, or why it is not. Whether it still is to begin, its parent says.
    pub(crate) async fn prepared(&mut self, below: &Place, prepared: Result<(), String>) -> Result<(), JournalError> {
        self.grounds.is_done(below);
        let Some((number, above)) = below.split_last() else { return Ok(()) };
        let birth = self.agent(above).and_then(|agent| agent.birth(*number));
        match (self.kin(below).and_then(child::Child::outstanding), birth, prepared) {
            (Some(child::Action::BeginChild { run, .. }), Some(birth), Ok(())) => {
                self.begin_with(above, run, below, birth).await?;
            }
            (Some(child::Action::BeginChild { run, .. }), _, Err(found)) => {
                self.not_begun(above, *number, run, found).await?;
            }
            (Some(child::Action::WithdrawBegin { run }), ..) => self.withdraw(above, *number, run).await?,
            (Some(_) | None, ..) => {}
        }
        self.settle(above).await
    }

    /// Makes a new agent, with its journal.
    async fn make(&mut self, below: &Place, birth: &Birth) -> Result<Result<(), String>, JournalError> {
        let Some(nursery) = self.nursery.clone() else {
            return Ok(Err(String::from("this program begins no agents")));
        };
        let name = Arc::new(AgentName { id: nursery.id(below), name: birth.name.clone(), place: below.to_vec() });
        let builder = match nursery.begin(&name, birth).await {
            Ok(builder) => builder.born(&name, birth),
            Err(found) => return Ok(Err(found)),
        };
        match builder.member(&self.root.performer.inbox.at(below.clone()), &self.root.notices.of(name.clone())) {
            Ok(member) => {
                self.root.notify(begun(&name, birth));
                self.below.insert(below.clone(), Below::Member(Box::new(member), name));
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// What a child has to have before it counts as begun.
    async fn give_task(&mut self, below: &Place, birth: Birth) -> Result<(), JournalError> {
        let Some(member) = self.member(below) else { return Ok(()) };
        if !member.agent.session().is_started() {
            member.open().await?;
        }
        if !member.agent.is_bound() {
            member.take(Event::Bound(Box::new(birth.lifecycle))).await?;
        }
        if !member.agent.has_task() {
            member.take(session::Event::UserInput { text: birth.task }.into()).await?;
        }
        member.sync().await
    }

    /// Looks up what is kept of the children that were alive, at every depth.
    pub(crate) async fn find_below(&mut self, place: &[u32]) {
        let Some(agent) = self.agent(place) else { return };
        let births: Vec<Birth> = agent.alive().iter().filter_map(|number| agent.birth(*number)).collect();
        for birth in births {
            let below = place_of(place, birth.number);
            let nursery = self.nursery.clone();
            let id = nursery.as_ref().map(|nursery| nursery.id(&below)).unwrap_or_default();
            let name = Arc::new(AgentName { id, name: birth.name.clone(), place: below.to_vec() });
            let Some(nursery) = nursery else {
                let found = String::from("this program knows no agents below the session's own");
                self.below.insert(below, Below::Lost(found, name));
                continue;
            };
            let found = match nursery.find(&name, &birth).await {
                Found::Nothing => continue,
                Found::Lost(found) => Below::Lost(found, name),
                Found::Kept(builder) => {
                    let (inbox, notices) =
                        (self.root.performer.inbox.at(below.clone()), self.root.notices.of(name.clone()));
                    match builder.born(&name, &birth).member(&inbox, &notices) {
                        Ok(mut member) => {
                            // It continues with what the journal says: its policy follows from its parent's.
                            member.is_left = true;
                            self.root.notify(begun(&name, &birth));
                            Below::Member(Box::new(member), name)
                        }
                        Err(error) => Below::Lost(error.to_string(), name),
                    }
                }
            };
            self.below.insert(below.clone(), found);
            Box::pin(self.find_below(&below)).await;
        }
    }

    /// Has the workspace of a child's own looked through, if that is due and nothing of the child runs any more.
    pub(crate) fn clear(&mut self, below: &[u32]) {
        let due = self.kin(below).and_then(child::Child::outstanding);
        if !matches!(due, Some(child::Action::ClearWorkspace { .. })) || self.below.contains_key(below) {
            return;
        }
        let Some(name) = self.name(below) else { return };
        let inbox = self.root.performer.inbox.at(below.into());
        self.grounds.clear(self.nursery.clone(), name, inbox);
    }

    /// What is left of a child's own workspace is known.
    pub(crate) async fn cleared(&mut self, below: &[u32], left: child::Left) -> Result<(), JournalError> {
        self.grounds.is_done(below);
        let Some((number, above)) = below.split_last() else { return Ok(()) };
        let Some(run) = self.kin(below).map(child::Child::run) else { return Ok(()) };
        let event = child::Event::Cleared { run, left };
        let event = Event::Child { number: *number, event: Box::new(event) };
        self.show_end(below, &event);
        self.take(above, event).await
    }
}

fn begun(name: &Arc<AgentName>, birth: &Birth) -> Notice {
    let model = birth.config.models.first().map(|model| model.id.clone()).unwrap_or_default();
    Notice::AgentBegun { agent: name.clone(), task: birth.task.text.clone(), model }
}
