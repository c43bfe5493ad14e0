//! What a tree of many agents costs in the real runner, with a model that answers at once.
//!
//! `agents [--agents N] [--turns N] [--flat] [--journals DIRECTORY]` has a tree do its work and prints what it took;
//! `agents --spawn N [--journals DIRECTORY]` begins one agent after the other and prints what each beginning took.
//!
//! It fails where an agent does not finish, a model call is lost or made twice, or an outcome is not told.

use bench::counting::{Counting, live_bytes};
use bench::crowd::{self, Crowd, Measured, Shape};
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut words: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut agents, mut turns, mut shape, mut spawned, mut journals) = (10_101, 50, Shape::Deep, None, None);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or(format!("{word} needs a number"));
        match word.as_str() {
            "--agents" => agents = number()?,
            "--turns" => turns = number()?,
            "--spawn" => spawned = Some(number()?),
            "--flat" => shape = Shape::Flat,
            "--journals" => journals = Some(PathBuf::from(words.next().ok_or("--journals needs a directory")?)),
            _ => return Err(format!("{word} is no option: --agents, --turns, --flat, --spawn, --journals are")),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let crowd = Crowd { agents, turns, shape, journals, live: || live_bytes() };
    match spawned {
        Some(count) => {
            let took = runtime.block_on(crowd::beginnings(count, crowd.journals))?;
            println!(
                "{count} agents begun one after the other: from the answer that asks for one to its first model call"
            );
            println!("  median {:.0} µs, p99 {:.0} µs, longest {:.0} µs", took.median, took.p99, took.longest);
        }
        None => print(&runtime.block_on(crowd.run())?),
    }
    Ok(())
}

fn print(found: &Measured) {
    let each = |bytes: usize| bytes / found.agents;
    println!("{} agents, {} model calls, all finished in {:.1} s", found.agents, found.calls, found.seconds);
    println!("  processor time of a model call with its tool call: {:.0} µs", found.processor_us_per_call);
    println!("  bytes an agent at its second model call, all of them in flight: {}", each(found.early.bytes));
    println!("  the same at its last one: {}, of which its history is {}", each(found.late.bytes), found.history_bytes);
    println!("  the same when all have ended: {}", each(found.ended.bytes));
    println!(
        "  file descriptors: {} before, {} then, {} then, {} after",
        found.before.descriptors, found.early.descriptors, found.late.descriptors, found.ended.descriptors
    );
    for (who, took) in &found.steps {
        println!(
            "  a step of {who}: median {:.1} µs, p99 {:.1} µs, longest {:.1} µs, of {}",
            took.median, took.p99, took.longest, took.count
        );
    }
}
