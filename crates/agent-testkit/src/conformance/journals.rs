//! What every journal must hold, as checks that anybody can run over one of their own.
//!
//! The place where journals are kept is a [`Shelf`]. For the crash tests it starts a program that opens a session and calls
//! [`write_until_killed`]; a test program can start itself:
//!
//! ```no_run
//! # use agent_testkit::conformance::journals::{Shelf, assert_conforms, write_until_killed};
//! # fn my_shelf(folder: &str) -> Box<dyn Shelf> { unimplemented!() }
//! # async fn test() {
//! if let Ok(folder) = std::env::var("WRITE_TO") {
//!     let (journal, records) = my_shelf(&folder).resume("killed").unwrap();
//!     write_until_killed(journal, records.len() as u64).await;
//!     return;
//! }
//! assert_conforms(my_shelf("…").as_ref()).await;
//! # }
//! ```

use agent_core::journal::{Entry, Header, Record};
use agent_core::ports::Journal;
use agent_core::session::{Event, SessionConfig};
use futures_util::future::BoxFuture;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A place where sessions are kept. Ids are letters, digits and `-`.
pub trait Shelf: Send + Sync {
    /// Makes the journal of a new session.
    ///
    /// # Errors
    /// When there is one, or it cannot be made.
    fn create(&self, id: &str) -> Result<Box<dyn Journal>, String>;

    /// Opens a journal to continue it, and reads what it holds.
    ///
    /// # Errors
    /// When it does not exist, is damaged, or another process writes it: then with the process's id.
    fn resume(&self, id: &str) -> Result<(Box<dyn Journal>, Vec<Record>), String>;

    /// Reads a journal that another program may be writing.
    ///
    /// # Errors
    /// When it does not exist, or is damaged.
    fn read(&self, id: &str) -> Result<Vec<Record>, String>;

    /// Changes a byte in the middle of what is kept of a record, past whatever guards it.
    ///
    /// # Errors
    /// When that is not possible.
    fn damage(&self, id: &str, seq: u64) -> Result<(), String>;

    /// A program that [resumes](Self::resume) the session in this place and calls [`write_until_killed`].
    fn writer(&self, id: &str) -> Command;
}

/// One thing that a journal must hold.
pub struct Check {
    /// Its name, and the id of the session that it uses.
    pub name: &'static str,
    /// What it demands, in one sentence.
    pub demands: &'static str,
    run: for<'a> fn(&'a dyn Shelf, &'a str) -> BoxFuture<'a, Result<(), String>>,
}

impl Check {
    /// Holds a journal to it.
    ///
    /// # Errors
    /// What was expected and what happened instead.
    pub async fn run(&self, shelf: &dyn Shelf) -> Result<(), String> {
        (self.run)(shelf, self.name).await
    }
}

/// All of them. Each is run once on a shelf.
#[must_use]
pub fn checks() -> Vec<Check> {
    let check = |name, demands, run| Check { name, demands, run };
    vec![
        check("reads-back", "what is appended is read back equal, in order", |shelf, id| {
            Box::pin(reads_back(shelf, id))
        }),
        check("goes-on", "a closed journal can be resumed, and new records follow all that it holds", |shelf, id| {
            Box::pin(goes_on(shelf, id))
        }),
        check(
            "one-writer",
            "a second writer is refused with the process of the first, until that one is gone",
            |shelf, id| Box::pin(one_writer(shelf, id)),
        ),
        check(
            "free-readers",
            "who reads while another writes gets whole records, as many as are appended",
            |shelf, id| Box::pin(free_readers(shelf, id)),
        ),
        check(
            "damage",
            "a damaged record is reported when the journal is read and when it is continued",
            |shelf, id| Box::pin(damage(shelf, id)),
        ),
        check(
            "killed",
            "whenever the writer is killed, what it was told to be kept is there, and nothing with a gap",
            |shelf, id| Box::pin(killed(shelf, id)),
        ),
    ]
}

/// Holds a journal to all of them.
///
/// # Panics
/// When it does not hold one, with all that it does not hold.
pub async fn assert_conforms(shelf: &dyn Shelf) {
    let mut broken = Vec::new();
    for check in checks() {
        if let Err(found) = check.run(shelf).await {
            broken.push(format!("{}: {}\n    but {found}", check.name, check.demands));
        }
    }
    assert!(broken.is_empty(), "the journal does not hold:\n{}", broken.join("\n"));
}

/// Appends and syncs records until the process is killed, and says each number on standard output when it is kept. Ends by itself when
/// nobody listens any more.
///
/// # Panics
/// When a record cannot be kept.
pub async fn write_until_killed(mut journal: Box<dyn Journal>, next_seq: u64) {
    for seq in next_seq.. {
        let kept = keep(journal.as_mut(), &record(seq)).await;
        assert!(kept.is_ok(), "{kept:?}");
        if writeln!(std::io::stdout(), "{KEPT}{seq}").is_err() {
            return;
        }
    }
}

async fn reads_back(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    let mut journal = shelf.create(id)?;
    let records: Vec<Record> = (0..40).map(record).collect();
    for record in &records {
        journal.append(record).await.map_err(|error| error.to_string())?;
    }
    journal.sync().await.map_err(|error| error.to_string())?;
    drop(journal);
    same(&shelf.read(id)?, &records)?;
    match (shelf.create(id), shelf.read("nobody")) {
        (Ok(_), _) => Err(String::from("a session was made that is there already")),
        (_, Ok(_)) => Err(String::from("a session was read that is not there")),
        _ => same(&shelf.read(id)?, &records),
    }
}

