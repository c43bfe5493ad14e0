//! Files that a call must not show, although it may come across them: a search names a directory, and deny rules name files in it.

use super::Rule;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The deny rules about files that apply to a call. The driver hands them to the tool, which leaves out what they cover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions {
    rules: Option<Arc<[Rule]>>,
}

impl Exclusions {
    /// The rule that covers a file or directory, by its path relative to the workspace and without links; `None` if it may be shown.
    #[must_use]
    pub fn covering(&self, path: &str) -> Option<&Rule> {
        self.rules.as_ref()?.iter().find(|rule| rule.may_cover(path))
    }

    /// Whether nothing needs to be left out.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rules.is_none()
    }
}

/// Deny rules with a pattern; others would cover everything.
impl FromIterator<Rule> for Exclusions {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        let rules: Vec<Rule> = rules.into_iter().collect();
        Self { rules: (!rules.is_empty()).then(|| rules.into()) }
    }
}
