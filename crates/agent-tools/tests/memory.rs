//! How much memory the largest files take. A test program of its own, because the figure is the whole process's.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use agent_exec::Processes;
use agent_testkit::tool_context;
use agent_tools::{Workspace, standard_tools};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;

#[tokio::test]
async fn the_largest_files_take_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::File::create(path("zeros")).unwrap().set_len(4 << 30).unwrap();
    // Text first, so that it counts as text, and then a line of four gigabytes.
    fs::write(path("text"), "line\n".repeat(20_000)).unwrap();
    fs::OpenOptions::new().write(true).open(path("text")).unwrap().set_len(4 << 30).unwrap();
    let workspace = Arc::new(Workspace::open(directory.path()).unwrap());
    let tools = standard_tools(&workspace, Processes::new());
    let run = async |tool: &str, arguments: Value| {
        let call = ToolCall {
            id: CallId::new("call_1"),
            name: Arc::from(tool),
            arguments: Arguments::parse(&arguments.to_string()).unwrap(),
        };
        let tool = tools.iter().find(|known| &*known.spec().name == tool).unwrap();
        tool.run(&call, &tool_context().0).await.content
    };
    let idle = peak_bytes();
    assert!(run("read_file", json!({"path": "zeros"})).await.contains("4294967296 bytes"));
    assert!(
        run("read_file", json!({"path": "text", "offset": 19_999})).await.starts_with("19999\tline\n20000\tline\n")
    );
    assert!(
        run("edit_file", json!({"path": "text", "old_string": "x", "new_string": "y"})).await.contains("4294967296")
    );
    assert!(run("grep", json!({"pattern": "nothing"})).await.contains("2 binary files"));
    let printed = run("bash", json!({"command": "yes", "timeout_ms": 3_000})).await;
    assert!(printed.contains("bytes left out here") && printed.len() < 31_000);
    let more = peak_bytes() - idle;
    assert!(more <= 64 << 20, "{more} bytes more than idle");
    // The figure would notice.
    let block = std::hint::black_box(vec![1_u8; 80 << 20]);
    assert!(peak_bytes() - idle > 64 << 20, "{}", block.len());
}

/// The most memory that this process ever had.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}
