//! The runner as a host sees it: scripted model, fake tools, and time that moves only when nothing else can.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod approvals;
mod big_journals;
mod bound;
mod bound_resume;
mod cancel;
mod crash_points;
mod crowd;
mod durability;
mod example;
mod hooks;
mod imported;
mod input;
mod jobs;
mod journal_damage;
mod journal_files;
mod journal_order;
mod limits;
mod lives;
mod only_loop;
mod purity;
mod redaction;
mod resume;
mod retry;
mod scenarios;
mod scenes;
mod session_index;
mod support;
mod tools;
mod turn;
mod user_hooks;
