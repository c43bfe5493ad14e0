//! What happens to a session without being asked for, all of it here: how its line is read and written, which lines are tried, and what
//! bounds it where everything is tried. An answer has its words in `read.rs`, `write.rs` and `alphabet.rs`.

use super::alphabet::Way;
use super::config::{limit_words, limits, of_words};
use super::read::Reader;
use crate::notation::{Unreadable, pair, parsed};
use agent_core::session::{Event, LeftCall, Session, Ticket};

/// Every command, with every difference in its data that a guard looks at.
pub const COMMANDS: &[&str] = &[
    "start",
    "input more",
    "input \" \"",
    "follow-up 700 more",
    "follow-up 700 \" \"",
    "later more",
    "later \" \"",
    "withdraw more",
    "withdraw less",
    "raise",
    "raise model-calls=1000 tool-calls=1000",
    "raise wall-ms=500000",
    "raise wall-ms=none",
    "reconfigure",
    "reconfigure fallback=third retries=0",
    "compact",
    "cancel",
    "leave",
    "shutdown",
    "resumed",
    "resumed begun lost=RUNNING",
    "resumed unbegun=RUNNING",
    "resumed begun reads=RUNNING",
];

/// Those that bring a message or take one back. `NEW` stands for a message that was never sent, `WAITING` for one that waits to go out.
pub const MESSAGES: &[&str] = &["input NEW", "later NEW", "withdraw WAITING"];

/// The ways of a message: a few of them tell all.
pub const MESSAGE_WAYS: [&str; 2] = ["input", "message for later"];

/// What a user may do where a session that is started stands, for a way to every row.
pub(super) const BY_THE_USER: &[Way] = &[
    (MESSAGE_WAYS[0], "input look at this file and at that one"),
    (MESSAGE_WAYS[1], "later look at this file and at that one"),
    ("message withdrawn", "withdraw look at this file and at that one"),
    ("raise limits", "raise wall-ms=90000 model-calls=none tool-calls=none repetitions=none"),
    ("reconfigure", "reconfigure same"),
    ("compact", "compact"),
    ("cancel", "cancel"),
    ("leave", "leave"),
    ("shut down", "shutdown"),
    ("resumed", "resumed"),
];

/// What bounds a command where everything is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Messages that are sent.
    Messages,
    /// Limits that are raised.
    Raises,
    /// Configurations that are given.
    Changes,
    /// Summaries that are asked for.
    Summaries,
    /// Turns that are stopped.
    Cancels,
    /// Sessions that are ended.
    Ends,
    /// Programs that end.
    Deaths,
}

/// What bounds an event; nothing bounds answers, and what ends by itself.
pub(crate) fn bound(event: &Event) -> Option<Bound> {
    Some(match event {
        event if event.message().is_some() => Bound::Messages,
        Event::BudgetRaised { .. } => Bound::Raises,
        Event::Reconfigured { .. } => Bound::Changes,
        Event::CompactionRequested | Event::FocusedCompactionRequested { .. } => Bound::Summaries,
        Event::CancelRequested => Bound::Cancels,
        Event::ShutdownRequested | Event::LeaveRequested => Bound::Ends,
        Event::SessionResumed { .. } => Bound::Deaths,
        _ => return None,
    })
}

