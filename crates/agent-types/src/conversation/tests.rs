//! A history that cannot be wrong: what cannot be built, and what holds at every length.

use super::{
    Answer, Arguments, Block, CallId, Conversation, ConversationError, Input, Item, ItemError, NO_OUTPUT, Round,
    ToolCall, ToolResult, UserMessage,
};
use crate::picture::{Digest, Picture, PictureKind};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn input(text: &str) -> Input {
    Input::new(vec![text.into()]).unwrap()
}

fn answer(text: &str) -> Answer {
    Answer::new(vec![Block::Text(text.into())]).unwrap()
}

fn call(id: &str) -> Block {
    Block::Call(ToolCall { id: CallId::new(id), name: Arc::from("read"), arguments: Arguments::empty() })
}

fn result(id: &str) -> ToolResult {
    ToolResult::new(CallId::new(id), "seen", false)
}

fn round(ids: &[&str]) -> Round {
    let answer = Answer::new(ids.iter().map(|id| call(id)).collect()).unwrap();
    Round::new(answer, ids.iter().map(|id| result(id)).collect()).unwrap()
}

fn numbered(count: usize) -> Conversation {
    let mut conversation = Conversation::new();
    for i in 0..count {
        conversation.push_input(input(&alloc::format!("message {i}")));
    }
    conversation
}

fn texts(conversation: &Conversation) -> Vec<String> {
    let text = |item: &Arc<Item>| match item.as_ref() {
        Item::Input(input) => input.texts().join("|"),
        Item::Answer(answer) => answer.text(),
        Item::Round(round) => round.answer().text(),
        Item::Summary(summary) => String::from(summary.text()),
    };
    conversation.iter().map(text).collect()
}

#[test]
fn nothing_empty_can_be_built() {
    assert_eq!(Input::new(vec![]), Err(ItemError::Empty));
    assert_eq!(Input::new(vec![" \n".into()]), Err(ItemError::Empty));
    assert_eq!(Input::new(vec!["".into(), "a".into()]).unwrap().texts(), ["a"]);
    assert_eq!(Answer::new(vec![]), Err(ItemError::Empty));
    assert_eq!(Answer::new(vec![Block::Text("\t".into())]), Err(ItemError::Empty));
    assert_eq!(Answer::new(vec![Block::Text(" ".into()), Block::Text("\n".into())]), Err(ItemError::Empty));
    let parts = ["The grass is green.", "", "\n\n", "The sky is blue."];
    let spaced = Answer::new(parts.map(|text| Block::Text(text.into())).to_vec()).unwrap();
    assert_eq!(spaced.text(), "The grass is green.\n\nThe sky is blue.");
    assert_eq!(spaced.blocks().len(), 3, "blanks between what is said stay, nothing at all does not");
    let blank_thinking = Block::Thinking { text: String::new(), signature: None };
    assert_eq!(Answer::new(vec![blank_thinking]), Err(ItemError::Empty));
    assert_eq!(Round::new(answer("no calls"), vec![]), Err(ItemError::Empty));
    assert_eq!(ToolResult::new(CallId::new("a"), "  ", false).content(), NO_OUTPUT);
}

#[test]
fn every_call_needs_its_own_result_in_call_order() {
    let two = Answer::new(vec![call("a"), call("b")]).unwrap();
    let unanswered = |id: &str| Err(ItemError::Unanswered(CallId::new(id)));
    assert_eq!(Round::new(two.clone(), vec![]), unanswered("a"));
    assert_eq!(Round::new(two.clone(), vec![result("a")]), unanswered("b"));
    assert_eq!(Round::new(two.clone(), vec![result("b"), result("a")]), unanswered("a"));
    assert_eq!(Round::new(two.clone(), vec![result("a"), result("a")]), unanswered("b"));
    assert_eq!(Round::new(two.clone(), vec![result("a"), result("b"), result("c")]), unanswered("c"));
    assert!(Round::new(two, vec![result("a"), result("b")]).is_ok());
    assert_eq!(Answer::new(vec![call("a"), call("a")]), Err(ItemError::RepeatedCall(CallId::new("a"))));
}

