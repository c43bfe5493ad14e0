//! What a child is made of: all of it follows from its parent and from the call.

use super::{Kin, words};
use crate::agent::Agent;
use crate::agents::{AgentLimits, SharedWorkspace};
use crate::child::lease::Lease;
use crate::conversation::UserMessage;
use crate::hook::HookPoint;
use crate::lifecycle::{Assertion, Commitment, LifecycleConfig, Origin};
use crate::permission::{PermissionMode, Permissions};
use crate::session::SessionConfig;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How a child begins. A driver makes an agent of it, with the tools and the journal that it has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Birth {
    /// Its number among its parent's children.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The configuration of its session. The tools are its parent's, as far as it may use them.
    pub config: SessionConfig,
    /// What binds it.
    pub lifecycle: LifecycleConfig,
    /// Its task, as it reads it.
    pub task: UserMessage,
    /// Whether it may change the files of its parent.
    pub changes_files: bool,
    /// Whether it works in a workspace of its own: a git worktree of the last commit that its parent's workspace has.
    pub is_apart: bool,
}

impl Agent {
    /// How the child with this number begins, as its parent stands now.
    #[must_use]
    pub fn birth(&self, number: u32) -> Option<Birth> {
        let kin = self.kin_of(number)?;
        let lease = kin.child().lease()?;
        let config = self.session.config();
        Some(Birth {
            number,
            name: kin.child().name().into(),
            config: kin.config(config, lease),
            lifecycle: kin.lifecycle(),
            task: kin.task(),
            changes_files: kin.changes_files(),
            is_apart: kin.is_apart(),
        })
    }
}

impl Kin {
    fn config(&self, parent: &SessionConfig, lease: &Lease) -> SessionConfig {
        let asked = self.asked();
        let mut models = parent.models.clone();
        if let Some(at) = models.iter().position(|model| Some(&*model.id) == asked.model.as_deref()) {
            models.swap(0, at);
        }
        let agents = parent.agents.map(|limits| AgentLimits { depth: lease.depth, total: lease.agents, ..limits });
        let agents = agents.filter(|limits| limits.allow_any() && asked.mode.may_spawn());
        let may_use = |name: &str| match &asked.tools {
            Some(names) => names.iter().any(|known| known == name),
            None => true,
        };
        let is_its = |name: &str| may_use(name) && (agents.is_some() || !crate::agents::AgentCall::is_tool(name));
        let tools = parent.tools.iter().filter(|tool| is_its(&tool.name)).cloned().collect();
        // What runs on calls guards them. What runs on a person's messages, and around the session, is the root's; an agent below has
        // points of its own, at its own start and stop.
        let is_for_child = |point: &HookPoint| {
            use HookPoint::{PostToolUse, PreToolUse, SubagentStart, SubagentStop};
            matches!(point, PreToolUse | PostToolUse | SubagentStart | SubagentStop)
        };
        let mut hooks: BTreeSet<HookPoint> = parent.hooks.iter().copied().filter(is_for_child).collect();
        let own = [(HookPoint::SubagentStart, HookPoint::SessionStart), (HookPoint::SubagentStop, HookPoint::Stop)];
        for (point, of_session) in own {
            if parent.hooks.contains(&point) {
                hooks.insert(of_session);
            }
        }
        SessionConfig {
            models,
            tools,
            agents,
            limits: lease.limits(&parent.limits),
            permissions: self.permissions(&parent.permissions),
            hooks,
            ..parent.clone()
        }
    }

    fn permissions(&self, parent: &Permissions) -> Permissions {
        let mode = match self.asked().workspace {
            SharedWorkspace::ReadOnly => PermissionMode::Plan,
            SharedWorkspace::Shared | SharedWorkspace::Worktree => parent.mode,
        };
        let own_mode = (!self.asked().mode.may_change()).then_some(PermissionMode::Plan);
        Permissions { mode, own_mode, above: parent.for_below(), ..parent.clone() }
    }

    fn lifecycle(&self) -> LifecycleConfig {
        let commitment = |command: &String| Commitment {
            promise: command.clone(),
            assertion: Assertion { command: command.clone(), timeout_ms: CHECK_TIMEOUT_MS },
            origin: Origin::Parent,
        };
        let commitments: Vec<Commitment> = self.asked().verify.iter().map(commitment).collect();
        LifecycleConfig::headless(commitments)
    }

    fn task(&self) -> UserMessage {
        let asked = self.asked();
        let name = &asked.name;
        let may = match asked.workspace {
            SharedWorkspace::ReadOnly => "You may read and change nothing.",
            SharedWorkspace::Shared => "You may change files.",
            SharedWorkspace::Worktree => {
                "You may change files: you work in a git worktree of your own, which began as the last commit. Changes that were not \
                 committed then are not in it, and neither are files that git ignores. What your tools for files change is committed on a \
                 branch of your own."
            }
        };
        let head = format!(
            "You are the agent `{name}` and work for another agent. {may} Your last message is your report to it. \
             A message that begins with `The user says:` is the user's; what agents say has `> ` before each line."
        );
        let how = asked.mode.instruction().map(|text| format!("\n{text}")).unwrap_or_default();
        UserMessage::of_agent(format!("{head}{how}\n\nYour task:\n{}", words::task(&asked.task)))
    }
}

/// How long a check of a child may take, in milliseconds.
const CHECK_TIMEOUT_MS: u64 = 10 * 60 * 1_000;
