//! What a search shows, made of the findings in the order of the paths.

use super::findings::Findings;

/// The text for the model, and what is not in it.
#[derive(Debug, Default)]
pub(super) struct Report {
    text: String,
    shown: usize,
    hidden: usize,
    files_with_hidden: usize,
    binary: usize,
    unreadable: usize,
}

impl Report {
    /// Adds the findings of the next file.
    pub(super) fn add(&mut self, findings: &Findings) {
        self.binary += usize::from(findings.is_binary);
        self.unreadable += usize::from(findings.is_unreadable);
        let room = if self.is_full() { 0 } else { MOST_SHOWN - self.shown };
        let shown = room.min(findings.starts.len());
        let end = findings.starts.get(shown).copied().unwrap_or(findings.text.len());
        if shown > 0 {
            self.text.push_str(findings.text.get(..end).unwrap_or_default());
        }
        self.shown += shown;
        let hidden = findings.matches - shown;
        self.hidden += hidden;
        self.files_with_hidden += usize::from(hidden > 0);
    }

    /// Whether nothing more is shown, and only counted.
    pub(super) fn is_full(&self) -> bool {
        self.shown >= MOST_SHOWN || self.text.len() >= MOST_BYTES
    }

    pub(super) fn finish(mut self) -> String {
        if self.shown == 0 {
            self.text.push_str("[no match]\n");
        }
        if self.hidden > 0 {
            let Self { shown, hidden, files_with_hidden, .. } = self;
            self.text.push_str(&format!(
                "[{shown} matches shown; {hidden} more in {files_with_hidden} files are not: narrow the search with `path`, `glob` or \
                 `pattern`, or list the files with `files_only`]\n"
            ));
        }
        let notices =
            [(self.binary, "binary files not searched to the end"), (self.unreadable, "files could not be searched")];
        for (count, what) in notices {
            if count > 0 {
                self.text.push_str(&format!("[{count} {what}]\n"));
            }
        }
        self.text
    }
}

const MOST_SHOWN: usize = 200;
pub(super) const MOST_OF_A_FILE: usize = 50;
pub(super) const MOST_BYTES: usize = 64 * 1024;
