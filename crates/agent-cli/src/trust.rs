//! `agent trust`: in a workspace that the user trusts, programs are used that the repository names or configures, and nowhere else.
//!
//! What is trusted is where a project begins, the root of the repository that the directory lies in, or the directory itself; and what is named
//! there at the time. Other programs, or a script with other content, are not, until the user was shown them.

use crate::args::Trust as Arguments;
use crate::config_file::{UserConfig, read, state_home, user_config_path};
use crate::failure::Failure;
use crate::formatters;
use crate::hook_places::{self, Ground};
use crate::programs;
use crate::project;
use crate::repository_config::RepositoryConfig;
use crate::search_path;
use crate::settings::working_directory;
use crate::terminal::{inline, print, say};
use agent_hooks::{Place, Programs, Standing, TrustStore};
use std::io::{IsTerminal as _, stdin};
use std::path::Path;

/// Whether the programs are used that a project names, and what there is to say about it.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    pub(crate) is_given: bool,
    /// Whether its programs may run outside of the sandbox, where that can be done.
    pub(crate) is_outside: bool,
    /// What was compared with what was trusted.
    pub(crate) programs: Programs,
    pub(crate) told: Vec<String>,
}

/// Whether the user trusts the project that a directory lies in, with what it names.
///
/// # Errors
/// Where the user trusts it, or did before it changed, and what it names cannot be used.
pub(crate) fn of(directory: &Path, config: &RepositoryConfig) -> Result<Trust, Failure> {
    let known = store().zip(Place::at(&project::root(directory)).ok());
    let programs = programs::named(directory, config);
    let standing = known.as_ref().map_or(Standing::Untrusted, |(store, place)| store.standing(place, &programs));
    let is_given = standing == Standing::Trusted;
    let is_outside = is_given && known.as_ref().is_some_and(|(store, place)| is_outside(store, place));
    let mut told = Vec::new();
    match standing {
        Standing::Trusted | Standing::Changed | Standing::Outdated => config.check_programs()?,
        _ => told.extend(config.unusable.iter().cloned()),
    }
    match standing {
        Standing::Trusted => {}
        Standing::Changed => {
            told.push(format!("programs of the repository: {CHANGED}"));
            let trusted = known.and_then(|(store, place)| store.programs(&place)).unwrap_or_default();
            told.extend(programs::differences(&trusted, &programs));
        }
        Standing::Outdated => told.push(format!("programs of the repository: {OUTDATED}")),
        _ => {
            let named = [("formatters", config.formatters.is_empty()), ("hooks", config.hooks.is_empty())];
            let named = named.into_iter().filter(|(_, is_empty)| !is_empty);
            told.extend(named.map(|(key, _)| format!("`{key}` of the repository: it is not trusted ({SHOWS})")));
        }
    }
    Ok(Trust { is_given, is_outside, programs, told })
}

/// `agent trust`: exit code 0 when the workspace is trusted afterwards, or was to be trusted no longer; 1 when it is not trusted.
pub(crate) fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let directory = working_directory(arguments.directory.as_deref())?;
    let root = project::root(&directory);
    let failed = |error: std::io::Error| Failure::internal(format!("trust {}: {error}", root.display()));
    let store = store()
        .ok_or_else(|| Failure::config("keep what is trusted: there is no home directory; set AGENT_STATE_HOME"))?;
    let place = Place::at(&root).map_err(failed)?;
    if arguments.revoke {
        let was_there = store.revoke(&place).map_err(failed)?;
        let word = if was_there { "trusted no longer" } else { "was not trusted" };
        say(&format!("agent: {}: {word}", inline(&root.display().to_string())));
        return Ok(0);
    }
    let config = RepositoryConfig::find(&directory);
    config.check()?;
    config.check_programs()?;
    let mut programs = programs::named(&directory, &config);
    let standing = store.standing(&place, &programs);
    // It was said once; to say it again, or to take it back, is to be asked again.
    let was_outside = standing == Standing::Trusted && is_outside(&store, &place);
    let is_outside = arguments.outside_sandbox || was_outside;
    let mut shown = describe(&config, &directory, standing, is_outside)?;
    if standing == Standing::Changed {
        let differences = programs::differences(&store.programs(&place).unwrap_or_default(), &programs);
        differences.iter().for_each(|line| shown.push_str(&format!("{}\n", inline(line))));
    }
    print(&shown).map_err(|error| Failure::internal(format!("show what trust enables: {error}")))?;
    let is_as_wanted = standing == Standing::Trusted && is_outside == was_outside;
    if arguments.show || is_as_wanted {
        return Ok(u8::from(standing != Standing::Trusted));
    }
    if !arguments.yes && !is_agreed()? {
        say("agent: not trusted");
        return Ok(1);
    }
    programs::run_outside(&mut programs, is_outside);
    store.trust(&place, &programs).map_err(failed)?;
    say("agent: trusted from now on; `agent trust --revoke` takes it back");
    Ok(0)
}

