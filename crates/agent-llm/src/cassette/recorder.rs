//! Writes a cassette while the calls happen.

use super::CassetteError;
use super::lines::{Answer, Content, End, Head, How, Line, Piece, Request};
use crate::secret::Secrets;
use agent_types::llm::LlmError;
use core::fmt;
use reqwest::header::HeaderMap;
use serde_json::value::RawValue;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// A cassette that is being recorded, for the [configuration](crate::ProviderConfig::recorder) of one provider.
///
/// Every record is in the file before the call continues. If one cannot be written, the call fails: a user who asked for a recording wants
/// a whole one.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<RecordingFile>>);

struct RecordingFile {
    file: File,
    path: PathBuf,
    secrets: Secrets,
    head: Option<Head>,
    calls: u64,
}

impl Recorder {
    /// Makes the file, which only the user may read. A file that is there already is left alone; a recording without any call leaves none.
    ///
    /// The key and the headers of the provider's configuration are kept out of the recording by themselves; `secrets` are further values
    /// that must not be in it.
    ///
    /// # Errors
    /// [`CassetteError::File`] when the file is there or cannot be made.
    pub fn create(path: &Path, secrets: &[String]) -> Result<Self, CassetteError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| {
            let found = if error.kind() == io::ErrorKind::AlreadyExists {
                "the file exists already, and a recording never replaces one".to_owned()
            } else {
                error.to_string()
            };
            CassetteError::File { path: path.display().to_string(), found }
        })?;
        let mut known = Secrets::default();
        secrets.iter().for_each(|secret| known.add(secret));
        let recording = RecordingFile { file, path: path.to_owned(), secrets: known, head: None, calls: 0 };
        Ok(Self(Arc::new(Mutex::new(recording))))
    }

    /// Writes the first line. One recorder records one provider, which may be built several times.
    pub(crate) fn begin(&self, head: Head, secrets: &Secrets) -> Result<(), CassetteError> {
        let mut recording = lock(&self.0);
        recording.secrets.add_all(secrets);
        let wrong = |recording: &RecordingFile, found: String| CassetteError::File {
            path: recording.path.display().to_string(),
            found,
        };
        match &recording.head {
            Some(same) if *same == head => Ok(()),
            Some(_) => Err(wrong(&recording, "another provider is already recording to it".to_owned())),
            None => {
                let written = recording.write(&Line::Cassette(head.clone()));
                written.map_err(|error| wrong(&recording, error.to_string()))?;
                recording.head = Some(head);
                Ok(())
            }
        }
    }

    /// Writes a request and begins the call.
    pub(crate) fn call(&self, url: &str, body: &[u8]) -> Result<CallRecording, NotRecorded> {
        let mut recording = lock(&self.0);
        let call = recording.calls + 1;
        let body = raw(&recording.secrets, body);
        let url = recording.secrets.redact(url).into();
        recording
            .write(&Line::Request(Request { call, url, body: &body }))
            .map_err(|error| recording.failed(&error))?;
        recording.calls = call;
        drop(recording);
        Ok(CallRecording {
            recording: Arc::clone(&self.0),
            call,
            began: Instant::now(),
            held: Vec::new(),
            has_ended: false,
        })
    }
}

/// A record could not be written.
#[derive(Debug)]
pub(crate) struct NotRecorded(pub(crate) String);

/// One call under way. Dropping it records that the rest was not awaited.
pub(crate) struct CallRecording {
    recording: Arc<Mutex<RecordingFile>>,
    call: u64,
    began: Instant,
    /// The end of the last piece, while it may be the beginning of a secret.
    held: Vec<u8>,
    has_ended: bool,
}

