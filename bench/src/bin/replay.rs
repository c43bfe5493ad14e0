//! Replays a journal of so many events from its lines and says how many that are a second of processor time: the best of several runs.
//!
//! With a second argument only the measurements whose names contain it, which is how a profiler looks at one.
//!
//! Processor time and not time on the wall, so that other programs on the machine count less; they still cost cache and clock.

use agent_core::journal::{self, Record};
use agent_core::session::Session;
use bench::driver;
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// A step and the reading of a record are mostly small pieces that are soon given back. The `agent` program keeps the system's allocator:
/// this one is quicker with them, and takes twice the memory.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let events: usize =
        std::env::args().nth(1).map_or(200_000, |argument| argument.parse().expect("a number of events"));
    let wanted = std::env::args().nth(2).unwrap_or_default();
    let lines = driver::journal(events);
    let count = lines.lines().count() - 1;
    println!("{count} events, {} bytes a line", lines.len() / (count + 1));
    // What a run makes is let go of when it was measured: whoever replays a journal wants the session.
    let best = |what: &str, run: &dyn Fn() -> Option<Session>| {
        if !what.contains(&wanted) {
            return;
        }
        let seconds = (0..9).map(|_| {
            let (start, wall) = (processor_seconds(), Instant::now());
            let session = run();
            let taken = (processor_seconds() - start, wall.elapsed().as_secs_f64());
            assert!(session.is_none_or(|session| session.conversation().len() > 0));
            // A large piece makes glibc join the small ones that were just given back. It would otherwise do so while the next run is
            // measured.
            drop(black_box(Vec::<u8>::with_capacity(LARGE_BYTES)));
            taken
        });
        let (used, wall) = seconds.fold((f64::INFINITY, f64::INFINITY), |a, b| (a.0.min(b.0), a.1.min(b.1)));
        let (used, wall) = (count as f64 / used, count as f64 / wall);
        println!("{what:>28}: {used:>9.0} events a second of this thread's processor time, {wall:>9.0} on the wall");
    };
    let bytes = lines.as_bytes();
    best("read and step", &|| Some(replayed(driver::records(bytes))));
    best("read alone", &|| {
        driver::records(bytes).for_each(|record| drop(black_box(record)));
        None
    });
    // One run has a copy of the records, so that making it is not measured.
    let copies = RefCell::new(vec![driver::records(bytes).collect::<Vec<Record>>(); 9]);
    best("step alone", &|| Some(replayed(copies.borrow_mut().pop().expect("a copy a run"))));
    best("read in a thread, then step", &|| Some(in_two_threads(bytes)));
}

fn replayed(records: impl IntoIterator<Item = Record>) -> Session {
    journal::replay(records).expect("a session").1
}

/// Another thread reads ahead, this one steps.
fn in_two_threads(lines: &[u8]) -> Session {
    let (sender, receiver) = mpsc::sync_channel::<Vec<Record>>(16);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut batch = Vec::with_capacity(BATCH);
            for record in driver::records(lines) {
                batch.push(record);
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    sender.send(full).expect("somebody steps");
                }
            }
            sender.send(batch).expect("somebody steps");
        });
        replayed(receiver.iter().flatten())
    })
}

/// What this thread has used, as Linux counts it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    let nanoseconds: u64 = text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    nanoseconds as f64 / 1e9
}

const BATCH: usize = 256;
const LARGE_BYTES: usize = 64 * 1024;
