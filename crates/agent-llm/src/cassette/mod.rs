//! Cassettes: model calls kept in a file, as they went over the wire.
//!
//! ```text
//! {"cassette":{"version":1,"dialect":"anthropic","base_url":"https://api.anthropic.com", …}}
//! {"request":{"call":1,"url":"https://api.anthropic.com/v1/messages","body":{…}}}
//! {"answer":{"call":1,"at_ms":812,"status":200,"headers":[["content-type","text/event-stream"]]}}
//! {"piece":{"call":1,"at_ms":813,"text":"event: message_start\ndata: …"}}         "hex" where a piece is not text
//! {"end":{"call":1,"at_ms":1900,"how":"complete"}}                                 or "left", or {"failed": the error}
//! ```
//!
//! 1. One record a line, written as it happens: whatever ends the program leaves a file that can be read up to there.
//! 2. Pieces are the bytes of the body as they came, so that playing them tries the same code as the network does.
//! 3. No key is in it: request headers are not recorded, of the answer's only harmless ones, and every secret that is known is replaced,
//!    also where a piece ends in the middle of one. A secret that a model spells over several events is not recognised.
//! 4. Several calls may be under way at once; a record says which it belongs to.

mod asked;
mod compare;
mod lines;
mod play;
mod recorder;

pub use asked::Asked;
pub use compare::Matching;
pub(crate) use play::{Playback, Player};
pub use recorder::Recorder;
pub(crate) use recorder::{CallRecording, NotRecorded};

use crate::format::Format;
use bytes::Bytes;
pub(crate) use lines::Head;
use lines::{Answer, How, Line, Piece, Request};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// A recording that was read.
#[derive(Debug)]
pub struct Cassette {
    pub(crate) head: Head,
    pub(crate) format: Format,
    pub(crate) calls: Vec<Call>,
    is_cut: bool,
}

/// One model call of a recording.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) url: String,
    pub(crate) body: Value,
    pub(crate) answer: Option<Answer>,
    /// When each came, in milliseconds after the request, and what it was.
    pub(crate) pieces: Vec<(u64, Bytes)>,
    /// Nothing where the recording itself breaks off.
    pub(crate) end: Option<(u64, How)>,
}

/// Why a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read, or a new one cannot be made.
    #[error("use the cassette {path}: {found}")]
    File {
        /// Which.
        path: String,
        /// What the system said.
        found: String,
    },
    /// It is not a cassette.
    #[error("read the cassette {path}: {found}; expected a recording that begins with {{\"cassette\":…}}")]
    NoCassette {
        /// Which.
        path: String,
        /// What its beginning is.
        found: String,
    },
    /// It was made by a later version.
    #[error("read the cassette {path}: its version is {version}, and this program knows version {VERSION}")]
    Version {
        /// Which.
        path: String,
        /// Its version.
        version: u32,
    },
    /// A line of it is damaged.
    #[error("read the cassette {path}: line {line}: {found}")]
    Line {
        /// Which.
        path: String,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        found: String,
    },
}

