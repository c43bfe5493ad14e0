//! Which files of instructions a session was given, and whether they are the same now.

use crate::screen::terminal::escaped;
use crate::session::project_instructions::{Since, since};
use agent_core::agent;
use agent_core::journal::{Entry, Header};
use agent_core::picture::Digest;
use agent_core::session::{self, SessionConfig};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The files as a journal names them, each as it was given last.
#[derive(Debug, Default)]
pub(super) struct Instructed(BTreeMap<String, Digest>);

impl Instructed {
    pub(super) fn of(header: &Header) -> Self {
        let mut given = Self::default();
        given.configured(&header.config);
        given
    }

    /// What a record tells, if the session took it.
    pub(super) fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::Event(agent::Event::Session(session::Event::Reconfigured { config })) => self.configured(config),
            Entry::Event(agent::Event::Session(session::Event::ToolCompleted { outcome, .. })) => {
                let usable = outcome.instructions.iter().filter(|file| file.unusable.is_none());
                self.0.extend(usable.map(|file| (file.path.clone(), file.digest)));
            }
            _ => {}
        }
    }

    fn configured(&mut self, config: &SessionConfig) {
        self.0.extend(config.instructions.files.iter().map(|(path, digest)| (path.clone(), *digest)));
    }

    /// Each file, looked at now.
    pub(super) fn told(&self) -> Vec<FileTold> {
        let told = |(path, digest): (&String, &Digest)| FileTold {
            path: path.clone(),
            sha256: digest.to_string(),
            now: match since(path, *digest) {
                Since::Same => "same",
                Since::Differs => "differs",
                Since::Gone => "gone",
            },
        };
        self.0.iter().map(told).collect()
    }
}

/// A file of instructions, in the names of the JSON form.
#[derive(Debug, Serialize)]
pub(super) struct FileTold {
    path: String,
    sha256: String,
    /// What became of it: `same`, `differs` or `gone`.
    now: &'static str,
}

/// A line for each file.
pub(super) fn lines(files: &[FileTold], heading: &str) -> String {
    let mut out = String::new();
    for FileTold { path, sha256, now } in files {
        let now = match *now {
            "same" => "the same now",
            "differs" => "differs now",
            _ => "is gone now",
        };
        let short = sha256.get(..12).unwrap_or(sha256);
        let _ = writeln!(out, "{heading}{} (sha256 {short}…, {now})", escaped(path));
    }
    out
}
