//! `agent sessions gc`: old sessions are removed for good, with what is kept beside them.
//!
//! ```text
//! sessions -> plan (which would go, by age, number and size) -> those in use and unreadable ones stay -> shown -> a yes -> removed
//! ```
//!
//! A session that was used after it was shown stays. One that cannot be removed does not keep the others from it.

mod plan;

use super::args::Gc;
use super::list::{age, shown as named, size};
use super::{failed, write};
use crate::config::project::working_directory;
use crate::config::settings::users_config;
use crate::failure::Failure;
use crate::screen::confirm::confirmed;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, is_watched, one_line, say};
use crate::session::kept::{all_stores, store};
use agent_runner::journal::{Reader, Said, SessionInfo, SessionStore};
use plan::{Fate, Known, Policy, fates};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::SystemTime;

/// Exit code 0 when everything went that was to go, or was only shown; 1 when something is left, or the answer was no.
pub(super) fn gc(arguments: &Gc) -> Result<u8, Failure> {
    let stores = match arguments.all {
        true => all_stores()?,
        false => vec![store(&working_directory(arguments.place.directory.as_deref())?)?],
    };
    let policy = policy(arguments)?;
    let sessions = sessions(&stores)?;
    let planned = Planned::of(&sessions, &policy);
    let (going, kept) = planned.checked();
    write(&shown(&going))?;
    for (session, why) in &kept {
        say(&format!("agent: kept although it would go: {}: {}", inline(&session.id), one_line(why, 300)));
    }
    let named = planned.for_their_names;
    if named > 0 {
        say(&format!("agent: kept for their names: {}; `--named` removes them, too", counted(named as u64, "session")));
    }
    let (all, goes) = (counted(sessions.len() as u64, "session"), going.len());
    if going.is_empty() {
        say(&format!("agent: {all}, and none is to be removed"));
        return Ok(0);
    }
    let question = format!("{goes} of {all} to be removed for good, {}", size(bytes(&going)));
    if !arguments.yes {
        if !std::io::stdin().is_terminal() || !is_watched() {
            say(&format!("agent: {question}; nothing was removed: `--yes` removes them"));
            return Ok(0);
        }
        let answer = confirmed(&format!("agent: {question}. Remove them?"));
        if !answer.map_err(|error| Failure::internal(format!("cannot read the answer: {error}")))? {
            say("agent: nothing was removed");
            return Ok(1);
        }
    }
    Ok(remove(&going))
}

/// What `agent sessions gc --all` would free, without a look into the journals, in a line for `agent doctor`.
pub(crate) fn outlook() -> Result<String, Failure> {
    let stores = all_stores()?;
    let sessions = sessions(&stores)?;
    let planned = Planned::of(&sessions, &configured()?);
    let all: u64 = sessions.iter().map(|of| of.bytes).sum();
    let kept = format!("{} kept, {}", counted(sessions.len() as u64, "session"), size(all));
    let going = &planned.going;
    Ok(match going.len() {
        0 => kept,
        goes => format!("{kept}; `agent sessions gc --all` would remove {goes} of them, {}", size(bytes(going))),
    })
}

/// As the options say, and where they say nothing, as the configuration does.
fn policy(arguments: &Gc) -> Result<Policy, Failure> {
    let takes_named = arguments.named;
    if arguments.older_than.is_none() && arguments.keep.is_none() && arguments.max_size.is_none() {
        return Ok(Policy { takes_named, ..configured()? });
    }
    Ok(Policy {
        older_than_ms: arguments.older_than.map(|age| age.0),
        keep: arguments.keep,
        max_bytes: arguments.max_size.map(|size| size.0),
        takes_named,
    })
}

/// As the configuration says. A size alone is no limit on the age.
fn configured() -> Result<Policy, Failure> {
    let config = users_config()?.sessions;
    let days = config.keep_days.or(config.max_size.is_none().then_some(KEPT_DAYS));
    let older_than_ms = days.map(|days| u64::from(days) * 24 * 3_600_000);
    Ok(Policy { older_than_ms, max_bytes: config.max_size.map(|size| size.0), ..Policy::default() })
}

