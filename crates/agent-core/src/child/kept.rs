//! The serialised child. Reading accepts only what could have existed.

use super::{Child, State};
use alloc::format;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Child {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function, which is not a method of the trait.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Child {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let child = Self::deserialize(deserializer)?;
        match child.contradiction() {
            None => Ok(child),
            Some(found) => Err(D::Error::custom(format!("no child is ever {:?} {found}", child.state))),
        }
    }
}

impl Child {
    fn contradiction(&self) -> Option<&'static str> {
        let has_outcome = matches!(self.state, State::Clearing | State::Ended | State::Told);
        let may_be_stopped = matches!(self.state, State::Stopping | State::Clearing | State::Ended | State::Told);
        let faults = [
            (self.state == State::Wanted, "at rest"),
            (self.gate.is_some(), "with a decision left open"),
            (self.outcome.is_some() != has_outcome, "with an outcome missing or left over"),
            (self.lost.is_some() && self.state != State::Stopping, "with a loss"),
            (self.stop.is_some() && !may_be_stopped, "with a stop"),
            (self.question.is_some() && !matches!(self.state, State::Asking), "with a question"),
            (!self.waiting.is_empty() && !self.is_living(), "with messages"),
            (self.state == State::Clearing && !self.is_apart, "without a workspace of its own"),
            (self.run == 0, "in no run"),
            (self.restarts > self.max_restarts, "with more restarts than it may have"),
        ];
        faults.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
    }
}
