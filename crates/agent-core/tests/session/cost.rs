//! What a step costs does not grow with what was said before: items are shared and never copied, and a request has few pointers of its own.

use agent_check::session::Script;
use agent_core::conversation::{Conversation, Item};
use agent_core::session::Action;
use std::sync::Arc;

/// The items themselves and not equal ones. Who holds an old one is the history, once, however many requests were made of it: a request
/// points at the newest few by itself, and at the others through one reference.
#[test]
fn a_request_shares_the_history_and_has_as_few_pointers_of_its_own_at_any_length() {
    let results = ["answer calls read{}", "prepared", "tool 1 ok x"];
    for length in [10, 100, 10_000] {
        let mut script = after(length);
        let history = script.session.conversation().clone();
        let requests = [&["input go"][..], &results, &results].map(|lines| asked(&script.play(lines)));
        let [first, second, third] = &requests;
        assert_eq!([second, third].map(Conversation::len), [first.len() + 1, first.len() + 2]);
        // Input is no history before it is answered: the newest item of the first request is its own.
        assert!(history.len() >= length && first.len() == history.len() + 1);
        assert!(is_beginning(&history, first) && is_beginning(&history, second), "{length} items");
        assert!(is_beginning(second, third) && is_beginning(third, script.session.conversation()), "{length} items");
        for request in &requests {
            let own = request.iter().filter(|item| Arc::strong_count(item) > 1).count();
            assert!(own <= OWN, "{own} pointers after {length} items");
        }
    }
}

/// Pointers that a request has of its own, as the conversation promises.
const OWN: usize = 16;

/// A session with so many items.
fn after(length: usize) -> Script {
    let mut script = Script::default();
    script.play(&["config window=1000000000"]);
    while script.session.conversation().len() < length {
        script.play(&["input go", "answer calls read{}", "prepared", "tool 1 ok x", "answer done"]);
    }
    script
}

fn asked(actions: &[Action]) -> Conversation {
    let request = actions.iter().find_map(|action| match action {
        Action::SendLlmRequest { request, .. } => Some(request),
        _ => None,
    });
    request.unwrap_or_else(|| panic!("{actions:?}")).conversation.clone()
}

/// Whether the longer one begins with the very items of the shorter one.
fn is_beginning(shorter: &Conversation, longer: &Conversation) -> bool {
    let is_same = |(one, other): (&Arc<Item>, &Arc<Item>)| Arc::ptr_eq(one, other);
    shorter.len() <= longer.len() && shorter.iter().zip(longer.iter()).all(is_same)
}
