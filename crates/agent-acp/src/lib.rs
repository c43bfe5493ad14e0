//! A coding agent in an editor: sessions of [`agent_runner`] over the Agent Client Protocol, version 1.
//!
//! ```text
//! lines of the client --> wire --> server --> a task for each session --> Handle
//!                                                    ^                       |
//! lines for the client <-- updates <-----------------+------- notices <------+
//! ```
//!
//! 1. A session's task alone writes what belongs to the session, in the order in which it happened. A prompt is answered behind all of its
//!    updates, also one that was cancelled.
//! 2. Whether an agent works is what its notices say. No phase is remembered here.
//! 3. Sessions do not wait for each other. What takes time has a task of its own.
//! 4. What the client may make the agent keep is bounded: lines, their length, how deep they are nested.
//! 5. A client that disappears leaves its sessions as they are: any other way of resuming them goes on with them.
//!
//! The crate knows the runner and the machines' types, and neither files nor configuration: a [`Host`] opens sessions.
//! The protocol: <https://agentclientprotocol.com>.

mod asking;
mod choices;
mod client;
mod content;
mod eliciting;
mod host;
mod lines;
mod params;
mod server;
mod session;
mod text;
mod updates;
mod wire;

pub use content::Prompt;
pub use host::{
    About, Change, Command, Elicitation, Elicited, Host, Insight, Kind, Listed, Live, McpReach, McpServer, Opened,
    Output, PlanEntry, Told, Wanted, Wants,
};
pub use lines::{Line, MAX_LINE_BYTES, WAITING_LINES, read_all as read_lines};
pub use wire::RpcError;

use client::Client;
use server::Server;
use std::io::{self, BufRead};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Serves a client until its input ends or something stops it. Every session is left as it is, and can be resumed. After a second stop
/// nothing is waited for.
///
/// # Errors
/// When the system gives no thread that reads.
pub async fn serve(
    input: impl BufRead + Send + 'static,
    output: Arc<dyn Output>,
    host: Arc<dyn Host>,
    mut stops: mpsc::UnboundedReceiver<()>,
) -> io::Result<()> {
    let (sender, mut lines) = mpsc::channel(WAITING_LINES);
    std::thread::Builder::new().name(String::from("agent-client")).spawn(move || read_lines(input, &sender))?;
    let server = Server::new(host, Arc::new(Client::new(output)));
    loop {
        tokio::select! {
            biased;
            Some(()) = stops.recv() => break,
            line = lines.recv() => match line {
                Some(line) => server.line(line),
                None => break,
            },
        }
    }
    tokio::select! {
        () = server.leave() => {}
        Some(()) = stops.recv() => {}
    }
    Ok(())
}
