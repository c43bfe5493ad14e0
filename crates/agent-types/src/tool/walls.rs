//! How a command stands to the sandbox: as commands do, held more closely, or with a door open.
//!
//! 1. A door is opened for one call, by a rule that names the door or by a person; an ordinary rule never covers such a call.
//! 2. What is outside has every door open: a deny rule about any door is about it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How a command stands to the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Walls {
    /// It runs in the sandbox that commands have; without one where there is none.
    #[default]
    Usual,
    /// It only reads, and runs where it can write nothing but temporary files and has no network.
    Reading {
        /// Tools and families of tools that show files, too: a deny rule that names one of them is about files that this may show.
        akin: Vec<String>,
    },
    /// It asks for doors in the sandbox.
    Opened(Box<Opening>),
}

impl Walls {
    /// Whether they are those of every command.
    #[must_use]
    pub const fn is_usual(&self) -> bool {
        matches!(self, Self::Usual)
    }
}

/// What of the sandbox one call asks to have opened, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// What is opened; never empty.
    pub doors: Vec<Door>,
    /// Why, for the person who is asked, in the words of who asks.
    pub reason: String,
    /// What was at the paths of the doors for writing when the question was made, in their order: what is at such a path later is not
    /// opened if it is something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceMark>,
}

/// What tells a file or directory from another one at the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceMark {
    /// The device.
    pub device: u64,
    /// The number on the device.
    pub number: u64,
}

/// A part of the sandbox that can be opened for one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Door {
    /// The network, with what listens on this machine.
    Network,
    /// Git's records in the repository's directory: objects, branches, index. Its configuration and hooks stay as they are.
    Git,
    /// A file or directory, with what is in it, for writing.
    Write(String),
    /// All of it: the command runs without a sandbox.
    Outside,
}

impl Door {
    /// Its word in rules, as in `bash+network`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Git => "git",
            Self::Write(_) => "write",
            Self::Outside => OUTSIDE,
        }
    }

    /// Whether an allow rule can open it. A path is not in the rule, so a person looks at each one.
    #[must_use]
    pub const fn is_for_rules(&self) -> bool {
        !matches!(self, Self::Write(_))
    }

    /// What is open then, for people.
    #[must_use]
    pub fn phrase(&self) -> String {
        match self {
            Self::Network => String::from("use the network, and what listens on this machine"),
            Self::Git => String::from("write git's objects, branches and index"),
            Self::Write(path) => format!("write `{path}`"),
            Self::Outside => String::from("run OUTSIDE the sandbox, with all your files and the network"),
        }
    }
}

impl Opening {
    /// What is open then, for people.
    #[must_use]
    pub fn phrase(&self) -> String {
        let doors: Vec<String> = self.doors.iter().map(Door::phrase).collect();
        doors.join("; ")
    }

    /// Whether a deny rule about this door is about it.
    #[must_use]
    pub fn may_open(&self, word: &str) -> bool {
        self.doors.iter().any(|door| door.word() == word || matches!(door, Door::Outside))
    }

    /// Whether an allow rule with these doors opens all of it.
    #[must_use]
    pub fn is_within<S: AsRef<str>>(&self, words: &[S]) -> bool {
        let is_named = |door: &Door| door.is_for_rules() && words.iter().any(|word| word.as_ref() == door.word());
        !self.doors.is_empty() && self.doors.iter().all(is_named)
    }
}

/// The words of all doors.
pub const DOORS: [&str; 4] = ["network", "git", "write", OUTSIDE];
const OUTSIDE: &str = "outside";

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_words_of_all_doors_are_known() {
        for door in [Door::Network, Door::Git, Door::Write(String::from("x")), Door::Outside] {
            assert!(DOORS.contains(&door.word()), "{door:?}");
        }
    }

    #[test]
    fn an_allow_rule_opens_what_it_names_and_no_path() {
        let opening = |doors: Vec<Door>| Opening { doors, reason: String::new(), places: Vec::new() };
        assert!(opening(vec![Door::Network]).is_within(&["network"]), "control");
        assert!(opening(vec![Door::Network]).is_within(&["git", "network"]));
        assert!(!opening(vec![Door::Network, Door::Git]).is_within(&["network"]));
        assert!(!opening(vec![Door::Network]).is_within(&["outside"]));
        assert!(!opening(vec![Door::Write(String::from("x"))]).is_within(&["write"]));
        assert!(!opening(Vec::new()).is_within(&["network"]));
    }

    #[test]
    fn outside_every_door_is_open() {
        let opening = |door| Opening { doors: vec![door], reason: String::new(), places: Vec::new() };
        for word in DOORS {
            assert!(opening(Door::Outside).may_open(word), "{word}");
        }
        assert!(opening(Door::Git).may_open("git") && !opening(Door::Git).may_open("network"));
    }
}
