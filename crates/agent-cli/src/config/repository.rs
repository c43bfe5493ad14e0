//! The repository's configuration: untrusted, so it may only tighten.
//!
//! 1. What it forbids holds, or nothing does: a file that cannot be read, or a rule in it, is an error and not left out.
//! 2. What it may not say is left out, and takes no other part with it.
//! 3. Programs that it names are used only in a workspace that the user trusts, and there all of them or none: a guard that cannot be read
//!    is not left out.

use crate::config::entries::{self, Named};
use crate::config::file::{FormatterEntry, HookEntry, LimitsConfig, parse, text_of};
use crate::config::options::Sandbox;
use crate::config::project;
use crate::failure::Failure;
use crate::hooks;
use crate::session::above::Above;
use crate::walls::hidden;
use agent_core::budget::Limits;
use agent_core::permission::{PermissionMode, Rule};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the files of a repository say together, from its root down to the working directory.
#[derive(Debug, Default)]
pub(crate) struct RepositoryConfig {
    /// Where the session works.
    directory: PathBuf,
    pub(crate) modes: Vec<PermissionMode>,
    pub(crate) deny: Vec<Rule>,
    /// What of it was said above the working directory, as it was written.
    pub(crate) above: Above,
    /// The strictest sandbox that was asked for.
    pub(crate) sandbox: Option<Sandbox>,
    /// What commands must not read; absolute, in the repository.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) limits: Vec<Limits>,
    /// Programs that it names; for trusted workspaces only.
    pub(crate) formatters: Vec<Named<FormatterEntry>>,
    /// The same of hooks.
    pub(crate) hooks: Vec<Named<HookEntry>>,
    /// What of both cannot be used.
    pub(crate) unusable: Vec<String>,
    /// Files that were found.
    pub(crate) paths: Vec<PathBuf>,
    /// What it may not say, and so was left out.
    pub(crate) refused: Vec<String>,
    /// What cannot be read although it may forbid something.
    pub(crate) broken: Vec<String>,
}

/// What is wrong with an entry.
enum Wrong {
    /// It is none of those that a repository may set.
    Refused(String),
    /// It is one of them and cannot be read.
    Broken(String),
}

impl RepositoryConfig {
    /// Reads the files of the repository that the directory lies in.
    pub(crate) fn find(directory: &Path) -> Self {
        let mut config = Self { directory: directory.to_path_buf(), ..Self::default() };
        // Said by the session, and as git has it: what another user wrote there is nothing to this one.
        if project::of_another_user(directory).is_some() {
            return config;
        }
        for folder in project::folders(directory) {
            let path = folder.join(".agent").join("config.toml");
            if let Err(failure) = inside(folder, &path).and_then(|()| config.read(&path)) {
                config.broken.push(failure.message);
            }
        }
        config
    }

    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        if let Some(text) = text_of(path)? {
            self.paths.push(path.to_path_buf());
            self.take(path, parse(path, &text)?, &text);
        }
        Ok(())
    }

    /// Refuses a configuration that may forbid something unreadable.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.broken.as_slice() {
            [] => Ok(()),
            broken => Err(Failure::config(format!("{}; it is unknown what it forbids", broken.join("; ")))),
        }
    }

    /// Refuses programs that cannot be used, where they would be.
    pub(crate) fn check_programs(&self) -> Result<(), Failure> {
        match self.unusable.as_slice() {
            [] => Ok(()),
            unusable => Err(Failure::config(format!(
                "{}; a trusted workspace must be usable as a whole: fix or remove it",
                unusable.join("; ")
            ))),
        }
    }

    /// The working directory, from the folder that has this file in its `.agent`. Rules are written from there.
    fn below(&self, path: &Path) -> String {
        let folder = path.parent().and_then(Path::parent).unwrap_or(path);
        let below = self.directory.strip_prefix(folder).unwrap_or(Path::new(""));
        let names: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        names.join("/")
    }

    fn take(&mut self, path: &Path, table: Table, text: &str) {
        for (key, value) in table {
            let said = |why: &str| format!("cannot use `{key}` of {}: {why}", path.display());
            match self.take_entry(path, &key, value, text) {
                Ok(()) => {}
                Err(Wrong::Refused(why)) => self.refused.push(said(&why)),
                Err(Wrong::Broken(why)) => self.broken.push(said(&why)),
            }
        }
    }

    fn take_entry(&mut self, path: &Path, key: &str, value: Value, text: &str) -> Result<(), Wrong> {
        match key {
            "permission_mode" => self.modes.push(value.try_into().map_err(broken)?),
            "sandbox" => {
                let wanted: Sandbox = value.try_into().map_err(broken)?;
                self.sandbox = Some(self.sandbox.map_or(wanted, |found| found.min(wanted)));
            }
            "sandbox_hidden" => {
                let paths: Vec<PathBuf> = value.try_into().map_err(broken)?;
                self.hidden.extend(hidden::of_repository(path, &paths).map_err(Wrong::Broken)?);
            }
            "limits" => {
                let limits: LimitsConfig = value.try_into().map_err(broken)?;
                self.limits.push(limits.limits().map_err(Wrong::Broken)?);
            }
            "deny" => {
                let rules: Vec<Rule> = value.try_into().map_err(broken)?;
                let below = self.below(path);
                if let Some(folder) = path.parent().and_then(Path::parent).filter(|folder| *folder != self.directory) {
                    self.above.add(folder, rules.clone());
                }
                self.deny.extend(rules.iter().flat_map(|rule| rule.from_above(&below)));
            }
            "formatters" => match entries::formatters(path, text) {
                Ok(named) => self.formatters.extend(named),
                Err(why) => self.unusable.push(why),
            },
            "hooks" => match entries::hooks(path, text) {
                Ok(named) => {
                    self.unusable.extend(named.iter().filter_map(|named| hooks::check(named).err()));
                    self.hooks.extend(named);
                }
                Err(why) => self.unusable.push(why),
            },
            _ => {
                return Err(Wrong::Refused(String::from(
                    "a repository may only set `deny`, a stricter `permission_mode` or `sandbox`, `sandbox_hidden`, lower `limits`, `formatters`, and `hooks`",
                )));
            }
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are handed over as `map_err` gives them")]
fn broken(error: toml::de::Error) -> Wrong {
    Wrong::Broken(error.message().to_owned())
}

/// A repository must not have files from elsewhere read, and quoted in errors, by a link; and a link that leads nowhere is not the same as
/// no file.
fn inside(folder: &Path, path: &Path) -> Result<(), Failure> {
    let failed = |why: &str| Err(Failure::config(format!("cannot read the configuration {}: {why}", path.display())));
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    match path.canonicalize() {
        Ok(real) if !real.starts_with(folder) => failed("it is a link that leads out of the project"),
        Err(error) if error.kind() == ErrorKind::NotFound && path.ancestors().take(2).any(is_link) => {
            failed("it is a broken link")
        }
        // What else cannot be followed is said by the attempt to read it.
        Ok(_) | Err(_) => Ok(()),
    }
}
