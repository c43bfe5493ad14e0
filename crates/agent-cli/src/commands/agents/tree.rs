//! A session and the agents below it, as their journals have them. Another program may be writing them: what it writes later is read on.

use crate::failure::Failure;
use crate::screen::terminal::one_line;
use crate::session::kept::failed;
use agent_core::agent::{Agent, Doing, Kin};
use agent_core::child::{self, Outcome, Word};
use agent_core::conversation::{Item, UserMessage};
use agent_core::journal::Replayer;
use agent_runner::journal::{Reader, SessionStore, descendant_id};
use std::collections::BTreeMap;

/// An agent of a list, in the names of the JSON form.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    /// Empty for the session's own agent.
    pub(super) name: String,
    pub(super) state: &'static str,
    /// How it ended; of the session's own agent, how its last run ended. Nothing while it works.
    pub(super) outcome: Option<String>,
    /// How far that work is checked, as things are now.
    pub(super) verification: Option<&'static str>,
    pub(super) model: String,
    pub(super) model_calls: u64,
    pub(super) tool_calls: u64,
    /// Its own and that of the agents below it that have ended.
    pub(super) cost_usd: f64,
    #[serde(skip)]
    pub(super) cost_nano_usd: u64,
    /// The first line of its task.
    pub(super) task: String,
}

/// One journal, as far as it was read.
pub(super) struct Followed {
    reader: Reader,
    replayer: Option<Replayer>,
    /// Why nothing more of it is read.
    fault: Option<String>,
}

impl Followed {
    fn open(store: &SessionStore, id: &str) -> Option<Self> {
        let reader = Reader::open(&store.existing(id).ok()?).ok()?;
        let mut followed = Self { reader, replayer: None, fault: None };
        followed.advance();
        Some(followed)
    }

    /// Reads what was written since. Returns whether there was something.
    fn read_on(&mut self) -> bool {
        self.fault.is_none() && self.reader.read_on().is_ok() && self.advance()
    }

    fn advance(&mut self) -> bool {
        let mut has_more = false;
        while let (None, Some(record)) = (&self.fault, self.reader.next()) {
            has_more = true;
            let taken = record.map_err(|error| error.to_string()).and_then(|record| match &mut self.replayer {
                Some(replayer) => replayer.advance(record).map(drop).map_err(|error| error.to_string()),
                None => Replayer::new(record)
                    .map(|replayer| self.replayer = Some(replayer))
                    .map_err(|error| error.to_string()),
            });
            self.fault = taken.err();
        }
        has_more
    }

    pub(super) fn agent(&self) -> Option<&Agent> {
        self.replayer.as_ref().map(Replayer::agent)
    }

    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// A session with all agents below it.
pub(super) struct Tree {
    pub(super) store: SessionStore,
    pub(super) root: String,
    pub(super) is_in_use: bool,
    agents: BTreeMap<Vec<u32>, Followed>,
}

impl Tree {
    pub(super) fn open(store: SessionStore, root: String) -> Result<Self, Failure> {
        let mut tree = Self { store, root, is_in_use: false, agents: BTreeMap::new() };
        tree.read_on()?;
        Ok(tree)
    }

    /// Reads what was written since. Returns whether anything is different.
    pub(super) fn read_on(&mut self) -> Result<bool, Failure> {
        let failed = |error| failed(&error);
        let was_in_use = std::mem::replace(&mut self.is_in_use, self.store.is_in_use(&self.root).map_err(failed)?);
        let mut is_different = was_in_use != self.is_in_use;
        let below = self.store.descendants(&self.root).map_err(failed)?;
        for id in std::iter::once(self.root.clone()).chain(below) {
            let place = place_in(&id);
            if let Some(followed) = self.agents.get_mut(&place) {
                is_different |= followed.read_on();
            } else if let Some(followed) = Followed::open(&self.store, &id) {
                is_different = true;
                self.agents.insert(place, followed);
            }
        }
        Ok(is_different)
    }

    pub(super) fn followed(&self, place: &[u32]) -> Option<&Followed> {
        self.agents.get(place)
    }

    fn agent(&self, place: &[u32]) -> Option<&Agent> {
        self.followed(place)?.agent()
    }

    /// The agent as its parent knows it.
    pub(super) fn kin(&self, place: &[u32]) -> Option<&Kin> {
        let (number, above) = place.split_last()?;
        self.agent(above)?.kin_of(*number)
    }

