//! The moves of a step, as the kernel asks for them.

use super::table::{ActionKind, ProvedTable, State, Trigger};
use super::{Action, Event, Objection, Reason, Server};
use statetable::{Machine, Rendering, Seat, Stepping};

impl Machine for Server {
    type State = State;
    type Trigger = Trigger;
    type ActionKind = ActionKind;
    type Event = Event;
    type Action = Action;
    type Objection = Objection;
    type Notes = ();

    fn table(&self) -> ProvedTable {
        self.table
    }

    fn state(&self) -> State {
        self.state
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }

    fn classify(&self, at_ms: u64, event: &Event) -> Result<Trigger, Reason> {
        self.trigger(at_ms, event)
    }

    fn absorb(&mut self, at_ms: u64, trigger: Trigger, event: Event, (): &mut (), _: Stepping<Self>) {
        self.now_ms = self.now_ms.max(at_ms);
        self.take_in(trigger, event);
    }

    fn seat(&mut self, _: Stepping<Self>) -> Seat<'_, State, Trigger> {
        Seat { state: &mut self.state, now_ms: self.now_ms, trace: &mut self.trace }
    }

    fn render(&mut self, kind: ActionKind, _: Rendering, _: Stepping<Self>) -> Option<Action> {
        self.action(kind)
    }

    fn holds(&self, trigger: Trigger) -> bool {
        self.stands_in_the_way(trigger)
    }

    fn settle(&mut self, trigger: Trigger, _: Stepping<Self>) {
        self.decide(trigger);
    }
}
