//! What is sent to be summarised: without thinking, and with results clipped to the model's window.

use agent_check::session::Script;
use agent_core::conversation::{Block, Item};
use agent_core::llm::{LlmResponse, Purpose, ResponseBlock};
use agent_core::session::{Action, Event};

fn summarised(actions: &[Action]) -> Vec<Item> {
    let request = actions.iter().find_map(|action| match action {
        Action::SendLlmRequest { request, .. } if request.purpose == Purpose::Compaction => Some(request),
        _ => None,
    });
    request.unwrap().conversation.iter().map(|item| item.as_ref().clone()).collect()
}

#[test]
fn thinking_is_left_out_and_words_stay() {
    let mut script = Script::default();
    let actions = script.play(&["input go"]);
    let Action::SendLlmRequest { ticket, .. } = &actions[0] else { panic!("{actions:?}") };
    let thinking = ResponseBlock::Thinking { text: "hm".into(), signature: Some("s".into()) };
    let mut response = LlmResponse::text("these are the words");
    response.blocks.insert(0, thinking);
    let _ = script.session.step(0, Event::LlmCompleted { ticket: *ticket, response }).unwrap();
    let sent = summarised(&script.play(&["compact"]));
    let Item::Answer(answer) = &sent[1] else { panic!("{sent:?}") };
    assert_eq!(answer.blocks(), [Block::Text("these are the words".into())]);
}

#[test]
fn long_results_are_clipped_to_their_share_of_the_window() {
    let mut script = Script::default();
    let sent = summarised(&script.play(&[
        "config window=1000",
        "input go",
        "answer calls read{}",
        "prepared",
        "tool 1 ok long=5000",
        "answer done",
        "compact",
    ]));
    let Item::Round(round) = &sent[1] else { panic!("{sent:?}") };
    // About three bytes a token, shared by one result, three items and what comes back.
    assert_eq!(round.results()[0].content(), format!("{}\n[4400 bytes left out]", "x".repeat(600)));
}
