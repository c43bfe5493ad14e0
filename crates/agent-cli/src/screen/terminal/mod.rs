//! Everything that this program writes goes through here, and what a terminal would act on stops here: no other module writes, which
//! `cargo xtask tidy` checks. So it does not matter where a text came from, and nobody can forget to escape one.
//!
//! 1. Text is written with every character made visible that a terminal would act on or that would show something else than is there.
//! 2. JSON is written with the same characters as `\u…`, which is the same JSON.
//! 3. Secrets that are known are replaced before that.
//! 4. The program's own styles are added behind that, and are the only escape sequences.
//! 5. Once the program answers signals itself, nothing here waits for a reader: a queue takes what is written. Until then the caller waits,
//!    and signals end the program as they end any other.
//! 6. Where the line editor has the terminal, what is written stands above the rows that are drawn anew, and those are all that is erased.

mod at_start;
pub(crate) mod charset;
mod live;
mod outputs;
mod person;
mod queue;
mod raw;

use crate::screen::sheet::at_words;
use agent_core::redact::Redactor;
use agent_core::unseen::is_deceptive;
use charset::is_lacking;
use live::write;
use queue::Kind;
use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{PoisonError, RwLock};

pub(crate) use live::{Region, Shown, show, size};
pub(crate) use person::{run_for_person, take_typed};
pub(crate) use queue::{LastWords, is_behind, lost, lost_output, queue, room, told, unread_bytes, written};
pub(crate) use raw::{KeyByKey, Raw, can_be_continued, give_back, hold_keys, is_attended, run_editor, stop};

/// How a terminal shows a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notification {
    Osc9,
    Osc777,
}

/// Rings the bell, and shows a notification where that is wanted.
pub(crate) fn call(notification: Option<Notification>, why: &str) {
    let why = inline(why);
    let shown = match notification {
        None => String::new(),
        Some(Notification::Osc9) => format!("\x1b]9;agent {why}\x1b\\"),
        Some(Notification::Osc777) => format!("\x1b]777;notify;agent;{why}\x1b\\"),
    };
    let _ = queue::write(Kind::Aside, &format!("\x07{shown}"));
}

/// Says what must not be written, besides what was said before: some keys are known only when a provider is asked.
pub(crate) fn keep_secret(redactor: &Redactor) {
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    *secrets = Some(secrets.take().map_or_else(|| redactor.clone(), |known| known.and(redactor)));
}

/// The text without secrets that are known.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    match secrets.as_ref() {
        Some(redactor) if redactor.finds(text) => Cow::Owned(redactor.redacted(text)),
        _ => Cow::Borrowed(text),
    }
}

/// The text with everything that a terminal would act on made visible: control characters other than newline and tab, and characters
/// that change the direction of text or hide it. A carriage return before a newline is left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if next == Some('\n') => {}
            _ if is_harmful(c) && !joins(before, c, next) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

/// JSON with harmful characters written as `\u…`. Outside of strings, and in strings before this, there are none.
fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) && c != '\n' {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\t') || is_deceptive(c)
}

/// Whether an invisible character does what it is for: joins two letters of a script that needs it, or chooses how the symbol before it
/// looks.
fn joins(before: Option<char>, c: char, next: Option<char>) -> bool {
    let is_shown = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_harmful(c));
    match c {
        '\u{200C}' | '\u{200D}' => (is_shown(before) || before == Some('\u{FE0F}')) && is_shown(next),
        '\u{FE0E}' | '\u{FE0F}' => is_shown(before),
        _ => false,
    }
}

/// A text as part of a line: line breaks in it are visible, so that it cannot pass for a line of its own.
pub(crate) fn inline(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', " ")
}

/// A path as part of a line: who made a file chose its name, and a name with a line break in it must not begin a row that looks like the
/// program's.
pub(crate) fn shown_path(path: &Path) -> String {
    inline(&path.display().to_string())
}

/// A text as part of a line to be judged by a person.
pub(crate) fn judged(text: &str) -> String {
    unmistakable(&inline(text))
}

