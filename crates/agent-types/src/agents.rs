//! The tools by which an agent has other agents work for it, their arguments, and how much of that a session allows.

use crate::conversation::{Arguments, ToolCall};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Begins a child agent.
pub const SPAWN_TOOL: &str = "spawn_agent";
/// Waits for child agents.
pub const WAIT_TOOL: &str = "wait_agent";
/// Sends a message to a child agent.
pub const SEND_TOOL: &str = "send_agent";
/// Stops a child agent.
pub const STOP_TOOL: &str = "stop_agent";
/// Lists the child agents.
pub const LIST_TOOL: &str = "list_agents";

/// The tool that runs a command, by which a check is judged that a model asked for.
pub const COMMAND_TOOL: &str = "bash";

/// How many agents a session may have below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentLimits {
    /// How many levels of agents there may be below the session's own.
    pub depth: u32,
    /// How many children of one agent may be alive at a time.
    pub width: u32,
    /// How many agents may be begun below the session's own, at every depth together.
    pub total: u32,
    /// How many children one agent may begin within a minute.
    pub per_minute: u32,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { depth: 1, width: 8, total: 64, per_minute: 10 }
    }
}

impl AgentLimits {
    /// Whether they allow an agent at all.
    #[must_use]
    pub const fn allow_any(&self) -> bool {
        self.depth > 0 && self.width > 0 && self.total > 0 && self.per_minute > 0
    }
}

/// A call of one of these tools, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentCall {
    /// `spawn_agent`
    Spawn(SpawnArguments),
    /// `wait_agent`
    Wait(WaitArguments),
    /// `send_agent`
    Send(SendArguments),
    /// `stop_agent`
    Stop(StopArguments),
    /// `list_agents`
    List,
}

impl AgentCall {
    /// Whether a tool of this name is one of them.
    #[must_use]
    pub fn is_tool(name: &str) -> bool {
        matches!(name, SPAWN_TOOL | WAIT_TOOL | SEND_TOOL | STOP_TOOL | LIST_TOOL)
    }

    /// Reads a call; nothing if it is of another tool.
    ///
    /// # Errors
    /// A message that tells the model how to correct the call.
    #[must_use]
    pub fn of(call: &ToolCall) -> Option<Result<Self, String>> {
        Self::read(&call.name, &call.arguments)
    }

    /// Reads the arguments of a tool; nothing if it is another tool.
    ///
    /// # Errors
    /// A message that tells the model how to correct the call.
    #[must_use]
    pub fn read(tool: &str, arguments: &Arguments) -> Option<Result<Self, String>> {
        let wrong = |error| format!("{error}");
        Some(match tool {
            SPAWN_TOOL => arguments.read().map_err(wrong).and_then(SpawnArguments::checked).map(Self::Spawn),
            WAIT_TOOL => arguments.read().map(Self::Wait).map_err(wrong),
            SEND_TOOL => arguments.read().map_err(wrong).and_then(SendArguments::checked).map(Self::Send),
            STOP_TOOL => arguments.read().map(Self::Stop).map_err(wrong),
            LIST_TOOL => arguments.read::<ListArguments>().map(|_| Self::List).map_err(wrong),
            _ => return None,
        })
    }
}

/// The arguments of `spawn_agent`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpawnArguments {
    /// The child's name, unique among its parent's children: 1 to 32 of `a` to `z`, `0` to `9`, `_` and `-`.
    pub name: String,
    /// The task: all that the child knows.
    pub task: String,
    /// Whether the call is answered when the child has begun. Otherwise it is answered with the child's outcome.
    #[serde(default)]
    pub background: bool,
    /// Whether the child may change files.
    #[serde(default)]
    pub workspace: SharedWorkspace,
    /// How the child works.
    #[serde(default)]
    pub mode: TaskMode,
    /// The names of the tools that it may use, of those that its parent has. All of them, if nothing is said.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The model that answers it, of those that the session has. The parent's, if nothing is said.
    #[serde(default)]
    pub model: Option<String>,
    /// Commands that must succeed before its work counts as done.
    #[serde(default)]
    pub verify: Vec<String>,
    /// What it may spend. A share of what is left, if nothing is said.
    #[serde(default)]
    pub budget: Budget,
}

