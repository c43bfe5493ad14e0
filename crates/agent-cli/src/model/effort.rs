//! How much a model is to think: what the user says, and what is sent of it.
//!
//! ```text
//! said of this model (--effort, /effort, [models.ID])   sent as said; what the model does not know is an error
//! said of all models (`effort` of a provider, or above) the nearest that the model knows
//! nothing said, the maker's own server                  the model's usual effort, from the table of known models
//! nothing said, another server                          nothing: it may not know the member
//! ```

use crate::config::options::ProviderName;
use agent_core::llm::Effort;
use agent_llm::{Format, KnownModel};
use clap::ValueEnum;
use serde::Deserialize;

/// What a user says of the effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wish {
    /// Nothing is sent: the server decides.
    Default,
    /// The model does not think.
    None,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// Moderately.
    Medium,
    /// Much.
    High,
    /// More than that.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Wish {
    /// The effort that is meant; nothing where the server is to decide.
    pub(crate) const fn effort(self) -> Option<Effort> {
        match self {
            Self::Default => None,
            Self::None => Some(Effort::None),
            Self::Minimal => Some(Effort::Minimal),
            Self::Low => Some(Effort::Low),
            Self::Medium => Some(Effort::Medium),
            Self::High => Some(Effort::High),
            Self::Xhigh => Some(Effort::Xhigh),
            Self::Max => Some(Effort::Max),
        }
    }

    /// The wish for what is sent.
    pub(crate) const fn of(effort: Option<Effort>) -> Self {
        match effort {
            None => Self::Default,
            Some(Effort::None) => Self::None,
            Some(Effort::Minimal) => Self::Minimal,
            Some(Effort::Low) => Self::Low,
            Some(Effort::Medium) => Self::Medium,
            Some(Effort::High) => Self::High,
            Some(Effort::Xhigh) => Self::Xhigh,
            Some(Effort::Max) => Self::Max,
        }
    }

    /// As people write it.
    pub(crate) const fn name(self) -> &'static str {
        match self.effort() {
            None => "default",
            Some(effort) => effort.name(),
        }
    }
}

/// The server that models are asked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The wire format; nothing where the calls are played.
    pub(crate) format: Option<Format>,
    /// Whether it is the model's maker's own.
    pub(crate) is_own: bool,
    /// Whether it is on this machine.
    pub(crate) is_local: bool,
    /// What the provider's entry in the configuration says of the effort.
    pub(crate) said: Option<Wish>,
}

/// Why an effort cannot be had of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("cannot ask the model {model} for the effort `{effort}`: it does not reason; leave the effort out")]
    DoesNotReason { model: String, effort: Effort },
    #[error("cannot ask the model {model} for the effort `{effort}`: it knows {known}")]
    NotKnown { model: String, effort: Effort, known: String },
    #[error(
        "cannot ask the model {model} for the effort `{effort}`: over Chat Completions its server takes none beside tools; use \
         `--provider openai-responses`"
    )]
    NotInChat { model: String, effort: Effort },
    #[error(
        "cannot ask the model {model} for the effort `{effort}`: its answers have at most {limit} tokens, and thinking needs 1,368 or more; \
         raise `max_output_tokens`"
    )]
    NoRoom { model: String, effort: Effort, limit: u32 },
}

/// What is sent for a wish about this model.
pub(crate) fn strict(wish: Wish, model: &str, reach: Reach, max_output_tokens: u32) -> Result<Option<Effort>, Unknown> {
    let Some(effort) = wish.effort() else { return Ok(None) };
    let Some(known) = efforts(model, reach) else {
        return has_room(effort, model, reach, max_output_tokens).map(|()| Some(effort));
    };
    if known.contains(&effort) {
        return has_room(effort, model, reach, max_output_tokens).map(|()| Some(effort));
    }
    let model = model.to_owned();
    match known {
        // It does what is wished by itself.
        [] if effort == Effort::None => Ok(None),
        [] => Err(Unknown::DoesNotReason { model, effort }),
        [Effort::None] => Err(Unknown::NotInChat { model, effort }),
        known => Err(Unknown::NotKnown { model, effort, known: names(known) }),
    }
}

/// What is sent for a wish about all models: the nearest effort that this one knows, and nothing if it does not reason.
pub(crate) fn nearest(wish: Wish, model: &str, reach: Reach, max_output_tokens: u32) -> Option<Effort> {
    let effort = wish.effort()?;
    let near = match efforts(model, reach) {
        None => effort,
        Some(known) => *known.iter().rev().find(|known| **known <= effort).or(known.first())?,
    };
    has_room(near, model, reach, max_output_tokens).is_ok().then_some(near)
}

