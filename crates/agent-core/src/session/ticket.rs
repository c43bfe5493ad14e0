//! Tickets: how an answer is matched to what was asked.

use core::fmt;
use serde::{Deserialize, Serialize};

/// Names one thing that the driver was asked and has to answer. Never used twice in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u64);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