impl CallRecording {
    pub(crate) fn answered(&self, status: u16, headers: &HeaderMap) -> Result<(), NotRecorded> {
        let kept = headers.iter().filter(|(name, _)| is_kept(name.as_str()));
        let mut recording = lock(&self.recording);
        let headers = kept
            .filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), recording.secrets.redact(value.to_str().ok()?)))
            })
            .collect();
        let answer = Answer { call: self.call, at_ms: self.at_ms(), status, headers };
        recording.write(&Line::Answer(answer)).map_err(|error| recording.failed(&error))
    }

    pub(crate) fn piece(&mut self, piece: &[u8]) -> Result<(), NotRecorded> {
        let at_ms = self.at_ms();
        let mut recording = lock(&self.recording);
        let mut bytes = core::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let (mut clean, held) = recording.secrets.redact_beginning(&bytes);
        self.held = held;
        // A character that is not whole yet waits too, as long as it can become one.
        if let Err(error) = core::str::from_utf8(&clean)
            && error.error_len().is_none()
        {
            let rest = clean.split_off(error.valid_up_to());
            self.held.splice(0..0, rest);
        }
        recording.piece(self.call, at_ms, &clean).map_err(|error| recording.failed(&error))
    }

    /// The body ended.
    pub(crate) fn ended(&mut self) -> Result<(), NotRecorded> {
        self.end(How::Complete)
    }

    /// The call failed. What cannot be recorded of that is not worth another failure.
    pub(crate) fn failed(&mut self, error: &LlmError) {
        let message = lock(&self.recording).secrets.redact(&error.message);
        let _ = self.end(How::Failed(LlmError { message, ..error.clone() }));
    }

    fn end(&mut self, how: How) -> Result<(), NotRecorded> {
        if core::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let at_ms = self.at_ms();
        let held = core::mem::take(&mut self.held);
        let mut recording = lock(&self.recording);
        let written = recording
            .piece(self.call, at_ms, &held)
            .and_then(|()| recording.write(&Line::End(End { call: self.call, at_ms, how })));
        written.map_err(|error| recording.failed(&error))
    }

    fn at_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for CallRecording {
    fn drop(&mut self) {
        // The caller is gone, so the error has no reader.
        let _ = self.end(How::Left);
    }
}

impl RecordingFile {
    fn piece(&mut self, call: u64, at_ms: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.write(&Line::Piece(Piece { call, at_ms, content: Content::of(bytes) }))
    }

    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)
    }

    fn failed(&self, error: &io::Error) -> NotRecorded {
        NotRecorded(format!("record the call in {}: {error}", self.path.display()))
    }
}

impl Drop for RecordingFile {
    fn drop(&mut self) {
        // A recording of nothing would only be in the way of the next one.
        if self.calls == 0 {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The body as JSON on one line, without secrets; as a JSON string should that be no JSON.
fn raw(secrets: &Secrets, body: &[u8]) -> Box<RawValue> {
    let text = secrets.redact(&String::from_utf8_lossy(body));
    // Between the tokens of JSON a line end is a space, and no token contains one.
    let line = text.replace(['\n', '\r'], " ");
    RawValue::from_string(line).unwrap_or_else(|_| {
        let quoted = serde_json::value::to_raw_value(&text);
        quoted.unwrap_or_default()
    })
}

fn is_kept(header: &str) -> bool {
    KEPT_HEADERS.contains(&header) || header.contains("ratelimit")
}

fn lock(recording: &Mutex<RecordingFile>) -> MutexGuard<'_, RecordingFile> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("path", &lock(&self.0).path).finish_non_exhaustive()
    }
}

impl fmt::Debug for CallRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRecording").field("call", &self.call).finish_non_exhaustive()
    }
}

const KEPT_HEADERS: &[&str] =
    &["content-type", "content-encoding", "location", "request-id", "x-request-id", "retry-after", "retry-after-ms"];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_cannot_be_recorded_fails() {
        // Whatever is written there fails as on a full disk.
        let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let path = PathBuf::from("/nowhere/c.jsonl");
        let recording = RecordingFile { file, path, secrets: Secrets::default(), head: None, calls: 0 };
        let NotRecorded(found) = Recorder(Arc::new(Mutex::new(recording))).call("http://h/", b"{}").unwrap_err();
        assert!(found.starts_with("record the call in /nowhere/c.jsonl: "), "{found}");
    }
}
