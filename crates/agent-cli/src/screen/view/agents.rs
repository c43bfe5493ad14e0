//! What a person sees of the agents below: a line when one begins and ends, and one for each of its calls.

use super::{Level, View, call_line};
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, one_line};
use agent_core::child::{Left, Outcome};
use agent_runner::{AgentName, Notice, Order};

impl View {
    pub(super) fn agent_began(&mut self, agent: &AgentName, task: &str) {
        // Behind the last blank line stands what its parent asked for.
        let task = task.rsplit_once("\n\nYour task:\n").map_or(task, |(_, task)| task);
        self.tell(&format!("▸ agent {}: {}", inline(&agent.name), one_line(task.trim(), 100)));
    }

    pub(super) fn agent_ended(&mut self, agent: &AgentName, outcome: &Outcome) {
        let verified = format!(", {}", outcome.checked());
        let reason = outcome.reason.as_ref().map(|why| format!(" ({})", one_line(why, 200))).unwrap_or_default();
        let denied = match u64::from(outcome.unasked_denials) {
            0 => String::new(),
            calls => format!(", {} denied because no one could be asked", counted(calls, "call")),
        };
        let left = match outcome.left.as_deref() {
            None | Some(Left::Nothing) => String::new(),
            Some(Left::Changes { path, branch, .. }) => {
                format!(", its changes are on the branch {} in {}", inline(branch), inline(path))
            }
            Some(Left::Unknown { found }) => format!(", {}", one_line(found, 300)),
        };
        self.tell(&format!("◂ agent {}: {}{verified}{denied}{reason}{left}", inline(&agent.name), outcome.word));
    }

    /// A person, here or in another program, asked something of an agent.
    pub(super) fn ordered(&mut self, agent: Option<&AgentName>, order: &Order) {
        let whom = agent.map_or(String::from("the agent"), |agent| format!("agent {}", inline(&agent.name)));
        match order {
            Order::Stop => self.tell(&format!("▪ {whom} is to stop")),
            Order::Say(text) => self.tell(&format!("▸ to {whom}: {}", one_line(text.trim(), 200))),
        }
    }

    /// Something that an agent below does. Its answers are for its parent.
    pub(super) fn of_agent(&mut self, agent: &AgentName, notice: &Notice) {
        let name = inline(&agent.name);
        match notice {
            Notice::ToolStarted(call) => self.tell(&format!("  {name} • {}", call_line(call))),
            Notice::Error { message, .. } => self.tell(&format!("  {name}: {}", one_line(message, 300))),
            Notice::RetryScheduled { delay_ms, reason, .. } => {
                let seconds = delay_ms.div_ceil(1_000);
                self.tell(&format!("  {name}: retrying in {seconds} s: {}", inline(reason)));
            }
            Notice::CheckStarted { command } => self.tell(&format!("  {name} checks: {}", one_line(command, 100))),
            Notice::CheckFinished { report, .. } => self.tell(&format!("  {name}: the command {}", report.end)),
            Notice::Transition(step) if self.level == Level::Verbose => {
                self.tell(&format!("  {name}: {:?} + {:?} => {:?}", step.from, step.on, step.to));
            }
            Notice::Lifecycle(step) if self.level == Level::Verbose => {
                self.tell(&format!("  {name}: lifecycle: {:?} + {:?} => {:?}", step.from, step.on, step.to));
            }
            _ => {}
        }
    }
}
