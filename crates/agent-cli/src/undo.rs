//! `agent undo`: takes back the agent's changes of the last turns.

use crate::args::Undo;
use crate::failure::Failure;
use crate::terminal::{inline, print, say};
use agent_core::ports::CancelSignal;
use agent_exec::Processes;
use agent_hooks::{HooksConfig, UndoError, Undone, undo};
use async_trait::async_trait;

/// Takes turns back, says what became of every file, and returns the exit code: 0 if all of them are as before.
pub(crate) async fn run(arguments: &Undo) -> Result<u8, Failure> {
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => std::env::current_dir().map_err(|error| Failure::input(format!("undo: the directory: {error}")))?,
    };
    let directory = directory
        .canonicalize()
        .map_err(|error| Failure::input(format!("undo in {}: {error}", directory.display())))?;
    let turns = usize::try_from(arguments.turns).unwrap_or(usize::MAX);
    let undone =
        undo(&HooksConfig::new(directory), &Processes::new(), turns, &Never).await.map_err(|error| match error {
            UndoError::Failed(_) => Failure::internal(error),
            _ => Failure::input(error),
        })?;
    tell(&undone, turns).map_err(|error| Failure::internal(format!("say what was undone: {error}")))?;
    Ok(u8::from(!undone.left.is_empty()))
}

fn tell(undone: &Undone, asked: usize) -> std::io::Result<()> {
    let mut out = String::new();
    for (word, paths) in [("restored", &undone.restored), ("removed", &undone.removed)] {
        for path in paths {
            out.push_str(&format!("{word} {}\n", inline(path)));
        }
    }
    for (path, reason) in &undone.left {
        out.push_str(&format!("left {}: {}\n", inline(path), inline(reason)));
    }
    print(&out)?;
    undone.notes.iter().for_each(|note| say(&format!("agent: {}", inline(note))));
    if !undone.commands.is_empty() {
        say("agent: what these commands changed is not known and stays:");
        undone.commands.iter().for_each(|command| say(&format!("  {}", inline(command))));
    }
    let number = match (undone.turns, asked) {
        (1, _) => String::from("one turn"),
        (turns, asked) if turns < asked => format!("{turns} turns, all that are kept,"),
        (turns, _) => format!("{turns} turns"),
    };
    say(&format!("agent: {number} taken back; commits stay; `agent undo` again takes the undo back"));
    Ok(())
}

/// Nobody stops it but by ending the process, and then the files' former content is kept.
struct Never;

#[async_trait]
impl CancelSignal for Never {
    fn is_cancelled(&self) -> bool {
        false
    }

    async fn cancelled(&self) {
        std::future::pending::<()>().await;
    }
}
