//! What is known of common models before they are asked: how long an answer they are asked for, and which efforts they know.
//!
//! The facts are those that Anthropic ("Models overview", "Effort", the pages "What's new" of each model) and OpenAI ("Models", "Reasoning
//! models") publish. They were compared with stored copies of those pages of October and November 2026, OpenAI's partly at second hand.
//! A model that is not listed gets the safe limit, and an effort only by the user's word.
//!
//! The limits are below what most models could write: a limit on money sets aside what the longest answer would cost, and a long limit
//! counts against the rate limits of some accounts.

use crate::format::Format;
use agent_types::llm::Effort::{self, High, Low, Max, Medium, Minimal, None as No, Xhigh};

/// A model of which something is known.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownModel {
    id: &'static str,
    output_tokens: u32,
    thinking: Thinking,
}

/// How a model is told how much to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// It does not think.
    Never,
    /// Anthropic: by a number of tokens. It does not think unasked.
    Budget,
    /// Anthropic: by an effort.
    Adaptive {
        efforts: &'static [Effort],
        default: Effort,
        /// Whether it thinks unasked, and has to be told not to.
        is_on: bool,
        /// Whether it shows its thinking only when that is asked for.
        is_silent: bool,
    },
    /// OpenAI: by an effort.
    Reasoning { efforts: &'static [Effort], default: Option<Effort>, chat: Chat },
}

/// What OpenAI's own Chat Completions take of an effort in a request with tools. Other servers translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chat {
    /// The same as the Responses API.
    Same,
    /// Nothing but no thinking, and that is what they do unasked.
    NoThinking,
    /// Nothing but no thinking, and that has to be said: such a request is refused otherwise.
    NoThinkingSaid,
}

impl KnownModel {
    /// What is known of the model with this id, or with this id and a date behind it.
    #[must_use]
    pub fn of(id: &str) -> Option<&'static Self> {
        let exact = |id: &str| KNOWN.iter().find(|known| known.id == id);
        exact(id).or_else(|| exact(without_date(id)?))
    }

    /// Its id, without a date.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The most tokens that an answer is asked to have. The model may be able to write more.
    #[must_use]
    pub const fn output_tokens(&self) -> u32 {
        self.output_tokens
    }

    /// How many tokens a request to it may have, where that is known. Of models that keep a part of their window for the answer, this is
    /// what is left.
    #[must_use]
    pub fn window_tokens(&self) -> Option<u64> {
        WINDOWS.iter().find(|(ids, _)| ids.contains(&self.id)).map(|(_, tokens)| *tokens)
    }

    /// The efforts that it knows, from the least to the most; none for a model that does not reason. `is_own` says whether the server is
    /// the maker's own.
    #[must_use]
    pub const fn efforts(&self, format: Format, is_own: bool) -> &'static [Effort] {
        match self.thinking {
            Thinking::Never => &[],
            Thinking::Budget => BUDGETS,
            Thinking::Adaptive { efforts, .. } => efforts,
            Thinking::Reasoning { efforts, chat, .. } => match (format, chat) {
                (Format::OpenAiChat, Chat::NoThinking | Chat::NoThinkingSaid) if is_own => &[No],
                _ => efforts,
            },
        }
    }

    /// The effort that its maker's own server is asked for where the user says nothing.
    #[must_use]
    pub const fn default_effort(&self, format: Format) -> Option<Effort> {
        match (self.thinking, format) {
            (Thinking::Adaptive { default, .. }, Format::Anthropic) => Some(default),
            (Thinking::Reasoning { default, .. }, Format::OpenAiResponses) => default,
            (Thinking::Reasoning { chat: Chat::NoThinkingSaid, .. }, Format::OpenAiChat) => Some(No),
            _ => None,
        }
    }

    /// Whether it takes pictures. Of the models that are known all but one do.
    #[must_use]
    pub fn takes_pictures(&self) -> bool {
        self.id != "o3-mini"
    }

    pub(crate) const fn thinking(&self) -> Thinking {
        self.thinking
    }
}

fn without_date(model: &str) -> Option<&str> {
    const FORMS: [&str; 2] = ["-########", "-####-##-##"];
    FORMS.iter().find_map(|form| {
        let (id, end) = model.split_at_checked(model.len().checked_sub(form.len())?)?;
        let fits = |(expected, found): (u8, u8)| {
            if expected == b'#' { found.is_ascii_digit() } else { expected == found }
        };
        form.bytes().zip(end.bytes()).all(fits).then_some(id)
    })
}

const fn model(id: &'static str, output_tokens: u32, thinking: Thinking) -> KnownModel {
    KnownModel { id, output_tokens, thinking }
}

