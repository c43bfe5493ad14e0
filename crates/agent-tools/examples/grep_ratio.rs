//! How long `grep` takes, beside ripgrep on the same files in the same run.
//!
//! ```text
//! cargo run --release -p agent-tools --example grep_ratio      (needs `rg`)
//! ```
//!
//! Makes a repository of 5,000 files in a temporary directory, and searches it by turns. Medians; ripgrep's time includes its start.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement for a terminal")]

use agent_exec::Processes;
use agent_tools::{Workspace, standard_tools};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::ports::{NeverCancelled, ProgressSink, Tool, ToolContext};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FILES: usize = 5_000;
const RUNS: usize = 31;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    make(root);
    let workspace = Arc::new(Workspace::open(root).unwrap());
    let tools = standard_tools(&workspace, Processes::new());
    let grep = tools.iter().find(|tool| &*tool.spec().name == "grep").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("| Pattern | Lines found | rg, ms | grep, ms | Ratio |\n|---|---:|---:|---:|---:|");
    for pattern in ["rare_needle", "fn compute_7", "no such text", "(?i)RARE_needle", r"\w+_\d+\(value: u64\)", "let"] {
        let mut times = (Vec::new(), Vec::new());
        let mut lines = 0;
        for _ in 0..RUNS {
            let begun = Instant::now();
            let output = Command::new("rg").args(["-n", "--no-heading", pattern]).current_dir(root).output().unwrap();
            times.0.push(begun.elapsed());
            lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
            let begun = Instant::now();
            runtime.block_on(search(grep, pattern));
            times.1.push(begun.elapsed());
        }
        let (rg, ours) = (median(times.0), median(times.1));
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        println!("| `{pattern}` | {lines} | {:.1} | {:.1} | {:.2} |", ms(rg), ms(ours), ms(ours) / ms(rg));
    }
}

/// Files of 1 to 12 kB in 250 directories, some of them ignored, one with a rare word.
fn make(root: &Path) {
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n/build\n").unwrap();
    for number in 0..FILES {
        let directory = root.join(format!("crate-{}/src/module_{}", number % 10, number % 250));
        fs::create_dir_all(&directory).unwrap();
        let mut text = String::new();
        for line in 0..(10 + number * 7 % 120) {
            let _ = writeln!(text, "/// What number {line} of file {number} is about, in a sentence of its own.");
            let _ =
                writeln!(text, "fn compute_{line}(value: u64) -> u64 {{\n    let sum = value + {line};\n    sum\n}}\n");
        }
        if number == FILES / 2 {
            text.push_str("rare_needle\n");
        }
        fs::write(directory.join(format!("file_{number}.rs")), text).unwrap();
    }
}

async fn search(grep: &Arc<dyn Tool>, pattern: &str) {
    let call = ToolCall {
        id: CallId::new("call_1"),
        name: Arc::from("grep"),
        arguments: Arguments::parse(&json!({"pattern": pattern}).to_string()).unwrap(),
    };
    let context = ToolContext {
        progress: Arc::new(Nobody),
        cancel: Arc::new(NeverCancelled),
        exclusions: Default::default(),
        effect: agent_types::tool::Effect::Reads,
        known: Default::default(),
        opening: None,
    };
    std::hint::black_box(grep.run(&call, &context).await);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

struct Nobody;

impl ProgressSink for Nobody {
    fn report(&self, _: &str) {}
}