impl SpawnArguments {
    /// Most bytes of a name.
    pub const MAX_NAME_BYTES: usize = 32;
    /// Most commands that check its work.
    pub const MAX_CHECKS: usize = 8;

    fn checked(self) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let is_name = (1..=Self::MAX_NAME_BYTES).contains(&self.name.len()) && self.name.chars().all(is_plain);
        let is_shared = self.workspace == SharedWorkspace::Shared;
        let only_reads = self.workspace == SharedWorkspace::ReadOnly;
        let found = if !is_name {
            "`name` must be 1 to 32 of `a` to `z`, `0` to `9`, `_` and `-`"
        } else if self.task.trim().is_empty() {
            "`task` is blank"
        } else if is_shared && self.background {
            "an agent that changes your files cannot run in the background: leave `background` out, or say `\"workspace\": \"worktree\"`"
        } else if !only_reads && !self.mode.may_change() {
            "in this mode an agent changes nothing: leave `workspace` out"
        } else if only_reads && !self.verify.is_empty() {
            "`verify` runs commands, which an agent that only reads may not: say `\"workspace\": \"shared\"`"
        } else if self.verify.len() > Self::MAX_CHECKS || self.verify.iter().any(|command| command.trim().is_empty()) {
            "`verify` must be at most 8 commands, none of them blank"
        } else if !self.budget.is_sound() {
            "`budget` must have positive numbers"
        } else {
            return Ok(self);
        };
        Err(String::from(found))
    }
}

/// Which files a child works with, and what it may do with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedWorkspace {
    /// It reads them.
    #[default]
    ReadOnly,
    /// It reads and changes them, as its parent may. Its parent waits for it.
    Shared,
    /// It reads and changes files of its own: a git worktree of the last commit.
    Worktree,
}

/// How an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskMode {
    /// It does the work itself.
    #[default]
    Execute,
    /// It has others do the work.
    Delegate,
    /// It plans the work.
    Plan,
    /// It cuts the work into parts.
    BreakUp,
    /// It puts the parts together.
    Unify,
}

impl TaskMode {
    /// Whether an agent in this mode changes something itself.
    #[must_use]
    pub const fn may_change(self) -> bool {
        match self {
            Self::Execute => true,
            Self::Delegate | Self::Plan | Self::BreakUp | Self::Unify => false,
        }
    }

    /// Whether an agent in this mode has other agents work for it.
    #[must_use]
    pub const fn may_spawn(self) -> bool {
        match self {
            Self::Execute | Self::Delegate | Self::BreakUp => true,
            Self::Plan | Self::Unify => false,
        }
    }

    /// What the agent is told about it; nothing where the task alone says what to do.
    #[must_use]
    pub const fn instruction(self) -> Option<&'static str> {
        match self {
            Self::Execute => None,
            Self::Delegate => Some("Have other agents do the work: spawn them, wait for them, and report the results."),
            Self::Plan => {
                Some("Plan the work and change nothing. End with the plan: numbered steps, each to be checked.")
            }
            Self::BreakUp => Some("Cut the work into parts that other agents can do, and have them do the parts."),
            Self::Unify => Some("Put the parts that you are given together into one result. Change nothing."),
        }
    }
}

/// What a call asks for; what it does not say is the share that falls to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Model calls.
    pub model_calls: Option<u64>,
    /// Tool calls.
    pub tool_calls: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in US dollars.
    pub cost_usd: Option<f64>,
    /// Time, in minutes.
    pub minutes: Option<u64>,
    /// Agents below the child.
    pub agents: Option<u32>,
}

impl Budget {
    /// The money in billionths of a US dollar.
    #[must_use]
    pub fn cost_nano_usd(&self) -> Option<u64> {
        // A cast of a float saturates; what is no number was refused.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        self.cost_usd.map(|usd| (usd * 1e9) as u64)
    }

