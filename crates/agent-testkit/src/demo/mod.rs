//! What `agent demo` shows: a small repository with a bug, a scripted model that mends it, and the check that it is mended.
//!
//! ```text
//! create_repository   a real git repository: a bug in two places of one file, and the user's own unfinished work beside it
//! script              seven answers: run the tests, read and search, edit, tests still fail, edit, tests pass, report
//! verify              looks at what is really there: runs the tests again, compares files and commits
//! ```
//!
//! Needed on the machine: `git`, `sh`, `rustc` and the linker that it uses. With `rustfmt` the formatter has work to do, because the
//! first edit leaves a badly formatted line; without it everything else works ([`DemoRepository::rustfmt`] says which).
//!
//! Everything here but [`script`] blocks its thread while programs run, for about a second.

mod programs;
mod repository;
mod script;
mod verdict;

pub use repository::{DemoRepository, create_repository};
pub use script::{PROMPT, script};
pub use verdict::{DemoVerdict, verify};
