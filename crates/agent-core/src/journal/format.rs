//! The formats that journals have had, and reading all of them.
//!
//! | Version | What is different |
//! |---|---|
//! | 1 | the first |
//! | 2 | the header has `tools` and may have `parent`; `ActionStarted` is an entry; in files, each line begins with its checksum |
//! | 3 | the user's hooks: `hooks` in a configuration and in facts about calls, two events and a note; what was there has its form |
//! | 4 | `Lifecycle` is an entry; what was there has its form |
//! | 5 | events of the lifecycle and of the whole agent are events; only what comes from outside is recorded |
//!
//! A journal of format 4 that is resumed keeps its `Lifecycle` entries; `Resumed` follows them.
//! A line of version 1 is lifted, as JSON, to the form that all records have since.

use super::{Entry, FORMAT_VERSION, Record, ToolPrint};
use crate::tool::ToolSpec;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::Deserialize;
use serde_json::Value;

/// The format of a journal that is being read, as its first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    version: u32,
}

impl Format {
    /// The format that this version writes.
    pub const TODAY: Self = Self { version: FORMAT_VERSION };

    /// What the first line of a journal says about its format.
    ///
    /// # Errors
    /// [`FormatError::Unknown`] when this program does not know the format, [`FormatError::Form`] when it is not a first line.
    pub fn of(first_line: &str) -> Result<Self, FormatError> {
        let first: FirstLine = serde_json::from_str(first_line).map_err(|error| FormatError::form(&error))?;
        match first.entry.header.format_version {
            version @ 1..=FORMAT_VERSION => Ok(Self { version }),
            found => Err(FormatError::Unknown { found }),
        }
    }

    /// Its number.
    #[must_use]
    pub const fn version(self) -> u32 {
        self.version
    }

    /// Reads a line, the first one included. What comes back has today's form.
    ///
    /// # Errors
    /// [`FormatError::Form`] when it is not a record of this format.
    pub fn read(self, line: &str) -> Result<Record, FormatError> {
        let form = |error| FormatError::form(&error);
        let mut record =
            if self.version == 1 { Self::read_1(line)? } else { serde_json::from_str(line).map_err(form)? };
        if let Entry::Header(header) = &mut record.entry {
            header.format_version = FORMAT_VERSION;
        }
        Ok(record)
    }

    fn read_1(line: &str) -> Result<Record, FormatError> {
        let mut record: Value = serde_json::from_str(line).map_err(|error| FormatError::form(&error))?;
        lift_1(&mut record)?;
        serde_json::from_value(record).map_err(|error| FormatError::form(&error))
    }
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// It was written by a program with a format that this one does not know.
    #[error(
        "it has format {found}, this program reads formats 1 to {FORMAT_VERSION}: use the program that wrote it, or a newer one"
    )]
    Unknown {
        /// The format's number.
        found: u32,
    },
    /// It is damaged, or something else.
    #[error("{found}")]
    Form {
        /// What was missed or could not be used, and where.
        found: String,
    },
}

impl FormatError {
    fn form(error: &serde_json::Error) -> Self {
        Self::Form { found: error.to_string() }
    }
}

/// What the first line says in every format.
#[derive(Deserialize)]
struct FirstLine {
    entry: FirstEntry,
}

#[derive(Deserialize)]
struct FirstEntry {
    #[serde(rename = "Header")]
    header: FirstHeader,
}

#[derive(Deserialize)]
struct FirstHeader {
    format_version: u32,
}

/// Only the header is different: it names the tools by fingerprints.
fn lift_1(record: &mut Value) -> Result<(), FormatError> {
    let Some(Value::Object(header)) = record.pointer_mut("/entry/Header") else { return Ok(()) };
    let tools = header.get("config").and_then(|config| config.get("tools")).cloned().unwrap_or_default();
    let tools: Arc<[ToolSpec]> = serde_json::from_value(tools).map_err(|error| FormatError::form(&error))?;
    let prints: Vec<ToolPrint> = tools.iter().map(ToolPrint::of).collect();
    let prints = serde_json::to_value(prints).map_err(|error| FormatError::Form { found: error.to_string() })?;
    header.insert("tools".to_string(), prints);
    Ok(())
}
