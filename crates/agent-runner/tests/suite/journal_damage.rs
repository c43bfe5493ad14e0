//! A journal of 200 KB, cut and damaged: what is read is what was written, or the place is told. Never something else.
//!
//! Short by default. `cargo xtask journal-damage` cuts at every byte and damages 100,000 times; the variables below say how much.

use crate::support::{Host, builder, tool};
use agent_core::journal::Record;
use agent_core::ports::Journal;
use agent_core::session::Session;
use agent_core::tool::ToolOutcome;
use agent_runner::journal::{FileJournal, ReadError, read};
use agent_testkit::{FakeTool, Script, ScriptedProvider};
use serde_json::json;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A journal with few records and long ones, and what it holds.
struct Reference {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    records: Vec<Record>,
    /// The session behind so many records.
    sessions: Vec<Option<Session>>,
}

impl Reference {
    async fn record() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reference.jsonl");
        let long = "All of this was in the file: ümläute, \"quotes\", \\ and \u{2028}.\n".repeat(300);
        let script = (0..6)
            .fold(Script::new(), |script, i| {
                script.call(if i % 2 == 0 { "look" } else { "edit" }, json!({"n": i, "why": long[..4_000]}))
            })
            .text(long.clone());
        let (look, edit) = (FakeTool::reads("look"), FakeTool::changes("edit"));
        let mut host = Host::start(
            builder(ScriptedProvider::new(script))
                .tool(tool(&look.outcome(ToolOutcome::ok(long.repeat(2)))))
                .tool(tool(&edit.outcome(ToolOutcome::ok(long))))
                .journal(Box::new(FileJournal::create(&path).unwrap())),
        );
        host.ask("go").await;
        host.detach().await;
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() > 200_000, "{}", bytes.len());
        let records = read(&path).unwrap().records;
        let session = |n| agent_core::journal::replay(records[..n].iter().cloned()).ok().map(|(_, session)| session);
        let sessions = (0..=records.len()).map(session).collect();
        Self { folder, bytes, records, sessions }
    }

    /// A copy to be damaged.
    fn copy(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, &self.bytes).unwrap();
        path
    }

    /// How many records lie whole before this byte.
    fn whole(&self, length: usize) -> usize {
        self.bytes[..length].iter().filter(|byte| **byte == b'\n').count()
    }
}

#[tokio::test(start_paused = true)]
async fn cut_anywhere_it_holds_the_longest_whole_prefix_and_goes_on() {
    let reference = Reference::record().await;
    let step = amount("JOURNAL_CUT_STEP", 2_003);
    // Wherever a line ends, every byte around it; in between, some.
    let ends: Vec<usize> = (0..reference.bytes.len()).filter(|at| reference.bytes[*at] == b'\n').collect();
    let is_near_an_end = |at: &usize| ends.iter().any(|end| at.abs_diff(*end) <= 1);
    let cuts: Vec<usize> = (0..=reference.bytes.len()).filter(|at| at % step == 0 || is_near_an_end(at)).collect();
    in_parts(|part| {
        let path = reference.copy(&format!("cut-{part}.jsonl"));
        let file = File::options().write(true).open(&path).unwrap();
        // From the end on, so that the file is only ever made shorter.
        for length in cuts.iter().rev().skip(part).step_by(PARTS) {
            file.set_len(*length as u64).unwrap();
            check_cut(&reference, &path, *length);
        }
    });
    for length in
        ends.iter().flat_map(|end| [end - 1, *end, end + 1, end + 2]).filter(|at| *at <= reference.bytes.len())
    {
        appended(&reference, length).await;
    }
}

/// The records before the cut are there, and make the session that they made.
fn check_cut(reference: &Reference, path: &Path, length: usize) {
    let whole = reference.whole(length);
    let recovered = read(path).unwrap_or_else(|error| panic!("cut at {length}: {error}"));
    assert!(recovered.records == reference.records[..whole], "cut at {length}");
    assert_eq!(recovered.good_bytes + recovered.torn_bytes, length as u64, "cut at {length}");
    match recovered.rebuild() {
        Ok(rebuilt) => assert!(Some(rebuilt.agent.session()) == reference.sessions[whole].as_ref(), "cut at {length}"),
        Err(error) => assert_eq!(whole, 0, "cut at {length}: {error}"),
    }
}

