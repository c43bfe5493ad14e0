//! `read_file`: a part of a text file with line numbers, whatever the file's size.

use crate::file_tool::{FileKind, Operation, Watch, denied};
use crate::read_picture::{Seen, is_picture, see};
use crate::text::{Encoding, encoding, first_chars, lossy};
use crate::workspace::{OpenedFile, Workspace};
use agent_types::picture::Picture;
use agent_types::ports::PictureKeeper;
use agent_types::tool::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader};

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileArguments {
    /// File to read, relative to the workspace.
    path: String,
    /// Number of the first line to read, counted from 1. Default: 1.
    offset: Option<u64>,
    /// How many lines to read at most. Default: 2000.
    limit: Option<u64>,
}

impl Operation for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file, or shows a picture (PNG, JPEG, GIF, WebP). Each line is shown as its number, a tab, and the line as it is in the file. \
                                       At most 2000 lines or 64 KiB are shown at once, and lines longer than 2000 characters are cut; a \
                                       notice in square brackets says what is missing and how to get it. Read a file before you change it.";
    const KIND: FileKind = FileKind::Reads;
    type Arguments = ReadFileArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![&arguments.path]
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        match arguments.limit {
            Some(0) => Err("`limit` must be at least 1".into()),
            Some(_) | None => Ok(()),
        }
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome {
        let opened = workspace.relative(&arguments.path).and_then(|path| workspace.open_file(&path));
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return ToolOutcome::failed(error.to_string()),
        };
        // The one that is open, whatever was judged before.
        if let Some(rule) = watch.excluded(opened.real.as_str()) {
            return ToolOutcome::failed(denied(&arguments.path, rule));
        }
        match read(&opened, arguments, workspace.pictures(), watch) {
            Ok(Page::Picture(picture, told)) => ToolOutcome::ok(told).with_pictures(vec![picture]),
            Ok(Page::Text(text)) => {
                workspace.note_seen(&opened);
                ToolOutcome::ok(text)
            }
            Ok(Page::Unusable(reason)) => ToolOutcome::failed(format!("`{}` {reason}", arguments.path)),
            Ok(Page::Stopped) => ToolOutcome::interrupted("stopped while reading"),
            Err(error) => ToolOutcome::failed(format!("read `{}`: {error}", arguments.path)),
        }
    }
}

enum Page {
    Text(String),
    Picture(Picture, String),
    Unusable(String),
    Stopped,
}

fn read(
    opened: &OpenedFile,
    arguments: &ReadFileArguments,
    pictures: Option<&dyn PictureKeeper>,
    watch: &Watch,
) -> io::Result<Page> {
    let mut lines =
        Lines { reader: BufReader::with_capacity(CHUNK_BYTES, &opened.file), bytes_left: MOST_SCANNED_BYTES, watch };
    let beginning = lines.reader.fill_buf()?;
    let size = opened.size();
    let encoding = encoding(beginning);
    // A text may begin with the name of a format.
    if encoding != Encoding::Utf8 && is_picture(beginning) {
        return Ok(match see(lines.reader, size, &arguments.path, pictures)? {
            Seen::Picture(picture, told) => Page::Picture(picture, told),
            Seen::Unusable(reason) => Page::Unusable(reason),
        });
    }
    match encoding {
        Encoding::Binary => {
            let kind = kind_of(beginning);
            return Ok(Page::Unusable(format!("is {kind} ({size} bytes), not text")));
        }
        Encoding::Utf16 => {
            return Ok(Page::Unusable(format!(
                "is UTF-16 text ({size} bytes), which cannot be read or edited here; convert it with `iconv` in a command"
            )));
        }
        Encoding::Utf8 | Encoding::Unknown => {}
    }
    if beginning.is_empty() {
        return Ok(Page::Text("[the file is empty]".into()));
    }
    if beginning.starts_with(BOM) {
        lines.reader.consume(BOM.len());
    }
    page(&mut lines, arguments, encoding)
}

