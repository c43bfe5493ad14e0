//! `apply_patch`: changes to several files, all of them or none.

use crate::counted::counted;
use crate::editable::Editable;
use crate::file_tool::{FileKind, Operation, Watch};
use crate::patch::{Applied, Change, Section, apply, parse};
use crate::preview::{FileChange, FileText};
use crate::workspace::{Done, FileError, RelativePath, Staged, Workspace};
use agent_types::tool::ToolOutcome;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

pub(crate) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatchArguments {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    #[schemars(with = "String")]
    patch: Patch,
}

/// A patch that could be read, or why not.
pub(crate) struct Patch(Result<Vec<Section>, String>);

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(parse(&text)))
    }
}

impl Operation for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = "Changes several files in one step, all of them or none. The patch is `*** Begin Patch`, then \
        sections, then `*** End Patch`. A section is `*** Add File: PATH` and the lines of the new file, each after a `+`; or \
        `*** Delete File: PATH`; or `*** Update File: PATH`, optionally `*** Move to: PATH`, and changes. A change is an optional `@@ \
        LINE` \
        that names a line above it, then lines that begin with a space (kept), a `-` (removed) or a `+` (added); `*** End of File` \
        after it anchors it to the end. Give three lines around a change, exactly as they are in the file and without line numbers; \
        where they occur more than once, an `@@ LINE` must tell them apart. It fails if a file has changed since it was last read.";
    const KIND: FileKind = FileKind::Edits;
    type Arguments = ApplyPatchArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        let mut paths = Vec::new();
        for section in arguments.patch.0.iter().flatten() {
            paths.push(section.path.as_str());
            if let Change::Update { move_to: Some(path), .. } = &section.change {
                paths.push(path);
            }
        }
        paths
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        arguments.patch.0.as_ref().map(drop).map_err(Clone::clone)
    }

    fn foresee(workspace: &Workspace, arguments: &Self::Arguments) -> Option<String> {
        let until = Instant::now() + LONGEST_LOOK;
        let is_over = || Instant::now() >= until;
        let fails = |section: &Section| look(workspace, section, &is_over).err();
        let reason = arguments.patch.0.as_deref().ok()?.iter().find_map(fails)?;
        (!is_over()).then(|| nothing_changed(&reason))
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome {
        let sections = arguments.patch.0.as_deref().unwrap_or_default();
        match prepare(workspace, sections, watch) {
            Ok((staged, said)) => commit(staged, &said),
            Err(_) if watch.is_stopped() => {
                ToolOutcome::interrupted("stopped while placing the changes\n[nothing was changed]")
            }
            Err(reason) => ToolOutcome::failed(nothing_changed(&reason)),
        }
    }
}

impl ApplyPatchArguments {
    /// What it would make of its files.
    pub(crate) fn changes(self, read: &dyn Fn(&str) -> FileText) -> Option<Vec<FileChange>> {
        let is_free = |path: &str| read(path) == FileText::Absent;
        let text = |path: &str| match read(path) {
            FileText::Text(text) => Some(text),
            FileText::Absent | FileText::Other => None,
        };
        let change = |Section { path, change }: Section| {
            let (moved_to, old, new) = match change {
                Change::Add { content } => (None, None, Some(content).filter(|_| is_free(&path))),
                Change::Delete => return Some(FileChange { old: Some(text(&path)?), path, moved_to: None, new: None }),
                Change::Update { move_to, hunks } => {
                    let old = text(&path)?;
                    let new = apply(&old, &hunks, &|| false).ok()?.text;
                    (move_to, Some(old), Some(new))
                }
            };
            let may_move = moved_to.as_deref().is_none_or(is_free);
            (new.is_some() && may_move).then_some(FileChange { path, moved_to, old, new })
        };
        self.patch.0.ok()?.into_iter().map(change).collect()
    }
}

fn nothing_changed(reason: &str) -> String {
    format!("{reason}\n[nothing was changed]")
}

