//! The program on ten thousand sessions and on journals of a million records and of a gigabyte: how long it takes and in how much memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Makes them, looks at them with the program, and prints what each took. Fails when something is over its limit.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let sizes = match words {
        [] => Sizes { many: 10_000, messages: 10_000, records: 1_000_000, bytes: 1 << 30 },
        ["--smoke"] => Sizes { many: 200, messages: 500, records: 5_000, bytes: 8 << 20 },
        _ => return Err(String::from("usage: cargo xtask big-journals [--smoke]")),
    };
    let place = Place::new()?;
    let done = measure(&place, &sizes);
    // Two gigabytes must not stay on the disk.
    fs::remove_dir_all(&place.root).map_err(|error| format!("remove {}: {error}", place.root.display()))?;
    done
}

struct Sizes {
    many: u64,
    messages: u64,
    records: u64,
    bytes: u64,
}

fn measure(place: &Place, sizes: &Sizes) -> Result<(), String> {
    let mut over = Vec::new();
    let mut held = |what: &str, took: Result<Took, String>, most: Took| -> Result<(), String> {
        let took = took?;
        crate::say(&format!("{what:<46} {:>9.1} ms {:>8.1} MiB\n", took.time.as_secs_f64() * 1e3, mib(took.bytes)));
        if took.time > most.time || took.bytes > most.bytes {
            over.push(format!("{what}: at most {} ms and {:.0} MiB", most.time.as_millis(), mib(most.bytes)));
        }
        Ok(())
    };
    place.make("many", sizes.many)?;
    let all = sizes.many.to_string();
    held("list, no index yet", place.agent(&["sessions", "list", "-n", &all]), most(60_000, 256))?;
    // What was just written is not kept in an index.
    std::thread::sleep(Duration::from_millis(2_100));
    held("list of all, writes the index", place.agent(&["sessions", "list", "-n", &all]), most(60_000, 256))?;
    held("list of all, with the index", place.agent(&["sessions", "list", "-n", &all]), most(200, 256))?;
    held("list of the newest 20", place.agent(&["sessions", "list"]), most(200, 256))?;
    held("the newest, found and replayed", place.agent(&["sessions", "verify"]), most(200, 256))?;
    place.make("messages", sizes.messages)?;
    held("resume a session of so many messages", place.resume(9), most(100, u64::MAX >> 20))?;
    held(
        "verify a session of so many messages (twice)",
        place.agent(&["sessions", "verify", "messages"]),
        most(1_000, 512),
    )?;
    held("show it", place.agent(&["sessions", "show", "messages"]), most(1_000, 512))?;
    for (kind, number) in [("records", sizes.records), ("bytes", sizes.bytes)] {
        place.make(kind, number)?;
        for command in ["verify", "show"] {
            let what = format!("{command} a journal of {number} {kind}");
            held(&what, place.agent(&["sessions", command, kind]), most(120_000, 256))?;
        }
        held("list beside it", place.agent(&["sessions", "list"]), most(1_000, 256))?;
    }
    if over.is_empty() { Ok(()) } else { Err(over.join("\n")) }
}

const fn most(ms: u64, mib: u64) -> Took {
    Took { time: Duration::from_millis(ms), bytes: mib << 20 }
}

#[expect(clippy::cast_precision_loss, reason = "a tenth of a mebibyte is shown")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// What a command took: time, and the most memory.
struct Took {
    time: Duration,
    bytes: u64,
}

/// A folder for everything, and the programs.
struct Place {
    root: PathBuf,
    target: PathBuf,
}

impl Place {
    fn new() -> Result<Self, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
        for words in [["-p", "agent-cli", "--bin", "agent"], ["-p", "agent-runner", "--example", "sessions"]] {
            let status = Command::new(&cargo).args(["build", "--release", "--quiet"]).args(words).status();
            let status = status.map_err(|error| format!("start cargo: {error}"))?;
            if !status.success() {
                return Err(format!("cargo build: {status}"));
            }
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let root = std::env::temp_dir().join(format!("big-journals-{}", std::process::id()));
        fs::create_dir_all(root.join("work")).map_err(|error| format!("make {}: {error}", root.display()))?;
        Ok(Self { root, target: target.join("release") })
    }

    fn make(&self, kind: &str, number: u64) -> Result<(), String> {
        let mut command = Command::new(self.target.join("examples/sessions"));
        let number = number.to_string();
        command.arg(self.root.join("state/sessions")).arg(self.work()).args([kind, &number]).stdout(Stdio::null());
        let status = command.status().map_err(|error| format!("start the example: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("make {kind}: {status}")) }
    }

    /// The median of so many times.
    fn resume(&self, times: u32) -> Result<Took, String> {
        let mut command = Command::new(self.target.join("examples/sessions"));
        command.arg(self.root.join("state/sessions")).arg(self.work()).args(["resume", &times.to_string()]);
        let output = command.output().map_err(|error| format!("start the example: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let ms: f64 = text.trim().parse().map_err(|error| format!("resume: {error}: {text}"))?;
        Ok(Took { time: Duration::from_secs_f64(ms / 1e3), bytes: 0 })
    }

    fn work(&self) -> PathBuf {
        let work = self.root.join("work");
        work.canonicalize().unwrap_or(work)
    }

    fn agent(&self, arguments: &[&str]) -> Result<Took, String> {
        let mut command = Command::new(self.target.join("agent"));
        command.args(arguments).current_dir(self.work()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("AGENT_STATE_HOME", self.root.join("state")).env("AGENT_CONFIG_HOME", self.root.join("config"));
        let start = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("start the agent: {error}"))?;
        let mut bytes = 0;
        let status = loop {
            bytes = bytes.max(peak_bytes(child.id()));
            match child.try_wait().map_err(|error| format!("wait for the agent: {error}"))? {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let time = start.elapsed();
        if status.success() {
            Ok(Took { time, bytes })
        } else {
            Err(format!("agent {}: {status}", arguments.join(" ")))
        }
    }
}

/// The most memory that a process has had, where the system tells.
fn peak_bytes(process: u32) -> u64 {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
