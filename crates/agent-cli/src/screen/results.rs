//! What a person sees of the result of a call: what tells most, in few rows; the rest is folded.

use crate::screen::change::Changes;
use crate::screen::counted::counted;
use crate::screen::sheet::Row;
use crate::screen::terminal::{Tint, last_line, last_lines, one_line};
use agent_core::tool::{ToolOutcome, ToolStatus};

/// Rows below the line of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What stands behind the name of the call, if it is named again.
    pub(crate) head: String,
    pub(crate) rows: Vec<Row>,
    /// How many rows are left out, and where.
    pub(crate) left_out: u64,
}

/// What is shown of a result, no row much wider than `width`; `changes` is what the call has changed, and `how` says behind a count of what
/// is left out how it is shown.
pub(crate) fn shown(tool: &str, outcome: &ToolOutcome, changes: Option<&Changes>, width: usize, how: &str) -> Shown {
    let is_ok = outcome.status == ToolStatus::Ok;
    let failed = if is_ok { "" } else { "failed: " };
    let line = |text: String| Shown { head: format!("{failed}{text}"), rows: Vec::new(), left_out: 0 };
    match (tool, is_ok, changes) {
        ("bash", _, _) => command(&outcome.content, failed, width, how),
        ("todo_write", true, _) => list(&outcome.content, width),
        ("glob", true, _) => line(counted_paths(&outcome.content, "file")),
        ("list_files", true, _) => line(counted_paths(&outcome.content, "entry")),
        ("read_file", true, _) => line(read_lines(&outcome.content, width)),
        // What they answer besides is how the file reads now, which is the model's concern.
        ("edit_file" | "write_file", true, None) => line(heading(&outcome.content, width)),
        (_, true, Some(changes)) => changed(&outcome.content, changes, width),
        (_, true, None) => line(first_line(&outcome.content, width, how)),
        // How a failure ended tells more than how it began.
        (_, false, _) => line(last_line(&outcome.content, width)),
    }
}

/// The last lines of what a command wrote.
fn command(content: &str, failed: &str, width: usize, how: &str) -> Shown {
    let (mut lines, left_out) = last_lines(content, COMMAND_LINES, width);
    if lines.len() < 2 && left_out == 0 {
        return Shown { head: format!("{failed}{}", lines.pop().unwrap_or_default()), rows: Vec::new(), left_out };
    }
    let all = left_out + lines.len() as u64;
    let after = if left_out == 0 { String::new() } else { format!("the last {} of {all} lines{how}:", lines.len()) };
    let rows = lines.into_iter().map(|line| (Tint::Dim, format!("| {line}"))).collect();
    Shown { head: format!("{failed}{after}").trim_end().to_owned(), rows, left_out }
}

/// How a result begins, and how much more there is.
fn first_line(content: &str, width: usize, how: &str) -> String {
    let more = content.lines().skip(1).filter(|line| !line.trim().is_empty()).count() as u64;
    let more = if more > 0 { format!(" (and {}{how})", counted(more, "more line")) } else { String::new() };
    let first = one_line(content, width.saturating_sub(more.len()));
    format!("{}{more}", first.trim_end_matches(':'))
}

/// What a result says of itself in its first line.
fn heading(content: &str, width: usize) -> String {
    one_line(content, width).trim_end_matches(':').to_owned()
}

/// How many lines of a file were read: those with a number. A result without any is shown as it is.
fn read_lines(content: &str, width: usize) -> String {
    let is_numbered =
        |line: &&str| line.trim_start().split_once('\t').is_some_and(|(number, _)| number.parse::<u64>().is_ok());
    match content.lines().filter(is_numbered).count() as u64 {
        0 => first_line(content, width, ""),
        lines => counted(lines, "line"),
    }
}

fn list(content: &str, width: usize) -> Shown {
    let mut lines = content.lines();
    let head = one_line(lines.next().unwrap_or_default(), width);
    let tint = |line: &str| if line.starts_with("[>]") { Tint::Bold } else { Tint::Dim };
    Shown { head, rows: lines.map(|line| (tint(line), one_line(line, width))).collect(), left_out: 0 }
}

