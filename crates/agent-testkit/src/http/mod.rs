//! A scripted model behind a real HTTP server on loopback.
//!
//! ```text
//! POST /v1/messages           Anthropic Messages, streamed
//! POST /v1/chat/completions   OpenAI Chat Completions, streamed
//! POST /v1/responses          OpenAI Responses, streamed
//! GET  /v1/models             one list that clients of all understand
//! ```
//!
//! All wire formats are answered from one script of [`Step`]s. Before a step is used, the request is checked as strictly as the real
//! service would (see [`ScriptedServer::violations`]): a client that passes here does not brick a session there.
//!
//! Absent on purpose: TLS, HTTP/2, keys (any or none will do), answers that are not streamed.

mod anthropic;
mod anthropic_rules;
mod body;
mod openai;
mod openai_rules;
mod picture_rules;
mod record;
mod respond;
mod responses;
mod responses_rules;
mod schema;
mod server;
mod step;

pub use record::RecordedRequest;
pub use server::ScriptedServer;
pub use step::Step;
