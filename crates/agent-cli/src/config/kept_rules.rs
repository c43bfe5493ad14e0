//! Rules that a person wants to keep: they go into the user's configuration, never into the repository's, and leave everything else in the
//! file as it is.

use crate::config::file::{read_capped, user_config_path};
use agent_core::permission::Rule;
use std::io::Write;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Value};

/// Where rules are kept, for people.
pub(crate) fn place() -> String {
    user_config_path()
        .map_or_else(|| String::from("no file: there is no home directory"), |path| path.display().to_string())
}

/// Adds a rule to what runs without asking.
///
/// # Errors
/// What was attempted and found. The file is then as it was.
pub(crate) fn keep(rule: &Rule) -> Result<(), String> {
    let path = user_config_path().ok_or("there is no home directory; set AGENT_CONFIG_HOME")?;
    let failed = |error: String| format!("cannot save the rule in {}: {error}", path.display());
    let text = read_capped(&path).map_err(|error| failed(error.to_string()))?.unwrap_or_default();
    match with_rule(&text, rule).map_err(failed)? {
        Some(text) => replace(&path, &text).map_err(|error| failed(error.to_string())),
        None => Ok(()),
    }
}

/// The file with the rule, or nothing when it is there already.
fn with_rule(text: &str, rule: &Rule) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let entry = document.entry("allow").or_insert(Item::Value(Value::Array(Array::new())));
    let rules = entry.as_array_mut().ok_or("`allow` is not a list of rules")?;
    let rule = rule.to_string();
    if rules.iter().any(|known| known.as_str() == Some(&rule)) {
        return Ok(None);
    }
    rules.push(rule);
    Ok(Some(document.to_string()))
}

/// Puts a new file in the place of the old one, or of what a link leads to. A reader meanwhile gets one or the other.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let real: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = real.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    agent_exec::leftovers::note_path(file.path());
    if let Ok(metadata) = real.metadata() {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&real)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_in_the_file_stays() {
        let rule = "bash(git status)".parse().unwrap();
        let cases = [
            ("", "allow = [\"bash(git status)\"]\n"),
            ("# mine\nmodel = \"m\"  # why\n", "# mine\nmodel = \"m\"  # why\nallow = [\"bash(git status)\"]\n"),
            (
                "allow = [ \"read_file\" ] # these\n[limits]\nmax_turns = 3\n",
                "allow = [ \"read_file\" , \"bash(git status)\"] # these\n[limits]\nmax_turns = 3\n",
            ),
            ("[limits]\nmax_turns = 3\n", "allow = [\"bash(git status)\"]\n[limits]\nmax_turns = 3\n"),
        ];
        for (before, after) in cases {
            let made = with_rule(before, &rule).unwrap().unwrap();
            assert_eq!(made, after);
            assert_eq!(with_rule(&made, &rule), Ok(None), "once is enough");
            assert!(toml::from_str::<crate::config::file::UserConfig>(&made).unwrap().allow.contains(&rule));
        }
        for wrong in ["allow = 3\n", "allow = [\n", "[allow]\n"] {
            assert!(with_rule(wrong, &rule).is_err(), "{wrong}");
        }
    }
}