#[test]
fn an_answer_follows_user_content_and_its_calls_have_results() {
    let mut conversation = Conversation::new();
    assert_eq!(conversation.push_answer(answer("first")), Err(ConversationError::NoUserContent));
    assert_eq!(conversation.push_round(round(&["a"])), Err(ConversationError::NoUserContent));
    conversation.push_input(input("hello"));
    let open = Answer::new(vec![call("a")]).unwrap();
    assert_eq!(conversation.push_answer(open), Err(ConversationError::OpenCalls));
    conversation.push_answer(answer("hi")).unwrap();
    let before = conversation.clone();
    assert_eq!(conversation.push_answer(answer("and")), Err(ConversationError::NoUserContent));
    assert_eq!(conversation.push_round(round(&["a"])), Err(ConversationError::NoUserContent));
    assert_eq!(conversation, before, "a refused item changes nothing");
    conversation.push_input(input("go on"));
    conversation.push_round(round(&["a", "b"])).unwrap();
    conversation.push_answer(answer("done")).unwrap();
}

#[test]
fn a_wrong_history_cannot_be_read_either() {
    let wrong = [
        r#"[{"Answer":{"blocks":[{"Text":"first"}]}}]"#,
        r#"[{"Input":[]}]"#,
        r#"[{"Input":[" "]}]"#,
        r#"[{"Input":["a"]},{"Answer":{"blocks":[]}}]"#,
        r#"[{"Input":["a"]},{"Answer":{"blocks":[{"Text":"b"}]}},{"Answer":{"blocks":[{"Text":"c"}]}}]"#,
        r#"[{"Input":["a"]},{"Answer":{"blocks":[{"Call":{"id":"x","name":"t","arguments":"{}"}}]}}]"#,
        r#"[{"Input":["a"]},{"Round":{"answer":{"blocks":[{"Call":{"id":"x","name":"t","arguments":"{}"}}]},"results":[]}}]"#,
        r#"[{"Input":["a"]},{"Round":{"answer":{"blocks":[{"Call":{"id":"x","name":"t","arguments":"[1]"}}]},
            "results":[{"call":"x","content":"y","is_error":false}]}}]"#,
    ];
    for text in wrong {
        assert!(serde_json::from_str::<Conversation>(text).is_err(), "{text}");
    }
    let right = r#"[{"Input":["a"]},{"Round":{"answer":{"blocks":[{"Call":{"id":"x","name":"t","arguments":"{}"}}]},
        "results":[{"call":"x","content":"y","is_error":false}]}},{"Answer":{"blocks":[{"Text":"b"}]}}]"#;
    assert_eq!(serde_json::from_str::<Conversation>(right).unwrap().len(), 3);
}