/// What is appended behind a cut stands behind the whole records, and nothing of the torn one is left between.
async fn appended(reference: &Reference, length: usize) {
    let path = reference.folder.path().join("appended.jsonl");
    fs::write(&path, &reference.bytes[..length]).unwrap();
    let torn = path.with_extension("torn");
    let _ = fs::remove_file(&torn);
    let whole = reference.whole(length);
    let (mut journal, recovered) = FileJournal::resume(&path).unwrap();
    let good = usize::try_from(recovered.good_bytes).unwrap();
    assert_eq!(fs::read(&torn).unwrap_or_default(), &reference.bytes[good..length], "cut at {length}");
    let Some(next) = reference.records.get(whole) else { return };
    journal.append(next).await.unwrap();
    journal.sync().await.unwrap();
    drop(journal);
    assert!(read(&path).unwrap().records == reference.records[..=whole], "appended behind {length}");
}

#[tokio::test(start_paused = true)]
async fn flipped_bits_and_holes_are_noticed() {
    let reference = Reference::record().await;
    let runs = amount("JOURNAL_DAMAGE_RUNS", 300);
    let (damaged, cut) = (AtomicUsize::new(0), AtomicUsize::new(0));
    in_parts(|part| {
        let path = reference.copy(&format!("damaged-{part}.jsonl"));
        let mut file = File::options().write(true).open(&path).unwrap();
        let mut chance = Chance(0x9E37_79B9_7F4A_7C15 << part);
        for _ in (part..runs).step_by(PARTS) {
            let (at, bytes) = damage(&reference, &mut chance);
            put(&mut file, at, &bytes);
            match check(&reference, &path, at) {
                Found::Damage => damaged.fetch_add(1, Ordering::Relaxed),
                Found::Cut => cut.fetch_add(1, Ordering::Relaxed),
            };
            put(&mut file, at, &reference.bytes[at..at + bytes.len()]);
        }
        assert!(fs::read(&path).unwrap() == reference.bytes, "each damage was the only one");
    });
    let (damaged, cut) = (damaged.into_inner(), cut.into_inner());
    println!("{damaged} damages told, {cut} at the end taken for a record that was cut");
    assert_eq!(damaged + cut, runs);
    assert!(damaged > 100 && cut < damaged, "{damaged} told, {cut} cut at the end");
}

/// A flipped bit, or a hole of zeros: where, and what stands there then.
fn damage(reference: &Reference, chance: &mut Chance) -> (usize, Vec<u8>) {
    let bytes = &reference.bytes;
    let at = chance.draw(bytes.len());
    if chance.draw(2) == 0 {
        return (at, vec![bytes[at] ^ (1 << chance.draw(8))]);
    }
    let end = (at + 1 + chance.draw(5_000)).min(bytes.len());
    (at, vec![0; end - at])
}

fn put(file: &mut File, at: usize, bytes: &[u8]) {
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(bytes).unwrap();
}

/// xorshift: the same damage in every run.
struct Chance(u64);

impl Chance {
    fn draw(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

/// Each part on a thread of its own.
fn in_parts(work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for part in 0..PARTS {
            let work = &work;
            scope.spawn(move || work(part));
        }
    });
}

const PARTS: usize = 2;

enum Found {
    Damage,
    Cut,
}

/// Damage is told with a place that is not behind it; or it took the end of the last line, which is then a torn one.
fn check(reference: &Reference, path: &Path, at: usize) -> Found {
    let line = reference.whole(at);
    match read(path) {
        Err(ReadError::Damaged { damage, .. }) => {
            assert_eq!(
                (damage.line, damage.byte),
                (line as u64 + 1, start_of(reference, line)),
                "byte {at}: {damage:?}"
            );
            Found::Damage
        }
        Err(error) => panic!("byte {at}: {error}"),
        Ok(recovered) => {
            assert!(recovered.torn_bytes > 0, "byte {at} was changed and nobody noticed");
            assert_eq!(line, reference.records.len() - 1, "byte {at}: more than the last line was cut");
            assert!(recovered.records == reference.records[..line], "byte {at}");
            Found::Cut
        }
    }
}

fn start_of(reference: &Reference, line: usize) -> u64 {
    reference.bytes.split_inclusive(|byte| *byte == b'\n').take(line).map(|line| line.len() as u64).sum()
}

/// How much, when somebody has time.
fn amount(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}