/// Thinks unasked and always.
const fn always(default: Effort) -> Thinking {
    Thinking::Adaptive { efforts: &[Low, Medium, High, Xhigh, Max], default, is_on: true, is_silent: true }
}

/// Thinks unless it is told not to.
const fn unless_told(default: Effort) -> Thinking {
    Thinking::Adaptive { efforts: &[No, Low, Medium, High, Xhigh, Max], default, is_on: true, is_silent: true }
}

const fn reasoning(efforts: &'static [Effort], default: Option<Effort>, chat: Chat) -> Thinking {
    Thinking::Reasoning { efforts, default, chat }
}

const BUDGETS: &[Effort] = &[No, Low, Medium, High];
/// Claude 4.7 and 4.8, which think when asked.
const ASKED: Thinking =
    Thinking::Adaptive { efforts: &[No, Low, Medium, High, Xhigh, Max], default: High, is_on: false, is_silent: true };
const ASKED_4_6: Thinking =
    Thinking::Adaptive { efforts: &[No, Low, Medium, High, Max], default: High, is_on: false, is_silent: false };
const GPT_5: Thinking = reasoning(&[Minimal, Low, Medium, High], None, Chat::Same);
const CODEX: Thinking = reasoning(&[Low, Medium, High], None, Chat::Same);
const CODEX_XHIGH: Thinking = reasoning(&[Low, Medium, High, Xhigh], None, Chat::Same);
const GPT_5_1: Thinking = reasoning(&[No, Low, Medium, High], Some(Medium), Chat::Same);
const GPT_5_2: Thinking = reasoning(&[No, Low, Medium, High, Xhigh], Some(Medium), Chat::NoThinking);
const GPT_5_5: Thinking = reasoning(&[No, Low, Medium, High, Xhigh], Some(Medium), Chat::NoThinkingSaid);
const GPT_5_6: Thinking = reasoning(&[No, Low, Medium, High, Xhigh, Max], Some(Medium), Chat::NoThinkingSaid);

/// Sorted by maker and age.
const KNOWN: &[KnownModel] = &[
    model("claude-fable-5-1", 64_000, always(High)),
    model("claude-fable-5", 64_000, always(High)),
    model("claude-opus-5-5", 64_000, always(Medium)),
    model("claude-opus-5", 64_000, unless_told(High)),
    model("claude-opus-4-8", 64_000, ASKED),
    model("claude-opus-4-7", 64_000, ASKED),
    model("claude-opus-4-6", 64_000, ASKED_4_6),
    model("claude-opus-4-5", 32_000, Thinking::Budget),
    model("claude-opus-4-1", 32_000, Thinking::Budget),
    model("claude-opus-4", 32_000, Thinking::Budget),
    model("claude-opus-4-0", 32_000, Thinking::Budget),
    // It has a form of its own for not thinking (`between_tools`), which binds the effort to the conversation.
    model("claude-sonnet-5-5", 64_000, always(High)),
    model("claude-sonnet-5", 64_000, unless_told(High)),
    model("claude-sonnet-4-6", 64_000, ASKED_4_6),
    model("claude-sonnet-4-5", 32_000, Thinking::Budget),
    model("claude-sonnet-4", 32_000, Thinking::Budget),
    model("claude-sonnet-4-0", 32_000, Thinking::Budget),
    model("claude-3-7-sonnet", 32_000, Thinking::Budget),
    model("claude-haiku-5-5", 64_000, unless_told(Medium)),
    model("claude-haiku-4-5", 32_000, Thinking::Budget),
    model("claude-3-5-haiku", 8_192, Thinking::Never),
    model("gpt-5.6", 64_000, GPT_5_6),
    model("gpt-5.6-sol", 64_000, GPT_5_6),
    model("gpt-5.6-terra", 64_000, GPT_5_6),
    model("gpt-5.6-luna", 64_000, GPT_5_6),
    model("gpt-5.5", 64_000, GPT_5_5),
    model("gpt-5.4", 64_000, GPT_5_2),
    model("gpt-5.4-mini", 64_000, GPT_5_2),
    model("gpt-5.4-nano", 64_000, GPT_5_2),
    model("gpt-5.3-codex", 64_000, CODEX_XHIGH),
    model("gpt-5.2", 64_000, GPT_5_2),
    model("gpt-5.2-codex", 64_000, CODEX_XHIGH),
    model("gpt-5.1", 64_000, GPT_5_1),
    model("gpt-5.1-codex", 64_000, CODEX),
    model("gpt-5.1-codex-mini", 64_000, CODEX),
    model("gpt-5", 64_000, GPT_5),
    model("gpt-5-mini", 64_000, GPT_5),
    model("gpt-5-nano", 64_000, GPT_5),
    model("gpt-5-codex", 64_000, CODEX),
    model("gpt-5-pro", 64_000, reasoning(&[High], None, Chat::Same)),
    model("gpt-5-chat-latest", 16_384, Thinking::Never),
    model("gpt-4.1", 32_768, Thinking::Never),
    model("gpt-4.1-mini", 32_768, Thinking::Never),
    model("gpt-4.1-nano", 32_768, Thinking::Never),
    model("gpt-4o", 16_384, Thinking::Never),
    // The first version writes less.
    model("gpt-4o-2024-05-13", 4_096, Thinking::Never),
    model("gpt-4o-mini", 16_384, Thinking::Never),
    model("o3", 64_000, CODEX),
    model("o3-mini", 64_000, CODEX),
    model("o4-mini", 64_000, CODEX),
];

