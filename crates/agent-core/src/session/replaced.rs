//! The configuration of a model call in flight, once another one has replaced it: the call keeps its model, and a repeated request is
//! unchanged.

use super::{ActionKind, ModelConfig, Session, SessionConfig};
use crate::budget::Price;
use crate::tool::ToolSpec;
use alloc::sync::Arc;
use serde::{Deserialize, Deserializer, Serialize};

/// What a model call is made with, beside the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Replaced {
    /// Nothing where no model was configured.
    pub(super) model: Option<ModelConfig>,
    /// Nothing in a session that was kept when only the model was remembered; the same with the tools.
    system: Option<Arc<str>>,
    tools: Option<Arc<[ToolSpec]>>,
}

impl Replaced {
    /// Whether a first call with this configuration would be the same.
    pub(super) fn is_of(&self, config: &SessionConfig) -> bool {
        let is_same = |system: &Arc<str>, tools: &Arc<[ToolSpec]>| *system == config.system && *tools == config.tools;
        let is_set_up_so =
            self.system.as_ref().zip(self.tools.as_ref()).is_none_or(|(system, tools)| is_same(system, tools));
        is_set_up_so && self.model.as_ref() == config.models.first()
    }
}

impl<'de> Deserialize<'de> for Replaced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// At first only the model was kept.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Kept {
            Whole { model: Option<ModelConfig>, system: Arc<str>, tools: Arc<[ToolSpec]> },
            Model(ModelConfig),
        }
        Ok(match Kept::deserialize(deserializer)? {
            Kept::Whole { model, system, tools } => Self { model, system: Some(system), tools: Some(tools) },
            Kept::Model(model) => Self { model: Some(model), system: None, tools: None },
        })
    }
}

impl Session {
    /// The model of the call in flight; without one, of the next.
    pub(super) fn called_model(&self) -> Option<&ModelConfig> {
        match self.calls.replaced() {
            Some(replaced) => replaced.model.as_ref(),
            None => self.config.model(self.calls.model_index()),
        }
    }

    /// What the model is called with.
    pub(super) fn replaceable(&self) -> Replaced {
        let SessionConfig { system, tools, .. } = &self.config;
        Replaced { model: self.called_model().cloned(), system: Some(system.clone()), tools: Some(tools.clone()) }
    }

    /// The system prompt of the call in flight; without one, of the next.
    pub(super) fn called_system(&self) -> &Arc<str> {
        self.calls.replaced().and_then(|replaced| replaced.system.as_ref()).unwrap_or(&self.config.system)
    }

    /// The tools that it offers.
    pub(super) fn called_tools(&self) -> &Arc<[ToolSpec]> {
        self.calls.replaced().and_then(|replaced| replaced.tools.as_ref()).unwrap_or(&self.config.tools)
    }

    /// Whether a model call is in flight.
    pub(super) fn is_model_called(&self) -> bool {
        self.asked.is_open() && self.state.asks() == Some(ActionKind::SendLlmRequest)
    }

    /// Its id; empty when there is no model.
    pub(super) fn called_id(&self) -> Arc<str> {
        self.called_model().map_or_else(|| Arc::from(""), |model| Arc::clone(&model.id))
    }

    /// Most tokens that its answer may have.
    pub(super) fn called_output_tokens(&self) -> u32 {
        self.called_model().map_or(ModelConfig::DEFAULT_OUTPUT_TOKENS, |model| model.max_output_tokens)
    }

    pub(super) fn called_price(&self) -> Option<&Price> {
        self.called_model().and_then(|model| model.price.as_ref())
    }
}