async fn goes_on(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    drop(shelf.create(id)?);
    for round in 0..5 {
        let (mut journal, held) = shelf.resume(id)?;
        same(&held, &(0..round).map(record).collect::<Vec<_>>())?;
        keep(journal.as_mut(), &record(round)).await?;
    }
    same(&shelf.read(id)?, &(0..5).map(record).collect::<Vec<_>>())
}

async fn one_writer(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    let mut first = shelf.create(id)?;
    keep(first.as_mut(), &record(0)).await?;
    for _ in 0..2 {
        match shelf.resume(id) {
            Ok(_) => return Err(String::from("two write it")),
            Err(error) if error.contains(&std::process::id().to_string()) => {}
            Err(error) => return Err(format!("the refusal does not name the process: {error}")),
        }
    }
    keep(first.as_mut(), &record(1)).await?;
    drop(first);
    let (mut second, _) = shelf.resume(id)?;
    keep(second.as_mut(), &record(2)).await?;
    same(&shelf.read(id)?, &(0..3).map(record).collect::<Vec<_>>())
}

async fn free_readers(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    let mut journal = shelf.create(id)?;
    for seq in 0..50 {
        keep(journal.as_mut(), &record(seq)).await?;
        same(&shelf.read(id)?, &(0..=seq).map(record).collect::<Vec<_>>())?;
    }
    Ok(())
}

async fn damage(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    let mut journal = shelf.create(id)?;
    for seq in 0..9 {
        keep(journal.as_mut(), &record(seq)).await?;
    }
    drop(journal);
    shelf.damage(id, 4)?;
    let read = shelf.read(id).err().ok_or("the damage was not noticed by a reader")?;
    let resumed = shelf.resume(id).err().ok_or("the damage was not noticed by a writer")?;
    if [&read, &resumed].iter().all(|error| error.contains("damage")) {
        return Ok(());
    }
    Err(format!("the report does not say that it is damage: {read}; {resumed}"))
}

async fn killed(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    drop(shelf.create(id)?);
    let mut held = 0;
    for round in 0..KILLS {
        let told = kill(shelf.writer(id), round)?;
        let records = shelf.read(id)?;
        let (mut journal, resumed) = shelf.resume(id)?;
        same(&records, &resumed)?;
        let number = records.len() as u64;
        same(&records, &(0..number).map(record).collect::<Vec<_>>())?;
        let least = told.map_or(held, |seq| seq + 1);
        if number < least.max(held) {
            return Err(format!("{number} records are there; {least} were told to be kept, {held} were there before"));
        }
        keep(journal.as_mut(), &record(number)).await?;
        held = number + 1;
    }
    if held > u64::from(KILLS) { Ok(()) } else { Err(String::from("the program that was to be killed wrote nothing")) }
}

/// Lets a writer keep some records, kills it, and returns the last number that it said.
fn kill(mut writer: Command, round: u32) -> Result<Option<u64>, String> {
    let failed = |error: std::io::Error| format!("the program that writes: {error}");
    let mut child = writer.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().map_err(failed)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let number = |line: String| line.rsplit_once(KEPT).and_then(|(_, seq)| seq.trim().parse::<u64>().ok());
    let mut last = None;
    let mut wanted = round % 7 + 1;
    while wanted > 0 {
        let Some(line) = lines.next() else { return Err(String::from("the program that writes ended by itself")) };
        if let Some(seq) = number(line.map_err(failed)?) {
            (last, wanted) = (Some(seq), wanted - 1);
        }
    }
    // Somewhere between two syncs.
    std::thread::sleep(Duration::from_micros(u64::from(round) * 173));
    child.kill().map_err(failed)?;
    for line in lines {
        last = number(line.map_err(failed)?).or(last);
    }
    child.wait().map_err(failed)?;
    Ok(last)
}

async fn keep(journal: &mut dyn Journal, record: &Record) -> Result<(), String> {
    journal.append(record).await.map_err(|error| error.to_string())?;
    journal.sync().await.map_err(|error| error.to_string())
}

/// The record that has this number in every check.
fn record(seq: u64) -> Record {
    let text = match seq % 4 {
        0 => String::from("Grüße\u{2028}\0\u{1f680}\"\\\n'; DROP TABLE record; --"),
        1 => "x".repeat(100_000),
        _ => format!("the words of {seq}"),
    };
    let entry = match seq {
        0 => Entry::Header(Box::new(Header::new("conforms", "conformance", "/work", SessionConfig::default()))),
        _ => Entry::Event(Event::UserInput { text: text.into() }.into()),
    };
    Record { seq, at_ms: 1_767_268_800_000 + seq, entry }
}

fn same(found: &[Record], expected: &[Record]) -> Result<(), String> {
    let first = found.iter().zip(expected).position(|(found, expected)| found != expected);
    match first {
        Some(at) => Err(format!("the record at {at} is another one: {:?}", found[at].seq)),
        None if found.len() != expected.len() => Err(format!("{} records came, not {}", found.len(), expected.len())),
        None => Ok(()),
    }
}

/// In front of a number that was kept. Test programs say other things besides.
const KEPT: &str = "kept ";
const KILLS: u32 = 12;
