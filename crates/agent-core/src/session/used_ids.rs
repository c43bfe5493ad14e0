//! The ids of all tool calls so far: an id that a model uses again is replaced.

use crate::conversation::CallId;
use crate::fingerprint;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A set of ids that grows with the conversation and is asked at every answer: a hash table beside the list, so that neither asking nor
/// adding costs more the more there are. Now and then it doubles, which costs little a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<CallId>", into = "Vec<CallId>")]
pub(super) struct UsedIds {
    /// In the order in which they came.
    ids: Vec<CallId>,
    /// Positions in the list, counted from 1, each at its id's fingerprint or after it; 0 is free. A power of two, or none.
    places: Vec<u32>,
}

impl UsedIds {
    /// Whether a call had this id.
    pub(super) fn contains(&self, id: &str) -> bool {
        let at = |position: u32| self.ids.get((position as usize).wrapping_sub(1));
        let taken = self.probe(id).map_while(|place| self.places.get(place).filter(|position| **position > 0));
        taken.into_iter().any(|position| at(*position).is_some_and(|used| used.as_str() == id))
    }

    /// An empty set with room for as many ids.
    pub(super) fn with_room(count: usize) -> Self {
        // At most three quarters full.
        let places = (count + count / 3 + 1).next_power_of_two();
        Self { ids: Vec::with_capacity(count), places: vec![0; places] }
    }

    /// Adds an id that is not in the set.
    pub(super) fn add(&mut self, id: CallId) {
        self.ids.push(id);
        // At most three quarters full, so that a search soon ends.
        if self.ids.len() * 4 > self.places.len() * 3 {
            self.places = vec![0; (self.places.len() * 2).max(8)];
            (0..self.ids.len()).for_each(|position| self.place(position));
        } else {
            self.place(self.ids.len() - 1);
        }
    }

    /// Takes the first free place for the id at a position of the list.
    fn place(&mut self, position: usize) {
        let Some(id) = self.ids.get(position) else { return };
        let is_free = |place: &usize| self.places.get(*place) == Some(&0);
        let free = self.probe(id.as_str()).find(is_free);
        if let Some(place) = free.and_then(|place| self.places.get_mut(place)) {
            *place = u32::try_from(position + 1).unwrap_or(u32::MAX);
        }
    }

    /// Where an id may stand, best first: all places, around.
    fn probe(&self, id: &str) -> impl Iterator<Item = usize> + use<> {
        let count = self.places.len();
        let first = fingerprint::of(&[id]) as usize;
        (0..count).map(move |step| first.wrapping_add(step) & (count - 1))
    }
}

impl From<Vec<CallId>> for UsedIds {
    fn from(ids: Vec<CallId>) -> Self {
        let mut used = Self::default();
        for id in ids {
            // Kept ids come from outside: one that occurs twice counts once.
            if !used.contains(id.as_str()) {
                used.add(id);
            }
        }
        used
    }
}

impl From<UsedIds> for Vec<CallId> {
    fn from(used: UsedIds) -> Self {
        used.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn knows_what_it_was_told_and_nothing_else() {
        let ids = |from: u32| (from..from + 500).map(|number| CallId::new(&format!("call_{number}")));
        let mut used = UsedIds::default();
        ids(0).for_each(|id| used.add(id));
        assert!(ids(0).all(|id| used.contains(id.as_str())));
        assert!(!ids(500).any(|id| used.contains(id.as_str())));
        let kept = serde_json::to_string(&used).unwrap();
        assert_eq!(serde_json::from_str::<UsedIds>(&kept).unwrap(), used);
        assert_eq!(Vec::from(used).len(), 500);
    }

    #[test]
    fn ids_that_want_the_same_place_stand_behind_each_other() {
        let mut used = UsedIds::default();
        used.add(CallId::new("first"));
        let place = |id: &str| used.probe(id).next();
        let names: Vec<CallId> = (0..1_000).map(|number| CallId::new(&format!("id-{number}"))).collect();
        let rivals: Vec<CallId> = names.into_iter().filter(|id| place(id.as_str()) == place("first")).take(4).collect();
        assert_eq!(rivals.len(), 4);
        assert!(!rivals.iter().any(|id| used.contains(id.as_str())));
        rivals.iter().cloned().for_each(|id| used.add(id));
        assert!(rivals.iter().all(|id| used.contains(id.as_str())) && used.contains("first"));
        assert_eq!(used.places.len(), 8, "no other place yet");
    }

    #[test]
    fn an_id_that_was_kept_twice_counts_once() {
        let twice = ["a", "b", "a"].map(CallId::new);
        assert_eq!(Vec::from(UsedIds::from(twice.to_vec())), twice[..2]);
    }

    #[test]
    fn room_made_before_is_room_enough() {
        for count in 0..200_u32 {
            let mut used = UsedIds::with_room(count as usize);
            let room = used.places.len();
            (0..count).for_each(|number| used.add(CallId::new(&format!("call_{number}"))));
            assert_eq!(used.places.len(), room, "{count}");
            assert!((0..count).all(|number| used.contains(&format!("call_{number}"))) && !used.contains("another"));
        }
    }

    #[test]
    fn one_read_back_goes_on_like_the_one_that_was_kept() {
        let ids = |range: core::ops::Range<u32>| range.map(|number| CallId::new(&format!("toolu_{number}")));
        for count in 0..100 {
            let mut used = UsedIds::from(ids(0..count).collect::<Vec<_>>());
            let mut again = UsedIds::from(Vec::from(used.clone()));
            ids(count..count + 7).for_each(|id| used.add(id));
            ids(count..count + 7).for_each(|id| again.add(id));
            assert_eq!(used, again);
            assert_eq!(Vec::from(again), ids(0..count + 7).collect::<Vec<_>>());
        }
    }
}
