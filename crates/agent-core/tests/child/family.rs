//! A parent, its child, and two journals that a crash cuts: every order of what may happen, as far as the counts go. The rules that the
//! driver keeps can be left out one at a time; each is there because something breaks without it.

use agent_check::child::{config, gate};
use agent_core::child::lease::Spent;
use agent_core::child::{
    Action, Child, ChildView, Due, Event, Left, Order, Outcome, Present, Rest, State, StopCause, Word, due,
};
use std::collections::{HashMap, VecDeque};

/// A rule of the driver that is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Without {
    Nothing,
    /// A child is begun only when the record that asks for it is durable.
    DurableBeforeBegin,
    /// A parent takes what is durable in the child's journal, and nothing else.
    DurableBeforeSeen,
    /// A child takes what is durable in the parent's journal, and nothing else.
    DurableBeforeOrdered,
    /// The model is told an outcome when the record of it is durable.
    DurableBeforeTold,
    /// A child is looked up before it is begun.
    LookUp,
}

/// A child's own journal.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    run: u32,
    messages: u32,
    questions: u32,
    is_asking: bool,
    rest: Option<Rest>,
    order: Option<Order>,
}

impl Side {
    fn of_run(run: u32) -> Self {
        Self { run, messages: 0, questions: 0, is_asking: false, rest: None, order: None }
    }

    fn works(&self) -> bool {
        self.rest.is_none()
    }
}

#[derive(Clone, Debug)]
struct World {
    parent: Child,
    parent_disk: Child,
    child: Option<Side>,
    child_disk: Option<Side>,
    is_lost: bool,
    /// How often the model was told an outcome.
    told: u32,
    messages_left: u8,
    questions_left: u8,
    crashes_left: u8,
    losses_left: u8,
    stops_left: u8,
    takeovers_left: u8,
}

impl World {
    /// How many messages, questions, crashes, losses, stops and take-overs there may be.
    fn new(kind: &str, counts: [u8; 6]) -> Self {
        let [messages_left, questions_left, crashes_left, losses_left, stops_left, takeovers_left] = counts;
        let parent = Child::new(config(kind).unwrap());
        Self {
            parent_disk: parent.clone(),
            parent,
            child: None,
            child_disk: None,
            is_lost: false,
            told: 0,
            messages_left,
            questions_left,
            crashes_left,
            losses_left,
            stops_left,
            takeovers_left,
        }
    }

    fn key(&self) -> String {
        let written = |child: &Child| {
            let mut child = child.clone();
            child.forget_trace();
            serde_json::to_string(&child).unwrap()
        };
        let (parent, disk) = (written(&self.parent), written(&self.parent_disk));
        let left = [
            self.messages_left,
            self.questions_left,
            self.crashes_left,
            self.losses_left,
            self.stops_left,
            self.takeovers_left,
        ];
        format!("{parent}{disk}{:?}{:?}{}{}{left:?}", self.child, self.child_disk, self.is_lost, self.told)
    }

