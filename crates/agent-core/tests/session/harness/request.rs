//! What holds of a history, which may end with anything; what providers demand of a request says `agent_check::request`.

use agent_core::conversation::{Answer, Block, Conversation, Item};
use std::collections::BTreeSet;

/// What every provider demands of the messages of a request, however odd the words in them are: user and model take turns, and the rest as
/// [`check_history`] says.
pub(crate) fn check_request(conversation: &Conversation) {
    let items: Vec<&Item> = conversation.iter().map(AsRef::as_ref).collect();
    assert!(
        matches!(items.first(), Some(Item::Input(_) | Item::Summary(_))),
        "a request begins with {:?}",
        items.first()
    );
    match items.last() {
        Some(Item::Input(_) | Item::Round(_) | Item::Summary(_)) => {}
        Some(Item::Answer(answer)) => assert!(answer.is_paused(), "a request ends with an answer"),
        None => panic!("an empty request"),
    }
    for pair in items.windows(2) {
        let two_answers = matches!(pair[0], Item::Answer(_)) && !matches!(pair[1], Item::Input(_));
        assert!(!two_answers, "two answers in a row");
    }
    check_history(conversation);
}

/// Nothing is empty, every call is answered once, in order, and has an id of its own and arguments that are an object.
pub(super) fn check_history(conversation: &Conversation) {
    let mut ids = BTreeSet::new();
    for item in conversation.iter() {
        match item.as_ref() {
            Item::Summary(summary) => assert!(summary.texts().all(|text| !text.trim().is_empty()), "{summary:?}"),
            Item::Input(input) => assert!(input.texts().iter().all(|text| !text.trim().is_empty()), "{input:?}"),
            Item::Answer(answer) => {
                check_answer(answer);
                assert_eq!(answer.calls().count(), 0, "calls without results");
            }
            Item::Round(round) => {
                check_answer(round.answer());
                let asked: Vec<_> = round.answer().calls().map(|call| &call.id).collect();
                let answered: Vec<_> = round.results().iter().map(|result| result.call()).collect();
                assert_eq!(asked, answered, "every call is answered once, in call order");
                assert!(round.results().iter().all(|result| !result.content().trim().is_empty()), "{round:?}");
                for call in round.answer().calls() {
                    assert!(ids.insert(call.id.clone()), "{} stands twice", call.id);
                    let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
                    assert!(arguments.is_object(), "{call:?}");
                }
            }
        }
    }
}

fn check_answer(answer: &Answer) {
    assert!(!answer.blocks().is_empty(), "an empty answer");
    let is_empty = |block: &Block| matches!(block, Block::Text(text) if text.is_empty());
    assert!(!answer.blocks().iter().any(is_empty), "an empty text: {answer:?}");
    let is_blank = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
    assert!(!answer.blocks().iter().all(is_blank), "an answer of blanks: {answer:?}");
}
