//! Writes what git's `fast-import` reads: one process stores the files and moves the reference.
//!
//! The tree of a turn is never checked out. It holds a file for every path, its name escaped so that a file and a directory of the same
//! name can stand side by side:
//!
//! ```text
//! before/src%2Fa%2Ers          how it was before the turn
//! before-absent/src%2Fb%2Ers   it was not there
//! before-mode/src%2Fa%2Ers     who might read and write it, where that is not the usual
//! unkept/src%2Fc%2Ers          it changed, and why it is not known how it was
//! unnamed/files                how many more such files there are, for whose names the full disk had no room
//! after/…, after-absent/…      how the agent left it
//! between/0%2Fsrc%2Fd%2Ers     what someone else made of it between two of the agent's changes; the number counts these within the turn
//! between-absent/…             they removed it
//! commands/0                   a command of the turn, whose changes are not known
//! undo/unfinished             it is an undo that has not ended: of its files some may be as after it, and some as before
//! undo/ended                  it is an undo that has
//! seal/0a1b…                   what shows that the agent wrote all of this; the file is empty, so that none is left over
//! ```

use crate::image::Image;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// References of this kind belong to one working tree and are not fetched or pushed.
pub(super) const TURNS: &str = "refs/worktree/agent/turns/";

const UNNAMED: &str = "unnamed/files";
pub(super) const UNFINISHED: &str = "undo/unfinished";
const COMMITTER: &str = "committer agent <agent@localhost> ";

/// When a file was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before the turn changed it.
    Before,
    /// After the turn changed it.
    After,
}

impl When {
    const fn folder(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// A place in the tree of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file or link that was there.
    Present(When, String),
    /// One that was not.
    Absent(When, String),
    /// The permissions of a file that was there before.
    Mode(String),
    /// A file that changed and whose content was not kept.
    Unkept(String),
    /// How many more of these there are.
    Unnamed,
    /// A file that someone else changed between two of the agent's changes, with the number of this change, and whether they left it there.
    Between(usize, String, bool),
    /// A command.
    Command,
    /// It is an undo, and whether it has ended.
    Undo { has_ended: bool },
    /// What shows that the agent wrote the record.
    Seal(String),
}

impl Place {
    /// Reads a name of the tree.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (folder, rest) = name.split_once('/')?;
        Some(match folder {
            "before" => Self::Present(When::Before, unescape(rest)?),
            "after" => Self::Present(When::After, unescape(rest)?),
            "before-absent" => Self::Absent(When::Before, unescape(rest)?),
            "after-absent" => Self::Absent(When::After, unescape(rest)?),
            "before-mode" => Self::Mode(unescape(rest)?),
            "unkept" => Self::Unkept(unescape(rest)?),
            "unnamed" => Self::Unnamed,
            "between" | "between-absent" => {
                let rest = unescape(rest)?;
                let (number, path) = rest.split_once('/')?;
                Self::Between(number.parse().ok()?, path.to_owned(), folder == "between")
            }
            "commands" => Self::Command,
            "undo" => Self::Undo { has_ended: rest == "ended" },
            "seal" => Self::Seal(rest.to_owned()),
            _ => return None,
        })
    }
}

/// Begins a commit on the reference of a turn; `goes_on` if the reference is there already.
pub(super) fn begin(turn: &str, goes_on: bool) -> Vec<u8> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let message = "How files were before a turn of the agent, and after it\n";
    let mut out = format!("commit {TURNS}{turn}\n{COMMITTER}{now_s} +0000\ndata {}\n{message}", message.len());
    if goes_on {
        out.push_str(&format!("from {TURNS}{turn}^0\n"));
    }
    out.into_bytes()
}

/// The same with the date that git calls "now".
pub(super) fn dated_now(record: &[u8]) -> Option<Vec<u8>> {
    let first = record.iter().position(|byte| *byte == b'\n')? + 1;
    let rest = record.get(first..)?.strip_prefix(COMMITTER.as_bytes())?;
    let date = rest.iter().position(|byte| *byte == b'\n')?;
    Some([record.get(..first)?, COMMITTER.as_bytes(), b"now", rest.get(date..)?].concat())
}

