//! Where the entries of the user's configuration stand: a message names file, line and key.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::{Spanned, Value};

/// The text of a configuration, which alone knows where an entry stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) file: PathBuf,
    pub(crate) text: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entries {
    allow: Vec<Spanned<Value>>,
    deny: Vec<Spanned<Value>>,
    hooks: Vec<Spanned<BTreeMap<String, Spanned<Value>>>>,
    formatters: Vec<Spanned<BTreeMap<String, Spanned<Value>>>>,
    limits: BTreeMap<String, Spanned<Value>>,
    providers: BTreeMap<String, Spanned<BTreeMap<String, Spanned<Value>>>>,
}

impl Places {
    /// An entry of a list of rules.
    pub(crate) fn rule(&self, key: &str, index: usize) -> String {
        let entries = self.entries();
        let rules = if key == "deny" { entries.deny } else { entries.allow };
        self.told(key, rules.get(index).map(|rule| rule.span().start))
    }

    /// A key of a hook or a formatter; the entry where the key is not there.
    pub(crate) fn entry(&self, list: &str, index: usize, key: &str) -> String {
        let entries = self.entries();
        let list_of = if list == "hooks" { entries.hooks } else { entries.formatters };
        let entry = list_of.get(index);
        let at = entry.map(|entry| entry.get_ref().get(key).map_or(entry.span().start, |value| value.span().start));
        self.told(&format!("{list}.{key}"), at)
    }

    /// A limit.
    pub(crate) fn limit(&self, key: &str) -> String {
        self.told(&format!("limits.{key}"), self.entries().limits.get(key).map(|value| value.span().start))
    }

    /// A key of a provider; the provider where the key is empty.
    pub(crate) fn provider(&self, name: &str, key: &str) -> String {
        let entries = self.entries();
        let entry = entries.providers.get(name);
        let at = entry.map(|entry| entry.get_ref().get(key).map_or(entry.span().start, |value| value.span().start));
        let dot = if key.is_empty() { "" } else { "." };
        self.told(&format!("providers.{name}{dot}{key}"), at)
    }

    /// The text was read before, so what cannot be read now is only missing here.
    fn entries(&self) -> Entries {
        toml::from_str(&self.text).unwrap_or_default()
    }

    fn told(&self, key: &str, at: Option<usize>) -> String {
        let line = |at: usize| self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        let line = at.map(|at| format!(", line {}", line(at))).unwrap_or_default();
        format!("`{key}` of {}{line}", self.file.display())
    }
}
