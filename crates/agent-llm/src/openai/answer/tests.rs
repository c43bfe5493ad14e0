//! Tests of reading OpenAI answers.

#![expect(clippy::needless_pass_by_value, reason = "`json!` is written in place")]

use super::*;
use agent_types::llm::RawCall;
use proptest::prelude::*;
use serde_json::{Value, json};

fn assembled(chunks: &[Value]) -> LlmResponse {
    let mut assembly = Assembly::default();
    for chunk in chunks {
        let data = chunk.to_string();
        assembly.event(data.as_bytes(), &mut VecDeque::new()).unwrap();
    }
    assembly.finish()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn call(call: Value) -> Value {
    delta(json!({"tool_calls": [call]}))
}

fn ended(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn calls(chunks: &[Value]) -> Vec<(String, String, String, bool)> {
    let blocks = assembled(chunks).blocks.into_iter();
    blocks
        .filter_map(|block| match block {
            ResponseBlock::Call(RawCall { id, name, arguments, complete }) => Some((id, name, arguments, complete)),
            _ => None,
        })
        .collect()
}

fn expected(rows: &[(&str, &str, &str, bool)]) -> Vec<(String, String, String, bool)> {
    rows.iter()
        .map(|(id, name, arguments, complete)| {
            ((*id).to_owned(), (*name).to_owned(), (*arguments).to_owned(), *complete)
        })
        .collect()
}

#[test]
fn where_a_text_comes_from_is_kept_with_it() {
    let source = |url: &str| json!({"type": "url_citation", "url_citation": {"url": url, "title": null}});
    let answer = assembled(&[
        delta(json!({"content": "See", "annotations": [source("a")]})),
        delta(json!({"content": " there.", "annotations": []})),
        delta(json!({"annotations": [source("b")], "images": [{"image_url": {"url": "data:"}}], "audio": null})),
        ended("stop"),
    ]);
    let [ResponseBlock::Text(text), ResponseBlock::Opaque { dialect, json }] = &answer.blocks[..] else {
        panic!("{answer:?}")
    };
    assert_eq!((text.as_str(), dialect.as_str()), ("See there.", "openai"));
    let kept: Value = serde_json::from_str(json).unwrap();
    let source = |url: &str| json!({"type": "url_citation", "url_citation": {"url": url}});
    let members = json!({"annotations": [source("a"), source("b")], "images": [{"image_url": {"url": "data:"}}]});
    assert_eq!(kept, json!({"frame_of": "message", "members": members}));
}

#[test]
fn the_end_is_known_in_the_words_of_other_servers() {
    let stop = |reason: &str| assembled(&[delta(json!({"content": "x"})), ended(reason)]).stop;
    for reason in ["stop", "STOP", "eos", "eos_token", "stop_sequence", "end_turn", "COMPLETE"] {
        assert_eq!(stop(reason), StopReason::EndTurn, "{reason}");
    }
    assert_eq!(stop("MAX_TOKENS"), StopReason::MaxTokens);
    assert_eq!(stop("Martian"), StopReason::Other("Martian".to_owned()));
}

#[test]
fn pieces_find_their_call_by_index() {
    let chunks = [
        call(json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}})),
        call(json!({"index": 1, "id": "b", "function": {"name": "y", "arguments": "{\"q\""}})),
        call(json!({"index": 0, "function": {"arguments": "{}"}})),
        call(json!({"index": 1, "id": null, "function": {"arguments": ":1}"}})),
        ended("tool_calls"),
    ];
    assert_eq!(calls(&chunks), expected(&[("a", "x", "{}", true), ("b", "y", "{\"q\":1}", true)]));
}

#[test]
fn servers_that_number_nothing_or_everything_zero() {
    for index in [json!(null), json!(0)] {
        let chunks = [
            call(json!({"index": index, "id": "a", "function": {"name": "x", "arguments": "{"}})),
            call(json!({"index": index, "function": {"arguments": "}"}})),
            call(json!({"index": index, "id": "b", "function": {"name": "x", "arguments": {"k": 1}}})),
            call(json!({"index": index, "id": "new-id-same-call", "function": {"arguments": ""}})),
            ended("stop"),
        ];
        assert_eq!(calls(&chunks), expected(&[("a", "x", "{}", true), ("b", "x", "{\"k\":1}", true)]), "{index}");
        assert_eq!(assembled(&chunks).stop, StopReason::ToolUse);
    }
}

