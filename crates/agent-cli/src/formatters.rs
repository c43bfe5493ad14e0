//! Which formatters are used: the user's first, then those of a repository that the user trusts.

use crate::config_file::{FormatterEntry, UserConfig};
use crate::failure::Failure;
use crate::repository_config::RepositoryConfig;
use agent_hooks::{FormatterConfig, FormatterInput};
use std::path::{Path, PathBuf};

/// The formatters of the user's configuration.
pub(crate) fn of_user(user: &UserConfig) -> Result<Vec<FormatterConfig>, Failure> {
    let entries = user.formatters.iter().map(|entry| {
        if !entry.program.is_absolute() {
            let program = entry.program.display();
            return Err(Failure::config(format!("use the formatter `{program}`: its path has to be absolute")));
        }
        Ok(formatter(entry, entry.program.clone()))
    });
    entries.collect()
}

/// Those that a trusted repository names.
pub(crate) fn of_repository(config: &RepositoryConfig) -> Vec<FormatterConfig> {
    config.formatters.iter().map(|(file, entry)| formatter(entry, program_of(file, entry))).collect()
}

/// For people: what a trusted workspace uses.
pub(crate) fn shown(config: &RepositoryConfig) -> Vec<String> {
    let named = config.formatters.iter().map(|(file, entry)| {
        let words: Vec<String> = std::iter::once(program_of(file, entry).display().to_string())
            .chain(entry.arguments.iter().cloned())
            .collect();
        format!("the formatter `{}` for {}, of {}", words.join(" "), entry.extensions.join(", "), file.display())
    });
    named.collect()
}

/// A relative path is one in the folder that the configuration is for.
fn program_of(file: &Path, entry: &FormatterEntry) -> PathBuf {
    let folder = file.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    folder.join(&entry.program)
}

fn formatter(entry: &FormatterEntry, program: PathBuf) -> FormatterConfig {
    FormatterConfig {
        extensions: entry.extensions.clone(),
        program,
        arguments: entry.arguments.clone(),
        input: if entry.stdin { FormatterInput::Stdin } else { FormatterInput::File },
        timeout_ms: entry.timeout_ms,
    }
}