/// A line to be judged by a person: nothing in it is invisible, passes for another sign or a blank, or stands further away than a screen is
/// wide.
pub(crate) fn unmistakable(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let taken = match c {
            ' ' if blanks > MOST_BLANKS => {
                out.push_str(&format!("[{blanks} blanks]"));
                blanks
            }
            // Where a line is indented a tab is no surprise.
            '\t' if out.trim_start_matches(' ').is_empty() && out.len() < MOST_BLANKS => {
                out.push_str("    ");
                1
            }
            '\t' => {
                out.push_str("\\t");
                1
            }
            _ => {
                let is_unclear = is_harmful(c) || (c.is_whitespace() && c != ' ') || is_blank_sign(c) || is_lacking(c);
                if is_unclear {
                    out.extend(c.escape_unicode());
                } else {
                    out.push(c);
                }
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Signs that leave their place empty, and are no blanks.
const fn is_blank_sign(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{1D159}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{13430}'..='\u{1345F}' | '\u{FFFC}' | '\u{16FE4}')
}

/// More of them in a row are counted.
const MOST_BLANKS: usize = 40;

/// The first line of a text, cut to a width, for lists and progress.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    fitted(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), width)
}

/// The last line of a text, cut to a width.
pub(crate) fn last_line(text: &str, width: usize) -> String {
    fitted(text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default(), width)
}

fn fitted(line: &str, width: usize) -> String {
    let whole = inline(line);
    let mut out: String = whole.chars().take(width).collect();
    if whole.chars().count() > width {
        out.push('…');
    }
    out
}

/// The last lines of a text that say something, the first of them first, each cut to a width; and how many lines come before them.
pub(crate) fn last_lines(text: &str, most: usize, width: usize) -> (Vec<String>, u64) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let before = lines.len().saturating_sub(most);
    (lines.iter().skip(before).map(|line| fitted(written_last(line), width)).collect(), before as u64)
}

/// What stands in a row whose program wrote over it, such as one of progress.
fn written_last(line: &str) -> &str {
    line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or(line)
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tint {
    /// In the background.
    Dim,
    /// To be noticed.
    Bold,
    /// An error, or what is removed.
    Red,
    /// What is added.
    Green,
}

/// How a part of an answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Italic,
    Code,
    Link,
    Dim,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) look: Look,
}

/// Styles for a terminal, or nothing when output goes elsewhere or `NO_COLOR` is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    is_on: bool,
}

impl Style {
    pub(crate) const fn is_on(self) -> bool {
        self.is_on
    }

    pub(crate) fn for_stderr() -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        Self { is_on: io::stderr().is_terminal() && !is_dumb && !is_set("NO_COLOR") }
    }

    /// Writes parts of an answer to standard output.
    ///
    /// # Errors
    /// As [`put`].
    pub(crate) fn put(self, spans: &[Span]) -> io::Result<()> {
        let styled = |span: &Span| {
            let text = escaped(&clean(&span.text));
            let code = match span.look {
                Look::Plain => return text,
                Look::Bold => "1",
                Look::Italic => "3",
                Look::Code => "36",
                Look::Link => "4",
                Look::Dim => "2",
            };
            if self.is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text }
        };
        let text: String = spans.iter().map(styled).collect();
        if text.is_empty() { Ok(()) } else { write(Kind::Answer, &text) }
    }

    /// Writes a line to standard error in this look.
    pub(crate) fn say(self, tint: Tint, text: &str) {
        let code = match tint {
            Tint::Dim => "2",
            Tint::Bold => "1",
            Tint::Red => "31",
            Tint::Green => "32",
        };
        let text = escaped(&clean(text));
        write_line(&if self.is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text });
    }
}

/// Writes a line to standard error.
pub(crate) fn say(text: &str) {
    write_line(&escaped(&in_rows(&clean(text))));
}

/// A text of the program in rows that end at words, where a line is edited below it; elsewhere as it is. A further row of a line stands
/// deeper than its first.
pub(crate) fn in_rows(text: &str) -> Cow<'_, str> {
    let Some(columns) = live::columns() else { return Cow::Borrowed(text) };
    let of_line = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len() + 2;
        at_words(line, columns, indent).join("\n")
    };
    Cow::Owned(text.split('\n').map(of_line).collect::<Vec<_>>().join("\n"))
}

/// A line of what has the terminal meanwhile, while everything else waits for its end.
fn say_meanwhile(text: &str) {
    let _ = queue::write(Kind::Remark, &format!("{}\n", escaped(&clean(text))));
}

/// A terminal that is gone is no reason to stop. The line is made whole first: it costs one write, and another program's output does not
/// come between it and its end.
fn write_line(text: &str) {
    let _ = write(Kind::Remark, &format!("{text}\n"));
}

/// Writes text to standard output at once.
///
/// # Errors
/// When nobody reads it any more; with a queue, when that was so of what was written before.
pub(crate) fn put(text: &str) -> io::Result<()> {
    write(Kind::Answer, &escaped(&clean(text)))
}

/// Writes JSON to standard output at once.
///
/// # Errors
/// As [`put`].
pub(crate) fn put_json(json: &str) -> io::Result<()> {
    write(Kind::Answer, &escaped_json(&clean(json)))
}

/// Writes text to standard output that nobody misses: a prompt, the end of a line.
pub(crate) fn put_aside(text: &str) {
    let _ = write(Kind::Aside, &escaped(&clean(text)));
}

