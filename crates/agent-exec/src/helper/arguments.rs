//! A helper's arguments: made and read by the same version of the same program, so there is nothing to be lenient about.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::str::FromStr;

/// What is left of the arguments.
#[derive(Debug)]
pub(crate) struct Arguments(VecDeque<OsString>);

impl Arguments {
    pub(crate) fn new(arguments: Vec<OsString>) -> Self {
        Self(arguments.into())
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Option<OsString> {
        self.0.pop_front()
    }

    /// The next one as text or number.
    pub(crate) fn parse<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.to_str()?.parse().ok()
    }

    /// As many as the next one says.
    pub(crate) fn list(&mut self) -> Option<Vec<OsString>> {
        let count: usize = self.parse()?;
        (0..count).map(|_| self.next()).collect()
    }

    /// All that is left.
    pub(crate) fn rest(self) -> Vec<OsString> {
        self.0.into()
    }
}

/// What [`Arguments::list`] reads.
pub(crate) fn put_list(line: &mut Vec<OsString>, list: &[OsString]) {
    line.push(list.len().to_string().into());
    line.extend_from_slice(list);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_in_order_and_end() {
        let mut line = vec![OsString::from("7")];
        put_list(&mut line, &["a".into(), "b".into()]);
        line.extend(["3", "c"].map(OsString::from));
        let mut arguments = Arguments::new(line);
        assert_eq!(arguments.parse(), Some(7));
        assert_eq!(arguments.list(), Some(vec!["a".into(), "b".into()]));
        assert_eq!(arguments.list(), None);
        assert!(arguments.rest().is_empty());
    }
}
