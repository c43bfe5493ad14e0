//! `list_files`: what is in a directory.

use crate::file_tool::{FileKind, Operation, Watch};
use crate::walk::{Kind, walk};
use crate::workspace::{FileError, Workspace};
use agent_types::tool::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct ListFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFilesArguments {
    /// Directory to list, relative to the workspace. Default: the workspace itself.
    path: Option<String>,
    /// How many levels to list. Default: 2.
    depth: Option<u32>,
}

impl Operation for ListFiles {
    const NAME: &'static str = "list_files";
    const DESCRIPTION: &'static str = "Lists files and directories, sorted, with paths relative to the workspace. Directories end in `/`, \
        symbolic links in `@`. Files ignored by `.gitignore` are left out, as is `.git`. At most 1000 entries are shown.";
    const KIND: FileKind = FileKind::Lists;
    type Arguments = ListFilesArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![start(arguments)]
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        match arguments.depth {
            Some(0) => Err("`depth` must be at least 1".into()),
            Some(_) | None => Ok(()),
        }
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome {
        list(workspace, arguments, watch).unwrap_or_else(|error| ToolOutcome::failed(error.to_string()))
    }
}

fn start(arguments: &ListFilesArguments) -> &str {
    arguments.path.as_deref().unwrap_or(".")
}

fn list(workspace: &Workspace, arguments: &ListFilesArguments, watch: &Watch) -> Result<ToolOutcome, FileError> {
    let start = workspace.relative(start(arguments))?;
    let depth = arguments.depth.unwrap_or(DEFAULT_DEPTH) as usize;
    let mut listing = Listing::default();
    let walked = walk(workspace, &start, Some(depth), watch, |entry| {
        let mark = match entry.kind {
            Kind::Directory => "/",
            Kind::Link => "@",
            Kind::File | Kind::Special => "",
        };
        listing.push(entry.path, mark);
    })?;
    let text = listing.finish("[nothing here]") + &walked.notice();
    Ok(match walked.is_stopped {
        true => ToolOutcome::interrupted(text),
        false => ToolOutcome::ok(text),
    })
}

/// Paths, one a line, as many as can be shown. A line break in a name is shown as an escape.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    text: String,
    shown: usize,
    hidden: usize,
}

impl Listing {
    pub(crate) fn push(&mut self, path: &str, mark: &str) {
        if self.shown >= MOST_SHOWN || self.text.len() >= MOST_BYTES {
            self.hidden += 1;
            return;
        }
        self.shown += 1;
        self.text.push_str(&path.replace('\n', "\\n"));
        self.text.push_str(mark);
        self.text.push('\n');
    }

    pub(crate) fn finish(mut self, when_empty: &str) -> String {
        if self.shown == 0 {
            self.text.push_str(when_empty);
            self.text.push('\n');
        }
        if self.hidden > 0 {
            let (shown, all) = (self.shown, self.shown + self.hidden);
            let notice =
                format!("[{shown} of {all} shown: name a directory or a narrower pattern to see the others]\n");
            self.text.push_str(&notice);
        }
        self.text
    }
}

const DEFAULT_DEPTH: u32 = 2;
const MOST_SHOWN: usize = 1_000;
const MOST_BYTES: usize = 64 * 1024;