/// What is sent where nothing was said.
pub(crate) fn usual(model: &str, reach: Reach) -> Option<Effort> {
    let format = reach.format.filter(|_| reach.is_own)?;
    KnownModel::of(model)?.default_effort(format)
}

/// The efforts that a model knows; nothing where that is not known.
pub(crate) fn efforts(model: &str, reach: Reach) -> Option<&'static [Effort]> {
    Some(KnownModel::of(model)?.efforts(reach.format?, reach.is_own))
}

pub(crate) fn names(efforts: &[Effort]) -> String {
    efforts.iter().map(|effort| effort.name()).collect::<Vec<_>>().join(", ")
}

/// Thinking of Anthropic's models counts as output.
fn has_room(effort: Effort, model: &str, reach: Reach, limit: u32) -> Result<(), Unknown> {
    let is_short = reach.format == Some(Format::Anthropic) && effort != Effort::None && limit < LEAST_OUTPUT_TOKENS;
    if is_short { Err(Unknown::NoRoom { model: model.to_owned(), effort, limit }) } else { Ok(()) }
}

/// The wire format of a provider.
pub(crate) const fn format(name: ProviderName) -> Option<Format> {
    match name {
        ProviderName::Anthropic => Some(Format::Anthropic),
        ProviderName::OpenAi => Some(Format::OpenAiChat),
        ProviderName::OpenAiResponses => Some(Format::OpenAiResponses),
        ProviderName::Replay => None,
    }
}

/// Three quarters of it are the least budget for thinking.
const LEAST_OUTPUT_TOKENS: u32 = 1_368;

#[cfg(test)]
mod tests {
    use super::*;

    const fn reach(format: Format, is_own: bool) -> Reach {
        Reach { format: Some(format), is_own, is_local: false, said: None }
    }

    const OWN: Reach = reach(Format::Anthropic, true);
    const CHAT: Reach = reach(Format::OpenAiChat, true);
    const OTHER: Reach = reach(Format::OpenAiChat, false);

    #[test]
    fn what_is_said_of_a_model_is_sent_or_is_an_error_that_says_what_it_knows() {
        let said = |wish, model, reach| strict(wish, model, reach, 8_192).map_err(|error| error.to_string());
        assert_eq!(said(Wish::High, "claude-sonnet-4-5", OWN), Ok(Some(Effort::High)));
        assert_eq!(said(Wish::Default, "claude-sonnet-4-5", OWN), Ok(None));
        assert_eq!(said(Wish::Max, "some-model", OTHER), Ok(Some(Effort::Max)), "who knows what it knows");
        assert_eq!(said(Wish::None, "gpt-4o", CHAT), Ok(None));
        let wrong = |wish, model, reach| said(wish, model, reach).unwrap_err();
        assert!(wrong(Wish::Max, "claude-sonnet-4-5", OWN).contains("it knows none, low, medium, high"));
        assert!(wrong(Wish::Low, "gpt-4o", CHAT).contains("does not reason"));
        assert!(wrong(Wish::Low, "gpt-5.5", CHAT).contains("--provider openai-responses"));
        assert_eq!(said(Wish::Low, "gpt-5.5", OTHER), Ok(Some(Effort::Low)));
        let short = strict(Wish::Low, "claude-sonnet-4-5", OWN, 1_000).unwrap_err();
        assert!(short.to_string().contains("max_output_tokens"), "{short}");
    }

    #[test]
    fn what_is_said_of_all_models_fits_each() {
        let near = |wish, model, reach| nearest(wish, model, reach, 8_192);
        assert_eq!(near(Wish::Max, "claude-sonnet-4-5", OWN), Some(Effort::High));
        assert_eq!(near(Wish::None, "claude-opus-5-5", OWN), Some(Effort::Low));
        assert_eq!(near(Wish::High, "gpt-4o", CHAT), None);
        assert_eq!(near(Wish::High, "gpt-5.5", CHAT), Some(Effort::None));
        assert_eq!(near(Wish::Max, "some-model", OTHER), Some(Effort::Max));
        assert_eq!(near(Wish::Default, "claude-opus-4-8", OWN), None);
        assert_eq!(nearest(Wish::High, "claude-sonnet-4-5", OWN, 1_000), None);
    }

    #[test]
    fn nothing_is_sent_unasked_to_the_servers_of_others() {
        assert_eq!(usual("claude-opus-4-8", OWN), Some(Effort::High));
        assert_eq!(usual("claude-opus-4-8", Reach { is_own: false, ..OWN }), None);
        assert_eq!(usual("some-model", OWN), None);
        for wish in Wish::value_variants() {
            assert_eq!(Wish::of(wish.effort()), *wish);
            assert_eq!(Wish::from_str(wish.name(), false), Ok(*wish));
        }
    }
}
