//! What stays word for word when the conversation is summarised: the task, in the user's words, and results of tools that say where the
//! work stands or how it is to be done.

use super::compaction::FILLER;
use super::{KeptResults, Summaries};
use crate::conversation::{Attachment, Author, Conversation, Item, KeptResult, Summary, cut as clip};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Each oldest first.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) said: Vec<String>,
    pub(super) results: Vec<KeptResult>,
    /// The files that went with messages, told without their texts: they are not the user's words.
    pub(super) attached: Vec<String>,
}

/// What of the items before the cut stays within so many bytes: the newest message, then results, the first message, and the other messages
/// from the newest on, each if there is room for all of it. Only the newest message is shortened.
pub(super) fn word_for_word(conversation: &Conversation, cut: usize, allowed: usize, config: &Summaries) -> Kept {
    if allowed == 0 {
        return Kept::default();
    }
    let items: Vec<Arc<Item>> = conversation.iter().take(cut).map(without_pictures).collect();
    let said: Vec<&str> = items.iter().flat_map(|item| said_in(item)).filter(|text| *text != FILLER).collect();
    let mut room = allowed;
    let mut takes = |bytes: usize| {
        let fits = bytes <= room;
        room -= if fits { bytes } else { 0 };
        fits
    };
    let newest = said.last().map(|text| clip(text, allowed / 2).unwrap_or_else(|| String::from(*text)));
    let newest = newest.filter(|text| takes(text.len()));
    let mut results = Vec::new();
    for result in named(&items, config).into_iter().rev() {
        if takes(result.bytes()) {
            results.push(result);
        }
    }
    results.reverse();
    let others = said.len().saturating_sub(1);
    let first_then_newest = (0..others.min(1)).chain((1..others).rev());
    let mut kept: Vec<usize> =
        first_then_newest.filter(|index| said.get(*index).is_some_and(|text| takes(text.len()))).collect();
    kept.sort_unstable();
    let older = kept.into_iter().filter_map(|index| said.get(index)).map(|text| String::from(*text));
    let mut attached = attached_in(&items);
    let mut heading = Summary::ATTACHED_HEADING_BYTES;
    attached.retain(|file| {
        let fits = takes(heading + Summary::FILE_FRAME_BYTES + file.len());
        heading = if fits { 0 } else { heading };
        fits
    });
    attached.reverse();
    Kept { said: older.chain(newest).collect(), results, attached }
}

/// What stays word for word are texts: pictures are named in them.
fn without_pictures(item: &Arc<Item>) -> Arc<Item> {
    item.with_pictures_named("not sent again after the summary").map_or_else(|| Arc::clone(item), Arc::new)
}

/// The files that went with messages, newest first, each once.
fn attached_in(items: &[Arc<Item>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for item in items.iter().rev() {
        let told: Vec<String> = match item.as_ref() {
            Item::Input(input) => {
                input.messages().iter().flat_map(|said| &said.attached).map(Attachment::told).collect()
            }
            Item::Summary(summary) => summary.attached().to_vec(),
            Item::Answer(_) | Item::Round(_) => Vec::new(),
        };
        for file in told.into_iter().rev() {
            if found.len() < MOST_FILES && !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found
}

/// What the user said in an item.
fn said_in(item: &Item) -> Vec<&str> {
    match item {
        Item::Input(input) => {
            let users = input.messages().iter().filter(|said| said.author == Author::User);
            users.map(|said| said.text.as_str()).collect()
        }
        Item::Summary(summary) => summary.said().iter().map(String::as_str).collect(),
        Item::Answer(_) | Item::Round(_) => Vec::new(),
    }
}

/// The results of the tools that are named, oldest first, each content once.
fn named(items: &[Arc<Item>], config: &Summaries) -> Vec<KeptResult> {
    let mut found: Vec<KeptResult> = Vec::new();
    let mut add = |tool: &str, content: &str| {
        let Some((name, which)) = config.kept_results.get_key_value(tool) else { return };
        found.retain(|kept| {
            kept.tool() != tool
                || match which {
                    KeptResults::Newest => false,
                    KeptResults::Each => kept.content() != content,
                }
        });
        found.push(KeptResult::new(name.clone(), content));
    };
    for item in items {
        match item.as_ref() {
            Item::Summary(summary) => summary.kept().iter().for_each(|result| add(result.tool(), result.content())),
            Item::Round(round) => {
                let results = round.answer().calls().zip(round.results()).filter(|(_, result)| !result.is_error());
                results.for_each(|(call, result)| add(&call.name, result.content()));
            }
            Item::Input(_) | Item::Answer(_) => {}
        }
    }
    found
}

/// Files that are told.
const MOST_FILES: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Input, UserMessage};
    use alloc::format;
    use alloc::vec;

    fn file(name: &str, text: &str) -> Attachment {
        Attachment { name: name.into(), part: "".into(), text: text.into() }
    }

    fn said(text: &str, files: Vec<Attachment>) -> UserMessage {
        UserMessage { attached: files.into(), ..text.into() }
    }

    fn conversation(messages: Vec<UserMessage>) -> Conversation {
        let mut conversation = Conversation::new();
        conversation.push_input(Input::new(messages).unwrap());
        conversation
    }

    #[test]
    fn only_what_the_user_wrote_stands_as_the_users_words() {
        let long = "text of the file\n".repeat(1_000);
        let messages = vec![
            said("look at @a", vec![file("a", &long)]),
            UserMessage::of_agent("[Instructions in /p/AGENTS.md hold:]"),
            said("and at @b, @a", vec![file("b", "one\n"), file("a", &long)]),
        ];
        let kept = word_for_word(&conversation(messages), 1, 1_000, &Summaries::default());
        assert_eq!(kept.said, ["look at @a", "and at @b, @a"]);
        assert_eq!(kept.attached, ["b (1 line)", "a (1000 lines)"]);
        let summary = Summary::new("s", "m", kept.said, kept.results).unwrap().with_attached(kept.attached);
        let mut again = Conversation::new();
        again.push_summary(summary);
        assert_eq!(word_for_word(&again, 1, 1_000, &Summaries::default()).attached, ["b (1 line)", "a (1000 lines)"]);
    }

    #[test]
    fn files_that_have_no_room_are_left_out_whole() {
        let files: Vec<Attachment> = (0..60).map(|number| file(&format!("file-{number}"), "x\n")).collect();
        let all = conversation(vec![said("see", files)]);
        let of = |allowed| word_for_word(&all, 1, allowed, &Summaries::default()).attached;
        assert_eq!(of(100_000).len(), MOST_FILES);
        let one = "see".len() + Summary::ATTACHED_HEADING_BYTES + Summary::FILE_FRAME_BYTES + "file-59 (1 line)".len();
        assert_eq!(of(one), ["file-59 (1 line)"]);
        assert_eq!(of(one - 1), [""; 0]);
    }
}
