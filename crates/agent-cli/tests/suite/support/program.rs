//! A program that holds a conversation: `agent run --input-format stream-json`, each line of which is held to the published schemas.

use super::{HANG, Model, Scratch, Wire};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    err: Option<JoinHandle<String>>,
}

#[expect(clippy::needless_pass_by_value, reason = "a test writes `json!` where it is said")]
impl Program {
    pub(crate) fn start(scratch: &Scratch, model: &Model, flags: &[&str]) -> Self {
        let arguments = ["run", "--input-format", "stream-json", "--output-format", "stream-json"];
        Self::spawn(scratch.agent(&arguments).args(model.flags(Wire::Anthropic)).args(flags))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let err = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).map_or_else(|error| error.to_string(), |_| text)
        });
        Self { stdin: child.stdin.take(), child, lines, err: Some(err) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Sends a line as the schema has it.
    pub(crate) fn send(&mut self, line: Value) {
        valid(&INPUT, &line);
        self.write(format!("{line}\n").as_bytes());
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.send(json!({ "type": "user", "message": { "role": "user", "content": text } }));
    }

    /// Allows, once.
    pub(crate) fn allow(&mut self, question: &Value) {
        self.send(json!({ "type": "answer", "question": question["id"], "decision": "allow" }));
    }

    /// The next line, or nothing at its end.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(HANG) {
            Ok(line) => {
                let line = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                valid(&OUTPUT, &line);
                Some(line)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("nothing was said for {HANG:?}"),
        }
    }

    /// The next line of a type, and those before it.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        while let Some(line) = self.next() {
            if line["type"] == kind {
                return (line, before);
            }
            before.push(line);
        }
        panic!("it ended without `{kind}`: {before:#?}, {}", self.err.take().unwrap().join().unwrap())
    }

    #[track_caller]
    pub(crate) fn result(&mut self) -> Value {
        self.until("result").0
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(status.success(), "kill -{name}");
    }

    /// Closes its input: the exit code, what it still said, and standard error.
    pub(crate) fn end(mut self) -> (i32, Vec<Value>, String) {
        self.close();
        let mut rest = Vec::new();
        while let Some(line) = self.next() {
            rest.push(line);
        }
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < HANG, "it does not end");
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let err = self.err.take().unwrap().join().unwrap();
        assert!(!err.contains("panicked"), "{err}");
        (status.code().unwrap_or(-1), rest, err)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn valid(schema: &jsonschema::Validator, line: &Value) {
    let problems: Vec<String> = schema.iter_errors(line).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}: {line}");
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    jsonschema::validator_for(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

static INPUT: LazyLock<jsonschema::Validator> = LazyLock::new(|| schema("stream-json-input.schema.json"));
static OUTPUT: LazyLock<jsonschema::Validator> = LazyLock::new(|| schema("stream-json.schema.json"));
