//! Whether a request can be sent: the providers' rules, judged on renderings of our own.
//!
//! Written from the providers' references and independently of the crates that build request bodies. A conversation is laid out once as
//! Anthropic Messages, once as OpenAI Chat Completions and once as OpenAI Responses, as plainly as can be, and each layout is held to its
//! rules.
//!
//! Judged is the conversation of a request, and nothing else of it: not its tools, its system text or its output limit. Nor are the letters of
//! names and ids, which the providers' adapters make fit.

mod chat;
mod messages;
mod responses;

use super::invariants::{Fault, Invariant, Tally};
use agent_core::conversation::Conversation;
use agent_core::llm::LlmRequest;

/// A rule of a provider and where it stands.
pub(crate) struct Rule {
    pub(crate) says: &'static str,
    pub(crate) source: &'static str,
}

/// A format: what a request that breaks one of its rules breaks, and its judge.
pub(crate) type Format = (Invariant, fn(&Conversation) -> Result<(), &'static Rule>);

/// All formats.
pub(crate) const FORMATS: &[Format] = &[
    (Invariant::ValidForMessages, messages::judge),
    (Invariant::ValidForChat, chat::judge),
    (Invariant::ValidForResponses, responses::judge),
];

/// Judges a request by the rules of these formats.
pub(crate) fn judge(formats: &[Format], request: &LlmRequest, tally: &mut Tally) -> Result<(), Fault> {
    tally.requests += 1;
    for (invariant, judge) in formats {
        judge(&request.conversation)
            .map_err(|rule| Fault::new(*invariant, format!("{} ({})", rule.says, rule.source)))?;
    }
    Ok(())
}
