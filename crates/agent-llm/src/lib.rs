//! Model providers: the [`LlmProvider`](agent_types::ports::LlmProvider) port over HTTP.
//!
//! | Provider | Speaks | And whatever speaks it too |
//! |---|---|---|
//! | [`AnthropicProvider`] | Anthropic Messages, dialect `anthropic` | llama-server, gateways |
//! | [`OpenAiProvider`] | OpenAI Chat Completions, dialect `openai` | Ollama, llama-server, vLLM, OpenRouter, Mistral, Groq, DeepSeek, … |
//! | [`OpenAiResponsesProvider`] | OpenAI Responses, dialect `openai-responses` | llama-server, OpenRouter, … |
//! | [`ReplayProvider`] | whatever a [`Cassette`] was recorded in | no network: what a [`Recorder`] wrote |
//!
//! The way of one model call:
//!
//! ```text
//! LlmRequest ──body──▶ bytes ──http──▶ response ──sse──▶ events ──answer──▶ deltas, then the whole answer
//!             (history items are serialised once)  └── status ≠ 200 ──failure──▶ LlmError
//! ```
//!
//! 1. A provider sends a request once. It classifies failures and never repeats a request: retrying is the session's decision.
//! 2. An answer that was cut is an error, never a finished answer; a tool call that was cut is never marked complete.
//! 3. No error text and no `Debug` output carries the key, also when the server sends it back.
//! 4. Everything that comes from the network has a limit, in bytes and in time.
//!
//! Calls are made in a tokio runtime with I/O and timers (`enable_all`); elsewhere tokio panics.
//!
//! Absent on purpose: retries, prices, sampling parameters, and any knowledge of the machine.

extern crate alloc;

mod anthropic;
#[doc(hidden)]
pub mod bench;
mod cassette;
mod client;
mod config;
mod failure;
mod format;
mod frame;
mod history;
mod intake;
mod known;
mod messages;
mod models;
mod opaque;
mod openai;
mod pictures;
mod reader;
mod replay;
mod responses;
#[cfg(test)]
mod sample;
mod seam;
mod secret;
pub mod sse;
mod wire;

pub use anthropic::AnthropicProvider;
pub use cassette::{Asked, Cassette, CassetteError, Matching, Recorder};
pub use client::http_client;
pub use config::{ConfigError, ProviderConfig, Server, Timeouts, WaitSettings};
pub use format::Format;
pub use known::KnownModel;
pub use openai::OpenAiProvider;
pub use pictures::Pictures;
pub use replay::ReplayProvider;
pub use responses::OpenAiResponsesProvider;
