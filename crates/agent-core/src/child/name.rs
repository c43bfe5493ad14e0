//! Names and ids of children.

use alloc::format;
use alloc::string::String;

/// How many bytes a name has at most.
const MAX_NAME_BYTES: usize = 32;

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It has other characters, or too many.
    #[error("a name has 1 to {MAX_NAME_BYTES} characters of a-z, 0-9, `_` and `-`")]
    Malformed,
    /// A child of that name is there.
    #[error("the agent has a child of that name; to give it another task, resume it")]
    Taken,
}

/// Checks the name of a new child against those that are there.
///
/// # Errors
/// [`NameError`] when it is malformed or taken.
pub fn named<'a>(name: &str, mut there: impl Iterator<Item = &'a str>) -> Result<(), NameError> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_allowed) {
        return Err(NameError::Malformed);
    }
    if there.any(|other| other == name) { Err(NameError::Taken) } else { Ok(()) }
}

/// The id of a child, which is also the id of its session: `ROOT.1`, and `ROOT.1.2` for a child of that child.
#[must_use]
pub fn child_id(parent: &str, number: u32) -> String {
    format!("{parent}.{number}")
}

/// Whether an agent is below another one, at any depth.
#[must_use]
pub fn is_child_of(id: &str, ancestor: &str) -> bool {
    id.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with('.'))
}
