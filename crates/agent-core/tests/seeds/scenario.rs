//! The words of the session's scenarios, for walks.

#[path = "../session/scenario/script.rs"]
#[expect(dead_code, reason = "walks need less than scenarios and pairs")]
pub(crate) mod script;
#[path = "../session/scenario/show.rs"]
#[expect(dead_code, reason = "walks show nothing")]
mod show;
#[path = "../session/scenario/tables.rs"]
#[expect(dead_code, reason = "walks take the real table")]
mod tables;