/// `1,000 files`: the paths that are listed, and those that are said not to be.
fn counted_paths(content: &str, noun: &str) -> String {
    let notices = content.lines().filter(|line| line.starts_with('['));
    let all = notices.filter_map(|line| line.split(" of ").nth(1)?.split(' ').next()?.parse::<u64>().ok()).next();
    let listed = content.lines().filter(|line| !line.starts_with('[')).count() as u64;
    let count = counted(all.unwrap_or(listed), noun);
    let (number, noun) = count.split_once(' ').unwrap_or((&count, ""));
    format!("{} {noun}", with_commas(number))
}

fn with_commas(digits: &str) -> String {
    let group = |(at, digit): (usize, char)| {
        let comma = (at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(',');
        comma.into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

fn changed(content: &str, changes: &Changes, width: usize) -> Shown {
    let mut rows = changes.rows();
    let left_out = rows.len().saturating_sub(CHANGE_ROWS);
    rows.truncate(CHANGE_ROWS);
    Shown { head: heading(content, width), rows, left_out: left_out as u64 }
}

/// Of what a command wrote these many lines are shown.
const COMMAND_LINES: usize = 5;
/// Of a change these many.
const CHANGE_ROWS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, outcome: &ToolOutcome) -> (String, Vec<String>, u64) {
        let shown = shown(tool, outcome, None, 100, "");
        (shown.head, shown.rows.into_iter().map(|(_, row)| row).collect(), shown.left_out)
    }

    #[test]
    fn a_result_shows_that_there_is_more() {
        let (head, rows, left_out) = of("read_file", &ToolOutcome::ok("1\tfn main() {\n2\t\n3\t}\n"));
        assert_eq!((head.as_str(), rows.len(), left_out), ("3 lines", 0, 0));
        assert_eq!(of("read_file", &ToolOutcome::ok("1\tone\n")).0, "1 line");
        assert_eq!(of("search", &ToolOutcome::ok("a:1:x\nb:2:y\n")).0, "a:1:x (and 1 more line)");
        assert_eq!(
            of("edit_file", &ToolOutcome::ok("changed `a` in 1 place:\n1\tx\n2\ty\n")).0,
            "changed `a` in 1 place"
        );
        let long = format!("{}\nmore\n", "long ".repeat(100));
        let shown = shown("fetch", &ToolOutcome::ok(long), None, 60, "; Ctrl-O shows all").head;
        assert!(shown.ends_with("… (and 1 more line; Ctrl-O shows all)") && shown.chars().count() <= 61, "{shown}");
    }

    #[test]
    fn a_command_shows_how_it_ended() {
        let lines: String = (1..=9).map(|number| format!("line {number}\n")).collect();
        let (head, rows, left_out) = of("bash", &ToolOutcome::failed(format!("{lines}[exit status 3]\n")));
        assert_eq!((head.as_str(), rows.len(), left_out), ("failed: the last 5 of 10 lines:", 5, 5));
        assert_eq!(rows.last().unwrap(), "| [exit status 3]");
        let (head, rows, _) = of("bash", &ToolOutcome::ok("only\n"));
        assert_eq!((head.as_str(), rows.len()), ("only", 0));
        let (_, rows, _) = of("bash", &ToolOutcome::ok("begun\n  10 %\r  90 %\r 100 %\r\n"));
        assert_eq!(rows, ["| begun", "|  100 %"], "a row of progress as it stood last");
    }

    #[test]
    fn paths_are_counted() {
        let paths: String = (0..1000).map(|number| format!("f{number}\n")).collect();
        assert_eq!(of("glob", &ToolOutcome::ok(paths.clone())).0, "1,000 files");
        let cut = paths + "[1000 of 1234567 shown: name a directory or a narrower pattern to see the others]\n";
        assert_eq!(of("glob", &ToolOutcome::ok(cut)).0, "1,234,567 files");
        assert_eq!(of("glob", &ToolOutcome::ok("[no file matches]\n")).0, "0 files");
        assert_eq!(of("list_files", &ToolOutcome::ok("src/\n")).0, "1 entry");
        assert_eq!(of("list_files", &ToolOutcome::ok("src/\na\n")).0, "2 entries");
    }

    #[test]
    fn a_list_is_shown_as_one() {
        let (head, rows, _) = of("todo_write", &ToolOutcome::ok("1 of 2 done\n[x] one\n[>] two\n"));
        assert_eq!((head.as_str(), rows), ("1 of 2 done", vec!["[x] one".to_owned(), "[>] two".to_owned()]));
    }
}
