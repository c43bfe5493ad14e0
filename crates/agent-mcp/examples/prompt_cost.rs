//! What ten servers cost the prompt: how long it takes until it is there, by turns without a server and with ten that are known, and how
//! often the agent and everything that it started wake up while nobody does anything.
//!
//! `cargo run --release -p agent-mcp --example prompt_cost -- target/release/agent` (needs `script` of util-linux)

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use agent_testkit::mcp::MCP_SERVER;
use serde_json::{Map, json};
use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    // This program is the server, too.
    agent_testkit::mcp::serve_if_asked();
    let agent = std::env::args().nth(1).ok_or("name the agent's program")?;
    let agent = fs::canonicalize(agent)?;
    let places = [0, 10].map(|count| place(count).map(|place| (count, place)));
    let places = places.into_iter().collect::<Result<Vec<_>, _>>()?;
    for (_, place) in &places {
        // Its tools are known from then on.
        let listed = command(place.path(), &agent).args(["mcp", "list"]).stdout(Stdio::null()).status()?;
        if !listed.success() {
            return Err("the servers did not come".into());
        }
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for ((_, place), times) in places.iter().zip(&mut times) {
            let since = Instant::now();
            let prompt = Prompt::open(place.path(), &agent)?;
            times.push(since.elapsed());
            prompt.close()?;
        }
    }
    for ((count, _), times) in places.iter().zip(&mut times) {
        times.sort();
        let ms = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1_000.0;
        println!(
            "{count} servers: the prompt after {:.1} ms at least, {:.1} in the middle",
            ms(times.first()),
            ms(times.get(ROUNDS / 2))
        );
    }
    for (count, place) in &places {
        let prompt = Prompt::open(place.path(), &agent)?;
        sleep(SETTLED);
        let (before, _) = prompt.wakes()?;
        sleep(IDLE);
        let (after, threads) = prompt.wakes()?;
        println!("{count} servers: {} wake-ups of {threads} threads in {} s of rest", after - before, IDLE.as_secs());
        prompt.close()?;
    }
    Ok(())
}

/// A home with so many servers, and a workspace.
fn place(count: usize) -> Result<tempfile::TempDir, Box<dyn Error>> {
    // Not in `/tmp`, which each sandbox has for itself.
    let place = tempfile::tempdir_in("/var/tmp")?;
    let program = std::env::current_exe()?;
    let server = || json!({"command": program, "env": {MCP_SERVER: ""}});
    let servers: Map<_, _> = (0..count).map(|number| (format!("s{number}"), server())).collect();
    fs::create_dir(place.path().join("config"))?;
    fs::create_dir(place.path().join("work"))?;
    fs::write(place.path().join("config/mcp.json"), json!({ "mcpServers": servers }).to_string())?;
    Ok(place)
}

fn command(place: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place.join("work")).env("HOME", place).env("TERM", "xterm");
    command.env("AGENT_CONFIG_HOME", place.join("config")).env("AGENT_STATE_HOME", place.join("state"));
    command
}

/// An agent at its prompt, on a terminal.
struct Prompt {
    script: Child,
}

impl Prompt {
    /// Returns when the prompt is there.
    fn open(place: &Path, agent: &Path) -> Result<Self, Box<dyn Error>> {
        let line = format!("exec '{}' --plain --base-url http://127.0.0.1:9/v1 -m x", agent.to_string_lossy());
        let mut command = command(place, Path::new("script"));
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("SHELL", "/bin/sh");
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = script.stdout.as_mut().ok_or("no output")?;
        let (mut seen, mut part) = (Vec::new(), [0; 4096]);
        while !seen.windows(READY.len()).any(|window| window == READY) {
            match output.read(&mut part)? {
                0 => return Err(format!("it ended: {}", String::from_utf8_lossy(&seen)).into()),
                count => seen.extend_from_slice(part.get(..count).unwrap_or_default()),
            }
        }
        Ok(Self { script })
    }

    /// How often the agent and all below it gave up the processor by themselves: each time, something woke them before.
    /// With the number of their threads.
    fn wakes(&self) -> Result<(u64, usize), Box<dyn Error>> {
        let (mut count, mut threads) = (0, 0);
        let mut left = children(self.script.id());
        while let Some(process) = left.pop() {
            left.extend(children(process));
            for task in fs::read_dir(format!("/proc/{process}/task"))? {
                let status = fs::read_to_string(task?.path().join("status"))?;
                let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
                threads += 1;
                count += line.unwrap_or("0").trim().parse::<u64>()?;
            }
        }
        match threads {
            0 => Err("the agent is not found among the processes".into()),
            threads => Ok((count, threads)),
        }
    }

    fn close(mut self) -> Result<(), Box<dyn Error>> {
        if let Some(mut input) = self.script.stdin.take() {
            input.write_all(b"/quit\n")?;
        }
        // It writes until it ends.
        if let Some(mut output) = self.script.stdout.take() {
            output.read_to_end(&mut Vec::new())?;
        }
        self.script.wait()?;
        Ok(())
    }
}

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    tasks
        .flat_map(|task| of_task(task).split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// What is written when a line can be typed.
const READY: &[u8] = b"\x1b[?2004h> ";
const ROUNDS: usize = 40;
/// Until servers are there, and everything that follows is done.
const SETTLED: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(20);