/// One of the [`MESSAGES`] that a number chooses, with this text; where none waits, one that was never sent is taken back.
///
/// # Panics
/// When the text makes no line.
pub fn message(choice: u8, new: &str, session: &Session) -> Event {
    let line = MESSAGES[usize::from(choice) % MESSAGES.len()];
    let line = spelt(line, new, session).pop().unwrap_or_else(|| line.to_owned());
    super::event(&line, Ticket(0), session).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// One of the [`MESSAGES`] as lines: with the new text, or once for each message that waits.
pub(crate) fn spelt(line: &str, new: &str, session: &Session) -> Vec<String> {
    let (queued, after_turn) = session.waiting_input();
    if line.contains("NEW") {
        vec![line.replace("NEW", new)]
    } else {
        queued.iter().chain(after_turn).map(|text| line.replace("WAITING", text)).collect()
    }
}

/// Parses a line as a command; `None` if it is not one.
pub(super) fn read(reader: &Reader<'_>, verb: &str, rest: &str) -> Result<Option<Event>, Unreadable> {
    let text = || if rest.starts_with('"') { reader.first() } else { rest.to_owned() };
    Ok(Some(match verb {
        "start" => Event::Started,
        "input" => Event::UserInput { text: text().into() },
        "later" => Event::InputAfterTurn { text: text().into() },
        "withdraw" => Event::InputWithdrawn { text: text() },
        "follow-up" => {
            Event::FollowUp { used_ms: parsed(reader.word(0)?, "milliseconds")?, text: reader.word(1)?.to_owned() }
        }
        "reconfigure" if reader.words == ["same"] => {
            Event::Reconfigured { config: Box::new(reader.context.config.clone()) }
        }
        "reconfigure" => Event::Reconfigured { config: Box::new(of_words(reader.words)?) },
        "raise" => Event::BudgetRaised { limits: limits(reader.context.config.limits, reader.words)? },
        "compact" if rest.is_empty() => Event::CompactionRequested,
        "compact" => Event::FocusedCompactionRequested { focus: text() },
        "cancel" => Event::CancelRequested,
        "leave" => Event::LeaveRequested,
        "shutdown" => Event::ShutdownRequested,
        "resumed" => resumed(reader)?,
        _ => return Ok(None),
    }))
}

/// `resumed begun lost=1 unbegun=id:x reads=2`: what was in flight, and each call that was running.
fn resumed(reader: &Reader<'_>) -> Result<Event, Unreadable> {
    let (mut begun, mut calls) = (false, Vec::new());
    for word in reader.words {
        if *word == "begun" {
            begun = true;
            continue;
        }
        let (key, call) = pair(word)?;
        let (begun, only_reads) = match key {
            "lost" => (true, false),
            "unbegun" => (false, false),
            "reads" => (true, true),
            _ => return Err(Unreadable::new(word, "what became of a call")),
        };
        calls.push(LeftCall { call: reader.call(call)?, begun, only_reads });
    }
    Ok(Event::SessionResumed { begun, calls })
}

/// Writes a command as a line; `None` if the event is not a command. What the scenarios have no word for is a comment.
pub(super) fn written(event: &Event) -> Option<String> {
    Some(match event {
        // Every scenario begins with a session that was started.
        Event::Started => "# started".to_owned(),
        Event::UserInput { text } => format!("> input {text}"),
        Event::InputAfterTurn { text } => format!("> later {text}"),
        Event::InputWithdrawn { text } => format!("> withdraw {text}"),
        Event::FollowUp { text, used_ms } => format!("> follow-up {used_ms} \"{text}\""),
        Event::BudgetRaised { limits } => format!("> raise{}", limit_words(limits)),
        Event::Reconfigured { config } => {
            let models: String = config.models.iter().map(|model| format!(" {}", model.id)).collect();
            let limits = limit_words(&config.limits);
            format!("# a configuration is given:{models}{limits} (a scenario has no word for it)")
        }
        Event::CompactionRequested => "> compact".to_owned(),
        Event::FocusedCompactionRequested { focus } => format!("> compact {focus}"),
        Event::CancelRequested => "> cancel".to_owned(),
        Event::LeaveRequested => "> leave".to_owned(),
        Event::ShutdownRequested => "> shutdown".to_owned(),
        Event::SessionResumed { begun, calls } => format!("> resumed{}", left_words(*begun, calls)),
        _ => return None,
    })
}

fn left_words(begun: bool, calls: &[LeftCall]) -> String {
    let begun = if begun { " begun" } else { "" };
    let calls = calls.iter().map(|left| match (left.only_reads, left.begun) {
        (true, _) => format!(" reads=id:{}", left.call),
        (false, true) => format!(" lost=id:{}", left.call),
        (false, false) => format!(" unbegun=id:{}", left.call),
    });
    format!("{begun}{}", calls.collect::<String>())
}
