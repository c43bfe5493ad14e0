//! `todo_write`: the list of what is to be done, for the model to keep its place and for people to see it.
//!
//! The tool keeps nothing: the call itself stands in the history, so the list is the latest call's, also after a restart.

use crate::arguments::read_arguments;
use crate::spec::tool_spec;
use agent_types::conversation::{Arguments, ToolCall};
use agent_types::ports::{Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;

pub(crate) struct TodoWrite {
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoArguments {
    /// The whole list, in order; it replaces the one before. At most 100 entries, at most one of them in progress.
    todos: Vec<Todo>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    /// What is to be done, in one line.
    content: String,
    /// How far it is.
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl TodoWrite {
    pub(crate) fn new() -> Self {
        Self { spec: tool_spec::<TodoArguments>("todo_write", DESCRIPTION) }
    }

    fn read(&self, arguments: &Arguments) -> Result<Vec<Todo>, String> {
        let TodoArguments { todos } = read_arguments(&self.spec, arguments)?;
        if todos.len() > MOST {
            return Err(format!("the list has {} entries, more than {MOST}: join some", todos.len()));
        }
        if let Some(wrong) = todos.iter().position(|todo| {
            let content = todo.content.trim();
            content.is_empty() || content.len() > LONGEST_BYTES || content.contains('\n')
        }) {
            return Err(format!("`content` of entry {} must be one line of 1 to {LONGEST_BYTES} bytes", wrong + 1));
        }
        match todos.iter().filter(|todo| todo.status == Status::InProgress).count() {
            0 | 1 => Ok(todos),
            several => Err(format!("{several} entries are `in_progress`: work on one at a time")),
        }
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        self.read(arguments).map(|_| Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, call: &ToolCall, _context: &ToolContext) -> ToolOutcome {
        match self.read(&call.arguments) {
            Ok(todos) => ToolOutcome::ok(listed(&todos)),
            Err(message) => ToolOutcome::failed(message),
        }
    }
}

fn listed(todos: &[Todo]) -> String {
    let done = todos.iter().filter(|todo| todo.status == Status::Completed).count();
    let mut text = format!("{done} of {} done\n", todos.len());
    for todo in todos {
        let mark = match todo.status {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
        };
        let _ = writeln!(text, "{mark} {}", todo.content.trim());
    }
    text
}

const DESCRIPTION: &str = "Writes the to-do list for work of several steps: always the whole list, with one entry `in_progress`. Mark \
                           an entry `completed` as soon as it is done.";
const MOST: usize = 100;
const LONGEST_BYTES: usize = 500;
