//! What was shown in part only: results of calls, changes, thinking. A key shows the newest of them whole, the next time the one before.

use crate::screen::sheet::Row;
use std::collections::VecDeque;

/// The last of them.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// The newest first.
    all: VecDeque<(String, Vec<Row>)>,
    /// Which is shown next.
    next: usize,
}

impl Folded {
    /// One more. It is shown next.
    pub(crate) fn add(&mut self, title: String, rows: Vec<Row>) {
        self.all.push_front((title, rows));
        self.all.truncate(MOST);
        self.next = 0;
    }

    /// The next one, older each time; behind the oldest comes nothing, and then the newest again.
    pub(crate) fn next(&mut self) -> Option<(&str, &[Row])> {
        let Some((title, rows)) = self.all.get(self.next) else {
            self.next = 0;
            return None;
        };
        self.next += 1;
        Some((title, rows))
    }
}

/// A result has a bounded length, so these are not much.
const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_old_ones_go() {
        let mut folded = Folded::default();
        assert!(folded.next().is_none());
        for number in 0..=MOST {
            folded.add(number.to_string(), Vec::new());
        }
        let titles = |folded: &mut Folded| {
            std::iter::from_fn(|| folded.next().map(|(title, _)| title.to_owned())).collect::<Vec<_>>()
        };
        let expected: Vec<String> = (1..=MOST).rev().map(|number| number.to_string()).collect();
        assert_eq!(titles(&mut folded), expected);
        assert_eq!(titles(&mut folded), expected, "and again");
        assert_eq!(folded.next().map(|(title, _)| title.to_owned()), Some(MOST.to_string()));
        folded.add("new".into(), Vec::new());
        assert_eq!(folded.next().map(|(title, _)| title), Some("new"));
    }
}
