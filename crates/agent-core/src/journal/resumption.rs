//! What a driver reports of the program before it.

use super::Begun;
use crate::agent::Agent;
use crate::conversation::ToolCall;
use crate::session::{Action, Event, LeftCall};
use alloc::vec::Vec;

impl Begun {
    /// The first event of a program that resumes this agent. `only_reads` tells whether the tool of a call only reads.
    #[must_use]
    pub fn resumption(&self, agent: &Agent, only_reads: impl Fn(&ToolCall) -> bool) -> Event {
        let (mut begun, mut calls) = (false, Vec::new());
        for open in agent.outstanding() {
            // Whatever else was asked is asked again.
            if let Action::SendLlmRequest { ticket, .. } | Action::RunHooks { ticket, .. } = open.action {
                begun |= self.has(ticket);
            } else if let Action::ExecuteTools { ticket, calls: running } = open.action {
                calls.extend(running.into_iter().map(|call| LeftCall {
                    begun: self.has_call(ticket, &call.id),
                    only_reads: only_reads(&call),
                    call: call.id,
                }));
            }
        }
        Event::SessionResumed { begun, calls }
    }
}