/// A session, and where it is kept.
struct Of<'a> {
    store: &'a SessionStore,
    directory: usize,
    session: SessionInfo,
    /// Of all that would go with it.
    bytes: u64,
    said: Said,
}

fn sessions(stores: &[SessionStore]) -> Result<Vec<Of<'_>>, Failure> {
    let mut sessions = Vec::new();
    for (directory, store) in stores.iter().enumerate() {
        let listed = store.newest_said(usize::MAX, true).map_err(|error| failed(&error))?.sessions;
        let of =
            |(session, said): (SessionInfo, Said)| Of { store, directory, bytes: session.kept_bytes(), session, said };
        sessions.extend(listed.into_iter().map(of));
    }
    Ok(sessions)
}

/// What the limits come to.
struct Planned<'a> {
    going: Vec<&'a Of<'a>>,
    /// How many would go, had they no name.
    for_their_names: usize,
}

impl<'a> Planned<'a> {
    fn of(sessions: &'a [Of<'a>], policy: &Policy) -> Self {
        let now = SystemTime::now();
        let known = sessions.iter().map(|of| Known {
            directory: of.directory,
            age_ms: now
                .duration_since(of.session.modified)
                .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
            bytes: of.bytes,
            is_named: of.store.name(&of.session.id).is_some(),
        });
        let fates = fates(&known.collect::<Vec<_>>(), policy);
        let of_fate = |wanted: Fate| sessions.iter().zip(&fates).filter(move |(_, fate)| **fate == wanted);
        Self {
            going: of_fate(Fate::Goes).map(|(of, _)| of).collect(),
            for_their_names: of_fate(Fate::StaysForItsName).count(),
        }
    }

    /// Those that can go, and those that stay although they would go, with the reason.
    fn checked(&self) -> (Vec<&'a Of<'a>>, Vec<(&'a SessionInfo, String)>) {
        let (mut going, mut kept) = (Vec::new(), Vec::new());
        for of in &self.going {
            match obstacle(of) {
                None => going.push(*of),
                Some(why) => kept.push((&of.session, why)),
            }
        }
        (going, kept)
    }
}

/// Why a session is not removed by the way: a process works in it, or what is in it is not known.
fn obstacle(of: &Of<'_>) -> Option<String> {
    match of.store.is_in_use(&of.session.id) {
        Ok(false) => {}
        Ok(true) => return Some(String::from("it is in use")),
        Err(error) => return Some(format!("cannot {error}")),
    }
    let read = Reader::open(&of.session.path).and_then(|mut records| records.try_for_each(|record| record.map(drop)));
    read.err().map(|error| format!("cannot {error}; `agent sessions rm {}` removes it", of.session.id))
}

fn shown(going: &[&Of<'_>]) -> String {
    let mut out = String::new();
    for Of { store, session, said, bytes, .. } in going {
        let words = if let Said::Words(words) = said { words } else { "(no message)" };
        let words = named(store.name(&session.id).as_deref(), words);
        let (when, size) = (age(session.modified), size(*bytes));
        let _ = writeln!(out, "{:<24} {when:>9} {size:>9}  {words}", inline(&session.id));
    }
    out
}

fn bytes(going: &[&Of<'_>]) -> u64 {
    going.iter().map(|of| of.bytes).sum()
}

/// Removes them, and says what is left.
fn remove(going: &[&Of<'_>]) -> u8 {
    let (mut removed, mut freed, mut left) = (0_u64, 0, 0_u64);
    for Of { store, session, bytes, .. } in going {
        let why = match store.remove_unchanged(session) {
            Ok(true) => {
                removed += 1;
                freed += bytes;
                continue;
            }
            Ok(false) => String::from("it was used meanwhile"),
            Err(error) => format!("cannot {error}"),
        };
        left += 1;
        say(&format!("agent: not removed: {}: {}", inline(&session.id), one_line(&why, 300)));
    }
    let is_left = if left > 0 { format!(", {left} left") } else { String::new() };
    say(&format!("agent: removed {}, {}{is_left}", counted(removed, "session"), size(freed)));
    u8::from(left > 0)
}

/// How long sessions are kept where nothing is configured.
const KEPT_DAYS: u32 = 90;
