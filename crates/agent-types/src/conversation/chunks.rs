//! An append-only list whose clone does not grow with its length.
//!
//! Items live in a tail of at most [`CHUNK`] and in a chain of full, shared chunks. Appending touches the tail only; a
//! clone copies the tail's pointers and one reference to the chain.

use super::Item;
use alloc::sync::Arc;
use alloc::vec::Vec;

#[derive(Debug, Default)]
pub(super) struct Chunks {
    full: Option<Arc<Chunk>>,
    tail: Vec<Arc<Item>>,
}

#[derive(Debug)]
struct Chunk {
    earlier: Option<Arc<Self>>,
    /// Items in this chunk and all earlier ones.
    count: usize,
    items: Vec<Arc<Item>>,
}

impl Chunks {
    pub(super) fn len(&self) -> usize {
        self.full.as_ref().map_or(0, |chunk| chunk.count) + self.tail.len()
    }

    pub(super) fn last(&self) -> Option<&Arc<Item>> {
        self.tail.last().or_else(|| self.full.as_ref().and_then(|chunk| chunk.items.last()))
    }

    pub(super) fn push(&mut self, item: Arc<Item>) {
        if self.tail.len() == CHUNK {
            let count = self.len();
            let items = core::mem::replace(&mut self.tail, Vec::with_capacity(CHUNK));
            self.full = Some(Arc::new(Chunk { earlier: self.full.take(), count, items }));
        }
        self.tail.push(item);
    }

    /// Takes the newest item off. A full chunk is opened again when the tail is empty.
    pub(super) fn pop(&mut self) -> Option<Arc<Item>> {
        if self.tail.is_empty() {
            let chunk = self.full.take()?;
            self.full.clone_from(&chunk.earlier);
            self.tail.clone_from(&chunk.items);
        }
        self.tail.pop()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Item>> {
        let mut chunks = Vec::new();
        let mut next = self.full.as_deref();
        while let Some(chunk) = next {
            chunks.push(chunk);
            next = chunk.earlier.as_deref();
        }
        chunks.into_iter().rev().flat_map(|chunk| chunk.items.iter()).chain(self.tail.iter())
    }
}

/// A copy has room for what comes next: a request gets the new message.
impl Clone for Chunks {
    fn clone(&self) -> Self {
        let mut tail = Vec::with_capacity(CHUNK);
        tail.extend_from_slice(&self.tail);
        Self { full: self.full.clone(), tail }
    }
}

impl PartialEq for Chunks {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// A long chain would otherwise be dropped by recursion, one stack frame a chunk.
impl Drop for Chunk {
    fn drop(&mut self) {
        let mut next = self.earlier.take();
        while let Some(chunk) = next {
            match Arc::into_inner(chunk) {
                Some(mut chunk) => next = chunk.earlier.take(),
                None => break,
            }
        }
    }
}

/// Items a chunk holds. A clone counts up the references of half as many on average, which is most of what it costs; a walk over the
/// history takes one step more a chunk.
const CHUNK: usize = 16;

#[cfg(test)]
mod tests {
    use super::{CHUNK, Chunks};
    use crate::conversation::{Input, Item};
    use alloc::format;
    use alloc::sync::Arc;
    use alloc::vec;
    use alloc::vec::Vec;

    fn of(texts: &[&str]) -> Chunks {
        let mut chunks = Chunks::default();
        for text in texts {
            chunks.push(Arc::new(Item::Input(Input::new(vec![(*text).into()]).unwrap())));
        }
        chunks
    }

    #[test]
    fn histories_are_equal_when_all_items_are() {
        for length in [1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let history = of(&vec!["same"; length]);
            assert!(history == of(&vec!["same"; length]));
            assert!(history != of(&vec!["same"; length + 1]), "a longer one that begins alike");
            for at in 0..length {
                let mut texts = vec!["same"; length];
                texts[at] = "other";
                assert!(history != of(&texts), "item {at} of {length}");
            }
        }
    }

    #[test]
    fn a_clone_shares_all_but_the_newest_items() {
        let texts: Vec<_> = (0..3 * CHUNK + 5).map(|n| format!("{n}")).collect();
        let history = of(&texts.iter().map(alloc::string::String::as_str).collect::<Vec<_>>());
        let clone = history.clone();
        let held: Vec<_> = history.iter().map(Arc::strong_count).collect();
        assert!(clone == history);
        let (old, new) = held.split_at(3 * CHUNK);
        assert!(old.iter().all(|count| *count == 1) && new.iter().all(|count| *count == 2), "{held:?}");
    }

    /// By recursion this would take more stack than a thread has.
    #[test]
    fn a_very_long_history_is_dropped_shared_or_not() {
        let item = of(&["same"]).last().unwrap().clone();
        let mut history = Chunks::default();
        for _ in 0..1_000_000 {
            history.push(item.clone());
        }
        let mut longer = history.clone();
        longer.push(item.clone());
        drop(history);
        assert_eq!(longer.len(), 1_000_001);
        drop(longer);
        assert_eq!(Arc::strong_count(&item), 1, "nothing is left");
    }
}