/// The record, if it is one that this module wrote for this turn, and says nothing but how files were: `fast-import` takes commands that
/// move branches, too, and a repository may come with a file in place of a record.
pub(super) fn ours<'a>(turn: &str, record: &'a [u8]) -> Option<&'a [u8]> {
    (read_through(turn, record).ok()?.fault.is_none()).then_some(record)
}

/// The same of a record that was cut off when its agent was killed in the middle of writing: what was there before the last write began,
/// which ends with a seal where there are seals. Nothing may be left of it.
pub(super) fn ours_as_far_as_written<'a>(turn: &str, record: &'a [u8], is_sealed: bool) -> Option<&'a [u8]> {
    let read = read_through(turn, record).ok()?;
    let end = match (read.fault, is_sealed) {
        (None, _) => record.len(),
        (Some(Fault::Cut), true) => read.sealed_bytes,
        (Some(Fault::Cut), false) => read.whole_bytes,
        (Some(Fault::Foreign), _) => return None,
    };
    record.get(..end)
}

/// How far a record could be read.
struct Read {
    /// To the end of the last entry.
    whole_bytes: usize,
    /// To the end of the last seal.
    sealed_bytes: usize,
    fault: Option<Fault>,
}

/// Why it could not be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It ends in the middle of an entry.
    Cut,
    /// This module did not write it.
    Foreign,
}

fn read_through(turn: &str, record: &[u8]) -> Result<Read, Fault> {
    let mut rest = Lines(record);
    let mut read = Read { whole_bytes: 0, sealed_bytes: 0, fault: None };
    let mut fault = head(turn, &mut rest).err();
    while fault.is_none() && !rest.0.is_empty() {
        match entry(turn, &mut rest) {
            Ok(is_seal) => {
                read.whole_bytes = record.len() - rest.0.len();
                read.sealed_bytes = if is_seal { read.whole_bytes } else { read.sealed_bytes };
            }
            Err(found) => fault = Some(found),
        }
    }
    match fault {
        Some(Fault::Foreign) => Err(Fault::Foreign),
        fault => Ok(Read { fault, ..read }),
    }
}

fn head(turn: &str, rest: &mut Lines<'_>) -> Result<(), Fault> {
    let foreign = |is_ours: bool| if is_ours { Ok(()) } else { Err(Fault::Foreign) };
    foreign(rest.line()? == format!("commit {TURNS}{turn}"))?;
    let date = rest.line()?.strip_prefix(COMMITTER).and_then(|date| date.strip_suffix(" +0000"));
    foreign(date.is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit())))?;
    rest.data().map(drop)
}

/// Reads an entry; whether it is a seal.
fn entry(turn: &str, rest: &mut Lines<'_>) -> Result<bool, Fault> {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_%/".contains(&byte));
    let is_place = |name: &str| is_plain(name) && name.matches('/').count() == 1 && Place::parse(name).is_some();
    let line = rest.line()?;
    match line.split_once(' ').unwrap_or((line, "")) {
        ("", "") => Ok(false),
        ("from", parent) if parent == format!("{TURNS}{turn}^0") => Ok(false),
        ("D", name) if is_place(name) => Ok(false),
        ("M", entry) => {
            let (mode, name) = entry.split_once(" inline ").ok_or(Fault::Foreign)?;
            if !matches!(mode, "100644" | "100755" | "120000") || !is_place(name) {
                return Err(Fault::Foreign);
            }
            rest.data()?;
            Ok(name.starts_with("seal/"))
        }
        _ => Err(Fault::Foreign),
    }
}

/// What is left to be read of a stream.
struct Lines<'a>(&'a [u8]);

