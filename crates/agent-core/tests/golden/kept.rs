//! The kept files: where they are, and what the lines of one are.

use agent_core::{journal, snapshot};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file as it would be written today.
pub(crate) struct Kept {
    /// Below the directory of golden files.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Kept {
    pub(crate) fn new(form: &str, name: &str, text: String) -> Self {
        Self { name: format!("{form}/v{}/{name}", version(form)), text }
    }
}

/// What is kept in today's version of a form.
pub(crate) fn read(form: &str, name: &str) -> String {
    read_of(form, version(form), name)
}

/// What is kept in one version of a form.
pub(crate) fn read_of(form: &str, version: u32, name: &str) -> String {
    let path = directory().join(format!("{form}/v{version}/{name}"));
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; INSTA_UPDATE=always writes it", path.display()))
}

/// What is in a directory, in order.
pub(crate) fn names(of: &str) -> Vec<String> {
    let entries = fs::read_dir(directory().join(of)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// One value a line.
pub(crate) fn written<T: Serialize>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| serde_json::to_string(&value).unwrap() + "\n").collect()
}

/// The words that may stand for a value of the type, asked from the type itself.
pub(crate) fn kinds<T: DeserializeOwned>() -> Vec<String> {
    let Err(error) = serde_json::from_str::<T>("\"?\"") else { panic!("`?` is a kind") };
    let message = error.to_string();
    let (_, listed) = message.split_once("expected").unwrap_or_else(|| panic!("not told by its name: {message}"));
    listed.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

/// The first value of every kind, by the word that stands for it.
pub(crate) fn one_of_each<T: Serialize>(values: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.into_iter().filter(|value| seen.insert(kind(value))).collect()
}

/// The word that stands for a value.
pub(crate) fn kind<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value).unwrap() {
        serde_json::Value::String(word) => word,
        serde_json::Value::Object(object) => object.keys().next().unwrap().clone(),
        other => panic!("no kind: {other}"),
    }
}

fn version(form: &str) -> u32 {
    match form {
        "journal" => journal::FORMAT_VERSION,
        "machines" => snapshot::FORMAT_VERSION,
        other => panic!("no form `{other}`"),
    }
}

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}
