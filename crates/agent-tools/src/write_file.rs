//! `write_file`: a new file, or the whole of an old one.

use crate::counted::counted;
use crate::file_tool::{FileKind, Operation, Watch};
use crate::preview::{FileChange, FileText};
use crate::workspace::{FileError, OpenedFile, RelativePath, Workspace};
use agent_types::redact::REDACTED;
use agent_types::tool::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::Read as _;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileArguments {
    /// File to write, relative to the workspace. Directories above it are made.
    path: String,
    /// The whole content of the file.
    content: String,
}

impl Operation for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Writes a whole file. An existing file is replaced, and you must have read it before. To change \
                                       part of a file, use `edit_file`.";
    const KIND: FileKind = FileKind::Edits;
    type Arguments = WriteFileArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![&arguments.path]
    }

    fn foresee(workspace: &Workspace, arguments: &Self::Arguments) -> Option<String> {
        let path = workspace.relative(&arguments.path);
        path.and_then(|path| replaced(workspace, &path, arguments)).err().map(|error| error.to_string())
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, _watch: &Watch) -> ToolOutcome {
        match write(workspace, arguments) {
            Ok((path, done)) => {
                let lines = counted(arguments.content.lines().count(), "line");
                let bytes = counted(arguments.content.len(), "byte");
                ToolOutcome::ok(format!("{done} `{path}` ({lines}, {bytes})")).with_changed_paths(vec![path])
            }
            Err(error) => ToolOutcome::failed(error.to_string()),
        }
    }
}

impl WriteFileArguments {
    /// What it would make of its file.
    pub(crate) fn change(self, read: &dyn Fn(&str) -> FileText) -> Option<FileChange> {
        let old = match read(&self.path) {
            FileText::Absent => None,
            FileText::Text(old) => Some(old),
            FileText::Other => return None,
        };
        Some(FileChange { path: self.path, moved_to: None, old, new: Some(self.content) })
    }
}

fn write(workspace: &Workspace, arguments: &WriteFileArguments) -> Result<(String, &'static str), FileError> {
    let path = workspace.relative(&arguments.path)?;
    let content = arguments.content.as_bytes();
    let (staged, done) = match replaced(workspace, &path, arguments)? {
        Some(target) => (workspace.stage_replacement(&path, target, content)?, "replaced"),
        None => (workspace.stage_creation(&path, content, None)?, "created"),
    };
    let real = staged.real().to_string();
    staged.commit()?;
    Ok((real, done))
}

/// The file that the call may replace, where there is one.
fn replaced(
    workspace: &Workspace,
    path: &RelativePath,
    arguments: &WriteFileArguments,
) -> Result<Option<OpenedFile>, FileError> {
    let target = match workspace.open_target(path) {
        Ok(target) => target,
        Err(FileError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !workspace.was_seen(&target) {
        return Err(FileError::Unseen { path: path.to_string() });
    }
    if arguments.content.contains(REDACTED) && was_shown_redacted(workspace, path, &target)? {
        return Err(FileError::Secret { path: path.to_string() });
    }
    Ok(Some(target))
}

/// Whether the model has seen this file with a secret replaced. More of it than this could not have been shown.
fn was_shown_redacted(workspace: &Workspace, path: &RelativePath, target: &OpenedFile) -> Result<bool, FileError> {
    let mut old = Vec::new();
    let read = (&target.file).take(crate::edit::MOST_BYTES as u64).read_to_end(&mut old);
    read.map_err(|error| FileError::new(path, error))?;
    Ok(workspace.was_shown_redacted(&old))
}
