//! Which formatters are used: the user's; in a trusted workspace then those that the repository names, and the customary ones that are
//! there.

use crate::config::entries::Named;
use crate::config::file::{FormatterEntry, UserConfig};
use crate::config::repository::RepositoryConfig;
use crate::failure::Failure;
use crate::screen::terminal::{inline, say, shown_path};
use agent_exec::SearchPath;
use agent_hooks::{FormatterConfig, FormatterInput, SettingsFile, recipes};
use std::path::{Path, PathBuf};

/// The formatters of the user's configuration.
pub(crate) fn of_user(user: &UserConfig) -> Result<Vec<FormatterConfig>, Failure> {
    let entries = user.formatters.iter().enumerate().map(|(index, entry)| {
        let wrong = |key: &str, why: &str| {
            let (program, place) = (shown_path(&entry.program), user.places.entry("formatters", index, key));
            Err(Failure::config(format!("cannot use the formatter `{program}`, {place}: {why}")))
        };
        match () {
            () if !entry.program.is_absolute() => wrong("program", "its path must be absolute"),
            () if entry.extensions.is_empty() => {
                wrong("extensions", "it has no file extensions; set them, for example `[\"rs\"]`")
            }
            () if entry.timeout_ms == 0 => wrong("timeout_ms", "its time limit is zero"),
            () => Ok(formatter(entry, entry.program.clone())),
        }
    });
    entries.collect()
}

/// Those of a trusted workspace.
pub(crate) fn of_workspace(config: &RepositoryConfig, root: &Path, programs: &SearchPath) -> Vec<FormatterConfig> {
    let named = config.formatters.iter().map(|named| formatter(&named.entry, program_of(named)));
    named.chain(recipes(Some(programs.directories()), root)).collect()
}

/// Those of a workspace that may run. They do what the repository says, which commands of the model can change: without a sandbox they run
/// only if the user let them, and if they lie outside of the workspace.
pub(crate) fn confined(
    formatters: Vec<FormatterConfig>,
    root: &Path,
    has_sandbox: bool,
    is_outside: bool,
) -> Vec<FormatterConfig> {
    let lies_outside = |program: &Path| {
        !program.starts_with(root) && program.canonicalize().is_ok_and(|program| !program.starts_with(root))
    };
    let (used, left_out): (Vec<_>, Vec<_>) =
        formatters.into_iter().partition(|formatter| has_sandbox || (is_outside && lies_outside(&formatter.program)));
    if !left_out.is_empty() {
        let programs: Vec<String> = left_out.iter().map(|formatter| shown_path(&formatter.program)).collect();
        say(&inline(&format!(
            "agent: not run: the repository's formatters, because there is no sandbox (`agent trust --outside-sandbox` lets those \
             outside the workspace run as you): {}",
            programs.join(", ")
        )));
    }
    used
}

/// For people: what a trusted workspace uses.
pub(crate) fn shown(config: &RepositoryConfig, root: &Path, programs: &SearchPath) -> Vec<String> {
    let files = config.formatters.iter().map(|named| {
        let settings = match named.entry.settings.as_slice() {
            [] => String::new(),
            names => format!(", with the settings {}", names.join(", ")),
        };
        format!("{settings}, of {}", shown_path(&named.file))
    });
    let origins = files.chain(std::iter::repeat(String::from(", as the repository configures it")));
    let formatters = of_workspace(config, root, programs).into_iter().zip(origins);
    let shown = formatters.map(|(formatter, origin)| {
        let program = shown_path(&formatter.program);
        let words: Vec<String> = std::iter::once(program).chain(formatter.arguments).collect();
        format!("the formatter `{}` for {}{origin}", words.join(" "), formatter.extensions.join(", "))
    });
    shown.collect()
}

/// A relative path is one in the folder that the configuration is for.
pub(crate) fn program_of(named: &Named<FormatterEntry>) -> PathBuf {
    named.folder().join(&named.entry.program)
}

fn formatter(entry: &FormatterEntry, program: PathBuf) -> FormatterConfig {
    FormatterConfig {
        extensions: entry.extensions.clone(),
        program,
        arguments: entry.arguments.clone(),
        input: match () {
            () if entry.stdin => FormatterInput::Stdin,
            () if entry.arguments.iter().any(|argument| argument == "{files}") => FormatterInput::Files,
            () => FormatterInput::File,
        },
        settings: entry.settings.iter().map(|name| SettingsFile { name: name.clone(), sign: None }).collect(),
        new_files: true,
        timeout_ms: entry.timeout_ms,
    }
}
