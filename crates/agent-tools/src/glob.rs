//! `glob`: files by a pattern over their paths.

use crate::file_tool::{FileKind, Operation, Watch};
use crate::list_files::Listing;
use crate::walk::{Kind, walk};
use crate::workspace::Workspace;
use agent_types::tool::ToolOutcome;
use globset::{GlobBuilder, GlobSet};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobArguments {
    /// Pattern over paths relative to `path`: `*` within a name, `**` over directories, `?`, `[a-z]`, `{a,b}`. A pattern without `/` is
    /// matched against names at any depth.
    pattern: String,
    /// Directory to search, relative to the workspace. Default: the workspace itself.
    path: Option<String>,
}

impl Operation for Glob {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern such as `src/**/*.rs` or `*.toml`. Paths come sorted and relative to the \
        workspace, at most 1000. Files ignored by `.gitignore` are left out.";
    const KIND: FileKind = FileKind::Searches;
    type Arguments = GlobArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![arguments.path.as_deref().unwrap_or(".")]
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        PathPattern::new(&arguments.pattern).map(drop)
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome {
        find(workspace, arguments, watch).unwrap_or_else(ToolOutcome::failed)
    }
}

fn find(workspace: &Workspace, arguments: &GlobArguments, watch: &Watch) -> Result<ToolOutcome, String> {
    let pattern = PathPattern::new(&arguments.pattern)?;
    let start = workspace.relative(arguments.path.as_deref().unwrap_or(".")).map_err(|error| error.to_string())?;
    let base = workspace.existing(&start).map_err(|error| error.to_string())?;
    let mut listing = Listing::default();
    let walked = walk(workspace, &start, None, watch, |entry| {
        if entry.kind != Kind::Directory && pattern.matches(entry.path, base.as_path()) {
            listing.push(entry.path, "");
        }
    })
    .map_err(|error| error.to_string())?;
    let text = listing.finish("[no file matches]") + &walked.notice();
    Ok(match walked.is_stopped {
        true => ToolOutcome::interrupted(text),
        false => ToolOutcome::ok(text),
    })
}

/// A pattern over paths.
pub(crate) struct PathPattern {
    matcher: GlobSet,
    names_only: bool,
}

impl PathPattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > LONGEST {
            return Err(format!("the pattern must have between 1 and {LONGEST} bytes"));
        }
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("the pattern is not a glob: {error}"))?;
        // Of a set and not of the glob alone, which panics where its regular expression is too large.
        let matcher = GlobSet::builder().add(glob).build();
        let matcher =
            matcher.map_err(|error| format!("the pattern is too large or nested too deeply: {}", error.kind()))?;
        Ok(Self { matcher, names_only: !pattern.contains('/') })
    }

    /// Whether it matches a path, both relative to the workspace.
    pub(crate) fn matches(&self, path: &str, base: &Path) -> bool {
        let path = Path::new(path);
        if self.names_only {
            return path.file_name().is_some_and(|name| self.matcher.is_match(name));
        }
        self.matcher.is_match(path.strip_prefix(base).unwrap_or(path))
    }
}

const LONGEST: usize = 1_000;
