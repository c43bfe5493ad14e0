//! How the files of a workspace are at a moment: what evidence about them is bound to.

use alloc::collections::BTreeMap;
use alloc::string::String;

/// How the files that git tracks are at a moment, as far as the system says it without their being read: times, sizes, numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesSeen {
    mark: String,
    named: BTreeMap<String, u64>,
}

impl FilesSeen {
    /// `mark` is the same where no file differs; `named` are those that may be named, each with a number that changes with it.
    #[must_use]
    pub const fn new(mark: String, named: BTreeMap<String, u64>) -> Self {
        Self { mark, named }
    }

    /// Marks are equal where no file differs.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The files that are otherwise than they were, that are gone, or that were not there, by path and in order.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let other = |path: &&'a String| self.named.get(*path) != before.named.get(*path);
        let new = self.named.keys().filter(|path| !before.named.contains_key(*path));
        before.named.keys().filter(other).chain(new).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_what_is_gone_and_what_is_new_is_named() {
        let seen = |files: &[(&str, u64)]| {
            let named = files.iter().map(|(path, number)| (String::from(*path), *number)).collect();
            FilesSeen::new(String::new(), named)
        };
        let before = seen(&[("changed", 1), ("gone", 1), ("same", 1)]);
        let now = seen(&[("changed", 2), ("new", 1), ("same", 1)]);
        assert!(now.changed_since(&before).eq(["changed", "gone", "new"]));
        assert_eq!(now.changed_since(&now).next(), None);
    }
}