impl<'a> Lines<'a> {
    fn line(&mut self) -> Result<&'a str, Fault> {
        let end = self.0.iter().position(|byte| *byte == b'\n').ok_or(Fault::Cut)?;
        let line = str::from_utf8(&self.0[..end]).map_err(|_| Fault::Foreign)?;
        self.0 = &self.0[end + 1..];
        Ok(line)
    }

    /// `data <count>`, the bytes, a line end.
    fn data(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.line()?.strip_prefix("data ").and_then(|count| count.parse().ok()).ok_or(Fault::Foreign)?;
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Fault::Cut)?;
        self.0 = rest.strip_prefix(b"\n").unwrap_or(rest);
        Ok(bytes)
    }
}

/// Stores how a path was. What cannot be stored is left out, so that nothing is known of it.
pub(super) fn file(out: &mut Vec<u8>, when: When, path: &str, image: &Image) {
    let (folder, path) = (when.folder(), escape(path));
    let present = format!("{folder}/{path}");
    let absent = format!("{folder}-absent/{path}");
    match image {
        Image::Absent => {
            remove(out, &present);
            store(out, "100644", &absent, b"");
        }
        Image::File { bytes, executable } => {
            remove(out, &absent);
            store(out, if *executable { "100755" } else { "100644" }, &present, bytes);
        }
        Image::Link(target) => {
            remove(out, &absent);
            store(out, "120000", &present, target);
        }
        Image::Opaque(_) => {
            remove(out, &present);
            remove(out, &absent);
        }
    }
}

/// Stores the permissions that a file had before, or that they are the usual ones.
pub(super) fn mode(out: &mut Vec<u8>, path: &str, mode: Option<u32>) {
    let name = format!("before-mode/{}", escape(path));
    match mode {
        Some(mode) => store(out, "100644", &name, format!("{mode:o}").as_bytes()),
        None => remove(out, &name),
    }
}

/// Stores why it is not known how a file was that changed.
pub(super) fn unkept(out: &mut Vec<u8>, path: &str, why: &str) {
    store(out, "100644", &format!("unkept/{}", escape(path)), why.as_bytes());
}

/// Stores how many more such files there are, or that there are none.
pub(super) fn unnamed(out: &mut Vec<u8>, count: usize) {
    match count {
        0 => remove(out, UNNAMED),
        count => store(out, "100644", UNNAMED, count.to_string().as_bytes()),
    }
}

/// Stores what someone else made of a path between two of the agent's changes. The number counts these within the turn.
pub(super) fn between(out: &mut Vec<u8>, number: usize, path: &str, image: &Image) {
    let name = between_name(number, path);
    match image {
        Image::File { bytes, executable } => store(out, if *executable { "100755" } else { "100644" }, &name, bytes),
        Image::Link(target) => store(out, "120000", &name, target),
        // That is all there is to know.
        Image::Opaque(_) => store(out, "100644", &name, b""),
        Image::Absent => store(out, "100644", &name.replacen("between", "between-absent", 1), b""),
    }
}

fn between_name(number: usize, path: &str) -> String {
    format!("between/{}", escape(&format!("{number}/{path}")))
}

/// Where git finds one of these.
pub(super) fn between_at(turn: &str, number: usize, path: &str) -> String {
    format!("{TURNS}{turn}:{}", between_name(number, path))
}

/// Takes away all that is stored of a path.
pub(super) fn forget(out: &mut Vec<u8>, path: &str) {
    let path = escape(path);
    for folder in ["before", "before-absent", "before-mode", "after", "after-absent", "unkept"] {
        remove(out, &format!("{folder}/{path}"));
    }
}

/// Where git finds how a file was before a turn.
pub(super) fn kept_at(turn: &str, path: &str) -> String {
    format!("{TURNS}{turn}:{}/{}", When::Before.folder(), escape(path))
}

/// Stores a command.
pub(super) fn command(out: &mut Vec<u8>, number: usize, text: &str) {
    store(out, "100644", &format!("commands/{number}"), text.as_bytes());
}

/// Stores that this is an undo, which has not ended.
pub(super) fn undo_begins(out: &mut Vec<u8>) {
    store(out, "100644", UNFINISHED, b"");
}

/// Stores that the undo has ended.
pub(super) fn undo_ended(out: &mut Vec<u8>) {
    remove(out, UNFINISHED);
    store(out, "100644", "undo/ended", b"");
}

