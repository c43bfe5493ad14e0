//! A private module of which one type is shown elsewhere.

/// Shown.
pub struct Shown;

/// Not shown.
pub struct Inner;

impl super::shapes::Circle {
    /// Listed with its type, wherever it stands.
    pub fn grow(&mut self) {}
}

/// A trait that nobody else can name.
pub(crate) trait Sealed {}

impl Sealed for Shown {}
