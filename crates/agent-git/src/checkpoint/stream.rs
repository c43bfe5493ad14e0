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
//! seal/0a1b…                   what shows that the agent wrote all of this; the file is empty, so that none is left over
//! ```

use crate::image::Image;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// References of this kind belong to one working tree and are not fetched or pushed.
pub(super) const TURNS: &str = "refs/worktree/agent/turns/";

const UNNAMED: &str = "unnamed/files";
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
    let mut rest = Lines(record);
    (rest.line()? == format!("commit {TURNS}{turn}")).then_some(())?;
    let date = rest.line()?.strip_prefix(COMMITTER)?.strip_suffix(" +0000")?;
    date.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    rest.data()?;
    while !rest.0.is_empty() {
        let line = rest.line()?;
        let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_%/".contains(&byte));
        let is_place = |name: &str| is_plain(name) && name.matches('/').count() == 1 && Place::parse(name).is_some();
        match line.split_once(' ').unwrap_or((line, "")) {
            ("", "") => {}
            ("from", parent) if parent == format!("{TURNS}{turn}^0") => {}
            ("D", name) if is_place(name) => {}
            ("M", entry) => {
                let (mode, name) = entry.split_once(" inline ")?;
                (matches!(mode, "100644" | "100755" | "120000") && is_place(name)).then_some(())?;
                rest.data()?;
            }
            _ => return None,
        }
    }
    Some(record)
}

/// What is left to be read of a stream.
struct Lines<'a>(&'a [u8]);

impl<'a> Lines<'a> {
    fn line(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        let line = str::from_utf8(&self.0[..end]).ok()?;
        self.0 = &self.0[end + 1..];
        Some(line)
    }

    /// `data <count>`, the bytes, a line end.
    fn data(&mut self) -> Option<&'a [u8]> {
        let count: usize = self.line()?.strip_prefix("data ")?.parse().ok()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest.strip_prefix(b"\n").unwrap_or(rest);
        Some(bytes)
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
    while let Some(line) = rest.line() {
        match line.split_once(' ') {
            Some(("D", name)) => entries.push(Entry::Removed(name)),
            Some(("M", entry)) => {
                let Some(((mode, name), bytes)) = entry.split_once(" inline ").zip(rest.data()) else { break };
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
