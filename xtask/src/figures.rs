//! Figures of long runs, kept in `docs/figures/NAME.json` together with a hash of what they were made from, the tables or the sources: a
//! change makes them old, and `cargo xtask proof` says so.

use crate::mutants;
use agent_core::diagram::json;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::session::table::TABLE as SESSION;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// The figures of one long run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// What they were made from.
    pub(crate) basis: Basis,
    /// Hash of it then.
    pub(crate) hash: String,
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
    /// The code of `agent-core`, without its tests.
    Sources,
}

impl Basis {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Sources => "sources",
        }
    }

    fn hash_of_today(self) -> Result<String, String> {
        match self {
            Self::Tables => Ok(tables_hash()),
            Self::Sources => mutants::sources_hash(),
        }
    }
}

impl Figures {
    /// Figures made from today's tables.
    pub(crate) fn of_today(command: &str, figures: Vec<(String, String)>) -> Self {
        Self { basis: Basis::Tables, hash: tables_hash(), command: command.to_owned(), figures }
    }

    /// Figures made from the sources of this hash.
    pub(crate) fn of_sources(hash: String, command: &str, figures: Vec<(String, String)>) -> Self {
        Self { basis: Basis::Sources, hash, command: command.to_owned(), figures }
    }

    /// Whether the tables or sources are still those that the figures were made from.
    ///
    /// # Errors
    /// When the sources cannot be read.
    pub(crate) fn are_of_today(&self) -> Result<bool, String> {
        Ok(self.hash == self.basis.hash_of_today()?)
    }

    /// Keeps them as `docs/figures/NAME.json`.
    pub(crate) fn keep(&self, name: &str) -> Result<(), String> {
        let path = path(name);
        let figures: Vec<Value> = self.figures.iter().map(|(name, value)| serde_json::json!([name, value])).collect();
        let mut object = Map::new();
        object.insert(self.basis.name().to_owned(), self.hash.clone().into());
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
        let wrong = || format!("{} is not what `cargo xtask` writes there", path.display());
        let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        let string = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let figures: Option<Vec<(String, String)>> = value.get("figures").and_then(Value::as_array).and_then(|rows| {
            rows.iter().map(|row| Some((row.get(0)?.as_str()?.to_owned(), row.get(1)?.as_str()?.to_owned()))).collect()
        });
        let basis = if value.get(Basis::Sources.name()).is_some() { Basis::Sources } else { Basis::Tables };
        let read = || Some(Self { basis, hash: string(basis.name())?, command: string("command")?, figures: figures? });
        read().map(Some).ok_or_else(wrong)
    }
}

/// Hash of all tables, of their JSON.
pub(crate) fn tables_hash() -> String {
    hash(&[json(&SESSION), json(&LIFECYCLE), json(&JOB)].concat())
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