impl Cassette {
    /// Reads a recording. A last line without its end, such as a crash leaves, is left out and [reported](Self::is_cut).
    ///
    /// # Errors
    /// [`CassetteError`] when the file cannot be read, is larger than 256 MiB, is not a cassette or is damaged.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let shown = path.display().to_string();
        let wrong = |found: String| CassetteError::File { path: shown.clone(), found };
        let file = open_without_waiting(path).map_err(|error| wrong(error.to_string()))?;
        if !file.metadata().map_err(|error| wrong(error.to_string()))?.is_file() {
            return Err(wrong("it is not a file".to_owned()));
        }
        let mut bytes = Vec::new();
        file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
        if bytes.len() as u64 > LIMIT_BYTES {
            return Err(wrong(format!("it is larger than {LIMIT_BYTES} bytes")));
        }
        Self::parse(&bytes, &shown)
    }

    /// The wire format it was recorded in, as [`dialect`](agent_types::ports::LlmProvider::dialect) says it.
    #[must_use]
    pub const fn dialect(&self) -> &'static str {
        self.format.dialect()
    }

    /// How many calls it has.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The system prompt of the first recorded request, as far as there is one.
    #[must_use]
    pub fn system(&self) -> Option<String> {
        let body = &self.calls.first()?.body;
        let first = &body["messages"][0];
        let of_messages = (first["role"] == "system").then(|| &first["content"]);
        let said = [Some(&body["system"]), Some(&body["instructions"]), of_messages];
        let text = |said: &Value| match said {
            Value::String(text) => Some(text.clone()),
            Value::Array(blocks) => Some(blocks.iter().filter_map(|block| block["text"].as_str()).collect()),
            _ => None,
        };
        said.into_iter().flatten().find_map(text)
    }

    /// The models that were asked, in the order in which they were first.
    #[must_use]
    pub fn models(&self) -> Vec<&str> {
        let mut models = Vec::new();
        for model in self.calls.iter().filter_map(|call| call.body["model"].as_str()) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// Whether its last line was cut.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn parse(bytes: &[u8], path: &str) -> Result<Self, CassetteError> {
        let path = || path.to_owned();
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
        let (whole, cut) = bytes.split_at(end);
        let mut lines = whole.split(|byte| *byte == b'\n');
        // The part after the last line end is empty.
        lines.next_back();
        let mut lines = lines.zip(1..);
        let no_cassette = |found: String| CassetteError::NoCassette { path: path(), found };
        let head = match lines.next().map(|(line, _)| serde_json::from_slice::<Line<'_>>(line)) {
            Some(Ok(Line::Cassette(head))) => head,
            Some(Ok(_)) => return Err(no_cassette("its first line is another record".to_owned())),
            Some(Err(error)) => return Err(no_cassette(format!("its first line is not a record ({error})"))),
            None => return Err(no_cassette("it has no complete line".to_owned())),
        };
        if head.version != VERSION {
            return Err(CassetteError::Version { path: path(), version: head.version });
        }
        let Some(format) = Format::of_dialect(&head.dialect) else {
            return Err(no_cassette(format!("its format `{}` is unknown", head.dialect)));
        };
        let mut cassette = Self { head, format, calls: Vec::new(), is_cut: !cut.is_empty() };
        for (line, number) in lines {
            let record = serde_json::from_slice(line).map_err(|error| error.to_string());
            let taken = record.and_then(|record| cassette.take(record));
            taken.map_err(|found| CassetteError::Line { path: path(), line: number, found })?;
        }
        Ok(cassette)
    }

    fn take(&mut self, record: Line<'_>) -> Result<(), String> {
        match record {
            Line::Cassette(_) => return Err("a second first record".to_owned()),
            Line::Request(Request { call, url, body }) => {
                let next = self.calls.len() as u64 + 1;
                if call != next {
                    return Err(format!("the request of call {call}, but call {next} comes next"));
                }
                let body = serde_json::from_str(body.get()).map_err(|error| error.to_string())?;
                self.calls.push(Call { url: url.into_owned(), body, answer: None, pieces: Vec::new(), end: None });
            }
            Line::Answer(answer) => {
                let call = self.open(answer.call)?;
                if call.answer.is_some() {
                    return Err(format!("a second answer to call {}", answer.call));
                }
                call.answer = Some(answer);
            }
            Line::Piece(Piece { call: number, at_ms, content }) => {
                let bytes = content.into_bytes()?;
                let call = self.open(number)?;
                if call.answer.is_none() {
                    return Err(format!("a piece of the answer to call {number} before the answer"));
                }
                call.pieces.push((at_ms, bytes));
            }
            Line::End(end) => self.open(end.call)?.end = Some((end.at_ms, end.how)),
        }
        Ok(())
    }

    /// The call of this number, which must be under way.
    fn open(&mut self, number: u64) -> Result<&mut Call, String> {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let call = index.and_then(|index| self.calls.get_mut(index));
        let call = call.ok_or_else(|| format!("call {number} has not started"))?;
        if call.end.is_some() { Err(format!("call {number} has already ended")) } else { Ok(call) }
    }
}

pub(crate) const VERSION: u32 = 1;

/// Days of work are smaller.
const LIMIT_BYTES: u64 = 256 * 1024 * 1024;

/// Opening a pipe for reading would wait for a writer. What is opened is looked at afterwards.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(target_os = "linux")]
const O_NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(target_os = "linux")))]
const O_NONBLOCK: i32 = 0x0004;

#[cfg(test)]
mod tests;
