//! Figures of long runs, kept in `docs/figures/NAME.json` together with a hash of the tables they were made from: a change of a table makes
//! them old, and `cargo xtask proof` says so.

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
    /// Hash of the tables they were made from, as [`tables_hash`] gives it.
    pub(crate) tables: String,
    /// The command that made them.
    pub(crate) command: String,
    /// Name and value, in the order in which they are to be shown.
    pub(crate) figures: Vec<(String, String)>,
}

impl Figures {
    /// Figures made from today's tables.
    pub(crate) fn of_today(command: &str, figures: Vec<(String, String)>) -> Self {
        Self { tables: tables_hash(), command: command.to_owned(), figures }
    }

    /// Whether the tables are still those that the figures were made from.
    pub(crate) fn are_of_today(&self) -> bool {
        self.tables == tables_hash()
    }

    /// Keeps them as `docs/figures/NAME.json`.
    pub(crate) fn keep(&self, name: &str) -> Result<(), String> {
        let path = path(name);
        let figures: Vec<Value> = self.figures.iter().map(|(name, value)| serde_json::json!([name, value])).collect();
        let mut object = Map::new();
        object.insert("tables".to_owned(), self.tables.clone().into());
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
        let read = || Some(Self { tables: string("tables")?, command: string("command")?, figures: figures? });
        read().map(Some).ok_or_else(wrong)
    }
}

/// Hash of all tables: FNV-1a, 64 bits, of their JSON, in hexadecimal digits.
pub(crate) fn tables_hash() -> String {
    let text = [json(&SESSION), json(&LIFECYCLE), json(&JOB)].concat();
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
