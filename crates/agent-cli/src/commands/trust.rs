//! `agent trust`: shows what trust in a workspace enables, and keeps what the user says.

use crate::commands::args::Trust;
use crate::config::file::{UserConfig, read, user_config_path};
use crate::config::project::{self, working_directory};
use crate::config::repository::RepositoryConfig;
use crate::failure::Failure;
use crate::hooks::formatters;
use crate::hooks::places::{self, Ground};
use crate::hooks::programs;
use crate::hooks::trust::{CHANGED, OUTDATED, is_outside, named, store};
use crate::mcp::files;
use crate::screen::confirm::confirmed;
use crate::screen::terminal::{in_rows, inline, judged, print, say, shown_path};
use crate::skills::{self, Found, Skill};
use crate::walls::search_path;
use agent_hooks::{Place, Standing};
use std::io::{IsTerminal as _, stdin};
use std::path::Path;

/// `agent trust`: exit code 0 when the workspace is trusted afterwards, or was to be trusted no longer; 1 when it is not trusted.
pub(crate) fn run(arguments: &Trust) -> Result<u8, Failure> {
    let directory = working_directory(arguments.directory.as_deref())?;
    let root = project::root(&directory);
    let failed = |error: std::io::Error| Failure::internal(format!("cannot trust {}: {error}", shown_path(&root)));
    let store = store()
        .ok_or_else(|| Failure::config("cannot record the trust: there is no home directory; set AGENT_STATE_HOME"))?;
    let place = Place::at(&root).map_err(failed)?;
    if arguments.revoke {
        let was_there = store.revoke(&place).map_err(failed)?;
        let word = if was_there { "no longer trusted" } else { "was not trusted" };
        say(&format!("agent: {}: {word}", shown_path(&root)));
        return Ok(0);
    }
    let config = RepositoryConfig::find(&directory);
    config.check()?;
    config.check_programs()?;
    let skills = skills::of_project(&directory);
    let servers = files::of_repository(&directory);
    let mut programs = named(&directory, &config, &skills, &servers);
    let standing = store.standing(&place, &programs);
    // It was said once; to say it again, or to take it back, is to be asked again.
    let was_outside = standing == Standing::Trusted && is_outside(&store, &place);
    let is_outside = arguments.outside_sandbox || was_outside;
    let mut shown = describe(&config, (&skills, &servers), &directory, standing, is_outside)?;
    if standing == Standing::Changed {
        let differences = programs::differences(&store.programs(&place).unwrap_or_default(), &programs);
        differences.iter().for_each(|line| shown.push_str(&format!("{}\n", judged(line))));
    }
    print(&in_rows(&shown)).map_err(|error| Failure::internal(format!("cannot show what trust enables: {error}")))?;
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
    say("agent: trusted from now on, for sessions that begin after this; `agent trust --revoke` withdraws it");
    Ok(0)
}

/// What trust would enable, or enables.
fn describe(
    config: &RepositoryConfig,
    (skills, servers): (&Found, &files::Found),
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
        Standing::Replaced => String::from("not trusted: the trusted directory at this path has been replaced"),
        _ => String::from("not trusted"),
    };
    let would = if standing == Standing::Trusted { "it uses" } else { "if trusted, it would use" };
    let mut text = format!("{}: {said}\n", shown_path(root));
    let mut programs = formatters::shown(config, root, &search_path::of(root, &user));
    let ground = Ground { directory, user: &user, has_sandbox: true };
    programs.extend(places::shown(config, is_outside, ground));
    let skill =
        |skill: &Skill| format!("the skill `{}` of {}: {}", skill.name, shown_path(&skill.file), skill.description);
    programs.extend(skills.skills.iter().map(skill));
    programs
        .extend(servers.servers.iter().map(|server| format!("the MCP server `{}`: {}", server.name, server.shown())));
    if programs.is_empty() {
        text.push_str(&format!("{would} none of the repository's hooks, formatters, skills and MCP servers\n"));
    }
    for program in programs {
        text.push_str(&format!("{would} {}\n", judged(&program)));
    }
    if !config.hooks.is_empty() && !is_outside {
        text.push_str(INSIDE);
    }
    if !user.format_on_edit.unwrap_or(false) {
        text.push_str(
            "formatters are used only with `--format-on-edit`, or `format_on_edit = true` in your configuration\n",
        );
    }
    skills.notes.iter().chain(&servers.faults).for_each(|note| text.push_str(&format!("{}\n", inline(note))));
    text.push_str(NEVER);
    Ok(text)
}

/// Asks the person at the terminal.
fn is_agreed() -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage("no one is at a terminal to confirm: `--yes` trusts, `--show` only shows"));
    }
    confirmed("agent: trust this?").map_err(|error| Failure::input(format!("cannot read the answer: {error}")))
}

const INSIDE: &str = "`--outside-sandbox` lets hooks that are a single script in the workspace run as you, from a copy of the script as \
                      it is now\n";
const NEVER: &str = "trusted or not, a repository cannot allow calls, loosen the permission mode, the sandbox or limits, or choose the \
    provider or model; git's hooks, filters and helper programs are not run\n";
