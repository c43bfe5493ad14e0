//! The five moves of a step, as the kernel asks for them.

use super::table::{ActionKind, ProvedTable, State, Trigger};
use super::{Action, Event, Notes, Objection, Reason, Session};
use alloc::vec::Vec;
use statetable::machine::RowOf;
use statetable::{Machine, Rendering, Seat, Stepping};

impl Machine for Session {
    type State = State;
    type Trigger = Trigger;
    type ActionKind = ActionKind;
    type Event = Event;
    type Action = Action;
    type Objection = Objection;
    type Notes = Notes;

    #[inline]
    fn table(&self) -> ProvedTable {
        self.table
    }

    #[inline]
    fn state(&self) -> State {
        self.state
    }

    fn is_late(&self, event: &Event) -> bool {
        self.is_late(event)
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }

    #[inline]
    fn classify(&self, at_ms: u64, event: &Event) -> Result<Trigger, Reason> {
        self.trigger(at_ms, event)
    }

    #[inline]
    fn absorb(&mut self, at_ms: u64, trigger: Trigger, event: Event, notes: &mut Notes, _: Stepping<Self>) {
        self.pass_time(at_ms, &event);
        self.take_in(trigger, event, &mut notes.rulings);
        self.note_rulings(&notes.rulings);
    }

    #[inline]
    fn seat(&mut self, _: Stepping<Self>) -> Seat<'_, State, Trigger> {
        Seat { state: &mut self.state, now_ms: self.now_ms, trace: &mut self.trace }
    }

    #[inline]
    fn render(&mut self, kind: ActionKind, rendering: Rendering, _: Stepping<Self>) -> Option<Action> {
        let issued = self.issue(kind)?;
        match rendering {
            Rendering::Actions => self.describe(kind, issued),
            Rendering::Nothing => None,
        }
    }

    #[inline]
    fn holds(&self, trigger: Trigger) -> bool {
        self.guard_holds(trigger)
    }

    #[inline]
    fn settle(&mut self, trigger: Trigger, _: Stepping<Self>) {
        self.take_up(trigger);
    }

    fn is_transient(event: &Event) -> bool {
        event.is_transient()
    }

    #[inline]
    fn relay(&self, row: &'static RowOf<Self>, event: Event, actions: &mut Vec<Action>) {
        self.transient(row, event, actions);
    }
}
