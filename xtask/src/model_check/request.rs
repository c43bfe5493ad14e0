//! Whether a request can be sent: the providers' rules, judged on renderings of our own.
//!
//! Written from the providers' references and independently of the crates that build request bodies. A conversation is laid out once as
//! Anthropic Messages, once as OpenAI Chat Completions and once as OpenAI Responses, as plainly as can be, and each layout is held to its
//! rules.

mod chat;
mod messages;
mod responses;

use super::invariants::{Fault, Invariant, Tally};
use agent_core::llm::LlmRequest;

/// A rule of a provider and where it stands.
pub(crate) struct Rule {
    pub(crate) says: &'static str,
    pub(crate) source: &'static str,
}

/// Judges a request by the rules of all formats.
pub(crate) fn judge(request: &LlmRequest, tally: &mut Tally) -> Result<(), Fault> {
    tally.requests += 1;
    let broken = |invariant, rule: &Rule| Fault::new(invariant, format!("{} ({})", rule.says, rule.source));
    messages::judge(&request.conversation).map_err(|rule| broken(Invariant::ValidForMessages, rule))?;
    chat::judge(&request.conversation).map_err(|rule| broken(Invariant::ValidForChat, rule))?;
    responses::judge(&request.conversation).map_err(|rule| broken(Invariant::ValidForResponses, rule))
}
