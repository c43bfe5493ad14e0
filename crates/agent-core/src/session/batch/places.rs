//! Where the calls of an answer stand, so that each of very many questions is answered without a look at all the others.
//!
//! Everything here follows from the calls. It is neither kept nor compared, and made when the first answer comes.

use crate::conversation::CallId;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The places of all calls in the order of their ids; empty until it is needed.
    by_id: Vec<usize>,
    /// Before this place no call is asked about any more.
    asked_from: usize,
    /// The place of the call that ended last.
    ended: usize,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    /// Whether there are places to look up.
    pub(super) const fn is_ready(&self) -> bool {
        !self.by_id.is_empty()
    }

    /// Notes where so many calls stand.
    pub(super) fn note<'a>(&mut self, count: usize, id_at: impl Fn(usize) -> Option<&'a CallId>) {
        self.by_id = (0..count).collect();
        self.by_id.sort_unstable_by_key(|at| id_at(*at));
    }

    /// The place of a call.
    pub(super) fn find<'a>(&self, call: &CallId, id_at: impl Fn(usize) -> Option<&'a CallId>) -> Option<usize> {
        let found = self.by_id.binary_search_by(|at| id_at(*at).cmp(&Some(call))).ok()?;
        self.by_id.get(found).copied()
    }

    /// Where the call stands that ended last.
    pub(super) const fn note_end(&mut self, at: usize) {
        self.ended = at;
    }

    /// Where the next call to end probably stands, since calls mostly end in call order, and the last one.
    pub(super) const fn likely(&self) -> [usize; 2] {
        [self.ended.wrapping_add(1), self.ended]
    }

    /// The place before which no call is asked about any more.
    pub(super) const fn asked_from(&self) -> usize {
        self.asked_from
    }

    /// Moves to the next call with a question, or to the end.
    pub(super) fn pass_answered(&mut self, count: usize, is_asked: impl Fn(usize) -> bool) {
        while self.asked_from < count && !is_asked(self.asked_from) {
            self.asked_from += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Places;
    use crate::conversation::CallId;
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::vec::Vec;
    use core::cell::Cell;

    const COUNT: usize = 50_000;

    fn ids() -> Vec<CallId> {
        (0..COUNT).map(|number| CallId::new(&format!("call_{number}"))).collect()
    }

    /// What is looked at while every call is answered, in an order of the driver's.
    fn looks(order: impl Iterator<Item = usize>) -> usize {
        let (ids, looks) = (ids(), Cell::new(0));
        let mut places = Places::default();
        places.note(COUNT, |at| ids.get(at));
        let mut asked: BTreeSet<usize> = (0..COUNT).collect();
        for at in order {
            let seen = |at: usize| {
                looks.set(looks.get() + 1);
                ids.get(at)
            };
            assert_eq!(places.find(&ids[at], seen), Some(at));
            asked.remove(&at);
            places.pass_answered(COUNT, |at| {
                looks.set(looks.get() + 1);
                asked.contains(&at)
            });
        }
        looks.get()
    }

    #[test]
    fn answers_to_very_many_questions_look_at_few_calls_each() {
        // Halving 50,000 sixteen times leaves one, which is looked at, too. Each answer looks once where the next question is, and each
        // question is passed once.
        let most = COUNT * (17 + 2);
        assert!(looks(0..COUNT) <= most);
        assert!(looks((0..COUNT).rev()) <= most);
        // 7 shares no divisor with 50,000: every place, far apart.
        assert!(looks((0..COUNT).map(|number| number * 7 % COUNT)) <= most);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let ids = ids();
        let mut places = Places::default();
        let nobody = CallId::new("nobody");
        assert!(!places.is_ready() && places.find(&nobody, |at| ids.get(at)).is_none());
        places.note(COUNT, |at| ids.get(at));
        assert!(places.is_ready() && places.find(&nobody, |at| ids.get(at)).is_none());
    }
}