    /// The time in milliseconds.
    #[must_use]
    pub fn time_ms(&self) -> Option<u64> {
        self.minutes.map(|minutes| minutes.saturating_mul(60_000))
    }

    fn is_sound(&self) -> bool {
        let counts = [self.model_calls, self.tool_calls, self.tokens, self.minutes];
        !counts.contains(&Some(0)) && self.cost_usd.is_none_or(|usd| usd.is_finite() && usd > 0.0)
    }
}

/// The arguments of `wait_agent`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitArguments {
    /// The children by name; all of them, if nothing is said.
    #[serde(default)]
    pub names: Vec<String>,
    /// For how many of them.
    #[serde(default)]
    pub until: Until,
}

/// For how many children a call waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// For the first that ends or asks.
    #[default]
    Any,
    /// Until each has ended or asks.
    All,
}

/// The arguments of `send_agent`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendArguments {
    /// The child by name.
    pub name: String,
    /// The message.
    pub message: String,
}

impl SendArguments {
    fn checked(self) -> Result<Self, String> {
        if self.message.trim().is_empty() { Err(String::from("`message` is blank")) } else { Ok(self) }
    }
}

/// The arguments of `stop_agent`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopArguments {
    /// The child by name.
    pub name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &str, arguments: &str) -> Result<AgentCall, String> {
        AgentCall::read(tool, &Arguments::parse(arguments).unwrap()).unwrap()
    }

    #[test]
    fn a_call_says_what_it_can_be_held_to() {
        let AgentCall::Spawn(spawn) = read(SPAWN_TOOL, r#"{"name":"tests","task":"Run them."}"#).unwrap() else {
            panic!()
        };
        assert_eq!(
            (spawn.workspace, spawn.mode, spawn.background),
            (SharedWorkspace::ReadOnly, TaskMode::Execute, false)
        );
        assert_eq!(read(LIST_TOOL, "{}"), Ok(AgentCall::List));
        assert!(AgentCall::read("bash", &Arguments::parse("{}").unwrap()).is_none());
        assert!(!AgentCall::is_tool("bash") && AgentCall::is_tool(STOP_TOOL));
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_reason() {
        for (arguments, says) in [
            (r#"{"name":"Tests","task":"t"}"#, "name"),
            (r#"{"name":"","task":"t"}"#, "name"),
            (r#"{"name":"a/b","task":"t"}"#, "name"),
            (r#"{"name":"a","task":" "}"#, "task"),
            (r#"{"name":"a","task":"t","workspace":"shared","background":true}"#, "background"),
            (r#"{"name":"a","task":"t","workspace":"shared","mode":"plan"}"#, "mode"),
            (r#"{"name":"a","task":"t","verify":["true"]}"#, "verify"),
            (r#"{"name":"a","task":"t","workspace":"shared","verify":[" "]}"#, "verify"),
            (r#"{"name":"a","task":"t","workspace":"worktree","mode":"unify"}"#, "mode"),
            (r#"{"name":"a","task":"t","workspace":"elsewhere"}"#, "worktree"),
            (r#"{"name":"a","task":"t","budget":{"cost_usd":-1}}"#, "budget"),
            (r#"{"name":"a","task":"t","budget":{"model_calls":0}}"#, "budget"),
            (r#"{"name":"a","task":"t","sandbox":"off"}"#, "sandbox"),
        ] {
            let message = read(SPAWN_TOOL, arguments).unwrap_err();
            assert!(message.contains(says), "{arguments}: {message}");
        }
        assert!(read(SEND_TOOL, r#"{"name":"a","message":""}"#).unwrap_err().contains("message"));
        assert!(read(STOP_TOOL, "{}").unwrap_err().contains("name"));
    }

    #[test]
    fn money_and_time_are_counted_in_small_units() {
        let wish = Budget { cost_usd: Some(0.5), minutes: Some(2), ..Budget::default() };
        assert_eq!((wish.cost_nano_usd(), wish.time_ms()), (Some(500_000_000), Some(120_000)));
        assert_eq!(Budget { cost_usd: Some(1e300), ..Budget::default() }.cost_nano_usd(), Some(u64::MAX));
    }
}
