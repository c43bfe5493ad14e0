//! What an editor feels of `agent acp`: its first answer, the way of a token, a long session, and a thousand sessions at rest.
//! The last need about five thousand open files (`ulimit -n 8192`).

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Measures and prints. Fails when something cannot be measured; the goals stand beside the figures.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let program = match words {
        [] => built(&["-p", "agent-cli", "--bin", "agent"], "agent")?,
        [program] if !program.starts_with('-') => PathBuf::from(program),
        _ => return Err(String::from("usage: cargo xtask editor [PROGRAM]")),
    };
    let journals = built(&["-p", "agent-runner", "--example", "sessions"], "examples/sessions")?;
    let root = std::env::temp_dir().join(format!("editor-{}", std::process::id()));
    fs::create_dir_all(root.join("work")).map_err(|error| format!("make {}: {error}", root.display()))?;
    let done = measure(&Place { root: root.clone(), program }, &journals);
    fs::remove_dir_all(&root).map_err(|error| format!("remove {}: {error}", root.display()))?;
    done
}

pub(crate) fn built(words: &[&str], name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
    let status = Command::new(&cargo).args(["build", "--release", "--quiet"]).args(words).status();
    let status = status.map_err(|error| format!("start cargo: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build: {status}"));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Ok(target.join("release").join(name))
}

fn measure(place: &Place, journals: &Path) -> Result<(), String> {
    let (url, sent) = model(PIECES)?;
    let firsts = (0..RUNS).map(|_| Editor::start(place, &url).map(|(_, took)| took));
    told("initialize, from the start of the program", firsts.collect::<Result<_, _>>()?, "30 ms");

    let (mut editor, _) = Editor::start(place, &url)?;
    let session = editor.session(place)?;
    told("a token, from the model's socket to the editor's pipe", editor.tokens(&session, &sent)?, "5 ms");
    drop(editor);

    let mut command = Command::new(journals);
    command.arg(place.root.join("state/sessions")).arg(place.work()).args(["messages", &MESSAGES.to_string()]);
    let status = command.stdout(Stdio::null()).status().map_err(|error| format!("start the example: {error}"))?;
    if !status.success() {
        return Err(format!("make a session of {MESSAGES} messages: {status}"));
    }
    let loads = (0..5).map(|_| {
        let (mut editor, _) = Editor::start(place, &url)?;
        let start = Instant::now();
        editor.call("session/load", &json!({ "sessionId": "messages", "cwd": place.work(), "mcpServers": [] }))?;
        Ok(start.elapsed())
    });
    told(&format!("session/load of {MESSAGES} messages"), loads.collect::<Result<_, String>>()?, "300 ms");

    let (mut editor, _) = Editor::start(place, &url)?;
    // What is made once in a process is no part of a session.
    (0..10).try_for_each(|_| editor.session(place).map(drop))?;
    let before = editor.memory_kib()?;
    let start = Instant::now();
    (0..SESSIONS).try_for_each(|_| editor.session(place).map(drop))?;
    let took = start.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    let grown_kib = editor.memory_kib()?.saturating_sub(before);
    crate::say(&format!(
        "{SESSIONS} sessions at rest: {:.1} MB, {:.1} kB each (goal 20 MB); opening one {:.1} ms on average\n",
        grown_kib as f64 * 1.024e-3,
        grown_kib as f64 * 1.024 / f64::from(SESSIONS),
        took.as_secs_f64() * 1e3 / f64::from(SESSIONS),
    ));
    Ok(())
}

fn told(what: &str, mut took: Vec<Duration>, goal: &str) {
    took.sort();
    let ms = |at: usize| took.get(at.min(took.len() - 1)).map_or(0.0, |took| took.as_secs_f64() * 1e3);
    let (least, median, late) = (ms(0), ms(took.len() / 2), ms(took.len() * 99 / 100));
    crate::say(&format!("{what}: least {least:.2} ms, median {median:.2} ms, p99 {late:.2} ms (goal {goal})\n"));
}

struct Place {
    root: PathBuf,
    program: PathBuf,
}