/// Whether a section fits to the files as they are.
fn look(workspace: &Workspace, section: &Section, is_over: &dyn Fn() -> bool) -> Result<(), String> {
    let path = &section.path;
    match &section.change {
        Change::Add { .. } => free(workspace, path).map(drop),
        Change::Delete => {
            let old = workspace.relative(path).map_err(|error| error.to_string())?;
            workspace.open_target(&old).map(drop).map_err(|error| error.to_string())
        }
        Change::Update { move_to, hunks } => {
            let file = Editable::open(workspace, path)?;
            apply(&file.text, hunks, is_over).map_err(|reason| format!("`{path}`: {reason}"))?;
            move_to.as_ref().map_or(Ok(()), |new| free(workspace, new).map(drop))
        }
    }
}

/// Everything that will change, and what will be said about it.
fn prepare<'w>(
    workspace: &'w Workspace,
    sections: &[Section],
    watch: &Watch,
) -> Result<(Vec<Staged<'w>>, String), String> {
    let mut staged = Vec::new();
    let mut said = String::new();
    for section in sections {
        let path = &section.path;
        match &section.change {
            Change::Add { content } => {
                let new = free(workspace, path)?;
                let created = workspace.stage_creation(&new, content.as_bytes(), None);
                staged.push(created.map_err(|error| error.to_string())?);
                let _ = writeln!(said, "created `{path}` ({})", counted(content.lines().count(), "line"));
            }
            Change::Delete => {
                let old = workspace.relative(path).map_err(|error| error.to_string())?;
                let target = workspace.open_target(&old).map_err(|error| error.to_string())?;
                staged.push(workspace.stage_removal(&old, target));
                let _ = writeln!(said, "deleted `{path}`");
            }
            Change::Update { move_to, hunks } => {
                let file = Editable::open(workspace, path)?;
                let Applied { text, added, removed, first_line } =
                    apply(&file.text, hunks, &|| watch.is_stopped()).map_err(|reason| format!("`{path}`: {reason}"))?;
                let lines = format!("+{added} -{removed} lines, the first at line {first_line}");
                match move_to {
                    None => {
                        staged.push(file.stage(workspace, &text)?);
                        let _ = writeln!(said, "changed `{path}` ({lines})");
                    }
                    Some(new) => {
                        staged.extend(file.stage_move(workspace, &free(workspace, new)?, &text)?);
                        let _ = writeln!(said, "moved `{path}` to `{new}` ({lines})");
                    }
                }
            }
        }
    }
    Ok((staged, said))
}

/// A path under which there is nothing yet.
fn free(workspace: &Workspace, path: &str) -> Result<RelativePath, String> {
    let path = workspace.relative(path).map_err(|error| error.to_string())?;
    match workspace.open_file(&path) {
        Ok(_) => Err(format!("`{path}` exists: change it with `*** Update File: {path}`")),
        Err(FileError::NotFound { .. }) => Ok(path),
        Err(error) => Err(error.to_string()),
    }
}

fn commit(staged: Vec<Staged<'_>>, said: &str) -> ToolOutcome {
    let paths: Vec<String> = staged.iter().map(|staged| staged.real().to_string()).collect();
    let mut done: Vec<Done<'_>> = Vec::with_capacity(staged.len());
    for staged in staged {
        match staged.commit() {
            Ok(change) => done.push(change),
            Err(error) => return take_back(done, &paths, &error.to_string()),
        }
    }
    ToolOutcome::ok(said.trim_end()).with_changed_paths(paths)
}

fn take_back(done: Vec<Done<'_>>, paths: &[String], reason: &str) -> ToolOutcome {
    let mut stays = Vec::new();
    for (change, path) in done.into_iter().zip(paths).rev() {
        if !change.undo() {
            stays.push(path.clone());
        }
    }
    if stays.is_empty() {
        return ToolOutcome::failed(nothing_changed(reason));
    }
    let named = stays.join("`, `");
    ToolOutcome::failed(format!("{reason}\n[`{named}` had already been changed, and that could not be undone]"))
        .with_changed_paths(stays)
}

/// How long a look ahead may take; what takes longer is asked about.
const LONGEST_LOOK: Duration = Duration::from_millis(200);
