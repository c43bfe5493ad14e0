//! Whether a request can be sent: the providers' rules, judged on renderings of our own.
//!
//! Written from the providers' references and independently of the crates that build request bodies. A conversation is laid out once as
//! Anthropic Messages, once as OpenAI Chat Completions and once as OpenAI Responses, as plainly as can be, and each layout is held to its
//! rules.
//!
//! Judged is the conversation of a request, and nothing else of it: not its tools, its system text or its output limit. Nor are the letters
//! of names and ids, which the providers' adapters make fit.

mod chat;
mod messages;
mod responses;

use crate::invariants::{Fault, Invariant, Tally};
use agent_core::conversation::Conversation;
use agent_core::llm::LlmRequest;

/// A rule of a provider and where it stands.
pub struct Rule {
    /// What it demands.
    pub says: &'static str,
    /// Where it stands.
    pub source: &'static str,
}

/// A format: what a request that breaks one of its rules breaks, and its judge.
pub type Format = (Invariant, fn(&Conversation) -> Result<(), &'static Rule>);

/// All formats.
pub const FORMATS: &[Format] = &[
    (Invariant::ValidForMessages, messages::judge),
    (Invariant::ValidForChat, chat::judge),
    (Invariant::ValidForResponses, responses::judge),
];

/// Whether a request with this conversation can be sent in every format.
///
/// # Errors
/// Names the rule that is broken.
pub fn check(conversation: &Conversation) -> Result<(), Fault> {
    judge_by(FORMATS, conversation)
}

/// Judges a request by the rules of these formats.
pub(crate) fn judge(formats: &[Format], request: &LlmRequest, tally: &mut Tally) -> Result<(), Fault> {
    tally.requests += 1;
    judge_by(formats, &request.conversation)
}

fn judge_by(formats: &[Format], conversation: &Conversation) -> Result<(), Fault> {
    formats.iter().try_for_each(|(invariant, judge)| {
        judge(conversation).map_err(|rule| Fault::new(*invariant, format!("{} ({})", rule.says, rule.source)))
    })
}

fn ensure(holds: bool, rule: &'static Rule) -> Result<(), &'static Rule> {
    if holds { Ok(()) } else { Err(rule) }
}