impl Place {
    fn work(&self) -> PathBuf {
        let work = self.root.join("work");
        work.canonicalize().unwrap_or(work)
    }
}

/// The program, as an editor has it.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Editor {
    /// Starts it and says `initialize`: how long its answer took from the start of the program.
    fn start(place: &Place, url: &str) -> Result<(Self, Duration), String> {
        let mut command = Command::new(&place.program);
        command.args(["acp", "--quiet", "--sandbox", "off", "--model", "m", "--base-url", url]);
        command.env("AGENT_STATE_HOME", place.root.join("state")).env("AGENT_CONFIG_HOME", place.root.join("config"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("start {}: {error}", place.program.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err(String::from("the program has no pipes")) };
        let mut editor = Self { child, input, output: BufReader::new(output), last: 0 };
        editor.call("initialize", &json!({ "protocolVersion": 1, "clientCapabilities": {} }))?;
        Ok((editor, start.elapsed()))
    }

    fn session(&mut self, place: &Place) -> Result<String, String> {
        let answer = self.call("session/new", &json!({ "cwd": place.work(), "mcpServers": [] }))?;
        answer["sessionId"].as_str().map(str::to_owned).ok_or_else(|| format!("no session: {answer}"))
    }

    /// The result of a request.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.ask(method, params)?;
        loop {
            let line = self.text()?;
            // What an editor makes of a message is not measured.
            if line.contains("\"method\":\"session/update\"") {
                continue;
            }
            let mut line = parsed(&line)?;
            if line["id"] == self.last {
                return match line.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(line["result"].take()),
                };
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input, "{request}").map_err(|error| format!("write to the program: {error}"))
    }

    fn text(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(String::from("the program has ended")),
            Ok(_) => Ok(line),
            Err(error) => Err(format!("read from the program: {error}")),
        }
    }

    /// Has the model answer, and says how long each of its pieces took to come.
    fn tokens(&mut self, session: &str, sent: &Receiver<Instant>) -> Result<Vec<Duration>, String> {
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "go" }] });
        self.ask("session/prompt", &prompt)?;
        let mut took = Vec::new();
        loop {
            let line = parsed(&self.text()?)?;
            let now = Instant::now();
            if line["id"] == self.last {
                let is_whole = took.len() == PIECES;
                return if is_whole {
                    Ok(took)
                } else {
                    Err(format!("{} of {PIECES} pieces came: {line}", took.len()))
                };
            }
            if line.pointer("/params/update/sessionUpdate") == Some(&json!("agent_message_chunk")) {
                let sent = sent.recv_timeout(Duration::from_secs(10)).map_err(|error| error.to_string())?;
                took.push(now - sent);
            }
        }
    }

    /// Memory that it alone has, in KiB.
    fn memory_kib(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/smaps_rollup", self.child.id());
        let text = fs::read_to_string(&path).map_err(|error| format!("read {path}: {error}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        kib.ok_or_else(|| format!("{path} does not say how much"))
    }
}

fn parsed(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A model server that answers each request with so many pieces, each by itself. Its URL, and when each piece was sent.
pub(crate) fn model(pieces: usize) -> Result<(String, Receiver<Instant>), String> {
    let failed = |error: std::io::Error| format!("listen for the program: {error}");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let url = format!("http://{}/v1", listener.local_addr().map_err(failed)?);
    let (sender, sent) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The program says what is wrong with an answer that is cut.
            let _ = answer(stream, pieces, &sender);
        }
    });
    Ok((url, sent))
}

fn answer(mut stream: TcpStream, pieces: usize, sent: &Sender<Instant>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for piece in 0..pieces {
        std::thread::sleep(BETWEEN_PIECES);
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": format!("word {piece} ") } }] });
        let now = Instant::now();
        stream.write_all(format!("data: {delta}\n\n").as_bytes())?;
        let _ = sent.send(now);
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    stream.write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes())
}

const RUNS: u32 = 20;
const PIECES: usize = 200;
const BETWEEN_PIECES: Duration = Duration::from_millis(10);
const MESSAGES: u32 = 10_000;
const SESSIONS: u32 = 1_000;