    /// Its outcome, once its parent has it.
    pub(super) fn outcome(&self, place: &[u32]) -> Option<&Outcome> {
        self.kin(place)?.child().outcome()
    }

    /// Where the agents stand that are known, parents before their children: those with a journal, and those of which their parents know.
    pub(super) fn places(&self) -> Vec<Vec<u32>> {
        let mut places: Vec<Vec<u32>> = self.agents.keys().cloned().collect();
        for (above, followed) in &self.agents {
            let kin = followed.agent().into_iter().flat_map(Agent::kin);
            places.extend(kin.map(|kin| [above.as_slice(), &[kin.child().number()]].concat()));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The places of the agents of this name.
    pub(super) fn named(&self, name: &str) -> Vec<Vec<u32>> {
        let mut places = self.places();
        places.retain(|place| self.kin(place).is_some_and(|kin| kin.child().name() == name));
        places
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        self.places().iter().map(|place| self.row(place)).collect()
    }

    pub(super) fn row(&self, place: &[u32]) -> Row {
        let kin = self.kin(place);
        let agent = self.agent(place);
        let session = agent.map(Agent::session);
        let cost_nano_usd = session.map_or(0, |session| session.ledger().whole().cost_nano_usd);
        let asked = kin.map(|kin| one_line(kin.child().task().trim(), TASK_COLUMNS));
        let told = kin.and_then(|kin| Some((kin.child().outcome()?.word.to_string(), kin.evidence()?)));
        let own = agent.filter(|_| place.is_empty()).and_then(Agent::outcome);
        let ended = told.or_else(|| own.map(|run| (String::from(run.kind.subtype()), run.evidence)));
        Row {
            outcome: ended.as_ref().map(|(outcome, _)| outcome.clone()),
            verification: ended.map(|(_, evidence)| evidence.words()),
            id: descendant_id(&self.root, place),
            name: kin.map(|kin| kin.child().name().to_owned()).unwrap_or_default(),
            state: self.state(place),
            model: session.and_then(|of| Some(of.config().models.first()?.id.to_string())).unwrap_or_default(),
            model_calls: session.map_or(0, |session| session.ledger().model_calls),
            tool_calls: session.map_or(0, |session| session.ledger().tool_calls),
            cost_usd: cost_nano_usd as f64 / 1e9,
            cost_nano_usd,
            task: asked.or_else(|| agent.map(first_said)).unwrap_or_default(),
        }
    }

    /// What it does, in a word or two. What its parent knows counts before what its own journal says.
    fn state(&self, place: &[u32]) -> &'static str {
        let known = self.kin(place).map(Kin::child);
        if let Some(outcome) = known.and_then(child::Child::outcome) {
            return if outcome.word == Word::Lost { "lost" } else { "ended" };
        }
        match (self.agent(place), known.map(child::Child::state)) {
            (None, Some(_)) if !self.is_in_use => "interrupted",
            (None, Some(_)) => "starting",
            (None, None) => "cannot be read",
            // Its parent's journal was cut before it.
            (Some(_), None) if !place.is_empty() => "unknown to its parent",
            (Some(agent), _) => state(agent, self.is_in_use),
        }
    }
}

fn state(agent: &Agent, is_in_use: bool) -> &'static str {
    let is_asked = agent.kin().any(|kin| kin.child().state() == child::State::Asking);
    match agent.doing() {
        _ if agent.is_dismissed() => "ended",
        Doing::Idle if agent.is_child() => "at rest",
        Doing::Idle => "idle",
        _ if !is_in_use => "interrupted",
        Doing::Stopping => "stopping",
        _ if agent.waits_for_children() && is_asked => "is asked",
        _ if agent.waits_for_children() => "gathering",
        _ => "working",
    }
}

/// The first message of a session.
fn first_said(agent: &Agent) -> String {
    let first = agent.session().conversation().iter().find_map(|item| match item.as_ref() {
        Item::Input(input) => input.messages().first().map(|said: &UserMessage| said.text.clone()),
        Item::Summary(summary) => summary.said().first().cloned(),
        Item::Answer(_) | Item::Round(_) => None,
    });
    let first = first.or_else(|| agent.session().pending_input().next().map(str::to_owned)).unwrap_or_default();
    one_line(first.trim(), TASK_COLUMNS)
}

/// Where the agent of an id stands below the session.
pub(super) fn place_in(id: &str) -> Vec<u32> {
    id.split('.').skip(1).filter_map(|number| number.parse().ok()).collect()
}

const TASK_COLUMNS: usize = 60;
