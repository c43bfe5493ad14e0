//! Files that instruct agents (`AGENTS.md` and its like): which of them a session was given, and what the text of one is.
//!
//! A session names such a file by its path and the digest of its bytes, so that a file that has changed is not taken for the one that the
//! model read.

use crate::picture::Digest;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use serde::{Deserialize, Serialize};

/// The files that a session knows: the digest of each by its absolute path. Cheap to clone.
pub type KnownInstructions = Arc<BTreeMap<String, Digest>>;

/// A file of instructions as it was found beside what a call is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructions {
    /// Its absolute path.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub digest: Digest,
    /// Its text; empty where the call itself made the file what it is, so that the model knows it.
    pub text: String,
    /// Why the file cannot be used; then there is no text, and the digest is that of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}

/// What a session was given with its system prompt, and what there is room for beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenInstructions {
    /// The files in the system prompt.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub files: KnownInstructions,
    /// Bytes of other files that the model may be given while the session works. None without them.
    #[serde(default)]
    pub left_bytes: u64,
}

impl GivenInstructions {
    /// Whether there are none, and no room for any.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.files.is_empty() && self.left_bytes == 0
    }
}

fn is_empty(files: &KnownInstructions) -> bool {
    files.is_empty()
}
