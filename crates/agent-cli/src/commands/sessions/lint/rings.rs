//! Entries that stand behind themselves, by way of others: found, and opened, in a time that grows with their number and no faster.
//!
//! Every entry stands behind at most one other. So entries that hang together have one ring, or one that stands behind nothing, and not
//! both.
//!
//! ```text
//! Rings::of   what each stands behind          -> the entries in rings, and who hangs together
//! cut         an entry of a ring               -> it stands behind nothing, and all that hang together with it stand behind it
//! hang        a cut entry, and another         -> it stands behind that one, unless that one stands behind it
//! ```

use std::collections::HashMap;

/// The rings of a file that are not cut yet.
pub(super) struct Rings {
    /// By its name, the number of an entry.
    numbers: HashMap<String, usize>,
    /// By its number, the ring that an entry is in.
    rings: Vec<Option<usize>>,
    /// By its number, whether a ring was cut.
    cut: Vec<bool>,
    /// By its number, one that an entry hangs together with: itself, for one of each group.
    groups: Vec<usize>,
}

impl Rings {
    pub(super) fn of(parents: &HashMap<String, String>) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |name: &String| {
            let next = numbers.len();
            *numbers.entry(name.clone()).or_insert(next)
        };
        let pairs: Vec<(usize, usize)> =
            parents.iter().map(|(entry, parent)| (number(entry), number(parent))).collect();
        let count = numbers.len();
        let mut above = vec![None; count];
        let mut found = Self { numbers, rings: vec![None; count], cut: Vec::new(), groups: (0..count).collect() };
        for (entry, parent) in pairs {
            above[entry] = Some(parent);
            found.join(entry, parent);
        }
        found.search(&above);
        found
    }

    /// Each entry is passed once: a walk ends where another one, or it itself, has been.
    fn search(&mut self, above: &[Option<usize>]) {
        let mut walks: Vec<Option<usize>> = vec![None; above.len()];
        for start in 0..above.len() {
            let mut at = Some(start);
            while let Some(entry) = at.filter(|entry| walks[*entry].is_none()) {
                walks[entry] = Some(start);
                at = above[entry];
            }
            let Some(entry) = at.filter(|entry| walks[*entry] == Some(start) && self.rings[*entry].is_none()) else {
                continue;
            };
            let ring = self.cut.len();
            self.cut.push(false);
            let mut at = Some(entry);
            while let Some(entry) = at.filter(|entry| self.rings[*entry].is_none()) {
                self.rings[entry] = Some(ring);
                at = above[entry];
            }
        }
    }

    /// Opens the ring of an entry at this entry; false when it is in none that is whole.
    pub(super) fn cut(&mut self, entry: &str) -> bool {
        let ring = self.numbers.get(entry).and_then(|number| self.rings[*number]);
        ring.is_some_and(|ring| !std::mem::replace(&mut self.cut[ring], true))
    }

    /// Lets an entry that was cut stand behind another one; false when that one stands behind it.
    pub(super) fn hang(&mut self, entry: &str, behind: &str) -> bool {
        let (Some(entry), Some(behind)) = (self.numbers.get(entry).copied(), self.numbers.get(behind).copied()) else {
            // One that stands behind nothing, and that nothing stood behind, stands behind nothing that was cut.
            return entry != behind;
        };
        let is_apart = self.group(entry) != self.group(behind);
        if is_apart {
            self.join(entry, behind);
        }
        is_apart
    }

    fn join(&mut self, entry: usize, other: usize) {
        let (entry, other) = (self.group(entry), self.group(other));
        self.groups[entry] = other;
    }

    /// The one that stands for the group. The way to it is halved each time.
    fn group(&mut self, mut entry: usize) -> usize {
        while self.groups[entry] != entry {
            let next = self.groups[self.groups[entry]];
            self.groups[entry] = next;
            entry = next;
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(pairs: &[(&str, &str)]) -> Rings {
        Rings::of(&pairs.iter().map(|(entry, parent)| ((*entry).to_owned(), (*parent).to_owned())).collect())
    }

    #[test]
    fn a_ring_is_cut_once_and_what_leads_to_it_is_in_none() {
        let mut found = rings(&[("a", "b"), ("b", "c"), ("c", "a"), ("x", "a"), ("y", "x"), ("s", "s"), ("m", "gone")]);
        assert!(!found.cut("x") && !found.cut("y") && !found.cut("m") && !found.cut("nobody"));
        assert!(found.cut("b") && !found.cut("a") && !found.cut("c"), "one cut opens it");
        assert!(found.cut("s"));
        assert!(!found.hang("b", "y"), "its parent b");
        assert!(found.hang("b", "m"), "nothing that hangs on b");
        assert!(!found.hang("s", "s") && found.hang("s", "b"));
    }

    /// The last of each ring would be what the first of the next one is hung behind.
    #[test]
    fn many_rings_and_long_ways_take_no_longer_each() {
        let count = 20_000;
        let mut parents = HashMap::new();
        for ring in 0..count {
            parents.insert(format!("a{ring}"), format!("b{ring}"));
            parents.insert(format!("b{ring}"), format!("a{ring}"));
            // Ways into the first ring that are as long as there are rings.
            parents.insert(format!("c{ring}"), if ring == 0 { String::from("a0") } else { format!("c{}", ring - 1) });
        }
        let mut found = Rings::of(&parents);
        for ring in 0..count {
            assert!(found.cut(&format!("a{ring}")) && !found.cut(&format!("c{ring}")));
            assert!(ring == 0 || found.hang(&format!("a{ring}"), &format!("b{}", ring - 1)));
        }
    }
}
