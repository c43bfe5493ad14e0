//! An editor: `agent acp` as a process, each of whose lines is held to the protocol's schema where that is installed.

use super::{HANG, Model, Scratch, Wire, of_others};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

pub(crate) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The methods of requests that have no answer yet, by id.
    asked: BTreeMap<u64, String>,
    last: u64,
}

#[expect(clippy::needless_pass_by_value, reason = "a test writes `json!` where it is said")]
impl Editor {
    /// Starts the agent for a model, and says `initialize` without any abilities.
    pub(crate) fn start(scratch: &Scratch, model: &Model) -> Self {
        Self::start_with(scratch, model, &[])
    }

    pub(crate) fn start_with(scratch: &Scratch, model: &Model, flags: &[&str]) -> Self {
        let mut editor = Self::spawn(scratch.agent(&["acp", "--quiet"]).args(model.flags(Wire::Anthropic)).args(flags));
        let answer = editor.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
        editor
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let (sender, lines) = channel();
        let out = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                // What is not UTF-8 is no line of the protocol.
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, asked: BTreeMap::new(), last: 0 }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.asked.insert(self.last, method.to_owned());
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request of the agent's.
    pub(crate) fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// The next line, which is as the schema says.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(HANG).unwrap();
        self.checked(&line)
    }

    /// Nothing is written for a while. A while in which it would be, on a machine that is not busy: what is asserted is the order.
    #[track_caller]
    pub(crate) fn is_silent(&mut self) {
        match self.lines.recv_timeout(Duration::from_millis(300)) {
            Err(RecvTimeoutError::Timeout) => {}
            found => panic!("{found:?}"),
        }
    }

    fn checked(&mut self, line: &str) -> Value {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["jsonrpc"], "2.0", "{line}");
        let check = |name: &str, part: &Value| {
            let problems = problems(name, part);
            assert!(problems.is_empty(), "{name}: {problems:?}: {line}");
        };
        match (value["method"].as_str(), &value["id"], &value["error"]) {
            (Some("session/update"), Value::Null, _) => check("SessionNotification", &value["params"]),
            (Some("$/cancel_request"), Value::Null, _) => check("CancelRequestNotification", &value["params"]),
            (Some("session/request_permission"), Value::Number(_), _) => {
                check("RequestPermissionRequest", &value["params"]);
            }
            (Some("elicitation/create"), Value::Number(_), _) => check("CreateElicitationRequest", &value["params"]),
            (None, _, error @ Value::Object(_)) => {
                check("Error", error);
                let message = error["message"].as_str().unwrap();
                assert!(!message.is_empty() && !message.contains('\n') && value.get("result").is_none(), "{line}");
            }
            (None, id, _) => {
                let method = id.as_u64().and_then(|id| self.asked.remove(&id));
                if let Some(name) = method.as_deref().and_then(response_of) {
                    check(name, &value["result"]);
                }
            }
            _ => panic!("not a line of the protocol: {line}"),
        }
        value
    }

    /// Reads until a line is so, and returns it with those before.
    #[track_caller]
    pub(crate) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        let since = Instant::now();
        loop {
            let line = self.next();
            if is_it(&line) {
                return (line, before);
            }
            before.push(line);
            assert!(since.elapsed() < HANG, "it never came: {before:?}");
        }
    }

    /// The answer to a request, with what came before it.
    #[track_caller]
    pub(crate) fn answered(&mut self, id: u64) -> (Value, Vec<Value>) {
        self.until(|line| line["id"] == id && line.get("method").is_none())
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answered(id).0
    }

    /// A new session in the working directory.
    #[track_caller]
    pub(crate) fn session(&mut self, scratch: &Scratch) -> String {
        let answer = self.call("session/new", json!({ "cwd": scratch.path("work"), "mcpServers": [] }));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) fn ask_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// A prompt to its end: the answer, and what came before it.
    #[track_caller]
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> (Value, Vec<Value>) {
        let id = self.ask_prompt(session, text);
        self.answered(id)
    }

    /// Waits for a question whether a call may run.
    #[track_caller]
    pub(crate) fn question(&mut self) -> Value {
        self.until(|line| line["method"] == "session/request_permission").0
    }

    pub(crate) fn choose(&mut self, question: &Value, option: &str) {
        self.answer(question, json!({ "outcome": { "outcome": "selected", "optionId": option } }));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the agent's input and waits for its end.
    #[track_caller]
    pub(crate) fn leave(&mut self) -> ExitStatus {
        self.stdin = None;
        self.ended()
    }

    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(since.elapsed() < HANG, "it hangs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The updates among lines, each as its kind and what it says.
pub(crate) fn updates(lines: &[Value]) -> Vec<(String, Value)> {
    let update = |line: &Value| {
        let update = line.pointer("/params/update")?.clone();
        Some((update["sessionUpdate"].as_str()?.to_owned(), update))
    };
    lines.iter().filter_map(update).collect()
}

/// What was said in chunks of this kind.
pub(crate) fn said(lines: &[Value], kind: &str) -> String {
    let chunks = updates(lines).into_iter().filter(|(of, _)| of == kind);
    chunks.map(|(_, update)| update["content"]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

fn response_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "initialize" => "InitializeResponse",
        "authenticate" => "AuthenticateResponse",
        "session/new" => "NewSessionResponse",
        "session/load" => "LoadSessionResponse",
        "session/resume" => "ResumeSessionResponse",
        "session/list" => "ListSessionsResponse",
        "session/delete" => "DeleteSessionResponse",
        "session/close" => "CloseSessionResponse",
        "session/prompt" => "PromptResponse",
        "session/set_mode" => "SetSessionModeResponse",
        "session/set_config_option" => "SetSessionConfigOptionResponse",
        _ => return None,
    })
}

/// What is wrong with a value, by the schema of the protocol's own npm package. Where that is not installed, nothing is found.
fn problems(name: &str, value: &Value) -> Vec<String> {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<jsonschema::Validator>>> = Mutex::new(BTreeMap::new());
    static WHOLE: OnceLock<Option<Value>> = OnceLock::new();
    let Some(whole) = WHOLE.get_or_init(schema) else { return Vec::new() };
    let mut validators = VALIDATORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let validator = validators.entry(name.to_owned()).or_insert_with(|| {
        assert!(whole["$defs"].get(name).is_some(), "{name}");
        let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": whole["$defs"] });
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    });
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The schema, where `cargo xtask mcp-servers` has put it.
#[expect(clippy::print_stderr, reason = "a test that does less has to say so")]
fn schema() -> Option<Value> {
    let read = || {
        std::fs::read_to_string(of_others()?.join("node_modules/@agentclientprotocol/sdk/schema/v1/schema.json")).ok()
    };
    let Some(text) = read() else {
        eprintln!(
            "SKIPPED: lines are not held to the protocol's schema, which is not installed (`cargo xtask mcp-servers`)"
        );
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}
