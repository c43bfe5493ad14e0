//! What is known of a session's calls, for the editor.

use crate::config::kept_rules;
use crate::config::settings::Settings;
use crate::screen::change::Changes;
use crate::screen::offered::offered;
use crate::screen::view::call_line;
use agent_acp::{About, Change, Insight, Kind, PlanEntry};
use agent_core::conversation::ToolCall;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, Rule};
use agent_mcp::ServerConfig;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Knows the tools of this program.
pub(crate) struct CallInsight {
    directory: PathBuf,
    /// Rules about some of them hold in this directory alone.
    servers: Vec<ServerConfig>,
}

impl CallInsight {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { directory: settings.directory.clone(), servers: settings.servers.clone() }
    }

    fn absolute(&self, path: &str) -> String {
        self.directory.join(path).to_string_lossy().into_owned()
    }
}

impl Insight for CallInsight {
    fn about(&self, call: &ToolCall) -> About {
        let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
        let line = arguments.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        let path = arguments.get("path").and_then(Value::as_str);
        let locations = path.map(|path| (self.absolute(path), line)).into_iter().collect();
        About { title: call_line(call), kind: kind(&call.name), locations }
    }

    fn changes(&self, call: &ToolCall) -> Vec<Change> {
        let changes = Changes::of(call, &self.directory);
        let files = changes.iter().flat_map(Changes::files).flat_map(|file| {
            let old = file.old.clone();
            let (path, new) = (self.absolute(&file.path), file.new.clone().unwrap_or_default());
            match &file.moved_to {
                None => vec![Change { path, old, new }],
                Some(to) => {
                    vec![Change { path, old, new: String::new() }, Change { path: self.absolute(to), old: None, new }]
                }
            }
        });
        files.collect()
    }

    fn plan(&self, call: &ToolCall) -> Option<Vec<PlanEntry>> {
        if &*call.name != "todo_write" {
            return None;
        }
        let list: TodoList = serde_json::from_str(call.arguments.as_str()).ok()?;
        let entry = |todo: Todo| {
            let status = match todo.status {
                Status::Pending => "pending",
                Status::InProgress => "in_progress",
                Status::Completed => "completed",
            };
            PlanEntry { content: todo.content, status }
        };
        Some(list.todos.into_iter().map(entry).collect())
    }

    fn offered(&self, question: &ApprovalQuestion) -> Vec<Rule> {
        offered(question)
    }

    fn keeping(&self, rules: Vec<Rule>) -> (ApprovalAnswer, Option<String>) {
        let (scope, told) = match kept_rules::keep_all(&rules, &self.directory, &self.servers) {
            Ok(told) => (ApprovalScope::Always(rules), told.join("\n")),
            Err(error) => (ApprovalScope::Session(rules), format!("{error}; this applies to this session only")),
        };
        (ApprovalAnswer::Allow { scope, arguments: None }, Some(told))
    }
}

/// The arguments of `todo_write`.
#[derive(Deserialize)]
struct TodoList {
    todos: Vec<Todo>,
}

#[derive(Deserialize)]
struct Todo {
    content: String,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

fn kind(tool: &str) -> Kind {
    match tool {
        "read_file" | "list_files" | "activate_skill" => Kind::Read,
        "edit_file" | "write_file" | "apply_patch" => Kind::Edit,
        "grep" | "glob" => Kind::Search,
        "bash" | "bash_output" | "bash_kill" => Kind::Execute,
        "todo_write" => Kind::Think,
        _ => Kind::Other,
    }
}
