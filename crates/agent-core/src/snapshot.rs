//! Machines kept as text: each carries the version of its form, and one that was written in a form of tomorrow is refused.
//!
//! | Version | What is different |
//! |---|---|
//! | 1 | the first |
//! | 2 | the user's hooks; what is missing of them in a session of version 1 means that there are none |
//! | 3 | a lifecycle does not count the messages that it sent, nor does the end of a turn; a program of version 2 misses both |
//!
//! A [`Session`], a [`Lifecycle`] and a [`Job`] serialise whole, whatever they wait for; what is read back is equal and behaves the same.
//! With serde alone they read and write today's form; [`read`] lifts earlier ones, and distinguishes a wrong version from a damaged
//! text.
//!
//! The events, actions, steps and refusals of a machine have no version of their own and no reader but serde, which lifts nothing: they
//! change with [`FORMAT_VERSION`]. All that the versions up to now wrote is read as it is; what a later one can no longer read, it names.
//! The events of a session in a journal change with [`journal::FORMAT_VERSION`](crate::journal::FORMAT_VERSION), and are lifted there.
//!
//! ```
//! use agent_core::session::{Event, ModelConfig, Session, SessionConfig};
//! use agent_core::snapshot::{self, SnapshotError};
//!
//! let mut session = Session::new(SessionConfig::new(ModelConfig::new("some-model")));
//! session.step(0, Event::Started)?;
//! let text = snapshot::write(&session)?;
//! assert_eq!(snapshot::read::<Session>(&text)?, session);
//!
//! let of_tomorrow = text.replacen("\"format_version\":3", "\"format_version\":4", 1);
//! let refused = snapshot::read::<Session>(&of_tomorrow);
//! assert_eq!(refused, Err(SnapshotError::Version { found: 4 }));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use crate::job::Job;
use crate::lifecycle::Lifecycle;
use crate::session::Session;
use alloc::format;
use alloc::string::{String, ToString};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The form of kept machines, and of their events and actions, that this version writes. [`read`] takes machines of this form and of every
/// earlier one; events and actions are read with serde, in this form only. Those
/// written in forms 1 and 2 are read as well: what they say besides is passed over.
pub const FORMAT_VERSION: u32 = 3;

/// A machine that can be kept: a session, a lifecycle or a job.
pub trait Machine: Serialize + DeserializeOwned + sealed::Sealed {}

impl Machine for Session {}
impl Machine for Lifecycle {}
impl Machine for Job {}

/// A machine as one line of JSON.
///
/// # Errors
/// [`SnapshotError::Form`] for a session with a tool whose schema could not be read back; see
/// [`ToolSpec::MAX_SCHEMA_DEPTH`](crate::tool::ToolSpec::MAX_SCHEMA_DEPTH). All else can be written.
pub fn write<M: Machine>(machine: &M) -> Result<String, SnapshotError> {
    serde_json::to_string(machine).map_err(|error| SnapshotError::form(&error))
}

/// Reads what [`write()`] wrote, in this version or an earlier one.
///
/// # Errors
/// [`SnapshotError`] when it was written in a later form, or is not such a machine.
pub fn read<M: Machine>(text: &str) -> Result<M, SnapshotError> {
    let Head { format_version: found } = serde_json::from_str(text).map_err(|error| SnapshotError::form(&error))?;
    match found {
        FORMAT_VERSION => serde_json::from_str(text).map_err(|error| SnapshotError::form(&error)),
        1 | 2 => {
            let mut machine: Value = serde_json::from_str(text).map_err(|error| SnapshotError::form(&error))?;
            lift::<M>(found, &mut machine)?;
            serde_json::from_value(machine).map_err(|error| SnapshotError::form(&error))
        }
        _ => Err(SnapshotError::Version { found }),
    }
}

/// Only a session of version 1 lacks something. Of the others nothing but the number is different: what is counted no more is passed over.
fn lift<M: Machine>(version: u32, machine: &mut Value) -> Result<(), SnapshotError> {
    if let Value::Object(fields) = machine {
        if version == 1 {
            M::lift_1(fields).map_err(|error| SnapshotError::form(&error))?;
        }
        fields.insert("format_version".to_string(), Value::from(FORMAT_VERSION));
    }
    Ok(())
}

/// Why a kept machine cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It was written by a version with a later form.
    #[error("read the machine: it has format {found}, this program reads formats 1 to {FORMAT_VERSION}")]
    Version {
        /// The form's number.
        found: u32,
    },
    /// It is damaged, or something else.
    #[error("read or write the machine: {found}")]
    Form {
        /// What was missed or could not be used, and where.
        found: String,
    },
}

impl SnapshotError {
    fn form(error: &serde_json::Error) -> Self {
        Self::Form { found: error.to_string() }
    }
}

/// The part of every kept machine that says how to read the rest.
#[derive(Deserialize)]
struct Head {
    format_version: u32,
}

/// First field of every machine: takes no room, is written as [`FORMAT_VERSION`], and reads from nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormatVersion;

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(FORMAT_VERSION)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            FORMAT_VERSION => Ok(Self),
            found => Err(D::Error::custom(format!("it has format {found}, not {FORMAT_VERSION}"))),
        }
    }
}

/// What can be kept is decided here: a machine of another crate has its own forms.
mod sealed {
    use alloc::string::String;
    use serde_json::{Error, Map, Value};

    #[expect(unnameable_types, reason = "no other code should name it")]
    pub trait Sealed {
        /// Gives the fields of a machine of version 1 the form of version 2.
        #[doc(hidden)]
        fn lift_1(_fields: &mut Map<String, Value>) -> Result<(), Error> {
            Ok(())
        }
    }

    impl Sealed for super::Session {
        fn lift_1(fields: &mut Map<String, Value>) -> Result<(), Error> {
            Self::add_hooks(fields)
        }
    }
    impl Sealed for super::Lifecycle {}
    impl Sealed for super::Job {}
}
