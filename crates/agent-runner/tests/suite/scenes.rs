//! One scene for each state that waits: what stands around a runner so that it comes to rest there.

use crate::support::{HangingHook, HookStep, Host, config, ms, tool, with_config};
use agent_core::hook::HookPoint;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::permission::PermissionMode;
use agent_core::session::State;
use agent_runner::Builder;
use agent_testkit::{FakeTool, Reply, Script, ScriptedApprover, ScriptedProvider, ToolLog};
use serde_json::json;
use std::sync::Arc;

/// What stands around a runner. In its first life it hangs in the state, in later ones it goes on.
pub(crate) struct Scene {
    pub(crate) state: State,
    pub(crate) provider: ScriptedProvider,
    pub(crate) looked: ToolLog,
    pub(crate) edited: ToolLog,
    pub(crate) approver: ScriptedApprover,
    hangs: bool,
}

/// The states that wait for an answer.
pub(crate) const WAITING: [State; 11] = [
    State::CallingLlm,
    State::SendingToolResults,
    State::PreparingTools,
    State::AwaitingApproval,
    State::ExecutingTools,
    State::CheckingGitCommits,
    State::RunningAutoformatters,
    State::CommittingChanges,
    State::RunningHooks,
    State::Compacting,
    State::Error,
];

impl Scene {
    /// The scene in which a session comes to rest in this state and stays there.
    pub(crate) fn hanging_in(state: State) -> Self {
        Self::new(state, first_life(state), ScriptedApprover::silent(), true)
    }

    /// The same project in a later life, in which nothing hangs and the model says this.
    pub(crate) fn going_on(state: State, script: Script) -> Self {
        Self::new(state, script, ScriptedApprover::allowing(), false)
    }

    fn new(state: State, script: Script, approver: ScriptedApprover, hangs: bool) -> Self {
        Self {
            state,
            provider: ScriptedProvider::new(script),
            looked: ToolLog::default(),
            edited: ToolLog::default(),
            approver,
            hangs,
        }
    }

    pub(crate) fn builder(&self) -> Builder {
        let mut config = config();
        if self.state == State::AwaitingApproval {
            config.permissions.mode = PermissionMode::Default;
        }
        if self.state == State::RunningHooks {
            config.hooks.insert(HookPoint::PostToolUse);
        }
        let hook = HangingHook { at: self.hook_step().filter(|_| self.hangs), is_deaf: false };
        let mut look = FakeTool::reads("look").counting_in(&self.looked);
        if self.hangs && self.state == State::ExecutingTools {
            look = look.reports(&["looking"]).hangs();
        }
        let edit = FakeTool::changes("edit").counting_in(&self.edited);
        with_config(config, self.provider.clone())
            .tools([tool(&look), tool(&edit)])
            .hook(Arc::new(hook))
            .approver(Arc::new(self.approver.clone()))
    }

    /// Brings a session to rest in the state.
    pub(crate) async fn enter(&self, host: &mut Host) {
        if self.state == State::Compacting {
            host.ask("tell me").await;
            host.handle.compact();
        } else {
            host.handle.input("go");
        }
        host.state(self.state).await;
        // What is asked of the outside arrives there.
        tokio::time::sleep(ms(1)).await;
    }

    const fn hook_step(&self) -> Option<HookStep> {
        match self.state {
            State::PreparingTools => Some(HookStep::Verdict),
            State::CheckingGitCommits => Some(HookStep::Git),
            State::RunningAutoformatters => Some(HookStep::Format),
            State::CommittingChanges => Some(HookStep::Commit),
            State::RunningHooks => Some(HookStep::Users),
            _ => None,
        }
    }
}

fn first_life(state: State) -> Script {
    let script = Script::new();
    match state {
        State::CallingLlm => script.stall_after(Reply::new().text("half"), 1),
        State::SendingToolResults => script.call("look", json!({})).stall_after(Reply::new().text("half"), 1),
        State::ExecutingTools => script.call("look", json!({})),
        State::Compacting => script.text("long ".repeat(500)).stall_after(Reply::new().text("half"), 1),
        State::Error => script.error(LlmError::new(LlmErrorKind::Server, "broken")),
        _ => script.call("edit", json!({})),
    }
}
