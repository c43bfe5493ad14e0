//! Text that comes in pieces: a secret may lie across their edges, so what may be the beginning of one waits for the next piece.

use crate::redact::Redactor;
use std::mem;

/// Passes pieces on without secrets.
#[derive(Default)]
pub(crate) struct Pieces {
    redactor: Redactor,
    held: String,
}

impl Pieces {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self { redactor: redactor.clone(), held: String::new() }
    }

    /// Takes a piece and returns what can be shown by now; may be empty.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let open = self.held.split_off(self.redactor.settled_bytes(&self.held));
        let mut settled = mem::replace(&mut self.held, open);
        self.redactor.text(&mut settled);
        settled
    }

    /// Returns what was held back, when no piece follows; may be empty.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = mem::take(&mut self.held);
        self.redactor.text(&mut rest);
        rest
    }
}
