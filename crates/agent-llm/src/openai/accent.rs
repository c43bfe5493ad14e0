//! What servers want otherwise than most, as data.
//!
//! Only requests need it: answers are read with every accent at once. A server that is not listed gets what every server understands.

use std::borrow::Cow;

/// How to speak to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accent {
    /// What the output limit is called.
    pub(crate) limit_name: &'static str,
    /// Whether token counts must be asked for. Servers that give them unasked refuse the question.
    pub(crate) asks_for_usage: bool,
    pub(crate) reasoning: Reasoning,
    pub(crate) call_ids: CallIds,
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
    Any,
    /// Nine letters or digits.
    Nine,
}

impl Accent {
    pub(crate) fn of_host(host: &str) -> Self {
        let speaks =
            |end: &&(&str, Self)| host == end.0 || host.strip_suffix(end.0).is_some_and(|rest| rest.ends_with('.'));
        ACCENTS.iter().find(speaks).map_or(USUAL, |(_, accent)| *accent)
    }
}

impl CallIds {
    /// The id as the server takes it; equal ids stay equal.
    pub(crate) fn fit(self, id: &str) -> Cow<'_, str> {
        let is_fit = match self {
            Self::Any => true,
            Self::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        if is_fit {
            return Cow::Borrowed(id);
        }
        // FNV-1a: well spread, and the same in every run.
        let mut hash = id
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut fit = String::with_capacity(9);
        for _ in 0..9 {
            let digit = (hash % 36) as u32;
            fit.extend(char::from_digit(digit, 36));
            hash /= 36;
        }
        Cow::Owned(fit)
    }
}

const USUAL: Accent =
    Accent { limit_name: "max_tokens", asks_for_usage: true, reasoning: Reasoning::LeftOut, call_ids: CallIds::Any };

/// By host, subdomains included.
const ACCENTS: &[(&str, Accent)] = &[
    // Its newer models refuse the old name of the limit.
    ("api.openai.com", Accent { limit_name: "max_completion_tokens", ..USUAL }),
    ("openai.azure.com", Accent { limit_name: "max_completion_tokens", ..USUAL }),
    // 422 for `stream_options` and for `reasoning_content`; 400 for other ids.
    ("api.mistral.ai", Accent { asks_for_usage: false, call_ids: CallIds::Nine, ..USUAL }),
    // 400 for a history with tool calls from which the reasoning is missing.
    ("api.deepseek.com", Accent { reasoning: Reasoning::Content, ..USUAL }),
    ("api.moonshot.ai", Accent { reasoning: Reasoning::Content, ..USUAL }),
    ("api.moonshot.cn", Accent { reasoning: Reasoning::Content, ..USUAL }),
    ("api.z.ai", Accent { reasoning: Reasoning::Content, ..USUAL }),
    ("openrouter.ai", Accent { reasoning: Reasoning::Details, ..USUAL }),
    ("api.groq.com", Accent { limit_name: "max_completion_tokens", ..USUAL }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_their_subdomains_have_an_accent_and_look_alikes_have_not() {
        assert_eq!(Accent::of_host("api.mistral.ai").call_ids, CallIds::Nine);
        assert_eq!(Accent::of_host("my-name.openai.azure.com").limit_name, "max_completion_tokens");
        for host in ["127.0.0.1", "notapi.mistral.ai", "api.mistral.ai.example.com", ""] {
            assert_eq!(Accent::of_host(host), USUAL, "{host}");
        }
    }

    #[test]
    fn ids_fit_and_stay_apart() {
        assert_eq!(CallIds::Any.fit("toolu_01-x"), "toolu_01-x");
        assert_eq!(CallIds::Nine.fit("D681PevKs"), "D681PevKs");
        let fitted: std::collections::BTreeSet<String> =
            (0..1000).map(|n| CallIds::Nine.fit(&format!("call_{n}")).into_owned()).collect();
        assert_eq!(fitted.len(), 1000);
        assert!(fitted.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    }
}
