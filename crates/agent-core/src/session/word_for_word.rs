//! What stays word for word when the conversation is summarised: the task, in the user's words, and results of tools that say where the
//! work stands or how it is to be done.

use super::compaction::FILLER;
use super::{KeptResults, Summaries};
use crate::conversation::{Conversation, Item, KeptResult, cut as clip};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Both oldest first.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) said: Vec<String>,
    pub(super) results: Vec<KeptResult>,
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
    Kept { said: older.chain(newest).collect(), results }
}

/// What stays word for word are texts: pictures are named in them.
fn without_pictures(item: &Arc<Item>) -> Arc<Item> {
    item.with_pictures_named("not sent again after the summary").map_or_else(|| Arc::clone(item), Arc::new)
}

/// What the user said in an item.
fn said_in(item: &Item) -> Vec<&str> {
    match item {
        Item::Input(input) => input.texts(),
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
