//! The process table, as far as `/proc` shows it. It is empty without `/proc`, and where `/proc` is another pid namespace's: its numbers
//! would mean other processes here.

use std::fs;

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Start time in clock ticks since boot; with the number it identifies the process.
    pub(super) born: u64,
    /// It has ended and its status was not taken.
    pub(super) is_zombie: bool,
}

/// All processes. One that comes or goes meanwhile may be missing.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    if !is_ours() {
        return Vec::new();
    }
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter_map(process).collect()
}

/// One process by its number.
pub(super) fn process(pid: i32) -> Option<Process> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &line)
}

/// The environment of a process at its start. Nothing when it cannot be read.
pub(super) fn environment(pid: i32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

/// The children of this process that it adopted, and those that its first thread started.
///
/// The kernel gives orphans to the first thread of a process; what other threads started is listed with them.
pub(super) fn adopted_children() -> Vec<i32> {
    if !is_ours() {
        return Vec::new();
    }
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn is_ours() -> bool {
    fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str())
}

fn parse(pid: i32, line: &[u8]) -> Option<Process> {
    // The second field is a name in parentheses that may contain anything, parentheses too.
    let end_of_name = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
    Some(Process {
        pid,
        is_zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        born: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_whose_name_is_hostile() {
        let line = b"42 (a) Z 1 (b) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0\n";
        let expected = Process { pid: 42, parent: 7, group: 8, session: 9, born: 12345, is_zombie: false };
        assert_eq!(parse(42, line), Some(expected));
        assert_eq!(parse(42, b"42 (a"), None);
        assert_eq!(parse(42, b""), None);
    }

    #[test]
    fn sees_this_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        let seen = all().into_iter().find(|process| process.pid == own);
        assert_eq!(seen.map(|process| process.is_zombie), Some(false));
    }
}
