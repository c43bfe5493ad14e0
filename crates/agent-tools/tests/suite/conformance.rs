//! Our own tools hold what the testkit demands of every tool.

use agent_exec::Processes;
use agent_testkit::conformance::tools::{ToolCase, assert_tool_conforms};
use agent_tools::{Workspace, signal_tool, standard_tools};
use agent_types::ports::Tool;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// One of our tools, with what it is called with.
struct Case {
    name: &'static str,
    works: fn(&Path) -> Vec<Value>,
    misfits: Vec<Value>,
    about_path: fn(&str) -> Option<Value>,
    much: fn(&Path) -> Option<Value>,
    long: fn(&Path) -> Option<Value>,
}

impl Case {
    fn new(name: &'static str, works: fn(&Path) -> Vec<Value>, misfits: Vec<Value>) -> Self {
        Self { name, works, misfits, about_path: |_| None, much: |_| None, long: |_| None }
    }
}

impl ToolCase for Case {
    fn tool(&self, workspace: &Path) -> Result<Arc<dyn Tool>, String> {
        let workspace = Arc::new(Workspace::open(workspace).map_err(|error| error.to_string())?);
        let mut tools = standard_tools(&workspace, Processes::new());
        tools.push(signal_tool());
        tools.into_iter().find(|tool| *tool.spec().name == *self.name).ok_or_else(|| format!("no tool {}", self.name))
    }

    fn works(&self, workspace: &Path) -> Vec<Value> {
        (self.works)(workspace)
    }

    fn misfits(&self) -> Vec<Value> {
        self.misfits.clone()
    }

    fn about_path(&self, path: &str) -> Option<Value> {
        (self.about_path)(path)
    }

    fn much(&self, workspace: &Path) -> Option<Value> {
        (self.much)(workspace)
    }

    fn long(&self, workspace: &Path) -> Option<Value> {
        (self.long)(workspace)
    }
}

fn with_file(workspace: &Path, calls: Value) -> Vec<Value> {
    fs::write(workspace.join("f"), "text\n").unwrap();
    match calls {
        Value::Array(calls) => calls,
        one => vec![one],
    }
}

fn with_much(workspace: &Path, call: Value) -> Option<Value> {
    fs::write(workspace.join("f"), "text\n".repeat(1_000_000)).unwrap();
    for number in 0..5_000 {
        fs::write(workspace.join(format!("text-{number}")), "text\n").unwrap();
    }
    Some(call)
}

#[tokio::test]
async fn reading_tools_conform() {
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path})),
        much: |workspace| with_much(workspace, json!({"path": "f"})),
        ..Case::new(
            "read_file",
            |workspace| with_file(workspace, json!([{"path": "f"}, {"path": "f", "offset": 1, "limit": 1}])),
            vec![json!({}), json!({"path": 1}), json!({"path": "f", "limit": 0}), json!({"path": "f", "lines": 1})],
        )
    })
    .await;
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path})),
        much: |workspace| with_much(workspace, json!({})),
        ..Case::new(
            "list_files",
            |workspace| with_file(workspace, json!([{}, {"path": ".", "depth": 3}])),
            vec![json!({"depth": 0}), json!({"path": []}), json!({"directory": "."})],
        )
    })
    .await;
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path, "pattern": "*"})),
        much: |workspace| with_much(workspace, json!({"pattern": "*"})),
        ..Case::new(
            "glob",
            |workspace| with_file(workspace, json!([{"pattern": "*"}, {"pattern": "**/f"}])),
            vec![json!({}), json!({"pattern": ""}), json!({"pattern": "["})],
        )
    })
    .await;
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path, "pattern": "t"})),
        much: |workspace| with_much(workspace, json!({"pattern": "text"})),
        ..Case::new(
            "grep",
            |workspace| with_file(workspace, json!([{"pattern": "text"}, {"pattern": "none"}])),
            vec![json!({}), json!({"pattern": "("}), json!({"pattern": "x", "context": -1})],
        )
    })
    .await;
}

#[tokio::test]
async fn changing_tools_conform() {
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path.replace("inside.txt", "new.txt"), "content": "x"})),
        ..Case::new(
            "write_file",
            |_| vec![json!({"path": "new", "content": "x"}), json!({"path": "d/e/f", "content": ""})],
            vec![json!({}), json!({"path": "x"}), json!({"path": "x", "content": 1})],
        )
    })
    .await;
    assert_tool_conforms(&Case {
        about_path: |path| Some(json!({"path": path, "old_string": "t", "new_string": "T", "replace_all": true})),
        ..Case::new(
            "edit_file",
            |workspace| with_file(workspace, json!([{"path": "f", "old_string": "text", "new_string": "new"}])),
            vec![json!({}), json!({"path": "f", "old_string": "", "new_string": "x"})],
        )
    })
    .await;
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")});
    assert_tool_conforms(&Case {
        about_path: |path| {
            Some(json!({"patch": format!("*** Begin Patch\n*** Update File: {path}\n-text\n+new\n*** End Patch")}))
        },
        ..Case::new(
            "apply_patch",
            |workspace| {
                let body = "*** Update File: f\n-text\n+new\n*** Add File: d/g\n+x";
                let move_it = "*** Update File: f\n*** Move to: h\n-new\n+newer";
                let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")});
                with_file(workspace, json!([patch(body), patch(move_it), patch("*** Delete File: h")]))
            },
            vec![json!({}), json!({"patch": "x"}), patch("*** Update File: f"), patch("")],
        )
    })
    .await;
}

#[tokio::test]
async fn the_shell_conforms() {
    assert_tool_conforms(&Case {
        much: |_| Some(json!({"command": "yes | head -c 5000000"})),
        long: |_| {
            Some(json!({"command": "setsid sleep 100 & (sleep 100 &) ; while :; do date >> log; sleep 0.05; done"}))
        },
        ..Case::new(
            "bash",
            |_| vec![json!({"command": "echo a"}), json!({"command": "pwd > f"}), json!({"command": "true"})],
            vec![json!({}), json!({"command": ""}), json!({"command": "a", "timeout_ms": 0})],
        )
    })
    .await;
}

#[tokio::test]
async fn the_others_conform() {
    for (name, works, misfits) in [
        (
            "todo_write",
            (|_| vec![json!({"todos": [{"content": "a", "status": "pending"}]})]) as fn(&Path) -> Vec<Value>,
            vec![json!({}), json!({"todos": [{"content": "a"}]})],
        ),
        ("signal", |_| vec![json!({"status": "done", "summary": "x"})], vec![json!({}), json!({"status": "no"})]),
        ("bash_output", |_| vec![], vec![json!({}), json!({"id": 1})]),
        ("bash_kill", |_| vec![], vec![json!({}), json!({"id": 1})]),
    ] {
        assert_tool_conforms(&Case::new(name, works, misfits)).await;
    }
}
