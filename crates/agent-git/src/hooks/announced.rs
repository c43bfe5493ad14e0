//! What calls are about to change, from when they are looked at until they run.
//!
//! A call may still be denied then, and it may name files that must not be read. So all of it stays in memory until the call is
//! permitted and runs.

use super::{HIDDEN, RepositoryHooks};
use crate::image::Image;
use crate::paths;
use agent_types::conversation::ToolCall;
use agent_types::tool::{Effect, Inspection, Subject};
use std::collections::HashMap;

/// What the calls of a batch would change, by the calls' ids.
#[derive(Debug, Default)]
pub(super) struct Announced {
    calls: HashMap<String, Call>,
    kept_bytes: usize,
}

/// What one call would change, as it was when the call was looked at.
#[derive(Debug, Default)]
struct Call {
    /// By the repository's names.
    images: Vec<(String, Image)>,
    command: Option<String>,
}

impl Announced {
    fn insert(&mut self, id: &str, mut call: Call) {
        drop(self.take(id));
        for (_, image) in &mut call.images {
            let bytes = size(image);
            if self.kept_bytes + bytes > TOTAL_LIMIT_BYTES {
                *image = Image::Opaque("too many files were about to change at once to record them");
            } else {
                self.kept_bytes += bytes;
            }
        }
        self.calls.insert(id.to_owned(), call);
    }

    fn take(&mut self, id: &str) -> Option<Call> {
        let call = self.calls.remove(id)?;
        self.kept_bytes -= call.images.iter().map(|(_, image)| size(image)).sum::<usize>();
        Some(call)
    }

    /// The batch is over: what has not run does not run any more.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn size(image: &Image) -> usize {
    image.bytes().map_or(0, |bytes| bytes.len())
}

impl RepositoryHooks {
    /// Takes note of what a call would change.
    pub(super) fn announce(&self, call: &ToolCall, subject: &Subject) {
        let announced = self.look(subject, false);
        self.memory().announced.insert(call.id.as_str(), announced);
    }

    /// What a call would change, as it is now. `begins` says that the call runs at once: calls before it may have run.
    fn look(&self, subject: &Subject, begins: bool) -> Call {
        match subject {
            Subject::Paths(named) | Subject::Files { paths: named, .. } => {
                Call { images: self.remember(named, begins), command: None }
            }
            Subject::Command { text, .. } => Call { images: Vec::new(), command: Some(text.clone()) },
            // Nothing that could be remembered.
            _ => Call::default(),
        }
    }

    /// Remembers how files are, in memory.
    fn remember(&self, named: &[String], begins: bool) -> Vec<(String, Image)> {
        let repository = self.repository().ok();
        let mut memory = self.memory();
        let mut images = Vec::new();
        for path in named.iter().filter_map(|path| paths::normalize(&self.config.workspace, path).ok()) {
            // What a call before this one left is not how the user had the file.
            if begins && !memory.before.bases(&path).is_empty() {
                continue;
            }
            let now = self.image(&path);
            if let Some(repository) = repository
                && paths::check_parents(&self.config.workspace, &path).is_ok()
                && let Some(git_path) = self.git_path(repository, &path)
            {
                let is_hidden = self.config.is_hidden(&repository.top, &git_path);
                images.push((git_path, if is_hidden { HIDDEN } else { now.clone() }));
            }
            memory.before.remember(&path, now);
        }
        images
    }

    /// Keeps what a call is about to change where it can be gone back to. A call that another program announced, before the session was
    /// resumed, is looked at now.
    pub(super) fn keep_before(&self, call: &ToolCall, judged: &Inspection) {
        let announced = self.memory().announced.take(call.id.as_str());
        let announced = announced.unwrap_or_else(|| match judged.effect {
            Effect::Reads => Call::default(),
            Effect::Changes => self.look(&judged.subject, true),
        });
        let repository = self.repository();
        let mut memory = self.memory();
        if let Some(text) = announced.command {
            memory.turn.command(&text);
        }
        let Ok(repository) = repository else { return };
        for (path, was) in announced.images {
            if let Err(error) = memory.turn.before(repository, &path, &was) {
                memory.unkept.push(format!("undo cannot restore {path}: {error}"));
            }
        }
    }
}

/// Bytes kept over all calls of a batch; beyond, undo cannot take the change of a file back, and says so.
const TOTAL_LIMIT_BYTES: usize = 256 * 1024 * 1024;
