//! The program as a process: what it wrote, how it ended, and a guard against one that never ends.

use serde_json::Value;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nothing here takes nearly as long, on whatever machine.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// A process whose output is read as it comes.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Option<Reader>,
    err: Option<Reader>,
}

/// What came of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Running {
    /// Starts it. Standard input stays open until [`close_stdin`](Self::close_stdin) or [`end`](Self::end); a run with a task has none, as
    /// in most scripts.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_with(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts it with its outputs as they are set; those that are piped are read.
    pub(crate) fn start_with(command: &mut Command) -> Self {
        let input = if has_task(command) { Stdio::null() } else { Stdio::piped() };
        Self::start_fed(command, input)
    }

    /// Starts it with this standard input.
    pub(crate) fn start_fed(command: &mut Command, input: Stdio) -> Self {
        let mut child = command.stdin(input).spawn().unwrap();
        let out = child.stdout.take().map(Reader::start);
        let err = child.stderr.take().map(Reader::start);
        Self { stdin: child.stdin.take(), child, out, err }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to standard input.
    pub(crate) fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(status.success(), "kill -{name}");
    }

    /// Waits until it has written this, to whichever output, or its terminal shows it: words of an answer come one by one.
    #[track_caller]
    pub(crate) fn wait_for(&self, words: &str) {
        let since = Instant::now();
        while !(self.said().contains(words) || self.screen().contains(words)) {
            assert!(since.elapsed() < HANG, "`{words}` never came: {}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it has written until now, to both outputs.
    pub(crate) fn said(&self) -> String {
        [&self.out, &self.err].into_iter().flatten().map(Reader::text).collect()
    }

    /// Waits until a terminal of 80 columns and 24 rows that it writes to would show this.
    #[track_caller]
    pub(crate) fn wait_for_screen(&self, shows: impl Fn(&str) -> bool) {
        let since = Instant::now();
        while !shows(&self.screen()) {
            assert!(since.elapsed() < HANG, "the screen never showed it: {}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What such a terminal shows now, each row without its blanks at the end.
    pub(crate) fn screen(&self) -> String {
        let mut terminal = vt100::Parser::new(24, 80, 1_000);
        terminal.process(self.out.as_ref().map(Reader::text).unwrap_or_default().as_bytes());
        terminal.screen().rows(0, 80).map(|row| format!("{}\n", row.trim_end())).collect()
    }

    /// A terminal of this size behind all that was written.
    pub(crate) fn terminal(&self, rows: u16, columns: u16) -> vt100::Parser {
        let mut terminal = vt100::Parser::new(rows, columns, 0);
        terminal.process(self.out.as_ref().map(Reader::text).unwrap_or_default().as_bytes());
        terminal
    }

    /// Waits for its end; standard input stays open meanwhile.
    pub(crate) fn end(mut self) -> Ended {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if since.elapsed() > HANG {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                let (out, err) = self.texts();
                panic!("it hangs\nstdout: {out}\nstderr: {err}");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (out, err) = self.texts();
        Ended { status, out, err }
    }

    fn texts(&mut self) -> (String, String) {
        let text = |reader: Option<Reader>| reader.map(Reader::end).unwrap_or_default();
        (text(self.out.take()), text(self.err.take()))
    }
}

/// Whether it is an `agent run -p PROMPT`.
fn has_task(command: &Command) -> bool {
    let words: Vec<&str> = command.get_args().filter_map(|word| word.to_str()).collect();
    let prompt = words.iter().position(|word| *word == "-p").and_then(|at| words.get(at + 1));
    words.contains(&"run") && !words.contains(&"job") && prompt.is_some_and(|prompt| *prompt != "-")
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The exit code; -1 when a signal ended it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Fails with everything that was written unless it ended with this code.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code(), code, "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    /// Fails unless standard error says this.
    #[track_caller]
    pub(crate) fn assert_says(&self, words: &str) -> &Self {
        assert!(self.err.contains(words), "`{words}` is not in {self:#?}");
        self
    }

    /// The lines of `stream-json`, or the one object of `json`.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// The last line.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        self.lines().pop().unwrap_or_else(|| panic!("nothing on standard output: {self:#?}"))
    }
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < HANG, "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs whose command line contains this.
pub(crate) fn lives(words: &str) -> bool {
    let processes = Command::new("ps").args(["-A", "-ww", "-o", "args="]).output().unwrap();
    String::from_utf8_lossy(&processes.stdout).lines().any(|line| line.contains(words))
}

/// Reads an output as it comes.
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn start(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = bytes.clone();
        let thread = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                sink.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Self { bytes, thread }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn end(self) -> String {
        self.thread.join().unwrap();
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}
