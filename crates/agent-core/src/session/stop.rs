//! The stop of a turn, and the report of its end to the user.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A stop that was asked for and is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Stop(Option<Reason>);

/// Why a turn is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reason {
    /// The user, or the driver by itself.
    Requested,
    /// The turn's time is up.
    DeadlineReached,
}

impl Stop {
    /// It is asked for. Only the first reason counts.
    pub(super) fn ask(&mut self, reason: Reason) {
        self.0.get_or_insert(reason);
    }

    /// It is complete: why it was asked for.
    pub(super) const fn settle(&mut self) -> Option<Reason> {
        self.0.take()
    }

    /// Whether it is asked for and not complete.
    pub(super) const fn is_pending(self) -> bool {
        self.0.is_some()
    }
}

/// What the next `DisplayError` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Notice(Option<Box<Said>>);

/// An error in words, with the messages that go back because sending them again is no use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) returned_input: Vec<String>,
}

impl Notice {
    /// It says this, and hands these messages back.
    pub(super) fn say(&mut self, message: String, returned_input: Vec<String>) {
        self.0 = Some(Box::new(Said { message, returned_input }));
    }

    /// It says this. What it was to hand back before is not lost.
    pub(super) fn say_also(&mut self, message: String) {
        let returned_input = self.0.take().map(|said| said.returned_input).unwrap_or_default();
        self.say(message, returned_input);
    }

    /// Takes it out, to be shown.
    pub(super) const fn take(&mut self) -> Option<Box<Said>> {
        self.0.take()
    }
}
