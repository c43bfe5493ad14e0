//! One small machine, written four ways: a `match`, this project's kernel, `statig` and `smlang`.
//!
//! ```text
//! Idle    + Start => Calling (count)    Calling + Answer => Idle      Running + Result => Calling (count)   Waiting + Result => Idle
//! Calling + Tool => Running             Calling + Cancel => Idle      Running + Cancel => Waiting           Idle + Finish => Done
//! ```
//!
//! Each takes the same events in the same hardly predictable order; what does not fit is refused. All must come to the same.

mod by_kernel;
mod by_match;
mod by_smlang;
mod by_statig;

/// What happens. `Finish` is in the tables, and never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Start,
    Answer,
    Tool,
    Result,
    Cancel,
}

/// What a run came to: events taken, model calls started, and the number of the last state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub accepted: u64,
    pub calls: u64,
    pub state: u8,
}

/// Every way with its name.
pub const MACHINES: &[(&str, fn(usize) -> Tally)] =
    &[("match", by_match::run), ("kernel", by_kernel::run), ("statig", by_statig::run), ("smlang", by_smlang::run)];

/// What a run of so many events must come to.
pub fn expected(events: usize) -> Tally {
    by_match::run(events)
}

/// So many events from a generator of random numbers that always begins the same.
fn events(count: usize) -> impl Iterator<Item = Event> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        [Event::Start, Event::Answer, Event::Tool, Event::Result, Event::Cancel][(state >> 33) as usize % 5]
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_ways_come_to_the_same() {
        for events in [0, 1, 2, 10, 1_000, 100_000] {
            for (name, run) in super::MACHINES {
                assert_eq!(run(events), super::expected(events), "{name} after {events}");
            }
        }
    }
}
