//! What a parent and a child have to take of each other, as events of agents.

use crate::agent::{Agent, Event};
use crate::child::lease::Lease;
use crate::child::{ChildView, Due, Gate, due};

/// Who takes an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Taker {
    /// The parent.
    Parent(Event),
    /// The child.
    Child(Event),
}

/// The next thing that one of the two has to take, or nothing. Both sides are what is durable: a driver writes what one side has taken
/// before it lets the other side take what follows.
///
/// A stricter policy comes first, so that nothing that it forbids begins below; then stops.
///
/// `found` says why the child cannot be read, if it cannot.
#[must_use]
pub fn between(parent: &Agent, number: u32, child: Option<&Agent>, found: Option<&str>) -> Option<Taker> {
    let kin = parent.kin_of(number)?;
    let gate = Gate::open(Lease::default());
    let view = match (child, found) {
        (Some(child), None) => child.seen(),
        (_, Some(found)) => ChildView::Alone { found, spent: crate::child::lease::Spent::default() },
        (None, None) => ChildView::Absent,
    };
    if let Some(child) = child.filter(|_| kin.child().is_living()) {
        let permissions = &parent.session().config().permissions;
        if !permissions.is_above(&child.session().config().permissions.above) {
            return Some(Taker::Child(Event::HeldBelow(permissions.for_below())));
        }
    }
    Some(match due(kin.child(), &view, &gate)? {
        Due::Parent(event) => Taker::Parent(Event::Child { number, event }),
        Due::Child(order) => Taker::Child(Event::Ordered(order)),
    })
}
