//! `edit_file`: one exact piece of a file replaced.

use crate::edit::{Edited, edit, line_of};
use crate::editable::Editable;
use crate::file_tool::{FileKind, Operation, Watch};
use crate::preview::{FileChange, FileText};
use crate::text::first_chars;
use crate::workspace::Workspace;
use agent_types::tool::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileArguments {
    /// File to change, relative to the workspace.
    path: String,
    /// The text to replace, exactly as it is in the file, without line numbers.
    old_string: String,
    /// The text to put in its place. Taken literally.
    new_string: String,
    /// Replace every occurrence instead of requiring that there is only one. Default: false.
    replace_all: Option<bool>,
}

impl Operation for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replaces an exact piece of text in a file. `old_string` must occur exactly once (occurrences that \
        overlap count as two) unless `replace_all` is set, so give enough lines around the change. The file's line endings, byte order \
        mark and permissions are kept. It fails if the file has changed since it was last read.";
    const KIND: FileKind = FileKind::Edits;
    type Arguments = EditFileArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![&arguments.path]
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        if arguments.old_string.is_empty() {
            return Err("`old_string` is empty: to make a new file use `write_file`".into());
        }
        if arguments.old_string == arguments.new_string {
            return Err("`old_string` and `new_string` are equal: nothing would change".into());
        }
        Ok(())
    }

    fn foresee(workspace: &Workspace, arguments: &Self::Arguments) -> Option<String> {
        edited(workspace, arguments).err()
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, _watch: &Watch) -> ToolOutcome {
        match change(workspace, arguments) {
            Ok(outcome) => outcome,
            Err(message) => ToolOutcome::failed(message),
        }
    }
}

fn change(workspace: &Workspace, arguments: &EditFileArguments) -> Result<ToolOutcome, String> {
    let path = &arguments.path;
    let (file, edited) = edited(workspace, arguments)?;
    let staged = file.stage(workspace, &edited.text)?;
    let real = staged.real().to_string();
    staged.commit().map_err(|error| error.to_string())?;
    let shown = context(&edited.text, edited.first);
    let count = edited.replacements;
    let times = if count == 1 { "place" } else { "places" };
    let message = format!("changed `{path}` in {count} {times}:\n{shown}");
    Ok(ToolOutcome::ok(message).with_changed_paths(vec![real]))
}

/// The file, and its text afterwards.
fn edited(workspace: &Workspace, arguments: &EditFileArguments) -> Result<(Editable, Edited), String> {
    let path = &arguments.path;
    let file = Editable::open(workspace, path)?;
    let all = arguments.replace_all.unwrap_or(false);
    let edited = edit(&file.text, &arguments.old_string, &arguments.new_string, all);
    Ok((file, edited.map_err(|error| format!("`{path}`: {error}"))?))
}

impl EditFileArguments {
    /// What it would make of its file.
    pub(crate) fn change(self, read: &dyn Fn(&str) -> FileText) -> Option<FileChange> {
        EditFile::check(&self).ok()?;
        let FileText::Text(old) = read(&self.path) else { return None };
        let all = self.replace_all.unwrap_or(false);
        let new = edit(&old, &self.old_string, &self.new_string, all).ok()?.text;
        Some(FileChange { path: self.path, moved_to: None, old: Some(old), new: Some(new) })
    }
}

/// The lines around the first change, numbered as `read_file` does.
fn context(text: &str, (start, end): (usize, usize)) -> String {
    let first = line_of(text, start).saturating_sub(CONTEXT_LINES).max(1);
    let last = line_of(text, end) + CONTEXT_LINES;
    let mut shown = String::new();
    for (index, line) in text.lines().enumerate().skip(first - 1) {
        let number = index + 1;
        if number > last {
            break;
        }
        if number >= first + MOST_LINES {
            shown.push_str("[…]\n");
            break;
        }
        let begin = first_chars(line, LINE_CHARS);
        let cut = if begin.len() < line.len() { "…" } else { "" };
        let _ = writeln!(shown, "{number}\t{begin}{cut}");
    }
    shown
}

const CONTEXT_LINES: usize = 3;
const MOST_LINES: usize = 30;
const LINE_CHARS: usize = 500;
