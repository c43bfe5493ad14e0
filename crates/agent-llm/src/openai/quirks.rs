//! Where servers deviate from the common API, as data.
//!
//! Only requests need it: answers are read with all quirks at once. A server that is not listed gets what every server understands.

use crate::wire::{digest, short_id};
use std::borrow::Cow;

/// How to speak to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// What the output limit is called.
    pub(crate) limit_name: &'static str,
    /// Whether token counts must be asked for. Servers that give them unasked refuse the question.
    pub(crate) asks_for_usage: bool,
    pub(crate) reasoning: Reasoning,
    pub(crate) call_ids: CallIds,
    /// Whether members of the server's own in a call or a message go back. Strict servers send none and refuse those of others.
    pub(crate) takes_extras: bool,
}

/// How a server wants a model's earlier reasoning back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reasoning {
    /// Not at all: the format has no place for it, and strict servers refuse the member.
    LeftOut,
    /// As the text in `reasoning_content`. Without it, such servers refuse a history with tool calls.
    Content,
    /// As the list in `reasoning_details`, just as it came.
    Details,
}

/// What ids of calls a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// As they came: there are servers that keep something in them, at any length.
    Any,
    /// At most so many bytes.
    UpTo(usize),
    /// Nine letters or digits.
    Nine,
}

impl Quirks {
    pub(crate) fn of_host(host: &str) -> Self {
        QUIRKS.iter().find(|(end, _)| is_host(host, end)).map_or(USUAL, |(_, quirks)| *quirks)
    }
}

impl CallIds {
    /// The id as the server takes it; equal ids stay equal and others different.
    pub(crate) fn fit(self, id: &str) -> Cow<'_, str> {
        match self {
            Self::Any => Cow::Borrowed(id),
            Self::UpTo(limit_bytes) => short_id(id, limit_bytes),
            Self::Nine if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Cow::Borrowed(id),
            Self::Nine => Cow::Owned(digest(id, 9)),
        }
    }

    /// What the Responses API of this host takes.
    pub(crate) fn of_responses(host: &str) -> Self {
        if OPENAI.iter().any(|end| is_host(host, end)) { Self::UpTo(RESPONSES_ID_LIMIT_BYTES) } else { Self::Any }
    }
}

/// Whether a host is this one or below it.
fn is_host(host: &str, end: &str) -> bool {
    host == end || host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'))
}

/// The hosts of OpenAI's own models.
const OPENAI: [&str; 2] = ["api.openai.com", "openai.azure.com"];

/// The longest ids of calls that OpenAI takes.
const CHAT_ID_LIMIT_BYTES: usize = 40;
const RESPONSES_ID_LIMIT_BYTES: usize = 64;

const USUAL: Quirks = Quirks {
    limit_name: "max_tokens",
    asks_for_usage: true,
    reasoning: Reasoning::LeftOut,
    call_ids: CallIds::Any,
    takes_extras: true,
};

/// Its newer models refuse the old name of the limit; 400 for longer ids.
const OPENAIS: Quirks = Quirks {
    limit_name: "max_completion_tokens",
    call_ids: CallIds::UpTo(CHAT_ID_LIMIT_BYTES),
    takes_extras: false,
    ..USUAL
};

/// By host, subdomains included.
const QUIRKS: &[(&str, Quirks)] = &[
    (OPENAI[0], OPENAIS),
    (OPENAI[1], OPENAIS),
    // 422 for `stream_options`, for `reasoning_content` and for members of others; 400 for other ids.
    ("api.mistral.ai", Quirks { asks_for_usage: false, call_ids: CallIds::Nine, takes_extras: false, ..USUAL }),
    // 400 for a history with tool calls from which the reasoning is missing.
    ("api.deepseek.com", Quirks { reasoning: Reasoning::Content, ..USUAL }),
    ("api.moonshot.ai", Quirks { reasoning: Reasoning::Content, ..USUAL }),
    ("api.moonshot.cn", Quirks { reasoning: Reasoning::Content, ..USUAL }),
    ("api.z.ai", Quirks { reasoning: Reasoning::Content, ..USUAL }),
    ("openrouter.ai", Quirks { reasoning: Reasoning::Details, ..USUAL }),
    // 400 for members that it does not know.
    ("api.groq.com", Quirks { limit_name: "max_completion_tokens", takes_extras: false, ..USUAL }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_their_subdomains_have_an_accent_and_look_alikes_have_not() {
        assert_eq!(Quirks::of_host("api.mistral.ai").call_ids, CallIds::Nine);
        assert_eq!(Quirks::of_host("my-name.openai.azure.com").limit_name, "max_completion_tokens");
        for host in ["127.0.0.1", "notapi.mistral.ai", "api.mistral.ai.example.com", ""] {
            assert_eq!(Quirks::of_host(host), USUAL, "{host}");
        }
    }

    #[test]
    fn ids_fit_and_stay_apart() {
        assert_eq!(CallIds::Any.fit("toolu_01-x"), "toolu_01-x");
        let long = format!("call_abc__thought__{}", "Q".repeat(300));
        assert_eq!(CallIds::Any.fit(&long), long.as_str(), "the server keeps something in it");
        assert!(CallIds::UpTo(40).fit(&long).len() <= 40);
        assert_eq!(CallIds::of_responses("api.openai.com"), CallIds::UpTo(64));
        assert_eq!(CallIds::of_responses("127.0.0.1"), CallIds::Any);
        assert_eq!(CallIds::Nine.fit("D681PevKs"), "D681PevKs");
        let fitted: std::collections::BTreeSet<String> =
            (0..1000).map(|n| CallIds::Nine.fit(&format!("call_{n}")).into_owned()).collect();
        assert_eq!(fitted.len(), 1000);
        assert!(fitted.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    }
}