/// Writes a document to standard output.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn print(text: &str) -> io::Result<()> {
    unless_gone(put(text))
}

/// Writes a document of JSON to standard output.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn print_json(json: &str) -> io::Result<()> {
    unless_gone(put_json(json))
}

/// Whether standard output took everything that was written so far.
///
/// # Errors
/// When it could not be written.
pub(crate) fn all_written() -> io::Result<()> {
    unless_gone(queue::written_so_far())
}

/// A reader that went away has read what it wanted.
fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether a person reads standard output as it comes.
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Whether what is written so is seen on the terminal that the keys come from.
fn is_on_terminal(kind: Kind) -> bool {
    match kind {
        Kind::Answer | Kind::Aside => true,
        Kind::Remark => io::stderr().is_terminal(),
    }
}

/// A terminal that marks what is pasted into it, as long as this is kept.
pub(crate) struct PasteMarks {
    before: rustix::termios::Termios,
}

impl PasteMarks {
    /// Asks the terminal for the marks, where there is one on both sides. It would show them as what was typed: that it does not, either.
    pub(crate) fn ask() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let stdin = io::stdin();
        let is_dumb = std::env::var("TERM").is_ok_and(|name| name == "dumb");
        if !stdin.is_terminal() || !is_watched() || is_dumb {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut unshown = before.clone();
        unshown.local_modes.remove(LocalModes::ECHOCTL);
        tcsetattr(&stdin, OptionalActions::Now, &unshown).ok()?;
        let marks = Self { before };
        write(Kind::Aside, "\x1b[?2004h").ok()?;
        Some(marks)
    }
}

impl Drop for PasteMarks {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // Of a terminal that is gone nothing has to be put right.
        let _ = write(Kind::Aside, "\x1b[?2004l");
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// What stands half typed, or half pasted, when a question appears must not become its answer.
pub(crate) fn forget_half_typed_line() {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        // Where the terminal refuses, an answer still has to be a clear yes.
        let _ = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush);
    }
}

/// Makes panics speak through here, too: what a tool or a model said may be part of their message.
pub(crate) fn take_over_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = std::backtrace::Backtrace::capture();
        let is_wanted = trace.status() == std::backtrace::BacktraceStatus::Captured;
        say(&if is_wanted { format!("{panic}\n{trace}") } else { panic.to_string() });
    }));
}

/// Does what may panic, and says nothing when it does: the caller says it better. For the time before there are other threads.
pub(crate) fn without_a_word<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    done
}

static SECRETS: RwLock<Option<Redactor>> = RwLock::new(None);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(escaped("a\x1b]52;c;x\x07b\tc\n"), "a\\u{1b}]52;c;x\\u{7}b\tc\n");
        assert_eq!(escaped("x\u{202E}y\u{9b}z"), "x\\u{202e}y\\u{9b}z");
        assert_eq!(escaped("über\r\n"), "über\n");
        assert_eq!(escaped("hidden\rshown"), "hidden\\u{d}shown");
        assert_eq!(inline("name\nagent: all is well"), "name\\nagent: all is well");
    }

    /// Every character of the first three planes and of the tags: what is assigned beyond is private use.
    #[test]
    fn what_is_written_holds_no_harmful_character_and_loses_no_other() {
        let mut made_visible = 0;
        for c in ('\0'..='\u{2FFFF}').chain('\u{E0000}'..='\u{E1000}') {
            let text = format!("a{c}b");
            let shown = escaped(&text);
            assert!(!shown.chars().any(|c| is_harmful(c) && c != '\n'), "{text:?}");
            assert_eq!(shown == text, !is_harmful(c) || c == '\n', "{text:?}");
            made_visible += u32::from(shown != text);
            assert_eq!(escaped(&shown), shown);
            let json = serde_json::to_string(&c).unwrap();
            let written = escaped_json(&json);
            assert!(!written.chars().any(is_harmful), "{json}");
            assert_eq!(serde_json::from_str::<char>(&written).unwrap(), c);
        }
        assert!(made_visible > 4_000, "{made_visible}");
    }

    #[test]
    fn scripts_and_symbols_that_need_joiners_keep_them() {
        for text in ["👩\u{200D}🚀", "❤\u{FE0F}\u{200D}🔥", "می\u{200C}خواهم", "क\u{94D}\u{200D}ष"] {
            assert_eq!(escaped(text), text);
        }
        for text in ["rm\u{200D}", "a\u{200C}b", "x\u{FE0F}", "ab\u{FE01}", "👩\u{200D}\u{202E}x"] {
            assert_ne!(escaped(text), text, "{text:?}");
        }
    }
}
