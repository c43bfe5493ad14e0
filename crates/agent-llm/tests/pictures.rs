//! How each format writes pictures: in messages, in results, named where they do not go, and the same bytes in every request.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use agent_llm::Pictures;
use agent_llm::bench::{Format, Writer};
use agent_types::conversation::{
    Answer, Arguments, Block, CallId, Conversation, Input, Round, ToolCall, ToolResult, UserMessage,
};
use agent_types::llm::{LlmRequest, Purpose};
use agent_types::picture::{Digest, Picture, PictureKind};
use agent_types::ports::{PictureError, PictureKeeper};
use serde_json::{Value, json};
use std::sync::Arc;

/// Has the pictures whose digests begin with a number below this.
#[derive(Debug)]
struct Keeper(u8);

impl PictureKeeper for Keeper {
    fn keep(&self, _: &[u8]) -> Result<Digest, PictureError> {
        Err(PictureError { attempted: "keep".into(), found: "it is a test".into() })
    }

    fn bytes_of(&self, picture: &Picture) -> Result<Vec<u8>, PictureError> {
        let number = u8::from_str_radix(&picture.digest.to_string()[..2], 16).unwrap();
        if number >= self.0 {
            return Err(PictureError { attempted: "read".into(), found: "it is gone".into() });
        }
        Ok(vec![number; 3])
    }
}

fn picture(number: u8) -> Picture {
    let name = format!("{number}.png").into();
    Picture { digest: Digest::new([number; 32]), kind: PictureKind::Png, bytes: 3, width: 6, height: 4, name }
}

fn call(id: &str) -> Block {
    let arguments = Arguments::parse("{}").unwrap();
    Block::Call(ToolCall { id: CallId::new(id), name: "read_file".into(), arguments })
}

/// Two messages, one with two pictures; a round of two calls, both with a picture; a message.
fn conversation() -> Conversation {
    let mut conversation = Conversation::new();
    let messages = vec!["first".into(), UserMessage::new("second", vec![picture(1), picture(2)])];
    conversation.push_input(Input::new(messages).unwrap());
    let answer = Answer::new(vec![call("a"), call("b")]).unwrap();
    let result = |id, number| ToolResult::new(CallId::new(id), "told", false).with_pictures(vec![picture(number)]);
    conversation.push_round(Round::new(answer, vec![result("a", 3), result("b", 4)]).unwrap()).unwrap();
    conversation.push_input(Input::new(vec!["third".into()]).unwrap());
    conversation
}

fn request(model: &str, conversation: Conversation) -> LlmRequest {
    LlmRequest {
        purpose: Purpose::Turn,
        model: model.into(),
        system: "".into(),
        tools: Arc::from([]),
        conversation,
        max_output_tokens: 10,
        effort: None,
    }
}

async fn written(format: Format, model: &str, had: u8) -> Value {
    let pictures = Pictures { keeper: Some(Arc::new(Keeper(had))), ..Pictures::default() };
    let body = Writer::new(format, "").write_with_pictures(&request(model, conversation()), &pictures).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    body.get("messages").or_else(|| body.get("input")).unwrap().clone()
}

fn named(number: u8, why: &str) -> String {
    format!("[picture {number}.png: PNG 6x4; {why}]")
}

#[tokio::test]
async fn anthropic_takes_them_in_messages_and_in_results() {
    let image = |data| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let result = |id, data| {
        let text = json!({"type": "text", "text": "told"});
        json!({"type": "tool_result", "tool_use_id": id, "content": [text, image(data)]})
    };
    let mut second = json!({"type": "text", "text": "second"});
    let mut third = json!({"type": "text", "text": "third"});
    second["cache_control"] = json!({"type": "ephemeral"});
    third["cache_control"] = json!({"type": "ephemeral"});
    let use_of = |id| json!({"type": "tool_use", "id": id, "name": "read_file", "input": {}});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "first"}, image("AQEB"), image("AgIC"), second]},
        {"role": "assistant", "content": [use_of("a"), use_of("b")]},
        {"role": "user", "content": [result("a", "AwMD"), result("b", "BAQE"), third]},
    ]);
    assert_eq!(written(Format::Anthropic, "m", 9).await, expected);
}

#[tokio::test]
async fn responses_take_them_in_messages_and_in_outputs() {
    let image =
        |data| json!({"type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{data}")});
    let text = |text| json!({"type": "input_text", "text": text});
    let output =
        |id, data| json!({"type": "function_call_output", "call_id": id, "output": [text("told"), image(data)]});
    let body = written(Format::OpenAiResponses, "m", 9).await;
    let second = json!([text("first"), image("AQEB"), image("AgIC"), text("second")]);
    assert_eq!(body[0], json!({"type": "message", "role": "user", "content": second}));
    assert_eq!(body[3], output("a", "AwMD"));
    assert_eq!(body[4], output("b", "BAQE"));
    assert_eq!(body[5], json!({"type": "message", "role": "user", "content": [text("third")]}));
}

#[tokio::test]
async fn chat_takes_them_in_messages_of_the_user_after_all_results() {
    let image = |data| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let body = written(Format::OpenAiChat, "m", 9).await;
    let both = json!([image("AQEB"), image("AgIC"), text("first\n\nsecond")]);
    assert_eq!(body[0], json!({"role": "user", "content": both}));
    let tool = |id| json!({"role": "tool", "tool_call_id": id, "content": "told"});
    assert_eq!((&body[2], &body[3]), (&tool("a"), &tool("b")));
    let told = "[pictures of the tool results above, in order: 3.png, 4.png]";
    let parts = json!([image("AwMD"), image("BAQE"), text(told), text("third")]);
    assert_eq!(body[4], json!({"role": "user", "content": parts}));
    assert_eq!(body.as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_model_without_pictures_reads_their_names() {
    let why = "not sent: the model takes no pictures";
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses] {
        let body = written(format, "o3-mini", 9).await.to_string();
        for number in 1..=4 {
            assert!(body.contains(&named(number, why)), "{body}");
        }
        assert!(!body.contains("base64") && !body.contains("image_url"), "{body}");
    }
    let chat = written(Format::OpenAiChat, "o3-mini", 9).await;
    let expected = format!("first\n\nsecond\n{}\n{}", named(1, why), named(2, why));
    assert_eq!(chat[0]["content"], expected, "and no list of parts");
}

#[tokio::test]
async fn a_picture_that_is_gone_is_named_and_the_others_go() {
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses] {
        let body = written(format, "m", 2).await.to_string();
        assert!(body.contains("AQEB") && !body.contains("AgIC"), "{body}");
        assert!(body.contains(&named(2, "not sent: it is gone")), "{body}");
    }
}

#[tokio::test]
async fn a_request_begins_with_the_bytes_of_the_one_before() {
    let pictures = Pictures { keeper: Some(Arc::new(Keeper(9))), ..Pictures::default() };
    for format in [Format::OpenAiChat, Format::OpenAiResponses] {
        let writer = Writer::new(format, "");
        let mut conversation = conversation();
        let before = writer.write_with_pictures(&request("m", conversation.clone()), &pictures).await.unwrap();
        conversation.push_answer(Answer::new(vec![Block::Text("so".into())]).unwrap()).unwrap();
        conversation.push_input(Input::new(vec![UserMessage::new("fourth", vec![picture(5)])]).unwrap());
        let after = writer.write_with_pictures(&request("m", conversation), &pictures).await.unwrap();
        let common = before.len() - 2;
        assert_eq!(before[..common], after[..common], "{format:?}");
    }
}
