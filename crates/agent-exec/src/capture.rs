//! Bounded output: the beginning and the end are kept, the middle is counted.

/// Output as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning; all of it when nothing was dropped.
    pub head: Vec<u8>,
    /// Bytes between the beginning and the end that were not kept.
    pub dropped_bytes: u64,
    /// The end; empty when nothing was dropped.
    pub tail: Vec<u8>,
}

impl Captured {
    /// What was kept, in one piece. Where bytes were dropped nothing marks the place.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.head;
        bytes.extend_from_slice(&self.tail);
        bytes
    }
}

/// Takes output in chunks; the cost is linear in the bytes whatever the chunks are, the memory at most one and a half limits.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    head_limit: usize,
    tail: Vec<u8>,
    tail_limit: usize,
    total: u64,
}

impl Capture {
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), head_limit: limit - limit / 2, tail: Vec::new(), tail_limit: limit / 2, total: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let room = self.head_limit - self.head.len();
        let (first, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(self.tail_limit);
        self.tail.extend(rest.iter().skip(skipped));
        // Trimmed only at twice the limit: every byte is moved at most once.
        if self.tail.len() > self.tail_limit.saturating_mul(2) {
            self.trim_tail();
        }
    }

    pub(crate) fn finish(mut self) -> Captured {
        self.trim_tail();
        let kept = (self.head.len() + self.tail.len()) as u64;
        let dropped_bytes = self.total - kept;
        if dropped_bytes == 0 {
            self.head.append(&mut self.tail);
        }
        Captured { head: self.head, dropped_bytes, tail: self.tail }
    }

    fn trim_tail(&mut self) {
        let excess = self.tail.len().saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_ends_and_counts_the_rest(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0usize..100,
        ) {
            let mut capture = Capture::new(limit);
            for chunk in &chunks {
                capture.push(chunk);
                prop_assert!(capture.head.len() + capture.tail.len() <= 2 * limit);
            }
            let all = chunks.concat();
            let captured = capture.finish();
            prop_assert!(all.starts_with(&captured.head));
            prop_assert!(all.ends_with(&captured.tail));
            let kept = captured.head.len() + captured.tail.len();
            prop_assert_eq!(kept, all.len().min(limit));
            prop_assert_eq!(captured.dropped_bytes as usize, all.len() - kept);
        }
    }

    #[test]
    fn a_million_single_bytes_take_no_noticeable_time() {
        let begun = std::time::Instant::now();
        let mut capture = Capture::new(30_000);
        for _ in 0..1_000_000 {
            capture.push(b"x");
        }
        assert_eq!(capture.finish().dropped_bytes, 970_000);
        assert!(begun.elapsed().as_millis() < 2_000);
    }
}