/// Stores what shows that the agent wrote the record, in place of what showed it before.
pub(super) fn seal(out: &mut Vec<u8>, former: Option<&str>, seal: &str) {
    if let Some(former) = former {
        remove(out, &format!("seal/{former}"));
    }
    store(out, "100644", &format!("seal/{seal}"), b"");
}

/// A line of a record, with what belongs to it.
pub(super) enum Entry<'a> {
    /// This is in the tree from here on.
    Stored { mode: &'a str, name: &'a str, bytes: &'a [u8] },
    /// This is not.
    Removed(&'a str),
}

/// The entries of what [`file`] and the others here wrote.
pub(super) fn entries(part: &[u8]) -> Vec<Entry<'_>> {
    let mut rest = Lines(part);
    let mut entries = Vec::new();
    while let Ok(line) = rest.line() {
        match line.split_once(' ') {
            Some(("D", name)) => entries.push(Entry::Removed(name)),
            Some(("M", entry)) => {
                let Some(((mode, name), bytes)) = entry.split_once(" inline ").zip(rest.data().ok()) else { break };
                entries.push(Entry::Stored { mode, name, bytes });
            }
            _ => {}
        }
    }
    entries
}

fn remove(out: &mut Vec<u8>, name: &str) {
    put(out, format_args!("D {name}\n"));
}

fn store(out: &mut Vec<u8>, mode: &str, name: &str, bytes: &[u8]) {
    put(out, format_args!("M {mode} inline {name}\ndata {}\n", bytes.len()));
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}

/// Letters, digits, `-` and `_` stay; every other byte becomes `%` and two digits. Names that git refuses (`.git`) do not come out.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn unescape(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_dated_anew() {
        let mut record = begin("1", true);
        command(&mut record, 0, "committer agent <agent@localhost> 1 +0000");
        let dated = String::from_utf8(dated_now(&record).unwrap()).unwrap();
        let expected = format!("commit {TURNS}1\n{COMMITTER}now\ndata ");
        assert!(dated.starts_with(&expected), "{dated}");
        assert!(dated.contains("1 +0000") && dated.ends_with("+0000\n"), "what stands in it stays: {dated}");
        assert_eq!(dated_now(b"commit x\nauthor y\n"), None);
        assert_eq!(dated_now(b""), None);
    }

    #[test]
    fn of_a_record_that_is_cut_off_what_was_written_before_counts() {
        let key = "0a1b";
        let mut record = begin("1-1", false);
        file(&mut record, When::Before, "a", &Image::File { bytes: b"x\ny"[..].into(), executable: false });
        let unsealed = record.len();
        seal(&mut record, None, key);
        let first = record.len();
        command(&mut record, 0, "commit x");
        seal(&mut record, Some(key), "2c3d");
        for end in 0..=record.len() {
            let cut = &record[..end];
            let found = ours_as_far_as_written("1-1", cut, true).unwrap().len();
            // The last line end says nothing.
            let expected = if end + 1 >= record.len() {
                end
            } else if end + 1 < first {
                0
            } else {
                first.min(end)
            };
            assert!(found == expected || ours("1-1", cut).is_some(), "{end}: {found}, {expected}");
            let found = ours_as_far_as_written("1-1", cut, false).unwrap().len();
            assert!(found <= end && (end < unsealed || found + 1 >= unsealed), "{end}: {found}");
            assert!(ours_as_far_as_written("1-2", cut, true).is_none_or(|_| end < 40));
        }
        record.extend_from_slice(b"reset refs/heads/main\n");
        assert_eq!(ours_as_far_as_written("1-1", &record, true), None);
    }

    #[test]
    fn names_come_back() {
        for path in ["src/a.rs", ".git", "a b\"c\\%2F", "ü/–", "-x", "a\tb"] {
            let name = escape(path);
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%-_".contains(&byte)), "{name}");
            assert_eq!(unescape(&name).as_deref(), Some(path));
        }
        for damaged in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(unescape(damaged), None, "{damaged}");
        }
    }
}
