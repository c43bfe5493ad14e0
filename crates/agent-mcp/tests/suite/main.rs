//! Servers as processes: what they should do, and what they should not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod asked;
mod calls;
mod found;
mod hostile;
mod http;
mod life;
mod login;
mod offers;
mod support;
mod trusted;

/// This program is the server, too, where it is started as one.
#[ctor::ctor]
fn serve() {
    agent_testkit::mcp::serve_if_asked();
}