#[test]
fn after_a_cut_the_last_call_is_never_complete() {
    let chunks = |reason: &str| {
        [
            call(json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}})),
            call(json!({"index": 1, "id": "b", "function": {"name": "x", "arguments": "{\"path\":"}})),
            call(json!({"index": 2, "id": "c", "function": {"name": "x", "arguments": "{\"path\":\"/\"}"}})),
            ended(reason),
        ]
    };
    let complete = |reason: &str| -> Vec<bool> {
        let calls = calls(&chunks(reason)).into_iter();
        calls.map(|(_, _, _, complete)| complete).collect()
    };
    assert_eq!(complete("length"), [true, false, false]);
    assert_eq!(complete("tool_calls"), [true, true, true]);
}

#[test]
fn thinking_text_and_refusals_in_every_spelling() {
    let chunks = [
        delta(json!({"reasoning_content": "a", "reasoning": "a", "content": null})),
        delta(json!({"reasoning": "b"})),
        delta(json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "c"}]},
            {"type": "text", "text": "hello"},
        ]})),
        delta(json!({"content": " you"})),
        delta(json!({"refusal": ", no"})),
        ended("stop"),
    ];
    let response = assembled(&chunks);
    assert_eq!(response.stop, StopReason::Refusal);
    assert_eq!(
        response.blocks,
        [
            ResponseBlock::Thinking { text: "abc".to_owned(), signature: None },
            ResponseBlock::Text("hello you, no".to_owned()),
        ]
    );
}

#[test]
fn usage_parts_do_not_overlap() {
    let of = |usage: Value| {
        assembled(&[ended("stop"), json!({"choices": [], "usage": usage}), json!({"usage": null})]).usage
    };
    assert_eq!(of(json!(null)), None);
    assert_eq!(of(json!({})), None);
    assert_eq!(of(json!({"prompt_tokens": -1})), None);
    let usage = of(json!({
        "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }))
    .unwrap();
    let parts = (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens);
    assert_eq!(parts, (6, 4, 3));
    let apart = of(json!({
        "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 99},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }))
    .unwrap();
    let parts = (apart.input_tokens, apart.cache_read_tokens, apart.output_tokens);
    assert_eq!(parts, (0, 10, 5));
}

#[test]
fn without_a_finish_reason_nothing_is_finished_unless_the_server_says_so() {
    let mut assembly = Assembly::default();
    for chunk in [
        delta(json!({"content": "a"})),
        call(json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}})),
    ] {
        let data = chunk.to_string();
        assembly.event(data.as_bytes(), &mut VecDeque::new()).unwrap();
        assert_eq!(assembly.progress(), Progress::Open);
    }
    assembly.event(b"[DONE]", &mut VecDeque::new()).unwrap();
    assert_eq!(assembly.progress(), Progress::Ended);
    let response = assembly.finish();
    assert_eq!(response.stop, StopReason::Other(String::new()));
    let whole = RawCall { id: "a".to_owned(), name: "x".to_owned(), arguments: "{}".to_owned(), complete: true };
    assert_eq!(response.blocks[1], ResponseBlock::Call(whole));
    assert!(Assembly::default().document(b"{\"ok\":true}").is_err());
}

#[test]
fn an_answer_that_is_not_streamed() {
    let document = json!({"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message":
        {"role": "assistant", "content": "hello"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let mut assembly = Assembly::default();
    assembly.document(document.to_string().as_bytes()).unwrap();
    let response = assembly.finish();
    assert_eq!(response.blocks, [ResponseBlock::Text("hello".to_owned())]);
    assert_eq!(response.stop, StopReason::EndTurn);
}

proptest! {
    #[test]
    fn no_chunks_make_it_panic(
        chunks in proptest::collection::vec(
            (
                prop_oneof![Just(json!(0)), Just(json!(-1)), Just(json!("x")), Just(Value::Null), Just(json!(u64::MAX))],
                prop_oneof![Just(json!("{")), Just(json!({})), Just(json!([[]])), Just(Value::Null), Just(json!(1e300))],
                prop_oneof![Just(json!("stop")), Just(json!("length")), Just(Value::Null), Just(json!(3)), Just(json!(""))],
            ),
            0..10,
        ),
    ) {
        let mut assembly = Assembly::default();
        for (index, value, reason) in chunks {
            let chunk = json!({
                "model": value, "error": null, "usage": {"prompt_tokens": index, "total_tokens": index},
                "choices": [{"index": null, "finish_reason": reason, "delta": {
                    "content": value, "reasoning": value, "refusal": index,
                    "tool_calls": [{"index": index, "id": value, "function": {"name": value, "arguments": value}}],
                }}],
            });
            let _ = assembly.event(chunk.to_string().as_bytes(), &mut VecDeque::new());
        }
        let _ = assembly.finish();
    }
}
