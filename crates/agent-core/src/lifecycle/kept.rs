//! The serialised lifecycle. Reading accepts only what could have existed.

use super::{Lifecycle, State};
use alloc::format;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Lifecycle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function, which is not a method of the trait.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Lifecycle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let agent = Self::deserialize(deserializer)?;
        match agent.contradiction() {
            None => Ok(agent),
            Some(found) => Err(D::Error::custom(format!("no agent is ever {:?} {found}", agent.state))),
        }
    }
}

impl Lifecycle {
    fn contradiction(&self) -> Option<&'static str> {
        let open = self.verification.as_ref().filter(|all| all.is_open);
        let is_timed = matches!(self.state, State::Idle | State::Working | State::Waiting)
            || self.state == State::Verifying && self.checks_time.is_some();
        let newest = self.timer.max(self.cleanup).max(open.map(|all| all.ticket));
        let faults = [
            (open.is_some() != (self.state == State::Verifying), "with open checks missing or left over"),
            (open.is_some_and(|all| !all.covers(self.commitments.len())), "with checks of other commitments"),
            (self.cleanup.is_some() != (self.state == State::Reaped), "with a cleanup missing or left over"),
            (self.timer.is_some() && !is_timed, "with a timer"),
            (newest.is_some_and(|newest| newest.0 > self.next_ticket), "with a ticket that has not been issued"),
        ];
        faults.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
    }
}
