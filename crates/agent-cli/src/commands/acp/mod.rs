//! `agent acp`: sessions for an editor, over the Agent Client Protocol on standard input and output. Nothing else is written to standard
//! output.

mod host;
mod insight;
mod kept;
mod live;

use crate::commands::args::Acp;
use crate::commands::task::Patient;
use crate::config::options::Options;
use crate::failure::Failure;
use crate::screen::signals::{self, Signal};
use crate::screen::terminal::{self, put_json};
use crate::screen::unread;
use agent_acp::Output;
use host::EditorHost;
pub(crate) use insight::CallInsight;
use std::io::BufReader;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Serves until the editor is gone or a signal comes, and returns the exit code.
pub(crate) async fn run(Acp { options }: Acp) -> Result<u8, Failure> {
    refuse_misplaced(&options)?;
    let mut signals = signals::listen()?;
    let (stop, stops) = mpsc::unbounded_channel();
    let host = Arc::new(EditorHost::new(options));
    let serving = agent_acp::serve(BufReader::new(Patient::stdin()), Arc::new(Standard), host, stops);
    let mut serving = std::pin::pin!(serving);
    let mut signalled: Option<Signal> = None;
    let mut gone = std::pin::pin!(terminal::lost());
    let mut is_gone = false;
    let served = loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => {
                match signalled.replace(signal) {
                    None => unread::signalled(),
                    Some(_) => unread::leave_at_once(),
                }
                let _ = stop.send(());
            }
            () = &mut gone, if !is_gone => {
                is_gone = true;
                let _ = stop.send(());
            }
            served = &mut serving => break served,
        }
    };
    if signalled.is_none() {
        // An editor that has closed its end may have stopped reading, too.
        unread::reader_leaves();
    }
    served.map_err(|error| Failure::internal(format!("cannot read standard input: {error}")))?;
    Ok(signalled.map_or(0, |signal| signal.failure().code))
}

/// Options that say something of one session, or of what is printed: the editor says the one, and the protocol the other.
fn refuse_misplaced(options: &Options) -> Result<(), Failure> {
    let given = [
        (options.directory.is_some(), "-C"),
        (options.continue_newest, "--continue"),
        (options.session_id.is_some(), "--session-id"),
        (options.fork_session, "--fork-session"),
        (options.no_session, "--no-session"),
        (options.output_format.is_some(), "--output-format"),
        (options.include_partial_messages, "--include-partial-messages"),
        (options.plain, "--plain"),
        (options.record.is_some(), "--record"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Failure::usage(format!(
            "`{option}` does not belong to `agent acp`: the editor says which sessions there are and where they work"
        ))),
        None => Ok(()),
    }
}

/// Standard output, which a thread writes as fast as the editor reads. Models wait for it.
struct Standard;

impl Output for Standard {
    fn line(&self, line: &str) {
        // That it is lost is seen where the editor is waited for.
        let _ = put_json(line);
    }

    fn has_room(&self) -> bool {
        !terminal::is_behind()
    }
}
