//! What is measured: sessions with a history, brought to where each kind of event fits, and whole turns.

pub mod cases;
pub mod counting;
pub mod crowd;
pub mod driver;
pub mod small;

/// Lengths of history, in items, at which a step has to cost the same.
pub const LENGTHS: [usize; 3] = [10, 1_000, 10_000];
