//! Reading at one go gives what reading in full gives, or nothing.

use super::*;
use crate::reader::{Assemble, Broken, Heard};
use crate::{anthropic, openai, responses};
use agent_types::llm::Delta;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::VecDeque;

#[test]
fn words_texts_and_numbers() {
    let text = |json: &str| Quick::of(json.as_bytes()).text().map(Cow::into_owned);
    assert_eq!(text(r#" "plain""#).as_deref(), Some("plain"));
    assert_eq!(text(r#""a\nb\"\\\/\t\r""#).as_deref(), Some("a\nb\"\\/\t\r"));
    assert_eq!(text(r#""""#).as_deref(), Some(""));
    let long = "é".repeat(100);
    assert_eq!(text(&format!("\"{long}\\n{long}\"")), Some(format!("{long}\n{long}")));
    for json in
        [r#""\u00e9""#, r#""\b""#, "\"a", "\"a\\", "\"a\\\"", "\"a\nb\"", "7", "", &format!("\"{long}\u{1}{long}\"")]
    {
        assert_eq!(text(json), None, "{json}");
    }
    assert_eq!(Quick::of(b"\"\xff\"").text(), None);
    assert_eq!(Quick::of(b"\"\xc3\\n\"").text(), None);
    assert_eq!(Quick::of("\"é\"".as_bytes()).word(), Some("é".as_bytes()));
    // Whatever stands before and behind it, the end of a string is found.
    for length in 0..40 {
        for end in ['"', '\\', '\u{1f}', '\n', '\0'] {
            for filler in ["a", "!", "#", " ", "\u{7f}", "é", "\u{80}", "[", "]"] {
                let text = format!("{}{end}\"\\\u{1}{filler}\"", filler.repeat(length));
                assert_eq!(plain_length(text.as_bytes()), filler.len() * length, "{text:?}");
            }
        }
    }

    let count = |json: &str| Quick::of(json.as_bytes()).count();
    assert_eq!((count("0"), count(" 12,"), count("18446744073709551615")), (Some(0), Some(12), Some(u64::MAX)));
    for json in ["", "-1", "01", "1.0", "1e3", "18446744073709551616", "\"1\"", "null"] {
        assert_eq!(count(json), None, "{json}");
    }
}

/// What an assembly makes of some events.
type Outcome = Vec<(Result<Heard, String>, VecDeque<Delta>)>;

type Read<A> = fn(&mut A, &[u8], &mut VecDeque<Delta>) -> Result<Heard, Broken>;

fn outcome<A: Default + Assemble>(start: &[&str], event: &str, read: Read<A>) -> (Outcome, String) {
    let mut assembly = A::default();
    let mut all = Vec::new();
    for event in start.iter().copied().chain([event]) {
        let mut deltas = VecDeque::new();
        let heard = read(&mut assembly, event.as_bytes(), &mut deltas).map_err(|broken| format!("{broken:?}"));
        all.push((heard, deltas));
    }
    (all, format!("{:?}", assembly.finish()))
}

/// Parts of which events are made, in any order: right ones, odd ones and wrong ones.
fn event(members: &'static [&'static str]) -> impl Strategy<Value = String> {
    let member = (select(members), select(&["", "", "", " ", "\n "][..]), text())
        .prop_map(|(member, space, text)| format!("{space}{}{space}", member.replace('T', &text)));
    let end = select(&["}", "}", "}", "}", "} ", "}}", "", ",}", "} {"][..]);
    (proptest::collection::vec(member, 0..7), end).prop_map(|(members, end)| format!("{{{}{end}", members.join(",")))
}

fn text() -> impl Strategy<Value = String> {
    let part = select(
        &[
            "word",
            " ",
            "é",
            "😀",
            "\\n",
            "\\\"",
            "\\\\",
            "\\u00e9",
            "\\ud83d",
            "\\ud83d\\ude00",
            "\\x",
            "\u{1}",
            "\"",
            "a long enough text",
            ",",
        ][..],
    );
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

const ANTHROPIC: &[&str] = &[
    r#""type":"content_block_delta""#,
    r#""type":"content_block_delta""#,
    r#""index":0"#,
    r#""index":0"#,
    r#""index":1"#,
    r#""index":null"#,
    r#""index":0.0"#,
    r#""delta":{"type":"text_delta","text":"T"}"#,
    r#""delta":{"type":"text_delta","text":"T"}"#,
    r#""delta":{"text":"T" , "type":"text_delta"}"#,
    r#""delta":{"type":"text_delta","text":"T","citation":{"a":1}}"#,
    r#""delta":{"type":"thinking_delta","thinking":"T"}"#,
    r#""delta":{"type":"input_json_delta","partial_json":"T"}"#,
    r#""delta":{"type":"text_delta","text":null}"#,
    r#""delta":{"text":"T"}"#,
    r#""delta":{}"#,
    r#""usage":{"output_tokens":3}"#,
    r#""x":[1]"#,
];

const CHAT: &[&str] = &[
    r#""choices":[{"index":0,"delta":{"content":"T"},"finish_reason":null}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T"},"finish_reason":null}]"#,
    r#""choices":[{"delta":{"role":"assistant","content":"T","refusal":null},"logprobs":null}]"#,
    r#""choices":[{"index":0,"delta":{"content":null,"reasoning_content":"T"}}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T","reasoning_content":"T"}}]"#,
    r#""choices":[{"index":1,"delta":{"content":"T"}}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T"},"finish_reason":"stop"}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T"},"finish_reason":""}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T","tool_calls":[]}}]"#,
    r#""choices":[{"index":0,"delta":{"content":[{"text":"T"}]}}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T"}},{"index":0,"delta":{"content":"T"}}]"#,
    r#""choices":[{"index":0,"delta":{"content":"T"},"message":{"content":"T"}}]"#,
    r#""choices":[]"#,
    r#""object":"chat.completion.chunk""#,
    r#""object":"error""#,
    r#""error":null"#,
    r#""error":{"message":"T"}"#,
    r#""usage":null"#,
    r#""usage":{"prompt_tokens":1,"completion_tokens":2}"#,
    r#""created":1735689600"#,
    r#""model":"other""#,
    r#""id":"T""#,
    r#""x":{"y":[1.5,-2e3,true]}"#,
];

const RESPONSES: &[&str] = &[
    r#""type":"response.output_text.delta""#,
    r#""type":"response.output_text.delta""#,
    r#""type":"response.refusal.delta""#,
    r#""delta":"T""#,
    r#""delta":"T""#,
    r#""delta":7"#,
    r#""output_index":0"#,
    r#""output_index":1"#,
    r#""output_index":-1"#,
    r#""item_id":"msg_1""#,
    r#""item_id":"T""#,
    r#""sequence_number":12"#,
    r#""content_index":0"#,
    r#""logprobs":[]"#,
    r#""logprobs":[{"token":"T"}]"#,
    r#""obfuscation":"T""#,
    r#""error":{"message":"T"}"#,
];

/// Whole events, each tried before and behind every other; the first three begin an answer.
const ANTHROPIC_EVENTS: &[&str] = &[
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"b","input":{"x":1}}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\"\u00e9"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b","more":1}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":null,"b":1}}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"c"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"d"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"e"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"p\":1}"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":null}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}"#,
    r#"{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"f"}}"#,
];

const CHAT_EVENTS: &[&str] = &[
    r#"{"model":"m","choices":[{"index":0,"delta":{"content":"a\"\u00e9"},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"b"}}],"usage":null}"#,
    r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
    r#"{"choices":[{"index":1,"delta":{"content":"c"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"d"}}],"usage":{"prompt_tokens":1}}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"e","reasoning":"f"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"g"}},{"index":0,"delta":{"content":"h"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"i"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"j"}}],"error":{"message":"k"}}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"l"}}],"object":"error"}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}"#,
    r#"{"choices":[]}"#,
];

const RESPONSES_EVENTS: &[&str] = &[
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"i"}}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"delta":"a\"\u00e9"}"#,
    r#"{"type":"response.output_text.delta","item_id":"i","delta":"b","logprobs":[]}"#,
    r#"{"type":"response.output_text.delta","output_index":7,"delta":"c"}"#,
    r#"{"type":"response.output_text.delta","output_index":-1,"delta":"d"}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"delta":""}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"delta":null}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"delta":"\ud83d"}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"delta":"e","type":"response.refusal.delta"}"#,
];

#[test]
fn both_ways_of_reading_agree_on_every_pair() {
    fn pairs<A: Default + Assemble>(events: &[&str], full: Read<A>) {
        for first in events {
            for second in events {
                let start: Vec<&str> = events.iter().take(3).chain([first]).copied().collect();
                assert_eq!(outcome(&start, second, A::event), outcome(&start, second, full), "{first} {second}");
            }
        }
    }
    pairs(ANTHROPIC_EVENTS, anthropic::Assembly::event_in_full);
    pairs(CHAT_EVENTS, openai::Assembly::take);
    pairs(RESPONSES_EVENTS, responses::Assembly::event_in_full);
}

proptest! {
    // What a long run finds becomes an example above.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(data in proptest::collection::vec(any::<u8>(), 0..60)) {
        fn read<A: Default + Assemble>(data: &[u8]) {
            let _ = A::default().event(data, &mut VecDeque::new());
            let _ = A::default().document(data);
        }
        read::<anthropic::Assembly>(&data);
        read::<openai::Assembly>(&data);
        read::<responses::Assembly>(&data);
    }

    #[test]
    fn both_ways_of_reading_agree(a in event(ANTHROPIC), b in event(CHAT), c in event(RESPONSES)) {
        let block = |index: u64, block: &str| {
            format!(r#"{{"type":"content_block_start","index":{index},"content_block":{{{block}}}}}"#)
        };
        let starts = [
            block(0, r#""type":"text","text":"""#),
            block(0, r#""type":"thinking","thinking":"""#),
            block(0, r#""type":"tool_use","id":"t","name":"n","input":{}"#),
            block(0, r#""type":"tool_use","id":"t","name":"n","input":{"a":1}"#),
            block(0, r#""type":"new","text":"x""#),
        ];
        for start in &starts {
            let quick = outcome(&[start.as_str()], &a, anthropic::Assembly::event);
            let full = outcome(&[start.as_str()], &a, anthropic::Assembly::event_in_full);
            agree(&a, quick, full)?;
        }
        // The first chunk names the model; only those behind it are read at one go.
        let start = [r#"{"model":"m","choices":[{"index":0,"delta":{"role":"assistant"}}]}"#];
        agree(&b, outcome(&start, &b, openai::Assembly::event), outcome(&start, &b, openai::Assembly::take))?;
        let start = [r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1"}}"#];
        let quick = outcome(&start, &c, responses::Assembly::event);
        agree(&c, quick, outcome(&start, &c, responses::Assembly::event_in_full))?;
    }
}

/// A doubled member whose value says nothing is the one thing that only reading in full objects to.
fn agree(event: &str, quick: (Outcome, String), full: (Outcome, String)) -> Result<(), TestCaseError> {
    if !format!("{full:?}").contains("duplicate field") {
        prop_assert_eq!(quick, full, "{}", event);
    }
    Ok(())
}
