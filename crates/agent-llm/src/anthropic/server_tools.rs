//! Calls of the server's own tools. Most are in an answer with their result; one that a cut or a pause left without it is refused in any
//! request but the one that continues the answer.

use super::DIALECT;
use super::wire::OpaqueIn;
use agent_types::conversation::Block;
use agent_types::llm::ResponseBlock;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The blocks of an answer that nothing continues: without the calls that have no result, and without thinking that led to nothing else.
pub(super) fn closed(blocks: &[Block]) -> Vec<&Block> {
    let jsons = || blocks.iter().filter_map(json_of);
    let open = open_calls(jsons());
    let mut kept: Vec<&Block> = blocks.iter().collect();
    if open.is_empty() {
        return kept;
    }
    kept.retain(|block| json_of(block).is_none_or(|json| !is_one_of(json, &open)));
    // An answer must not end with thinking.
    while let Some(Block::Thinking { .. } | Block::RedactedThinking { .. }) = kept.last() {
        kept.pop();
    }
    kept
}

/// Takes the calls that have no result out of an answer that was cut.
pub(super) fn drop_open(blocks: &mut Vec<ResponseBlock>) {
    let json_of = |block: &ResponseBlock| match block {
        ResponseBlock::Opaque { dialect, json } if dialect == DIALECT => Some(json.clone()),
        _ => None,
    };
    let jsons: Vec<String> = blocks.iter().filter_map(json_of).collect();
    let open = open_calls(jsons.iter().map(String::as_str));
    if !open.is_empty() {
        blocks.retain(|block| json_of(block).is_none_or(|json| !is_one_of(&json, &open)));
    }
}

fn json_of(block: &Block) -> Option<&str> {
    match block {
        Block::Opaque { dialect, json } if dialect == DIALECT => Some(json),
        _ => None,
    }
}

/// The ids of the calls that no result names.
fn open_calls<'a>(jsons: impl Iterator<Item = &'a str>) -> BTreeSet<Cow<'a, str>> {
    let (mut calls, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for head in jsons.filter_map(head_of) {
        if is_call(&head) {
            calls.extend(head.id);
        }
        answered.extend(head.tool_use_id);
    }
    calls.retain(|id| !answered.contains(id));
    calls
}

fn is_one_of(json: &str, open: &BTreeSet<Cow<'_, str>>) -> bool {
    head_of(json).is_some_and(|head| is_call(&head) && head.id.is_some_and(|id| open.contains(&id)))
}

fn is_call(head: &OpaqueIn<'_>) -> bool {
    head.r#type.ends_with("_tool_use")
}

fn head_of(json: &str) -> Option<OpaqueIn<'_>> {
    serde_json::from_str(json).ok()
}
