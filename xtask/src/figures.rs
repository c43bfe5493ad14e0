//! Figures of long runs, kept in `docs/figures/NAME.json` together with hashes of what they were made from: the tables, the sources, the
//! worlds of the model check. A change makes them old, and `cargo xtask proof` says so.

use crate::mutants;
use agent_core::child::table::TABLE as CHILD;
use agent_core::children::table::TABLE as CHILDREN;
use agent_core::diagram::json;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::server::table::TABLE as SERVER;
use agent_core::session::table::TABLE as SESSION;
use serde_json::{Map, Value};
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

/// The figures of one long run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// What they were made from.
    pub(crate) basis: Basis,
    /// Hash of it then.
    pub(crate) hash: String,
    /// What else they were made from, and its hash. Figures that were kept before this was noted have none.
    pub(crate) also: Vec<(Basis, String)>,
    /// The command that made them.
    pub(crate) command: String,
    /// Name and value, in the order in which they are to be shown.
    pub(crate) figures: Vec<(String, String)>,
}

/// What figures are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The tables of all machines.
    Tables,
    /// The code of `agent-core`, `agent-types` and the kernel, without their tests.
    Sources,
    /// The code of the laboratory, without its tests: the worlds, what can happen in them, and what is held to what.
    Worlds,
}

impl Basis {
    const ALL: [Self; 3] = [Self::Tables, Self::Sources, Self::Worlds];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Sources => "sources",
            Self::Worlds => "worlds",
        }
    }

    fn hash_of_today(self) -> Result<String, String> {
        match self {
            Self::Tables => Ok(tables_hash()),
            Self::Sources => mutants::sources_hash(),
            Self::Worlds => mutants::hash_of(WORLDS),
        }
    }
}

/// Hashes of what a run is made from, taken before it begins.
pub(crate) struct Made {
    tables: String,
    also: Vec<(Basis, String)>,
}

impl Made {
    /// The tables of today, and what else is named.
    ///
    /// # Errors
    /// When the sources cannot be read.
    pub(crate) fn today(also: &[Basis]) -> Result<Self, String> {
        let hashed = |basis: &Basis| Ok((*basis, basis.hash_of_today()?));
        Ok(Self { tables: tables_hash(), also: also.iter().map(hashed).collect::<Result<_, String>>()? })
    }

    /// What the run said.
    pub(crate) fn figures(self, command: &str, figures: Vec<(String, String)>) -> Figures {
        let Self { tables: hash, also } = self;
        Figures { basis: Basis::Tables, hash, also, command: command.to_owned(), figures }
    }
}

impl Figures {
    /// Figures made from the sources of this hash.
    pub(crate) fn of_sources(hash: String, command: &str, figures: Vec<(String, String)>) -> Self {
        Self { basis: Basis::Sources, hash, also: Vec::new(), command: command.to_owned(), figures }
    }

    /// Which of the things that the figures were made from are not today's.
    ///
    /// # Errors
    /// When the sources cannot be read.
    pub(crate) fn outdated(&self) -> Result<Vec<Basis>, String> {
        let mut outdated = Vec::new();
        for (basis, hash) in
            iter::once((self.basis, &self.hash)).chain(self.also.iter().map(|(basis, hash)| (*basis, hash)))
        {
            if *hash != basis.hash_of_today()? {
                outdated.push(basis);
            }
        }
        Ok(outdated)
    }

    /// Keeps them as `docs/figures/NAME.json`.
    pub(crate) fn keep(&self, name: &str) -> Result<(), String> {
        let path = path(name);
        let figures: Vec<Value> = self.figures.iter().map(|(name, value)| serde_json::json!([name, value])).collect();
        let mut object = Map::new();
        object.insert(self.basis.name().to_owned(), self.hash.clone().into());
        object.extend(self.also.iter().map(|(basis, hash)| (basis.name().to_owned(), hash.clone().into())));
        object.insert("command".to_owned(), self.command.clone().into());
        object.insert("figures".to_owned(), figures.into());
        let text = serde_json::to_string_pretty(&object).map_err(|error| error.to_string())? + "\n";
        fs::create_dir_all(directory()).map_err(|error| format!("create {}: {error}", directory().display()))?;
        fs::write(&path, text).map_err(|error| format!("write {}: {error}", path.display()))
    }

    /// Reads what was kept under a name; nothing when nothing was.
    pub(crate) fn kept(name: &str) -> Result<Option<Self>, String> {
        let path = path(name);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(None);
        };
        let read = serde_json::from_str(&text).ok().and_then(|value: Value| Self::read(&value));
        read.map(Some).ok_or_else(|| format!("{} is not what `cargo xtask` writes there", path.display()))
    }

    fn read(value: &Value) -> Option<Self> {
        let string = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let figures: Option<Vec<(String, String)>> = value.get("figures").and_then(Value::as_array).and_then(|rows| {
            rows.iter().map(|row| Some((row.get(0)?.as_str()?.to_owned(), row.get(1)?.as_str()?.to_owned()))).collect()
        });
        // What the run was made for stands first in the order of the bases.
        let mut bases = Basis::ALL.iter().filter_map(|basis| Some((*basis, string(basis.name())?)));
        let (basis, hash) = bases.next()?;
        Some(Self { basis, hash, also: bases.collect(), command: string("command")?, figures: figures? })
    }
}

/// Hash of all tables, of their JSON.
pub(crate) fn tables_hash() -> String {
    hash(&[json(&SESSION), json(&LIFECYCLE), json(&CHILD), json(&CHILDREN), json(&JOB), json(&SERVER)].concat())
}

/// Hash of a text: FNV-1a, 64 bits, in hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

fn path(name: &str) -> PathBuf {
    directory().join(format!("{name}.json"))
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/figures")
}

const WORLDS: &str = "crates/agent-check/src";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_with_and_without_further_hashes() {
        let tables = tables_hash();
        let read = |value| Figures::read(&value).unwrap();
        let old = read(json!({ "tables": tables, "command": "x", "figures": [["a", "1"]] }));
        assert_eq!((old.basis, old.also.len(), old.outdated().unwrap()), (Basis::Tables, 0, Vec::new()));
        let new = read(json!({ "tables": tables, "sources": "0", "worlds": "0", "command": "x", "figures": [] }));
        assert_eq!((new.basis, new.outdated().unwrap()), (Basis::Tables, vec![Basis::Sources, Basis::Worlds]));
        let mutants = read(json!({ "sources": "0", "command": "x", "figures": [] }));
        assert_eq!((mutants.basis, mutants.outdated().unwrap()), (Basis::Sources, vec![Basis::Sources]));
        assert_eq!(Figures::read(&json!({ "command": "x", "figures": [] })), None);
    }

    #[test]
    fn what_is_made_today_is_of_today() {
        let made = Made::today(&[Basis::Sources, Basis::Worlds]).unwrap();
        let figures = made.figures("x", Vec::new());
        assert_eq!((figures.also.len(), figures.outdated().unwrap()), (2, Vec::new()));
    }
}
