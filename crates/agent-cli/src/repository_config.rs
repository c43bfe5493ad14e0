//! The repository's configuration: untrusted, so it may only tighten, and a part of it that cannot be used takes no other part with it.

use crate::args::Sandbox;
use crate::config_file::{LimitsConfig, read};
use crate::failure::Failure;
use crate::project;
use crate::settings::limits_of;
use agent_core::budget::Limits;
use agent_core::permission::{PermissionMode, Rule};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the files of a repository say together, from its root down to the working directory.
#[derive(Debug, Default)]
pub(crate) struct RepositoryConfig {
    pub(crate) modes: Vec<PermissionMode>,
    pub(crate) deny: Vec<Rule>,
    /// The strictest sandbox that was asked for.
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) limits: Vec<Limits>,
    /// Files that were found.
    pub(crate) paths: Vec<PathBuf>,
    /// What was not used, and why.
    pub(crate) refused: Vec<String>,
}

impl RepositoryConfig {
    /// Reads the files of the repository that the directory lies in.
    pub(crate) fn find(directory: &Path) -> Self {
        let mut config = Self::default();
        for folder in project::folders(directory) {
            let path = folder.join(".agent").join("config.toml");
            match inside(folder, &path).and_then(|()| read::<Table>(&path)) {
                Ok(table) => {
                    if path.exists() {
                        config.paths.push(path.clone());
                    }
                    config.take(&path, table);
                }
                Err(failure) => config.refused.push(failure.message),
            }
        }
        config
    }

    fn take(&mut self, path: &Path, table: Table) {
        for (key, value) in table {
            if let Err(why) = self.take_entry(&key, value) {
                self.refused.push(format!("use `{key}` of {}: {why}", path.display()));
            }
        }
    }

    fn take_entry(&mut self, key: &str, value: Value) -> Result<(), String> {
        match key {
            "permission_mode" => self.modes.push(value.try_into().map_err(text)?),
            "sandbox" => {
                let wanted: Sandbox = value.try_into().map_err(text)?;
                self.sandbox = Some(self.sandbox.map_or(wanted, |found| found.min(wanted)));
            }
            "limits" => {
                let limits: LimitsConfig = value.try_into().map_err(text)?;
                self.limits.push(limits_of(&limits)?);
            }
            "deny" => {
                let Value::Array(rules) = value else { return Err(String::from("a list of rules is expected")) };
                let mut wrong = Vec::new();
                for rule in rules {
                    match rule.try_into() {
                        Ok(rule) => self.deny.push(rule),
                        Err(error) => wrong.push(text(error)),
                    }
                }
                if !wrong.is_empty() {
                    return Err(wrong.join("; "));
                }
            }
            _ => {
                return Err(String::from(
                    "a repository may only set `deny`, a stricter `permission_mode` or `sandbox`, and lower `limits`",
                ));
            }
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are handed over as `map_err` gives them")]
fn text(error: toml::de::Error) -> String {
    error.message().to_owned()
}

/// A repository must not have files from elsewhere read, and quoted in errors, by a link.
fn inside(folder: &Path, path: &Path) -> Result<(), Failure> {
    match path.canonicalize() {
        Ok(real) if !real.starts_with(folder) => {
            Err(Failure::config(format!("read the configuration {}: it is a link out of the project", path.display())))
        }
        // What cannot be found or followed is said by the attempt to read it.
        Ok(_) | Err(_) => Ok(()),
    }
}
