//! A machine's table as documents: what the code runs on is what people read.
//!
//! Every format is made from the [`Table`] alone and in the table's own order, so that the same table gives the same text. Absent on
//! purpose: layout and files; the caller decides where a document goes.
//!
//! ```
//! use statetable::diagram::{Format, render};
//! use statetable::{Table, labels, rows};
//!
//! labels! { enum State { /// No light.
//!     Dark, /// Light.
//!     Bright } }
//! labels! { enum Trigger { /// A press of the switch.
//!     Pressed } }
//! labels! { enum Action { /// Make a sound.
//!     Click } }
//!
//! const LAMP: Table<State, Trigger, Action> = Table {
//!     name: "lamp",
//!     initial: State::Dark,
//!     terminal: &[],
//!     passing: &[],
//!     rows: rows! { State, Trigger, Action;
//!         Dark + Pressed => Bright [Click];
//!         Bright + Pressed => Dark [Click];
//!     },
//! };
//! assert!(render(&LAMP, Format::Mermaid).starts_with("stateDiagram-v2\n"));
//! assert_eq!("dot".parse(), Ok(Format::Dot));
//! ```

mod claims;
mod graph;
mod grid;
#[cfg(feature = "json")]
mod json;
mod markdown;
mod svg;

pub use claims::claim;
pub use graph::{dot, mermaid};
pub use grid::{Refusal, cell, grid};
#[cfg(feature = "json")]
pub use json::json;
pub use markdown::markdown;
pub use svg::svg;

use crate::table::{Label, Row, Table};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// The forms in which a table can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// States with their meaning and kind, then the rows.
    Markdown,
    /// A mermaid state diagram.
    Mermaid,
    /// A Graphviz graph.
    Dot,
    /// Every state with every trigger.
    Grid,
    /// Everything, for other tools.
    #[cfg(feature = "json")]
    Json,
    /// A drawing.
    Svg,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] = &[
        Self::Markdown,
        Self::Mermaid,
        Self::Dot,
        Self::Grid,
        #[cfg(feature = "json")]
        Self::Json,
        Self::Svg,
    ];

    /// The word for it on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Grid => "grid",
            #[cfg(feature = "json")]
            Self::Json => "json",
            Self::Svg => "svg",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.iter().copied().find(|format| format.name() == word).ok_or(UnknownFormat)
    }
}

/// A word that names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        write!(f, "read the format: expected {} or {last}", others.join(", "))
    }
}

impl core::error::Error for UnknownFormat {}

/// Writes a table in a format.
#[must_use]
pub fn render<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, format: Format) -> String {
    match format {
        Format::Markdown => markdown(table),
        Format::Mermaid => mermaid(table),
        Format::Dot => dot(table),
        Format::Grid => grid(table),
        #[cfg(feature = "json")]
        Format::Json => json(table),
        Format::Svg => svg(table),
    }
}

/// How a state decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It rests until an event.
    Waiting,
    /// It decides at once by its automatic rows.
    Passing,
    /// Nothing leaves it.
    Terminal,
}

impl Kind {
    /// The kind of a state.
    #[must_use]
    pub fn of<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, state: S) -> Self {
        if table.is_terminal(state) {
            Self::Terminal
        } else if table.is_passing(state) {
            Self::Passing
        } else {
            Self::Waiting
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Passing => "passing",
            Self::Terminal => "terminal",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The names of a row's actions, joined.
fn action_names<S: Label, T: Label, A: Label>(row: &Row<S, T, A>) -> String {
    let names: Vec<&str> = row.actions.iter().map(|action| action.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
