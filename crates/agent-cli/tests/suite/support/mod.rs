//! What every test needs: a scripted model, a scratch home, and the program as a process that cannot hang a test.

mod editor;
mod model;
mod others;
mod process;
mod program;
mod sandboxes;
mod scratch;

pub(crate) use editor::{Editor, said, updates};
pub(crate) use model::{Model, Wire};
pub(crate) use others::of_others;
pub(crate) use process::{Ended, HANG, Running, eventually, lives};
pub(crate) use program::Program;
pub(crate) use sandboxes::{has_any_sandbox, has_bubblewrap};
pub(crate) use scratch::{PROGRAM_COPY, Scratch, program, without_programs};
