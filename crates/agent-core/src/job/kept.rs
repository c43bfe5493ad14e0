//! The serialised job. Reading accepts only what could have existed.

use super::Job;
use super::table::{ActionKind, State};
use alloc::format;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Job {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function, which is not a method of the trait.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Job {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let job = Self::deserialize(deserializer)?;
        match job.contradiction() {
            None => Ok(job),
            Some(found) => Err(D::Error::custom(format!("no job is ever in {:?} {found}", job.state))),
        }
    }
}

impl Job {
    fn contradiction(&self) -> Option<&'static str> {
        let waits_for = match self.state {
            State::Pending | State::Completed | State::Failed => None,
            State::Init => Some(ActionKind::ValidateJob),
            State::DefineAgent => Some(ActionKind::DefineAgent),
            State::Process => Some(ActionKind::RunAgent),
            State::RetryWait => Some(ActionKind::ScheduleRetry),
            State::End | State::Recording => Some(ActionKind::WriteAuditRecord),
        };
        let works = matches!(self.state, State::Process | State::RetryWait | State::End);
        let is_told = self.asked.is_some_and(|asked| asked.is_stopped);
        let can_stop = matches!(self.state, State::Init | State::DefineAgent | State::Process);
        let faults = [
            (self.asked.map(|asked| asked.kind) != waits_for, "with a request to the driver missing or left over"),
            (
                self.asked.is_some_and(|asked| asked.ticket.0 >= self.next_ticket),
                "with a ticket that has not been issued",
            ),
            (works && self.agent.is_none(), "without an agent"),
            (self.state == State::RetryWait && self.failure.is_none(), "without a failure"),
            (is_told != (can_stop && self.is_cancelled), "with a wrong stop of a request to the driver"),
            (self.is_cancelled && matches!(self.state, State::Pending | State::RetryWait), "although it was cancelled"),
        ];
        faults.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
    }
}