fn page(lines: &mut Lines<'_, impl BufRead>, arguments: &ReadFileArguments, encoding: Encoding) -> io::Result<Page> {
    let first = arguments.offset.unwrap_or(1).max(1);
    let limit = arguments.limit.unwrap_or(DEFAULT_LINES);
    let mut text = String::new();
    let mut number = 0;
    let mut notice = None;
    let mut cut_lines = 0_u64;
    loop {
        let wanted = number + 1 >= first;
        if wanted && (number + 1 - first >= limit || text.len() >= MOST_BYTES) {
            if lines.has_more()? {
                notice = Some(format!(
                    "[lines {first} to {number} shown; the file continues: read on with offset {}]",
                    number + 1
                ));
            }
            break;
        }
        match lines.next(wanted)? {
            Next::Line(line) => {
                number += 1;
                if wanted {
                    cut_lines += u64::from(push_line(&mut text, number, &line));
                }
            }
            Next::End => break,
            Next::Stopped => return Ok(Page::Stopped),
            Next::TooMuch => {
                notice = Some(format!(
                    "[stopped in line {}: the file is too large to read further; use a command such as `tail -c` for the rest]",
                    number + 1
                ));
                break;
            }
        }
    }
    if text.is_empty() && notice.is_none() {
        return Ok(Page::Unusable(format!("has {number} lines: offset {first} is past its end")));
    }
    if cut_lines > 0 {
        let _ = writeln!(text, "[{cut_lines} lines are longer than {LINE_CHARS} characters and were cut]");
    }
    if encoding == Encoding::Unknown {
        text.push_str("[the file is not UTF-8: invalid bytes are shown as \u{fffd}; no tool here can edit it]\n");
    }
    text.push_str(&notice.unwrap_or_default());
    Ok(Page::Text(text))
}

/// Says whether the line was cut.
fn push_line(text: &mut String, number: u64, line: &Line) -> bool {
    let whole = lossy(&line.bytes);
    let shown = first_chars(&whole, LINE_CHARS);
    let is_cut = line.is_cut || shown.len() < whole.len();
    let _ = writeln!(text, "{number}\t{shown}{}", if is_cut { "…" } else { "" });
    is_cut
}

/// Lines of a file, each kept only as far as it can be shown.
struct Lines<'a, R> {
    reader: R,
    bytes_left: u64,
    watch: &'a Watch,
}

struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
}

enum Next {
    Line(Line),
    End,
    Stopped,
    TooMuch,
}

impl<R: BufRead> Lines<'_, R> {
    fn has_more(&mut self) -> io::Result<bool> {
        Ok(!self.reader.fill_buf()?.is_empty())
    }

    fn next(&mut self, wanted: bool) -> io::Result<Next> {
        let mut line = Line { bytes: Vec::new(), is_cut: false };
        let mut any = false;
        loop {
            if self.watch.is_stopped() {
                return Ok(Next::Stopped);
            }
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(if any { Next::Line(line) } else { Next::End });
            }
            any = true;
            let end = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if wanted {
                let room = LINE_BYTES.saturating_sub(line.bytes.len()).min(part.len());
                line.bytes.extend(part.iter().take(room));
                line.is_cut |= room < part.len();
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            self.bytes_left = self.bytes_left.saturating_sub(consumed as u64);
            if end.is_some() {
                if !line.is_cut && line.bytes.last() == Some(&b'\r') {
                    line.bytes.pop();
                }
                return Ok(Next::Line(line));
            }
            if self.bytes_left == 0 {
                return Ok(if line.bytes.is_empty() {
                    Next::TooMuch
                } else {
                    line.is_cut = true;
                    Next::Line(line)
                });
            }
        }
    }
}

fn kind_of(beginning: &[u8]) -> &'static str {
    let known: &[(&[u8], &str)] = &[
        (b"\x7fELF", "an ELF program"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"PK\x03\x04", "a zip archive"),
        (b"%PDF", "a PDF document"),
        (b"SQLite format 3", "an SQLite database"),
    ];
    known.iter().find(|(magic, _)| beginning.starts_with(magic)).map_or("binary data", |(_, kind)| kind)
}

pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";
const CHUNK_BYTES: usize = 64 * 1024;
const DEFAULT_LINES: u64 = 2_000;
const MOST_BYTES: usize = 64 * 1024;
const LINE_CHARS: usize = 2_000;
/// No character is longer than four bytes; one more shows that there was more.
const LINE_BYTES: usize = LINE_CHARS * 4 + 1;
/// How much of a file is looked at to find a line.
const MOST_SCANNED_BYTES: u64 = 1024 * 1024 * 1024;
