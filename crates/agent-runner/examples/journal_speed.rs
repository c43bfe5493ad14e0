//! What keeping a journal costs, beside writing the same bytes to a file and waiting for the disk by hand, in one run.
//!
//! `cargo run --release -p agent-runner --example journal_speed [DIRECTORY]`
use agent_core::journal::{Entry, Header, Record};
use agent_core::llm::LlmResponse;
use agent_core::ports::Journal;
use agent_core::session::{Event, SessionConfig, Ticket};
use agent_runner::journal::{FileJournal, Reader};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("journal-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(folder: &Path) -> Result<(), Box<dyn Error>> {
    let lines = lines(&folder.join("sample.jsonl")).await?;
    let mut file = File::create(folder.join("by-hand"))?;
    let path = folder.join("journal.jsonl");
    let mut journal = FileJournal::create(&path)?;
    let (mut by_hand, mut by_journal) = (Vec::new(), Vec::new());
    // In turns, record by record, so that both meet the same disk.
    for (line, record) in lines.iter().zip(records()) {
        let start = Instant::now();
        file.write_all(line)?;
        file.sync_data()?;
        by_hand.push(start.elapsed());
        let start = Instant::now();
        journal.append(&record).await?;
        journal.sync().await?;
        by_journal.push(start.elapsed());
    }
    let (by_hand, by_journal) = (median(&mut by_hand), median(&mut by_journal));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{RECORDS} records of some 500 bytes, median")?;
    writeln!(out, "write + fdatasync by hand   {:>8.1} µs", micros(by_hand))?;
    writeln!(out, "append + sync of a journal  {:>8.1} µs", micros(by_journal))?;
    writeln!(out, "ratio                       {:>8.2}", by_journal.as_secs_f64() / by_hand.as_secs_f64())?;
    let start = Instant::now();
    for record in Reader::open(&path)? {
        record?;
    }
    writeln!(out, "read and checked            {:>8.2} µs", start.elapsed().as_secs_f64() * 1e6 / lines.len() as f64)?;
    Ok(())
}

/// The lines as the journal writes them.
async fn lines(path: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut journal = FileJournal::create(path)?;
    for record in records() {
        journal.append(&record).await?;
    }
    Ok(std::fs::read(path)?.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

fn records() -> impl Iterator<Item = Record> {
    let header = Header::new("speed", "journal_speed", "/tmp", SessionConfig::default());
    let answer = |seq| {
        let response =
            LlmResponse::text(&"The parser reads one token ahead; that is why the last line is lost. ".repeat(4));
        let entry = Entry::Event(Event::LlmCompleted { ticket: Ticket(seq), response }.into());
        Record { seq, at_ms: 1_767_268_800_000 + seq, entry }
    };
    let header = Record { seq: 0, at_ms: 1_767_268_800_000, entry: Entry::Header(Box::new(header)) };
    std::iter::once(header).chain((1..RECORDS).map(answer))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

const RECORDS: u64 = 2_000;
