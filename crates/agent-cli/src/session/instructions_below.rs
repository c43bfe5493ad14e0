//! Instructions of the directories in which the agent works: a tool that reads, changes or lists something below the working directory
//! reports the files of instructions on the way there. The session decides which of them the model is given.
//!
//! 1. A file is opened by the same rules as one of the system prompt, and it must be one that `read_file` may read without a question.
//! 2. What `.gitignore` leaves out was not written for the project: packages bring files for agents, too.
//! 3. Those of the system prompt are looked at as well, so that a change of one is noticed.
//! 4. Absent: what the model was given. That belongs to the session, so that its journal tells it.

use crate::session::above::Above;
use crate::session::project_instructions::{Finding, normalised};
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::instructions::{Instructions, KnownInstructions};
use agent_core::permission::{Decision, Exclusions, Permissions};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, HookVerdict, Inspection, ToolOutcome, ToolSpec, ToolStatus};
use agent_tools::Workspace;
use async_trait::async_trait;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The same tools, which report instructions.
pub(crate) fn reporting(
    tools: Vec<Arc<dyn Tool>>,
    workspace: &Arc<Workspace>,
    permissions: &Permissions,
    above: &Above,
) -> Vec<Arc<dyn Tool>> {
    let (workspace, permissions, above) = (Arc::clone(workspace), permissions.clone(), above.clone());
    let finder = Arc::new(Finder { workspace, permissions, above });
    tools.into_iter().map(|tool| Arc::new(Reporting { tool, finder: Arc::clone(&finder) }) as Arc<dyn Tool>).collect()
}

struct Reporting {
    tool: Arc<dyn Tool>,
    finder: Arc<Finder>,
}

#[async_trait]
impl Tool for Reporting {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        self.tool.inspect(arguments)
    }

    fn foresee(&self, arguments: &Arguments) -> Option<String> {
        self.tool.foresee(arguments)
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let outcome = self.tool.run(call, context).await;
        // What failed, or was denied, has touched nothing.
        let touched = (outcome.status == ToolStatus::Ok).then(|| self.tool.inspect(&call.arguments).ok()).flatten();
        let Some(paths) = touched.as_ref().and_then(|inspection| inspection.subject.paths()) else { return outcome };
        let look = Look {
            paths: paths.to_vec(),
            known: Arc::clone(&context.known),
            exclusions: context.exclusions.clone(),
            effect: context.effect,
        };
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find(&look)).await;
        outcome.with_instructions(found.unwrap_or_default())
    }
}

/// What a call was about.
struct Look {
    /// Relative to the workspace.
    paths: Vec<String>,
    known: KnownInstructions,
    exclusions: Exclusions,
    effect: Effect,
}

struct Finder {
    workspace: Arc<Workspace>,
    permissions: Permissions,
    above: Above,
}

impl Finder {
    /// The files that the session does not know as they are now, the outermost first.
    fn find(&self, look: &Look) -> Vec<Instructions> {
        let root = self.workspace.root();
        let mut finding = Finding::keeping(root, |path| self.kept_from_model(look, path));
        for path in &look.paths {
            for directory in directories(root, path).into_iter().take(MOST_LEVELS) {
                let shown = directory.to_string_lossy();
                if !self.workspace.is_left_out(&shown) {
                    finding.add_folder(&root.join(&directory));
                }
            }
        }
        let mut found = finding.take_found();
        found.extend(finding.into_unusable(root));
        found.retain(|file| look.known.get(&file.path) != Some(&file.digest));
        for file in &mut found {
            let is_its_own = |path: &String| root.join(path) == Path::new(&file.path);
            if look.effect == Effect::Changes && look.paths.iter().any(is_its_own) {
                file.text = String::new();
            }
        }
        found
    }

    /// Why the model may not read a file by itself, if so. What lies outside of the workspace belongs to the system prompt, and obeys the
    /// rules that are read from there.
    fn kept_from_model(&self, look: &Look, path: &Path) -> Option<String> {
        let Some(path) = normalised(path) else { return Some(String::from("its path leads out of everything")) };
        let Ok(inside) = path.strip_prefix(self.workspace.root()) else { return self.above.keep_from_model(&path) };
        let inside = inside.to_string_lossy();
        let runs = |read: &Inspection| {
            matches!(self.permissions.decide("read_file", read, &HookVerdict::None), Decision::Run(_))
        };
        let is_excluded = || look.exclusions.covering(&inside).map(|rule| format!("`{rule}` denies it"));
        is_excluded().or_else(|| self.workspace.open_to_show(&inside, runs).err())
    }
}

/// The directories below the working directory on the way to a path, itself included if it is one, the outermost first.
fn directories(root: &Path, path: &str) -> Vec<PathBuf> {
    let path = Path::new(path);
    if path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Vec::new();
    }
    let mut way = PathBuf::new();
    let mut found = Vec::new();
    for part in path.components().filter(|part| matches!(part, Component::Normal(_))) {
        way.push(part);
        if !root.join(&way).symlink_metadata().is_ok_and(|found| found.is_dir()) {
            break;
        }
        found.push(way.clone());
    }
    found
}

/// Directories below the working directory that are looked at for one path.
const MOST_LEVELS: usize = 32;

#[cfg(test)]
mod tests;
