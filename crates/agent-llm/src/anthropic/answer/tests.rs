//! Tests of reading Anthropic answers.

#![expect(clippy::needless_pass_by_value, reason = "`json!` is written in place")]

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn assembled(events: &[Value]) -> Result<(LlmResponse, Vec<Delta>), Broken> {
    let mut assembly = Assembly::default();
    let mut deltas = VecDeque::new();
    for event in events {
        assembly.event(event.to_string().as_bytes(), &mut deltas)?;
    }
    Ok((assembly.finish(), deltas.into()))
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn piece(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn arguments(index: u64, json: &str) -> Value {
    piece(index, json!({"type": "input_json_delta", "partial_json": json}))
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}})
}

fn tool(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read"})
}

fn complete(events: &[Value]) -> Vec<bool> {
    let (response, _) = assembled(events).unwrap();
    let blocks = response.blocks.into_iter();
    blocks
        .filter_map(|block| match block {
            ResponseBlock::Call(call) => Some(call.complete),
            _ => None,
        })
        .collect()
}

#[test]
fn a_call_that_was_not_closed_is_not_complete() {
    let events = [start(0, tool("a")), arguments(0, "{}"), ended("tool_use")];
    assert_eq!(complete(&events), [false]);
}

#[test]
fn after_a_cut_the_last_block_is_never_complete_and_others_need_whole_arguments() {
    let events = |second: &str, reason: &str| {
        [
            start(0, tool("a")),
            arguments(0, "{\"p\":1}"),
            stop(0),
            start(1, tool("b")),
            arguments(1, second),
            stop(1),
            start(2, tool("c")),
            arguments(2, "{\"path\":\"/\"}"),
            stop(2),
            ended(reason),
        ]
    };
    assert_eq!(complete(&events("{}", "tool_use")), [true, true, true]);
    assert_eq!(complete(&events("{}", "max_tokens")), [true, true, false]);
    assert_eq!(complete(&events("{\"p", "max_tokens")), [true, false, false]);
    assert_eq!(complete(&events("", "max_tokens")), [true, false, false]);
    let reason = "model_context_window_exceeded";
    assert_eq!(complete(&events("{}", reason)), [true, true, false]);
}