/// Windows, as their makers publish them. What is not listed is not known for sure.
#[rustfmt::skip]
const WINDOWS: &[(&[&str], u64)] = &[
    (&["claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6"], 1_000_000),
    (&[
        "claude-opus-4-5", "claude-opus-4-1", "claude-opus-4", "claude-opus-4-0", "claude-sonnet-4-5", "claude-sonnet-4", "claude-sonnet-4-0",
        "claude-3-7-sonnet", "claude-haiku-4-5", "claude-3-5-haiku", "o3", "o3-mini", "o4-mini",
    ], 200_000),
    (&["gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-codex", "gpt-5.1", "gpt-5.1-codex", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.2-codex"], 272_000),
    (&["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"], 1_047_576),
    (&["gpt-5-chat-latest", "gpt-4o", "gpt-4o-2024-05-13", "gpt-4o-mini"], 128_000),
];

#[cfg(test)]
mod tests {
    use super::*;
    use Format::{Anthropic, OpenAiChat, OpenAiResponses};

    #[test]
    fn models_are_found_by_id_and_by_dated_id_only() {
        let output = |id| KnownModel::of(id).map(KnownModel::output_tokens);
        assert_eq!(output("claude-sonnet-4-5"), Some(32_000));
        assert_eq!(output("claude-sonnet-4-5-20250929"), Some(32_000));
        assert_eq!(output("gpt-4o-2024-05-13"), Some(4_096));
        assert_eq!(output("gpt-4o-2024-08-06"), Some(16_384));
        for unknown in ["", "gpt-4", "claude-sonnet-9", "gpt-5-2025", "语20250929", "qwen3:4b", "claude-sonnet-4-5-x"]
        {
            assert_eq!(output(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn every_model_is_listed_once_and_its_default_is_an_effort_that_it_knows() {
        for (index, known) in KNOWN.iter().enumerate() {
            assert!(KNOWN.iter().skip(index + 1).all(|other| other.id != known.id), "{} twice", known.id);
            for format in [Anthropic, OpenAiChat, OpenAiResponses] {
                let efforts = known.efforts(format, true);
                assert!(efforts.is_sorted(), "{}", known.id);
                assert!(known.default_effort(format).is_none_or(|effort| efforts.contains(&effort)), "{}", known.id);
            }
        }
    }

    #[test]
    fn every_window_is_of_a_model_that_is_listed_and_listed_once() {
        let all: Vec<&str> = WINDOWS.iter().flat_map(|(ids, _)| ids.iter().copied()).collect();
        for (at, id) in all.iter().enumerate() {
            assert!(KNOWN.iter().any(|known| known.id == *id), "{id}");
            assert!(!all[at + 1..].contains(id), "{id} twice");
        }
        let window = |id| KnownModel::of(id).and_then(KnownModel::window_tokens);
        assert_eq!(window("claude-sonnet-4-5-20250929"), Some(200_000));
        assert_eq!(window("gpt-5-mini"), Some(272_000));
        assert_eq!(window("gpt-5.6"), None);
    }

    #[test]
    fn openais_own_chat_takes_no_effort_beside_tools_from_newer_models() {
        let newer = KnownModel::of("gpt-5.5").unwrap();
        assert_eq!(newer.efforts(OpenAiChat, true), [No]);
        assert_eq!(newer.default_effort(OpenAiChat), Some(No));
        assert_eq!(newer.default_effort(OpenAiResponses), Some(Medium));
        assert!(newer.efforts(OpenAiChat, false).contains(&High), "another server translates");
        let older = KnownModel::of("gpt-5-mini").unwrap();
        assert_eq!(older.efforts(OpenAiChat, true), [Minimal, Low, Medium, High]);
        assert_eq!(older.default_effort(OpenAiChat), None);
    }
}
