//! The configuration of a session.

use crate::agents::AgentLimits;
use crate::budget::{Limits, Price};
use crate::hook::HookPoint;
use crate::instructions::GivenInstructions;
use crate::llm::Effort;
use crate::permission::Permissions;
use crate::retry::RetryPolicy;
use crate::tool::ToolSpec;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Everything that shapes a session's decisions. Stands in the journal's header, so that a replay decides the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionConfig {
    /// The model to use, then those that take over when one is overloaded or exhausted. Without any, every request names the empty model.
    pub models: Vec<ModelConfig>,
    /// System prompt; empty for none.
    pub system: Arc<str>,
    /// The tools, in the order in which they are offered.
    pub tools: Arc<[ToolSpec]>,
    /// What may be spent.
    pub limits: Limits,
    /// How failed model calls are repeated.
    pub retry: RetryPolicy,
    /// What may happen without asking.
    pub permissions: Permissions,
    /// How full a model's context window may get before the conversation is summarised, in thousandths.
    pub compact_at_permille: u16,
    /// How often it is summarised in a turn, and what stays word for word.
    #[serde(default = "Summaries::of_earlier_versions", skip_serializing_if = "Summaries::is_of_earlier_versions")]
    pub summaries: Summaries,
    /// Most bytes of one tool result that go into the history; of more, the beginning.
    pub max_result_bytes: usize,
    /// The points at which the user's hooks run. At the others nothing is asked of the driver.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hooks: BTreeSet<HookPoint>,
    /// The files of instructions in the system prompt, and the room for those of the directories in which the agent works.
    #[serde(default, skip_serializing_if = "GivenInstructions::is_none")]
    pub instructions: GivenInstructions,
    /// How many agents may work below the session's own; nothing where it has none. With it, calls of the tools of
    /// [`agents`](crate::agents) are answered by the [`Agent`](crate::agent::Agent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentLimits>,
}

impl SessionConfig {
    /// A session with one model and defaults for the rest: no tools, no limits, permission mode `default`.
    #[must_use]
    pub fn new(model: ModelConfig) -> Self {
        Self { models: alloc::vec![model], ..Self::default() }
    }

    /// Estimated tokens of the system prompt and the tools, which every request carries.
    pub(crate) fn fixed_tokens(&self) -> u64 {
        let tools = self.tools.iter().map(|tool| {
            let schema = serde_json::to_string(&tool.input_schema).map_or(0, |text| text.len());
            tool.name.len() + tool.description.len() + schema
        });
        (self.system.len() + tools.sum::<usize>()) as u64 / 4
    }

    /// The model at a position of the list, or the last one; `None` if the list is empty.
    pub(crate) fn model(&self, index: usize) -> Option<&ModelConfig> {
        self.models.get(index).or_else(|| self.models.last())
    }

    /// Its id; empty if it has none.
    pub(crate) fn model_id(&self, index: usize) -> Arc<str> {
        self.model(index).map_or_else(|| Arc::from(""), |model| model.id.clone())
    }

    /// Its price, when it is known.
    pub(crate) fn price(&self, index: usize) -> Option<&Price> {
        self.model(index).and_then(|model| model.price.as_ref())
    }

    /// Most tokens that an answer of it may have.
    pub(crate) fn max_output_tokens(&self, index: usize) -> u32 {
        self.model(index).map_or(ModelConfig::DEFAULT_OUTPUT_TOKENS, |model| model.max_output_tokens)
    }
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            system: Arc::from(""),
            tools: Arc::from([]),
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            permissions: Permissions::default(),
            compact_at_permille: 800,
            summaries: Summaries::default(),
            max_result_bytes: 256 * 1024,
            hooks: BTreeSet::new(),
            instructions: GivenInstructions::default(),
            agents: None,
        }
    }
}

/// How a session summarises its conversation when it may be too long.
///
/// The task stays: the user's messages, the newest and the first of all before the others, and the results of the tools that are named here
/// are not left to the model that summarises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    /// Most summaries in a turn that the user did not ask for, made or failed; after three failures in a row there are no more either. With
    /// it, a turn goes on after one that failed. Without it, it does not, as in sessions of earlier versions.
    pub max_per_turn: Option<u32>,
    /// Most of the conversation's size that stays word for word, in thousandths; and never more than 64 KiB.
    pub kept_permille: u16,
    /// The tools with results that stay, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept_results: BTreeMap<Arc<str>, KeptResults>,
}

impl Summaries {
    /// As sessions of earlier versions summarise: any number, nothing stays, and a failure ends the turn.
    #[must_use]
    pub const fn of_earlier_versions() -> Self {
        Self { max_per_turn: None, kept_permille: 0, kept_results: BTreeMap::new() }
    }

    pub(super) fn is_of_earlier_versions(&self) -> bool {
        *self == Self::of_earlier_versions()
    }
}

impl Default for Summaries {
    fn default() -> Self {
        Self { max_per_turn: Some(10), kept_permille: 250, kept_results: BTreeMap::new() }
    }
}

/// Which results of a tool stay word for word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptResults {
    /// The newest.
    Newest,
    /// All that differ.
    Each,
}

/// A model and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// Its id, as the provider knows it.
    pub id: Arc<str>,
    /// Most tokens an answer may have.
    pub max_output_tokens: u32,
    /// Size of its context window in tokens, when known. Without it nothing is summarised before the provider complains.
    pub context_window_tokens: Option<u64>,
    /// Its price, when known. Without it a limit on money stops every call.
    pub price: Option<Price>,
    /// How much it is to think, in every call; without it the server decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

impl ModelConfig {
    pub(super) const DEFAULT_OUTPUT_TOKENS: u32 = 8_192;

    /// A model known only by its id; answers of up to 8,192 tokens.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let max_output_tokens = Self::DEFAULT_OUTPUT_TOKENS;
        Self { id: Arc::from(id), max_output_tokens, context_window_tokens: None, price: None, effort: None }
    }
}
