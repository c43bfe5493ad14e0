//! Which sessions go: a value made of what is known about them. Nothing here reads or removes anything.

use std::collections::HashMap;

/// What is known of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// A number for its directory.
    pub(super) directory: usize,
    /// How long ago it was last written.
    pub(super) age_ms: u64,
    pub(super) bytes: u64,
    pub(super) is_named: bool,
}

/// What is to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) older_than_ms: Option<u64>,
    /// The newest of each directory, in any case.
    pub(super) keep: Option<usize>,
    pub(super) max_bytes: Option<u64>,
    /// Whether a name keeps nothing.
    pub(super) takes_named: bool,
}

/// What becomes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    /// It would go, had it no name.
    StaysForItsName,
    Goes,
}

/// The fate of each session, in their order.
pub(super) fn fates(sessions: &[Known], policy: &Policy) -> Vec<Fate> {
    let mut oldest_first: Vec<usize> = (0..sessions.len()).collect();
    oldest_first.sort_by_key(|at| std::cmp::Reverse(sessions[*at].age_ms));
    let newest = newest_of_each(sessions, &oldest_first, policy.keep.unwrap_or_default());
    let is_only_counted = policy.older_than_ms.is_none() && policy.max_bytes.is_none() && policy.keep.is_some();
    let mut left_bytes: u64 = sessions.iter().fold(0, |sum, session| sum.saturating_add(session.bytes));
    let mut fates = vec![Fate::Stays; sessions.len()];
    // Those that are too old go first: what they free need not be freed by others.
    for by_size in [false, true] {
        for at in &oldest_first {
            let session = &sessions[*at];
            let is_wanted = match by_size {
                false => is_only_counted || policy.older_than_ms.is_some_and(|limit| session.age_ms > limit),
                true => policy.max_bytes.is_some_and(|limit| left_bytes > limit),
            };
            if !is_wanted || newest[*at] || fates[*at] != Fate::Stays {
                continue;
            }
            if session.is_named && !policy.takes_named {
                fates[*at] = Fate::StaysForItsName;
            } else {
                fates[*at] = Fate::Goes;
                left_bytes -= session.bytes;
            }
        }
    }
    fates
}

/// Whether each is among so many newest of its directory.
fn newest_of_each(sessions: &[Known], oldest_first: &[usize], keep: usize) -> Vec<bool> {
    let mut newest = vec![false; sessions.len()];
    let mut kept: HashMap<usize, usize> = HashMap::new();
    for at in oldest_first.iter().rev() {
        let kept = kept.entry(sessions[*at].directory).or_default();
        newest[*at] = *kept < keep;
        *kept += 1;
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn known(directory: usize, age_ms: u64, bytes: u64, is_named: bool) -> Known {
        Known { directory, age_ms, bytes, is_named }
    }

    fn goes(sessions: &[Known], policy: Policy) -> Vec<usize> {
        let fates = fates(sessions, &policy);
        (0..sessions.len()).filter(|at| fates[*at] == Fate::Goes).collect()
    }

    #[test]
    fn age_number_and_size_decide_and_a_name_keeps() {
        let sessions =
            [known(0, 10, 100, false), known(0, 90, 100, false), known(0, 99, 100, true), known(1, 95, 100, false)];
        let none = Policy::default();
        assert_eq!(goes(&sessions, none), Vec::<usize>::new());
        assert_eq!(goes(&sessions, Policy { older_than_ms: Some(50), ..none }), [1, 3]);
        assert_eq!(goes(&sessions, Policy { older_than_ms: Some(50), takes_named: true, ..none }), [1, 2, 3]);
        assert_eq!(goes(&sessions, Policy { older_than_ms: Some(50), keep: Some(1), ..none }), [1]);
        assert_eq!(goes(&sessions, Policy { keep: Some(1), ..none }), [1], "the others of each directory");
        assert_eq!(goes(&sessions, Policy { max_bytes: Some(300), ..none }), [3], "the oldest without a name");
        assert_eq!(goes(&sessions, Policy { max_bytes: Some(300), older_than_ms: Some(92), ..none }), [3]);
        assert_eq!(goes(&sessions, Policy { max_bytes: Some(0), keep: Some(1), ..none }), [1]);
        let named = fates(&sessions, &Policy { older_than_ms: Some(50), ..none });
        assert_eq!(named[2], Fate::StaysForItsName);
    }

    fn sessions() -> impl Strategy<Value = Vec<Known>> {
        let one = (0..3_usize, 0..100_u64, 0..50_u64, any::<bool>());
        vec(one.prop_map(|(directory, age_ms, bytes, is_named)| known(directory, age_ms, bytes, is_named)), 0..30)
    }

    fn policies() -> impl Strategy<Value = Policy> {
        let limit = || proptest::option::of(0..100_u64);
        (limit(), proptest::option::of(0..5_usize), proptest::option::of(0..900_u64), any::<bool>()).prop_map(
            |(older_than_ms, keep, max_bytes, takes_named)| Policy { older_than_ms, keep, max_bytes, takes_named },
        )
    }

    proptest! {
        /// Whatever the sessions and the limits: what must stay stays, and what goes went for a reason.
        #[test]
        fn nothing_goes_that_a_limit_keeps(sessions in sessions(), policy in policies()) {
            let fates = fates(&sessions, &policy);
            let left: u64 = sessions.iter().zip(&fates).filter(|(_, fate)| **fate != Fate::Goes).map(|(s, _)| s.bytes).sum();
            for (at, session) in sessions.iter().enumerate() {
                let of_same = sessions.iter().zip(&fates).filter(|(other, _)| other.directory == session.directory);
                if fates[at] == Fate::Goes {
                    prop_assert!(policy.takes_named || !session.is_named);
                    let newer_and_left = of_same.filter(|(other, fate)| other.age_ms <= session.age_ms && **fate != Fate::Goes);
                    prop_assert!(newer_and_left.count() >= policy.keep.unwrap_or(0), "too few of the directory are left");
                    let is_old = policy.older_than_ms.is_some_and(|limit| session.age_ms > limit);
                    let fits_with_it = policy.max_bytes.is_none_or(|limit| left + session.bytes <= limit && session.bytes > 0);
                    let only_keep = policy.older_than_ms.is_none() && policy.max_bytes.is_none();
                    let mut others = sessions.iter().zip(&fates).enumerate().filter(|(other, _)| *other != at);
                    let one_went_after =
                        others.any(|(_, (other, fate))| *fate == Fate::Goes && other.age_ms <= session.age_ms);
                    prop_assert!(is_old || only_keep || !fits_with_it || one_went_after, "{session:?} went for nothing");
                }
                if policy == (Policy { takes_named: policy.takes_named, ..Policy::default() }) {
                    prop_assert_eq!(fates[at], Fate::Stays);
                }
                let is_free = policy.keep.unwrap_or(0) == 0 && (policy.takes_named || !session.is_named);
                if is_free && policy.max_bytes.is_some_and(|limit| left > limit) {
                    prop_assert_eq!(fates[at], Fate::Goes, "the limit is kept as far as it can be");
                }
            }
        }
    }
}
