//! The words of the session's scenarios, for walks.

#[path = "../session/scenario/hook_words.rs"]
mod hook_words;
#[path = "../session/scenario/script.rs"]
#[expect(dead_code, reason = "walks need less than scenarios and pairs")]
pub(crate) mod script;
#[path = "../session/scenario/show.rs"]
#[expect(dead_code, reason = "walks show nothing")]
mod show;