#[test]
fn a_call_without_pieces_has_the_arguments_of_its_start() {
    let block = json!({"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}});
    let of = |events: &[Value]| {
        let (response, _) = assembled(events).unwrap();
        match response.blocks.into_iter().next() {
            Some(ResponseBlock::Call(call)) => call.arguments,
            other => format!("{other:?}"),
        }
    };
    assert_eq!(of(&[start(0, block.clone()), stop(0)]), "{\"p\":1}");
    assert_eq!(of(&[start(0, block), arguments(0, "{\"p\":2}")]), "{\"p\":2}");
    assert_eq!(of(&[start(0, tool("a")), stop(0)]), "");
}

#[test]
fn blocks_of_one_number_are_told_apart_by_their_order() {
    let text = json!({"type": "text", "text": ""});
    let events = [
        start(0, text.clone()),
        piece(0, json!({"type": "text_delta", "text": "a"})),
        stop(0),
        start(0, text),
        piece(0, json!({"type": "text_delta", "text": "b"})),
        stop(0),
        ended("end_turn"),
    ];
    let (response, deltas) = assembled(&events).unwrap();
    assert_eq!(response.blocks, [ResponseBlock::Text("a".to_owned()), ResponseBlock::Text("b".to_owned())]);
    assert_eq!(deltas, [Delta::Text("a".to_owned()), Delta::Text("b".to_owned())]);
}

#[test]
fn usage_is_none_when_nothing_sensible_came_and_else_the_last_count() {
    let of = |start: Value, end: Value| {
        let events = [
            json!({"type": "message_start", "message": {"usage": start}}),
            json!({"type": "message_delta", "delta": {}, "usage": end}),
        ];
        assembled(&events).unwrap().0.usage
    };
    assert_eq!(of(Value::Null, Value::Null), None);
    assert_eq!(of(json!({"input_tokens": -1}), json!({"output_tokens": 1.5})), None);
    assert_eq!(
        of(
            json!({"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 7}),
            json!({"output_tokens": 9, "input_tokens": 0})
        ),
        Some(Usage { input_tokens: 5, output_tokens: 9, cache_read_tokens: 7, cache_write_tokens: 0 })
    );
}

#[test]
fn what_nobody_knows_is_ignored_or_kept() {
    let events = [
        json!({"type": "brand_new", "delta": 5, "index": "x", "message": []}),
        start(0, json!({"type": "new_block", "x": 1})),
        piece(0, json!({"type": "new_delta", "y": [2]})),
        stop(0),
        ended("new_reason"),
        json!({"type": "message_stop"}),
        json!({"type": "error", "error": {"type": "too_late"}}),
    ];
    let (response, _) = assembled(&events).unwrap();
    assert_eq!(response.stop, StopReason::Other("new_reason".to_owned()));
    let json = r#"{"type":"new_block","x":1,"y":[2]}"#;
    assert_eq!(response.blocks, [ResponseBlock::Opaque { dialect: "anthropic".to_owned(), json: json.to_owned() }]);
}

#[test]
fn a_message_that_does_not_say_why_it_ended_is_no_whole_answer() {
    let text = || vec![start(0, json!({"type": "text", "text": "half"})), stop(0)];
    let null = json!({"type": "message_delta", "delta": {"stop_reason": null}});
    let end = || json!({"type": "message_stop"});
    let empty = ended("");
    for events in [vec![end()], vec![null.clone(), end()], vec![empty.clone(), end()]].map(|end| [text(), end].concat())
    {
        let error = assembled(&events).unwrap_err();
        assert!(format!("{error:?}").contains("without a `stop_reason`"), "{error:?}");
    }
    let document = json!({"type": "message", "model": "m", "content": [{"type": "text", "text": "half"}]});
    assert!(Assembly::default().document(document.to_string().as_bytes()).is_err());
    for silent in [null, empty] {
        let call = vec![start(0, tool("a")), stop(0), silent, end()];
        assert!(assembled(&call).is_ok(), "the control: a call is whole by itself");
    }
    assert!(assembled(&[text(), vec![ended("end_turn"), end()]].concat()).is_ok(), "the control");
}

#[test]
fn a_message_that_is_not_streamed() {
    let mut assembly = Assembly::default();
    let message = json!({"type": "message", "model": "m", "stop_reason": "tool_use", "content": [
        {"type": "text", "text": "t"},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}},
    ], "usage": {"input_tokens": 1, "output_tokens": 2}});
    assembly.document(message.to_string().as_bytes()).unwrap();
    let response = assembly.finish();
    assert_eq!(response.stop, StopReason::ToolUse);
    assert_eq!(response.blocks.len(), 2);
    assert_eq!(response.usage.unwrap().output_tokens, 2);
    let mut assembly = Assembly::default();
    assert!(assembly.document(b"{\"ok\":true}").is_err());
    assert!(assembly.document(b"{\"error\":{\"message\":\"no\"}}").is_err());
}

prop_compose! {
    fn any_json()(depth in 0u32..3, seed in proptest::collection::vec(0u8..9, 1..12)) -> Value {
        build(&mut seed.into_iter(), depth)
    }
}

fn build(seed: &mut impl Iterator<Item = u8>, depth: u32) -> Value {
    match seed.next().unwrap_or_default() {
        0 => Value::Null,
        1 => json!(-7),
        2 => json!("{\"a\":"),
        3 => json!([1, {"type": "text"}]),
        4 => json!({"type": "tool_use", "input": {"a": []}}),
        5 => json!("tool_use"),
        _ if depth == 0 => json!(true),
        _ => {
            let names = ["type", "text", "partial_json", "stop_reason", "usage", "content"];
            let members = names.iter().map(|name| ((*name).to_owned(), build(seed, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

proptest! {
    #[test]
    fn no_events_make_it_panic(
        events in proptest::collection::vec(
            (
                prop_oneof![
                    Just("message_start"), Just("content_block_start"), Just("content_block_delta"),
                    Just("content_block_stop"), Just("message_delta"), Just("message_stop"), Just("error"),
                ],
                any_json(), any_json(), any_json(), any_json(),
            ),
            0..12,
        ),
    ) {
        let mut assembly = Assembly::default();
        let mut deltas = VecDeque::new();
        for (kind, index, block, delta, message) in events {
            let event = json!({
                "type": kind, "index": index, "content_block": block, "delta": delta, "message": message, "usage": message,
            });
            let _ = assembly.event(event.to_string().as_bytes(), &mut deltas);
            let _ = Assembly::default().document(event.to_string().as_bytes());
        }
        let _ = assembly.finish();
    }
}

#[test]
fn a_piece_that_cannot_be_read_fails_the_answer() {
    let piece = |json: &str| {
        format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{json}}}}}"
        )
    };
    // Leaving half a character out would write another file than the model did.
    for pieces in [&[r#""a\ud83d""#, r#""b""#][..], &["5"], &[r#""\ude00""#], &[r#""\ud83d x""#]] {
        let mut assembly = Assembly::default();
        let mut deltas = VecDeque::new();
        assembly.event(start(0, tool("a")).to_string().as_bytes(), &mut deltas).unwrap();
        let outcomes: Vec<_> = pieces.iter().map(|json| assembly.event(piece(json).as_bytes(), &mut deltas)).collect();
        assert!(matches!(outcomes.last(), Some(Err(Broken::Malformed(_)))), "{pieces:?}");
    }
}
