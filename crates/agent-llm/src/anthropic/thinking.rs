//! How a request says how much the model is to think: by a number of tokens, or by an effort.

use crate::known::{KnownModel, Thinking};
use crate::wire::push_json;
use agent_types::llm::{Effort, LlmRequest};

/// Adds what the request says of thinking, each member with a comma in front; nothing where it says nothing.
pub(super) fn push(out: &mut Vec<u8>, request: &LlmRequest) -> serde_json::Result<()> {
    let Some(effort) = request.effort else { return Ok(()) };
    match (thinking_of(&request.model), effort) {
        (Thinking::Adaptive { is_on: true, .. }, Effort::None) => {
            out.extend_from_slice(b",\"thinking\":{\"type\":\"disabled\"}");
        }
        // Without a word of it these do not think.
        (_, Effort::None) | (Thinking::Never | Thinking::Reasoning { .. }, _) => {}
        (Thinking::Adaptive { is_silent, .. }, effort) => {
            out.extend_from_slice(b",\"thinking\":{\"type\":\"adaptive\"");
            if is_silent {
                out.extend_from_slice(b",\"display\":\"summarized\"");
            }
            out.extend_from_slice(b"},\"output_config\":{\"effort\":");
            push_json(out, word(effort))?;
            out.push(b'}');
        }
        (Thinking::Budget, effort) => {
            if let Some(tokens) = budget(effort, request.max_output_tokens) {
                out.extend_from_slice(b",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
                push_json(out, &tokens)?;
                out.push(b'}');
            }
        }
    }
    Ok(())
}

/// How a model is told. Of one that is not listed its name tells: newer ones of Anthropic's take an effort, and other makers' models behind
/// this format take what older ones did.
fn thinking_of(model: &str) -> Thinking {
    // Routers and clouds put other names before the model's, and write its version with dots.
    let name = model.find("claude").and_then(|at| model.get(at..));
    let plain = name.map(|name| name.replace('.', "-"));
    let known = KnownModel::of(model).or_else(|| KnownModel::of(plain.as_deref()?));
    match (known.map(KnownModel::thinking), name) {
        (Some(thinking @ (Thinking::Never | Thinking::Budget | Thinking::Adaptive { .. })), _) => thinking,
        (_, Some(_)) => Thinking::Adaptive { efforts: &[], default: Effort::High, is_on: true, is_silent: false },
        (_, None) => Thinking::Budget,
    }
}

/// The server knows no less than `low`.
const fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal => Effort::Low.name(),
        other => other.name(),
    }
}

/// The tokens for thinking. They count as output, of which a quarter at least is left for the answer; nothing where there is no room.
fn budget(effort: Effort, max_output_tokens: u32) -> Option<u32> {
    let wanted = match effort {
        Effort::None => return None,
        Effort::Minimal => LEAST_TOKENS,
        Effort::Low => 4_096,
        Effort::Medium => 10_000,
        Effort::High => 24_000,
        Effort::Xhigh => 32_000,
        Effort::Max => 48_000,
    };
    let room = max_output_tokens / 4 * 3;
    (room >= LEAST_TOKENS).then(|| wanted.min(room))
}

/// The server refuses fewer.
const LEAST_TOKENS: u32 = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use agent_types::conversation::Conversation;
    use serde_json::{Value, json};

    fn written(model: &str, effort: Effort, max_output_tokens: u32) -> Value {
        let request = sample::request(model, &Conversation::new());
        let request = LlmRequest { effort: Some(effort), max_output_tokens, ..request };
        let mut out = b"{\"a\":1".to_vec();
        push(&mut out, &request).unwrap();
        out.push(b'}');
        let mut value: Value = serde_json::from_slice(&out).unwrap();
        value.as_object_mut().unwrap().remove("a");
        value
    }

    #[test]
    fn each_model_is_told_in_its_own_way() {
        let budget = |tokens: u32| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
        let effort = |word: &str| json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": word}});
        let shown = |word: &str| {
            let thinking = json!({"type": "adaptive", "display": "summarized"});
            json!({"thinking": thinking, "output_config": {"effort": word}})
        };
        let disabled = json!({"thinking": {"type": "disabled"}});
        for (model, level, expected) in [
            ("claude-sonnet-4-5", Effort::Low, budget(4_096)),
            ("claude-sonnet-4-5-20250929", Effort::High, budget(24_000)),
            ("anthropic/claude-sonnet-4.5", Effort::Medium, budget(10_000)),
            ("claude-sonnet-4-5", Effort::None, json!({})),
            ("claude-opus-4-6", Effort::Max, effort("max")),
            ("claude-opus-4-8", Effort::Xhigh, shown("xhigh")),
            ("claude-opus-4-8", Effort::None, json!({})),
            ("claude-opus-5", Effort::None, disabled.clone()),
            ("claude-opus-5-5", Effort::Medium, shown("medium")),
            ("claude-3-5-haiku-20241022", Effort::High, json!({})),
            // Not listed.
            ("claude-opus-9", Effort::Minimal, effort("low")),
            ("claude-opus-9", Effort::None, disabled),
            ("glm-5", Effort::Low, budget(4_096)),
            ("glm-5", Effort::None, json!({})),
            ("gpt-5.5", Effort::Low, budget(4_096)),
        ] {
            assert_eq!(written(model, level, 32_000), expected, "{model} {level}");
        }
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        for effort in Effort::ALL {
            for limit in (0..70_000).step_by(97).chain([u32::MAX]) {
                if let Some(tokens) = budget(effort, limit) {
                    assert!(tokens >= 1_024 && tokens < limit, "{effort} {limit} {tokens}");
                }
            }
        }
        assert_eq!(budget(Effort::High, 8_192), Some(6_144));
        assert_eq!(budget(Effort::High, 1_364), None);
    }
}
