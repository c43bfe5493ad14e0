//! The five earlier designs that the machines grew from, the seeds: what each of them draws and says is data here, held against the tables
//! and against runs of the real machines. `docs/seeds.md` is written from it; `INSTA_UPDATE=always` writes it anew.
//!
//! * [`seed`]: what a seed is, its projection, and the checks. [`data`]: the five seeds. [`page`]: the document.
//! * [`walks`]: events in few words, which walk an edge. [`held`]: what a seed says in sentences, each with its test;
//!   [`holders`]: that every test which is named for a sentence is there and runs.
//! * [`words`]: which triggers of ours a seed's event becomes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod data;
mod edges;
mod held;
mod holders;
mod page;
mod seed;
mod walks;
mod words;
