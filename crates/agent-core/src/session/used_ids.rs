//! The ids of all tool calls so far: an id that a model uses again is replaced.

use crate::conversation::CallId;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A set of ids that grows with the conversation and is asked at every answer.
///
/// It is ordered by hash, because the ids of a model begin alike: comparing their texts would cost more the more there are. Ids with the same
/// hash stand behind each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<CallId>", into = "Vec<CallId>")]
pub(super) struct UsedIds(BTreeMap<u64, CallId>);

impl UsedIds {
    /// Whether a call had this id.
    pub(super) fn contains(&self, id: &str) -> bool {
        let places = places(id).map_while(|place| self.0.get(&place));
        places.into_iter().any(|used| used.as_str() == id)
    }

    /// Notes the ids of further calls.
    pub(super) fn extend(&mut self, ids: impl IntoIterator<Item = CallId>) {
        for id in ids {
            let place = places(id.as_str()).find(|place| self.0.get(place).is_none_or(|used| *used == id));
            if let Some(place) = place {
                self.0.insert(place, id);
            }
        }
    }
}

impl From<Vec<CallId>> for UsedIds {
    fn from(ids: Vec<CallId>) -> Self {
        let mut used = Self::default();
        used.extend(ids);
        used
    }
}

impl From<UsedIds> for Vec<CallId> {
    fn from(used: UsedIds) -> Self {
        used.0.into_values().collect()
    }
}

/// Where an id may stand, best first: its FNV-1a hash and the numbers behind it.
fn places(id: &str) -> impl Iterator<Item = u64> + use<> {
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (0..=u64::MAX).map(move |step| hash.wrapping_add(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn knows_what_it_was_told_and_nothing_else() {
        let ids = |from: u32| (from..from + 500).map(|number| CallId::new(&format!("call_{number}")));
        let mut used = UsedIds::default();
        used.extend(ids(0));
        used.extend(ids(0));
        assert!(ids(0).all(|id| used.contains(id.as_str())));
        assert!(!ids(500).any(|id| used.contains(id.as_str())));
        let kept = serde_json::to_string(&used).unwrap();
        assert_eq!(serde_json::from_str::<UsedIds>(&kept).unwrap(), used);
        assert_eq!(Vec::from(used).len(), 500);
    }

    #[test]
    fn ids_with_the_same_hash_stand_behind_each_other() {
        let (first, second) = (CallId::new("first"), CallId::new("second"));
        let place = places("second").next().unwrap();
        let mut used = UsedIds(BTreeMap::from([(place, first)]));
        assert!(!used.contains("second"));
        used.extend([second]);
        assert!(used.contains("second"));
    }
}