    fn view<'a>(&self, side: &'a Option<Side>) -> ChildView<'a> {
        match side {
            _ if self.is_lost => ChildView::Alone { found: "torn", spent: Spent::default() },
            None => ChildView::Absent,
            Some(side) => ChildView::Present(Present {
                run: side.run,
                messages: side.messages,
                questions: side.questions,
                question: side.is_asking.then_some("which?"),
                rest: side.rest.as_ref(),
                order: side.order.as_ref(),
            }),
        }
    }

    fn take(&self, event: Event) -> Option<Self> {
        let mut next = self.clone();
        next.parent.step(0, event).is_ok().then_some(next)
    }

    /// What the parent has to take of the child.
    fn up(&self, without: Without) -> Option<Event> {
        let seen = if without == Without::DurableBeforeSeen { &self.child } else { &self.child_disk };
        let parent = &self.parent;
        match due(parent, &self.view(seen), &gate("").unwrap())? {
            Due::Parent(event) => Some(*event),
            // The child takes that when it is the child's turn.
            Due::Child(_) => self.beyond_orders(parent, seen),
        }
    }

    /// The same for a child that has taken every order.
    fn beyond_orders(&self, parent: &Child, seen: &Option<Side>) -> Option<Event> {
        let mut side = seen.clone()?;
        for _ in 0..8 {
            match due(parent, &self.view(&Some(side.clone())), &gate("").unwrap())? {
                Due::Parent(event) if seen.as_ref().is_some_and(|seen| seen.messages == side.messages) => {
                    return Some(*event);
                }
                Due::Parent(_) => return None,
                Due::Child(Order::Message { number, .. }) => side.messages = number,
                Due::Child(order) => side.order = Some(order),
            }
        }
        None
    }

    /// What the child has to take of the parent.
    fn down(&self, without: Without) -> Option<Order> {
        let asked = if without == Without::DurableBeforeOrdered { &self.parent } else { &self.parent_disk };
        match due(asked, &self.view(&self.child), &gate("").unwrap())? {
            Due::Child(order) if !self.is_lost => Some(order),
            Due::Child(_) | Due::Parent(_) => None,
        }
    }

    /// The run that the driver would begin.
    fn begins(&self, without: Without) -> Option<u32> {
        let asks = if without == Without::DurableBeforeBegin { &self.parent } else { &self.parent_disk };
        let Action::BeginChild { run, .. } = asks.outstanding()? else { return None };
        let is_there = self.child.as_ref().is_some_and(|side| side.run >= run);
        (without == Without::LookUp || !is_there).then_some(run)
    }

    fn moves(&self, without: Without) -> Vec<(&'static str, Self)> {
        let mut out = Vec::new();
        let mut add = |name, next: Option<Self>| out.extend(next.map(|next| (name, next)));
        add("assigned", self.take(Event::Assigned { gate: gate("").unwrap() }));
        if self.messages_left > 0 {
            let next = self.take(Event::MessageSent { text: "go on".into() });
            add("message", next.map(|next| Self { messages_left: self.messages_left - 1, ..next }));
        }
        if self.stops_left > 0 {
            let next = self.take(Event::StopRequested { by: StopCause::Parent });
            add("stop", next.map(|next| Self { stops_left: self.stops_left - 1, ..next }));
        }
        if self.takeovers_left > 0 {
            let next = self.take(Event::TakenOver);
            add("taken over", next.map(|next| Self { takeovers_left: self.takeovers_left - 1, ..next }));
        }
        if self.parent.state() == State::Ended {
            let is_early = without == Without::DurableBeforeTold;
            let next = self.take(Event::OutcomeTold);
            add("told", next.map(|next| Self { told: self.told + u32::from(is_early), ..next }));
        }
        if let Some(event) = self.up(without) {
            let next = self.take(event.clone());
            assert!(next.is_some(), "what is due is refused: {event:?} in {:?}", self.parent.state());
            add("up", next);
        }
        if self.parent != self.parent_disk {
            let is_first = self.parent.state() == State::Told && self.parent_disk.state() != State::Told;
            let told = self.told + u32::from(is_first && without != Without::DurableBeforeTold);
            add("parent synced", Some(Self { parent_disk: self.parent.clone(), told, ..self.clone() }));
        }
        if self.child != self.child_disk && !self.is_lost {
            add("child synced", Some(Self { child_disk: self.child.clone(), ..self.clone() }));
        }
        if let Some(run) = self.begins(without).filter(|_| !self.is_lost) {
            add("begin", Some(Self { child: Some(Side::of_run(run)), ..self.clone() }));
        }
        // A begin that is withdrawn is answered, by the driver that looked for the run.
        if let Some(Action::WithdrawBegin { run }) = self.parent_disk.outstanding()
            && self.child.as_ref().is_none_or(|side| side.run < run)
        {
            add("withdrawn", self.take(Event::BeginFailed { run, found: "withdrawn".into() }));
        }
        // What is left of its workspace is looked for once the record of the outcome is durable.
        if let Some(Action::ClearWorkspace { run }) = self.parent_disk.outstanding() {
            add("cleared", self.take(Event::Cleared { run, left: Left::Nothing }));
        }
        if self.crashes_left > 0 {
            self.crash(&mut add);
        }
        if self.losses_left > 0 && self.child_disk.is_some() && self.child == self.child_disk {
            add("lost", Some(Self { is_lost: true, losses_left: 0, ..self.clone() }));
        }
        self.child_moves(without, &mut add);
        out
    }

    fn crash(&self, add: &mut impl FnMut(&'static str, Option<Self>)) {
        let crashes_left = self.crashes_left - 1;
        let (parent, child) = (self.parent_disk.clone(), self.child_disk.clone());
        add("crash", Some(Self { crashes_left, parent: parent.clone(), child: child.clone(), ..self.clone() }));
        add("crash, the parent's is kept", Some(Self { crashes_left, child, ..self.clone() }));
        add("crash, the child's is kept", Some(Self { crashes_left, parent, ..self.clone() }));
    }

    fn child_moves(&self, without: Without, add: &mut impl FnMut(&'static str, Option<Self>)) {
        let Some(side) = self.child.as_ref().filter(|_| !self.is_lost) else { return };
        let with = |side: Side| Some(Self { child: Some(side), ..self.clone() });
        if let Some(order) = self.down(without) {
            match order {
                Order::Message { number, .. } => {
                    add("takes", with(Side { messages: number, is_asking: false, ..side.clone() }));
                }
                order => add("ordered", with(Side { order: Some(order), ..side.clone() })),
            }
        }
        if !side.works() {
            return;
        }
        let rest = |word, is_repeatable| {
            let outcome = Outcome::new(word, "");
            let spent = Spent { model_calls: 2, ..Spent::default() };
            with(Side { rest: Some(Rest { outcome, spent, is_repeatable }), is_asking: false, ..side.clone() })
        };
        // A stop that is known is what happens next.
        if side.order == Some(Order::Stop) {
            return add("stops", rest(Word::Cancelled, false));
        }
        add("done", rest(Word::Done, false));
        add("failed", rest(Word::Failed, true));
        if side.is_asking {
            add("a person answers", with(Side { is_asking: false, ..side.clone() }));
        } else if self.questions_left > 0 {
            let asks = with(Side { questions: side.questions + 1, is_asking: true, ..side.clone() });
            add("asks", asks.map(|next| Self { questions_left: self.questions_left - 1, ..next }));
        }
    }

    /// What is wrong with a state.
    fn judge(&self, without: Without) -> Option<&'static str> {
        if self.told > 1 {
            return Some("an outcome was told twice");
        }
        let side = self.child.as_ref().filter(|_| !self.is_lost)?;
        let known = &self.parent_disk;
        if side.works() && side.run > known.run() {
            return Some("a child works in a run that no durable record asks for");
        }
        if side.works() && side.run == known.run() && known.state() == State::Planned {
            return Some("a child works, and no durable record asks for it");
        }
        let is_past = matches!(self.parent.state(), State::Clearing | State::Ended | State::Told);
        if is_past && side.run == self.parent.run() && side.works() {
            return Some("a child works, and its parent has an outcome");
        }
        if side.run == known.run() && side.messages > known.sent().max(self.parent.sent()) && known.is_living() {
            return Some("a child took a message that was not sent");
        }
        let stops = known.state() == State::Stopping && side.run == known.run() && side.works();
        if stops && side.order != Some(Order::Stop) && self.down(without) != Some(Order::Stop) {
            return Some("a child works under a stop that it does not learn of");
        }
        None
    }

    /// Whether nothing is left to happen by itself.
    fn is_over(&self) -> bool {
        let rests = self.child.as_ref().is_none_or(|side| !side.works()) || self.is_lost;
        matches!(self.parent_disk.state(), State::Told | State::Planned) && rests
            || self.parent_disk.state() == State::Detached
    }
}

