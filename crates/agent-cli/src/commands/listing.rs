//! `agent commands` and `agent skills`: what there is at the prompt, for people and for other front ends.

use crate::commands::args::{Commands, Skills};
use crate::commands::prompt::registry::{help_lines, listed};
use crate::config::project::working_directory;
use crate::config::settings::repository_config;
use crate::failure::Failure;
use crate::screen::terminal::{inline, print, print_json, say};
use crate::skills::{self, Found, Skill};
use serde::Serialize;
use std::path::Path;

/// A skill for other programs.
#[derive(Serialize)]
struct ListedSkill<'a> {
    name: &'a str,
    description: &'a str,
    file: &'a Path,
    /// Whether it is the project's, and not the user's.
    of_project: bool,
}

/// `agent skills`: those that a session here would have. What is wrong with others goes to standard error.
pub(crate) fn skills(arguments: &Skills) -> Result<u8, Failure> {
    let directory = working_directory(arguments.directory.as_deref())?;
    let (_, trust) = repository_config(&directory)?;
    let Found { skills, notes } = skills::users().with(trust.is_given.then_some(trust.skills));
    notes.iter().for_each(|note| say(&format!("agent: {}", inline(note))));
    let listed = |skill: &Skill| {
        format!("{}  {}\n  {}\n", skill.name, inline(&skill.description), inline(&skill.file.display().to_string()))
    };
    let written = if arguments.json {
        let listed = skills.iter().map(|Skill { name, description, file, is_of_project, .. }| ListedSkill {
            name,
            description,
            file,
            of_project: *is_of_project,
        });
        print_json(&serde_json::to_string_pretty(&listed.collect::<Vec<_>>()).map_err(Failure::internal)?)
    } else {
        print(&skills.iter().map(listed).collect::<String>())
    };
    written.map_err(|error| Failure::internal(format!("cannot list the skills: {error}")))?;
    Ok(0)
}

/// Lists the commands.
pub(crate) fn run(arguments: &Commands) -> Result<u8, Failure> {
    let written = if arguments.json {
        print_json(&serde_json::to_string_pretty(&listed()).map_err(Failure::internal)?)
    } else {
        print(&help_lines().iter().map(|(usage, help)| format!("{usage}  {help}\n")).collect::<String>())
    };
    written.map_err(|error| Failure::internal(format!("cannot list the commands: {error}")))?;
    Ok(0)
}
