//! `write_file`: a new file, or the whole of an old one.

use crate::file_tool::{Operation, Stop};
use crate::workspace::{FileError, Workspace};
use agent_core::tool::{Effect, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

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
    const DESCRIPTION: &'static str = "Writes a whole file. An existing file must have been read before, and is replaced. \
        To change a part of a file use `edit_file`.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = WriteFileArguments;

    fn path(arguments: &Self::Arguments) -> &str {
        &arguments.path
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, _stop: &Stop) -> ToolOutcome {
        match write(workspace, arguments) {
            Ok((path, done)) => {
                let lines = arguments.content.lines().count();
                let bytes = arguments.content.len();
                ToolOutcome::ok(format!("{done} `{path}` ({lines} lines, {bytes} bytes)"))
                    .with_changed_paths(vec![path])
            }
            Err(error) => ToolOutcome::failed(error.to_string()),
        }
    }
}

fn write(workspace: &Workspace, arguments: &WriteFileArguments) -> Result<(String, &'static str), FileError> {
    let path = workspace.relative(&arguments.path)?;
    let content = arguments.content.as_bytes();
    match workspace.open_target(&path) {
        Ok(target) => {
            if !workspace.was_seen(&target.opened) {
                return Err(FileError::Unseen { path: path.to_string() });
            }
            workspace.replace(&path, &target, content)?;
            Ok((target.opened.real.to_string_lossy().into_owned(), "replaced"))
        }
        Err(FileError::NotFound { .. }) => {
            workspace.create(&path, content)?;
            let real = workspace.real_path(&path).unwrap_or(path);
            Ok((real.to_string(), "created"))
        }
        Err(error) => Err(error),
    }
}
