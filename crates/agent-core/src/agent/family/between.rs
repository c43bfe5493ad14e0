//! What a parent and a child have to take of each other, as events of agents.

use crate::agent::{Agent, Event};
use crate::child::lease::{Lease, Spent};
use crate::child::{ChildView, Due, Gate, due};

/// Nothing below such a child is at work: no driver drives it.
fn alone(found: &str) -> ChildView<'_> {
    ChildView::Alone { found, spent: Spent::default() }
}

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
        (_, Some(found)) => alone(found),
        // It had begun, and what its journal has of it is gone.
        (None, None) if kin.child().has_begun() => alone("its journal is gone"),
        (Some(child), None) if kin.child().has_begun() && !child.has_task() => {
            alone("its journal does not have its task")
        }
        (Some(child), None) => child.seen(),
        (None, None) => ChildView::Absent,
    };
    if let Some(child) = child.filter(|child| kin.child().is_living() && child.has_task()) {
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
