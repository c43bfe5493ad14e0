//! One run of a server: its process, if it has one here, and its connection, from the start to the end of both.

use super::authorized::Far;
use super::connection::Input;
use super::lines::Closed;
use super::process::{Log, Process};
use super::wire::{Described, Ear, Link, Talking, Wire};
use crate::ServerConfig;
use crate::servers::{Launched, Launcher};
use agent_core::server::Event;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// A server that takes calls.
pub(crate) struct Ready {
    pub(crate) talking: Talking,
    pub(crate) peer: Option<String>,
    pub(crate) tools: Vec<Described>,
}

/// Starts a server and stays with it until it has ended, by itself or because it is to: what happens goes into the inbox.
pub(super) async fn run(
    run: u32,
    config: ServerConfig,
    launcher: Arc<dyn Launcher>,
    log: Log,
    ear: Ear,
    inbox: mpsc::UnboundedSender<Input>,
    mut end: oneshot::Receiver<()>,
) {
    let tell = |event| drop(inbox.send(Input::Event(event)));
    let (mut life, connecting) = match begin(&config, launcher, &log, ear).await {
        Ok(begun) => begun,
        Err(found) => return tell(Event::StartFailed { run, found }),
    };
    let closed = connecting.closed.clone();
    let ready = tokio::select! {
        biased;
        ended = life.ended() => return tell(Event::Ended { run, found: ended }),
        _ = &mut end => {
            let found = life.end().await;
            return tell(Event::Ended { run, found });
        }
        ready = connecting.ready() => ready,
    };
    let wire = match ready {
        Ok((wire, tools)) => {
            let ready = Ready { talking: wire.to_peer(), peer: wire.peer(), tools };
            let _ = inbox.send(Input::Came(run, ready));
            Some(wire)
        }
        // One that ended by itself says more than that nothing came; one that is not wanted any more ends, too.
        Err(found) => match tokio::time::timeout(MOMENT, life.ended()).await {
            Ok(ended) => return tell(Event::Ended { run, found: format!("{found}; {ended}") }),
            Err(_) => {
                tell(Event::StartFailed { run, found });
                None
            }
        },
    };
    let found = tokio::select! {
        biased;
        ended = life.ended() => ended,
        _ = &mut end => {
            drop(wire);
            life.end().await
        }
        why = closed.closed(), if wire.is_some() => {
            drop(wire);
            let ended = life.end().await;
            why.map_or(ended, str::to_owned)
        }
    };
    tell(Event::Ended { run, found });
}

/// How long the end of a process may come after the end of its output.
const MOMENT: Duration = Duration::from_millis(500);

/// What of a server runs here.
pub(crate) enum Life {
    Program(Process),
    /// Nothing: it runs elsewhere, whatever becomes of the connection.
    Elsewhere,
}

impl Life {
    /// Resolves when the program has ended, with all that it started: how, in words.
    pub(crate) async fn ended(&mut self) -> String {
        match self {
            Self::Program(process) => process.ended().await,
            Self::Elsewhere => std::future::pending().await,
        }
    }

    /// Ends it: it has a moment to end by itself, and then it is ended.
    pub(crate) async fn end(&mut self) -> String {
        match self {
            Self::Program(process) => process.end().await,
            Self::Elsewhere => "the connection was closed".to_owned(),
        }
    }
}

/// A server that was started, before it is there.
pub(crate) struct Connecting {
    link: oneshot::Receiver<Link>,
    ear: Ear,
    roots: Vec<PathBuf>,
    pub(crate) closed: Closed,
}

impl Connecting {
    /// Agrees on the protocol and asks for the tools, however long that takes.
    pub(crate) async fn ready(self) -> Result<(Wire, Vec<Described>), String> {
        let Ok(link) = self.link.await else {
            // How it ended is known elsewhere.
            return std::future::pending().await;
        };
        let wire = Wire::connect(link, self.ear, self.closed, self.roots).await?;
        let tools = wire.to_peer().tools().await?;
        Ok((wire, tools))
    }
}

/// Starts the process; the sandbox for it is made first, which takes a moment, as does what checks certificates.
pub(crate) async fn begin(
    config: &ServerConfig,
    launcher: Arc<dyn Launcher>,
    log: &Log,
    ear: Ear,
) -> Result<(Life, Connecting), String> {
    let config = config.clone();
    let (made, roots) = (launcher.clone(), launcher.roots());
    let made = tokio::task::spawn_blocking(move || made.launch(&config)).await;
    let (life, link) = match made.map_err(|error| error.to_string())?? {
        Launched::Program(processes, command) => {
            let (process, link) = Process::start(processes, command, log.clone());
            (Life::Program(process), link)
        }
        Launched::Url(client, endpoint, account) => {
            let (sender, link) = oneshot::channel();
            // Nobody but this function has the receiver.
            let _ = sender.send(Link::Url(client, Far { endpoint, account }));
            (Life::Elsewhere, link)
        }
    };
    Ok((life, Connecting { link, ear, roots, closed: Closed::default() }))
}
