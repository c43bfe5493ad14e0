//! The line editor of the prompt: keys in, rows out. It reads no terminal and writes to none, so tests play it without one.
//!
//! 1. [`Line`](line::Line) is the text and the cursor: a row of cells, each a letter as people count them, or a paste.
//! 2. [`Editor`](editor::Editor) is what keys mean: editing, history, search, completion.
//! 3. [`layout`] makes rows of a width of it.
//!
//! What is shown is what is sent: a cell that a terminal would act on is shown as `\u{…}`, and a long paste as a placeholder that counts
//! its lines.

pub(crate) mod ahead;
pub(crate) mod completion;
pub(crate) mod editor;
pub(crate) mod history;
pub(crate) mod layout;
pub(crate) mod line;
mod search;
#[cfg(test)]
mod tests;
pub(crate) mod vi;