/// Explores every order of moves in every small world; the first thing that is wrong, with the way to it.
fn explore(without: Without) -> Result<usize, (String, Vec<&'static str>)> {
    WORLDS.iter().map(|(kind, counts)| explore_one(World::new(kind, *counts), without)).sum()
}

/// What the child is, and messages, questions, crashes, losses, stops, take-overs.
const WORLDS: [(&str, [u8; 6]); 6] = [
    ("restarts=1", [2, 0, 1, 0, 0, 0]),
    ("restarts=1", [1, 1, 1, 0, 0, 0]),
    ("restarts=1", [0, 1, 1, 0, 1, 1]),
    ("restarts=1", [0, 0, 1, 1, 1, 0]),
    ("restarts=1 apart", [1, 1, 1, 0, 1, 0]),
    ("restarts=1 apart", [0, 0, 2, 1, 1, 0]),
];

fn explore_one(first: World, without: Without) -> Result<usize, (String, Vec<&'static str>)> {
    let mut index: HashMap<String, usize> = HashMap::from([(first.key(), 0)]);
    let mut worlds = VecDeque::from([(0, first)]);
    // How each was reached, what leads to what, and which are over.
    let (mut from, mut edges, mut over) = (vec![None], Vec::new(), vec![false]);
    let way = |mut number: usize, from: &[Option<(usize, &'static str)>]| {
        let mut names = Vec::new();
        while let Some((before, name)) = from[number] {
            names.push(name);
            number = before;
        }
        names.reverse();
        names
    };
    while let Some((number, world)) = worlds.pop_front() {
        if let Some(found) = world.judge(without) {
            return Err((found.to_owned(), way(number, &from)));
        }
        over[number] = world.is_over();
        for (name, next) in world.moves(without) {
            let new = from.len();
            let target = *index.entry(next.key()).or_insert(new);
            edges.push((number, target));
            if target == new {
                from.push(Some((number, name)));
                over.push(false);
                worlds.push_back((new, next));
            }
        }
    }
    // From everywhere there is a way to an end.
    let mut back = vec![Vec::new(); from.len()];
    edges.iter().for_each(|(a, b)| back[*b].push(*a));
    let mut ends: Vec<bool> = over.clone();
    let mut left: Vec<usize> = (0..from.len()).filter(|number| over[*number]).collect();
    while let Some(number) = left.pop() {
        for before in &back[number] {
            if !ends[*before] {
                ends[*before] = true;
                left.push(*before);
            }
        }
    }
    match ends.iter().position(|ends| !ends) {
        Some(stuck) => Err(("nothing leads to an end".to_owned(), way(stuck, &from))),
        None => Ok(from.len()),
    }
}

#[test]
fn whatever_happens_in_whatever_order_every_run_has_one_outcome() {
    let states = explore(Without::Nothing).unwrap_or_else(|(found, way)| panic!("{found}: {way:?}"));
    println!("{states} states");
    assert!(states > 10_000, "{states}");
}

#[test]
fn each_rule_is_there_for_something() {
    for (without, expected) in [
        (Without::DurableBeforeBegin, "a child works, and no durable record asks for it"),
        (Without::DurableBeforeSeen, "a child works, and its parent has an outcome"),
        (Without::DurableBeforeOrdered, "a child took a message that was not sent"),
        (Without::DurableBeforeTold, "an outcome was told twice"),
        (Without::LookUp, "a child works, and its parent has an outcome"),
    ] {
        let Err((found, way)) = explore(without) else { panic!("nothing breaks without {without:?}") };
        assert_eq!(found, expected, "{without:?}: {way:?}");
    }
}
