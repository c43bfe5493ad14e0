//! `agent undo`: takes back the agent's changes of the last turns.

use crate::commands::args::Undo;
use crate::config::file::record_key;
use crate::config::settings::users_config;
use crate::failure::Failure;
use crate::screen::terminal::{inline, print, say};
use crate::session::setup::clear_leftovers;
use crate::walls::own_git::OwnGit;
use crate::walls::own_programs;
use crate::walls::protected::{Protection, git_settings, own_places};
use crate::walls::search_path;
use agent_core::ports::NeverCancelled;
use agent_git::{HooksConfig, UndoError, Undone, undo, undo_begun, working_tree};
use std::path::{Path, PathBuf};

/// Takes turns back, says what became of every file, and returns the exit code: 0 if all of them are as before.
pub(crate) async fn run(arguments: &Undo) -> Result<u8, Failure> {
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => {
            std::env::current_dir().map_err(|error| Failure::input(format!("cannot undo: the directory: {error}")))?
        }
    };
    let directory = directory
        .canonicalize()
        .map_err(|error| Failure::input(format!("cannot undo in {}: {error}", directory.display())))?;
    let turns = usize::try_from(arguments.turns).unwrap_or(usize::MAX);
    clear_leftovers(false);
    let (config, git) = config(directory)?;
    let undone = undo(&config, &git, turns, &NeverCancelled).await;
    let undone = undone.map_err(|error| failed(&error))?;
    tell(&undone, turns).map_err(|error| Failure::internal(format!("cannot report what was undone: {error}")))?;
    Ok(u8::from(!undone.left.is_empty()))
}

/// Takes back the turns that began at a time that is meant, or only looks what would become of the files. Nothing when there is no such
/// turn.
pub(crate) async fn begun(
    directory: &Path,
    is_meant: &(dyn Fn(u64) -> bool + Sync),
    only_look: bool,
) -> Result<Option<Undone>, Failure> {
    let (config, git) = config(directory.to_owned())?;
    match undo_begun(&config, &git, is_meant, only_look, &NeverCancelled).await {
        Ok(undone) => Ok(Some(undone)),
        Err(UndoError::NoTurn) => Ok(None),
        Err(error @ UndoError::NoUsableTurn(_)) => {
            say(&format!("agent: {}", inline(&error.to_string())));
            Ok(None)
        }
        Err(error) => Err(failed(&error)),
    }
}

/// What is not restored, and how git is called.
fn config(directory: PathBuf) -> Result<(HooksConfig, OwnGit), Failure> {
    // All of the working tree goes back, wherever in it undo is called.
    let directory = working_tree(&directory).unwrap_or(directory);
    let user = users_config()?;
    let programs = search_path::of(&directory, &user);
    let found = Protection::find(&directory, &programs);
    let (git, repositories) = (git_settings(&directory, &programs, &found.folders()), found.repositories());
    let protected =
        own_places().into_iter().chain(git.kept().cloned()).chain(repositories).chain(found.linked()).collect();
    let git = OwnGit::new(&directory, own_programs::processes(&programs));
    Ok((HooksConfig { protected, record_key: record_key(), ..HooksConfig::new(directory) }, git))
}

fn failed(error: &UndoError) -> Failure {
    match error {
        UndoError::Failed(_) => Failure::internal(error),
        _ => Failure::input(error),
    }
}

/// A line for each file, in these words for what goes back and what goes away.
pub(crate) fn files(undone: &Undone, words: [&str; 2]) -> String {
    let mut out = String::new();
    for (word, paths) in words.into_iter().zip([&undone.restored, &undone.removed]) {
        for path in paths {
            out.push_str(&format!("{word} {}\n", inline(path)));
        }
    }
    for (path, reason) in &undone.left {
        out.push_str(&format!("left {}: {}\n", inline(path), inline(reason)));
    }
    out
}

/// What else there is to say.
pub(crate) fn say_notes(undone: &Undone) {
    undone.notes.iter().for_each(|note| say(&format!("agent: {}", inline(note))));
    if !undone.commands.is_empty() {
        say("agent: what these commands changed is unknown and stays:");
        undone.commands.iter().for_each(|command| say(&format!("  {}", inline(command))));
    }
}

fn tell(undone: &Undone, asked: usize) -> std::io::Result<()> {
    print(&files(undone, ["restored", "removed"]))?;
    say_notes(undone);
    let number = match (undone.turns, asked) {
        (1, _) => String::from("one turn"),
        (turns, asked) if turns < asked => format!("{turns} turns, all that are recorded,"),
        (turns, _) => format!("{turns} turns"),
    };
    let (changed, left) = (undone.restored.len() + undone.removed.len(), undone.left.len());
    let kept = match left {
        1 => "1 file stays as it is, see above".to_owned(),
        left => format!("{left} files stay as they are, see above"),
    };
    let undos = match (undone.undos, undone.turns) {
        (0, _) => "",
        (1, 1) => ", which was an undo itself",
        (1, _) => ", one of them an undo itself",
        _ => ", some of them undos themselves",
    };
    let again = "commits stay; `agent undo` again reverses the undo";
    say(&match (changed, left) {
        (0, 0) => {
            let turn = if undone.turns == 1 { "that turn" } else { "those turns" };
            let more = undone.turns + 1;
            format!(
                "agent: nothing to undo in {number}: the files are already as before {turn}; `agent undo {more}` goes further back"
            )
        }
        (0, 1..) => format!("agent: nothing undone: {kept}"),
        (_, 1..) => format!("agent: {number} partly undone{undos}: {kept}; {again}"),
        (_, 0) => format!("agent: {number} undone{undos}; {again}"),
    });
    Ok(())
}
