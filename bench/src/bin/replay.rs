//! Replays a journal of so many events from its lines and says how many that are a second of processor time: the best of several runs.
//!
//! Processor time and not time on the wall, so that other programs on the machine count less; they still cost cache and clock.

use agent_core::journal::{self, Record};
use bench::driver;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

fn main() {
    let events: usize =
        std::env::args().nth(1).map_or(200_000, |argument| argument.parse().expect("a number of events"));
    let lines = driver::journal(events);
    let count = lines.lines().count() - 1;
    println!("{count} events, {} bytes a line", lines.len() / (count + 1));
    let best = |what: &str, run: &dyn Fn() -> usize| {
        let seconds = (0..9).map(|_| {
            let (start, wall) = (processor_seconds(), Instant::now());
            assert!(run() > 0);
            (processor_seconds() - start, wall.elapsed().as_secs_f64())
        });
        let (used, wall) = seconds.fold((f64::INFINITY, f64::INFINITY), |a, b| (a.0.min(b.0), a.1.min(b.1)));
        let (used, wall) = (count as f64 / used, count as f64 / wall);
        println!("{what:>28}: {used:>9.0} events a second of this thread's processor time, {wall:>9.0} on the wall");
    };
    let read = |line| serde_json::from_str::<Record>(line).expect("a record");
    let records: Vec<Record> = lines.lines().map(read).collect();
    best("read and step", &|| journal::replay(lines.lines().map(read)).expect("a session").1.conversation().len());
    best("read alone", &|| lines.lines().map(read).filter(|record| record.seq > 0).count());
    best("step alone, and a copy", &|| {
        journal::replay(records.iter().cloned()).expect("a session").1.conversation().len()
    });
    best("read in a thread, then step", &|| in_two_threads(&lines));
}

/// Another thread reads ahead, this one steps.
fn in_two_threads(lines: &str) -> usize {
    let (sender, receiver) = mpsc::sync_channel::<Vec<Record>>(16);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut batch = Vec::with_capacity(BATCH);
            for line in lines.lines() {
                batch.push(serde_json::from_str(line).expect("a record"));
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    sender.send(full).expect("somebody steps");
                }
            }
            sender.send(batch).expect("somebody steps");
        });
        journal::replay(receiver.iter().flatten()).expect("a session").1.conversation().len()
    })
}

/// What this thread has used, as Linux counts it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    let nanoseconds: u64 = text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    nanoseconds as f64 / 1e9
}

const BATCH: usize = 256;