#[test]
fn an_empty_result_cannot_be_read_either() {
    let read: ToolResult = serde_json::from_str(r#"{"call":"x","content":"","is_error":false}"#).unwrap();
    assert_eq!(read.content(), NO_OUTPUT);
}

#[test]
fn arguments_are_one_object_and_keep_their_text() {
    for wrong in [
        "[1]",
        "1",
        "nul",
        "null null",
        "[null]",
        "\"{}\"",
        "{\"\\ud83d\":1}",
        "{\"a\":{\"\\ud83d\":1}}",
        "{\"a\":\"\\ud83d\"}",
        "{",
        "{\"a\":}",
        "{} {}",
        "{\"a\":1",
    ] {
        assert!(Arguments::parse(wrong).is_err(), "{wrong}");
    }
    for none in ["", " \n", "null", " null\n"] {
        assert_eq!(Arguments::parse(none).unwrap(), Arguments::empty(), "{none:?}");
    }
    let text = r#"{ "n": 123456789012345678901234567890, "a":  1 }"#;
    assert_eq!(Arguments::parse(text).unwrap().as_str(), text);
}

#[test]
fn items_are_kept_in_order_across_chunk_borders() {
    for count in [0, 1, 63, 64, 65, 128, 129] {
        let conversation = numbered(count);
        let expected: Vec<String> = (0..count).map(|i| alloc::format!("message {i}")).collect();
        assert_eq!(conversation.len(), count);
        assert_eq!(conversation.is_empty(), count == 0);
        assert_eq!(texts(&conversation), expected);
        assert_eq!(texts(&conversation).last(), expected.last());
    }
}

/// A continued answer takes the paused one off the history, at a chunk border from a chunk that clones share.
#[test]
fn a_paused_answer_is_joined_at_every_chunk_border() {
    for before in [62, 63, 64, 127, 128] {
        let mut conversation = numbered(before);
        conversation.push_answer(answer("one ").paused()).unwrap();
        let shared = conversation.clone();
        assert!(conversation.is_paused());
        conversation.push_answer(answer("two ").paused()).unwrap();
        conversation.push_answer(answer("three")).unwrap();
        assert!(!conversation.is_paused());
        assert_eq!(conversation.len(), before + 1, "joined, not added");
        assert_eq!(texts(&conversation).last().map(String::as_str), Some("one two three"));
        assert_eq!(texts(&shared).last().map(String::as_str), Some("one "), "the clone keeps what it had");
        assert_eq!(conversation.bytes(), conversation.iter().map(|item| item.bytes()).sum::<u64>());
    }
}

#[test]
fn a_paused_answer_may_end_with_calls() {
    let mut conversation = numbered(1);
    conversation.push_answer(answer("let me see").paused()).unwrap();
    conversation.push_round(round(&["a"])).unwrap();
    assert!(conversation.has_results_due());
    assert_eq!(conversation.len(), 2);
    assert_eq!(texts(&conversation), ["message 0", "let me see"]);
}

#[test]
fn a_paused_answer_is_closed_by_input() {
    let mut conversation = numbered(1);
    conversation.push_answer(answer("wait").paused()).unwrap();
    conversation.push_input(input("stop"));
    assert!(!conversation.is_paused());
    conversation.push_answer(answer("fine")).unwrap();
    assert_eq!(texts(&conversation), ["message 0", "wait", "stop", "fine"]);
}

#[test]
fn clones_go_their_own_ways() {
    for count in [1, 63, 64, 65, 129] {
        let original = numbered(count);
        let (mut left, mut right) = (original.clone(), original.clone());
        assert_eq!(left, original);
        for i in 0..70 {
            left.push_input(input(&alloc::format!("left {i}")));
        }
        right.push_input(input("right"));
        assert_eq!(original.len(), count);
        assert_eq!((left.len(), right.len()), (count + 70, count + 1));
        assert_eq!(texts(&left)[..count], texts(&original));
        assert_ne!(left, right);
        assert!(original.iter().zip(left.iter()).all(|(a, b)| Arc::ptr_eq(a, b)), "items are shared");
    }
}

#[test]
fn equality_is_about_items() {
    assert_eq!(numbered(65), numbered(65));
    assert_ne!(numbered(65), numbered(64));
    let mut other = numbered(64);
    other.push_input(input("another"));
    assert_ne!(numbered(65), other);
}

#[test]
fn a_million_items_drop_without_a_deep_stack() {
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    let run = || {
        let mut conversation = Conversation::new();
        for _ in 0..1_000_000 {
            conversation.push_input(input("x"));
        }
        let clone = conversation.clone();
        drop(conversation);
        assert_eq!(clone.len(), 1_000_000);
        drop(clone);
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn sizes_are_those_of_the_texts() {
    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec!["12345".into(), "678".into()]).unwrap());
    assert_eq!(conversation.bytes(), 8);
    conversation.push_round(round(&["ab"])).unwrap();
    // The id, the name `read`, the arguments `{}` and the result `seen`.
    assert_eq!(conversation.bytes(), 8 + 2 + 4 + 2 + 4);
    conversation.push_answer(answer("ok")).unwrap();
    assert_eq!(conversation.bytes(), 22);
    assert_eq!(conversation.estimated_tokens(), 22 / 4 + 3 * 4);
}

#[test]
fn a_clipped_result_says_what_is_missing() {
    let long = ToolResult::new(CallId::new("a"), "é".repeat(100), false).clipped(51);
    assert_eq!(long.content(), alloc::format!("{}\n[150 bytes left out]", "é".repeat(25)));
    let short = result("a");
    assert_eq!(short.clipped(100), short);
}

#[test]
fn an_id_is_found_by_its_text() {
    let ids: BTreeSet<CallId> = ["a", "b", "c"].map(CallId::new).into();
    assert!(["a", "b", "c"].iter().all(|text| ids.contains(*text)) && !ids.contains("d"));
}

#[derive(Clone, Debug)]
enum Push {
    Input(String),
    Answer(String, bool),
    Round(u8),
}

fn push() -> impl Strategy<Value = Push> {
    prop_oneof![
        "[a-z ]{0,8}x".prop_map(Push::Input),
        ("\\PC{0,8}y", any::<bool>()).prop_map(|(text, paused)| Push::Answer(text, paused)),
        (1..4_u8).prop_map(Push::Round),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_history_that_can_be_built_can_be_written_and_read(
        pushes in prop::collection::vec(push(), 0..200),
    ) {
        let mut conversation = Conversation::new();
        for (i, push) in pushes.into_iter().enumerate() {
            let _ = match push {
                Push::Input(text) => {
                    conversation.push_input(input(&text));
                    Ok(())
                }
                Push::Answer(text, true) => conversation.push_answer(answer(&text).paused()),
                Push::Answer(text, false) => conversation.push_answer(answer(&text)),
                Push::Round(calls) => {
                    let ids: Vec<String> = (0..calls).map(|n| alloc::format!("call-{i}-{n}")).collect();
                    conversation.push_round(round(&ids.iter().map(String::as_str).collect::<Vec<_>>()))
                }
            };
        }
        let text = serde_json::to_string(&conversation).unwrap();
        let read: Conversation = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &conversation);
        prop_assert_eq!(read.bytes(), conversation.iter().map(|item| item.bytes()).sum::<u64>());
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}

fn picture(number: u8) -> Picture {
    let digest = Digest::new([number; 32]);
    Picture {
        digest,
        kind: PictureKind::Png,
        bytes: 9,
        width: 280,
        height: 28,
        name: alloc::format!("{number}.png").into(),
    }
}

/// Journals from before there were pictures hold messages and results in this form.
#[test]
fn what_has_no_pictures_is_written_as_it_always_was() {
    let old = r#"["one","two"]"#;
    let input: Input = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&input).unwrap(), old);
    let old = r#"{"call":"a","content":"x","is_error":false}"#;
    let result: ToolResult = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&result).unwrap(), old);
    let with = UserMessage::new("one", vec![picture(1)]);
    let written = serde_json::to_string(&with).unwrap();
    assert!(written.starts_with(r#"{"text":"one","pictures":[{"digest":"0101"#), "{written}");
    assert_eq!(serde_json::from_str::<UserMessage>(&written).unwrap(), with);
    let told = serde_json::from_str::<UserMessage>("1").unwrap_err().to_string();
    assert!(told.contains("expected a text, or a text with what belongs to it"), "{told}");
}

#[test]
fn a_picture_weighs_what_its_tokens_are_worth_and_can_be_named_instead() {
    let mut conversation = Conversation::new();
    let said = UserMessage::new("see", vec![picture(1), picture(2)]);
    conversation.push_input(Input::new(vec![said]).unwrap());
    assert_eq!(conversation.bytes(), 3 + 2 * 40, "ten patches each, of four bytes");
    let call = ToolCall { id: CallId::new("a"), name: "read_file".into(), arguments: Arguments::parse("{}").unwrap() };
    let result = ToolResult::new(CallId::new("a"), "told", false).with_pictures(vec![picture(3)]);
    let round = Round::new(Answer::new(vec![Block::Call(call)]).unwrap(), vec![result]).unwrap();
    assert_eq!(round.clipped(44), None, "it is not longer");
    let clipped = round.clipped(39).unwrap();
    let [result] = clipped.results() else { panic!("{clipped:?}") };
    assert_eq!(result.content(), "told\n[picture 3.png: PNG 280x28; left out to make room]");
    assert!(result.pictures().is_empty());
    conversation.push_round(round).unwrap();
    let names = |item: &Item| item.pictures().map(|picture| picture.name.to_string()).collect::<Vec<_>>();
    let items: Vec<_> = conversation.iter().collect();
    assert_eq!((names(items[0]), names(items[1])), (vec!["1.png".into(), "2.png".into()], vec!["3.png".into()]));
    let named = items[0].with_pictures_named("why").unwrap();
    let Item::Input(input) = &named else { panic!("{named:?}") };
    assert_eq!(input.texts(), ["see\n[picture 1.png: PNG 280x28; why]\n[picture 2.png: PNG 280x28; why]"]);
    assert_eq!(named.with_pictures_named("why"), None);
}