/// What trust would enable, or enables.
fn describe(
    config: &RepositoryConfig,
    directory: &Path,
    standing: Standing,
    is_outside: bool,
) -> Result<String, Failure> {
    let root = &project::root(directory);
    let user: UserConfig = user_config_path().map_or_else(|| Ok(UserConfig::default()), |path| read(&path))?;
    let said = match standing {
        Standing::Trusted => String::from("trusted"),
        Standing::Changed => format!("not trusted: {CHANGED}"),
        Standing::Outdated => format!("not trusted: {OUTDATED}"),
        Standing::Replaced => String::from("not trusted: another directory was, that is not there any more"),
        _ => String::from("not trusted"),
    };
    let would = if standing == Standing::Trusted { "it uses" } else { "trusted, it would use" };
    let mut text = format!("{}: {said}\n", inline(&root.display().to_string()));
    let mut programs = formatters::shown(config, root, &search_path::of(root, &user));
    let ground = Ground { directory, user: &user, has_sandbox: true };
    programs.extend(hook_places::shown(config, is_outside, ground));
    if programs.is_empty() {
        text.push_str(&format!(
            "trusted, it {would} no program of the repository's, nor one that the repository configures\n"
        ));
    }
    for program in programs {
        text.push_str(&format!("{would} {}\n", inline(&program)));
    }
    if !config.hooks.is_empty() && !is_outside {
        text.push_str(INSIDE);
    }
    if !user.format_on_edit.unwrap_or(false) {
        text.push_str(
            "formatters are used only with `--format-on-edit`, or `format_on_edit = true` in your configuration\n",
        );
    }
    text.push_str(NEVER);
    Ok(text)
}

/// Whether the user let its programs run outside of the sandbox.
fn is_outside(store: &TrustStore, place: &Place) -> bool {
    store.programs(place).is_some_and(|programs| programs::is_outside(&programs))
}

/// Asks the person at the terminal.
fn is_agreed() -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage("nobody can be asked here: `--yes` trusts, `--show` only shows"));
    }
    say("agent: trust it with this? [y/N]");
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(|error| Failure::input(format!("read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// In the user's own files: nothing in a repository can make it trusted.
fn store() -> Option<TrustStore> {
    state_home().map(|home| TrustStore::new(home.join("trust")))
}

const INSIDE: &str = "`--outside-sandbox` lets hooks that are one script of the workspace run as you, from a copy of the script as it is now\n";
const SHOWS: &str = "`agent trust --show`";
const CHANGED: &str = "they are not what was trusted; `agent trust` asks again";
const OUTDATED: &str = "an older version trusted the directory, and did not keep with what; `agent trust` asks again";
const NEVER: &str = "trusted or not, a repository cannot allow calls, loosen the permission mode, the sandbox or limits, or choose the \
    provider or model; git's hooks, filters and helper programs are not run\n";
