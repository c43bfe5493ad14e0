//! `agent sessions list`, and the sessions of which a person chooses one.

use super::args::List;
use super::explain::dollars;
use super::{failed, write, write_json};
use crate::failure::Failure;
use crate::screen::counted::usd;
use crate::screen::terminal::{inline, one_line, say};
use agent_core::job::time::rfc3339;
use agent_core::journal::Replayer;
use agent_runner::journal::{Newest, Reader, Said, SessionInfo, SessionStore};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A session of the list, in the names of the JSON form.
#[derive(Serialize)]
struct Listed {
    id: String,
    /// Nothing where it was given none.
    name: Option<String>,
    /// The first words; nothing where there is no message.
    words: Option<String>,
    /// Whether its journal can be read as far as the first words.
    is_readable: bool,
    /// When it was last written.
    modified: String,
    #[serde(skip)]
    modified_at: SystemTime,
    bytes: u64,
    /// Nothing where it is not known.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    cost_nano_usd: Option<u64>,
}

pub(super) fn list(arguments: &List) -> Result<u8, Failure> {
    let store = arguments.place.store()?;
    let newest = store.newest_said(arguments.number, arguments.all).map_err(|error| failed(&error))?;
    let listed = listed(&store, &newest);
    if arguments.json {
        let text = serde_json::to_string(&listed).map_err(Failure::internal)?;
        write_json(&format!("{text}\n"))?;
    } else {
        write(&listed.iter().map(Listed::line).collect::<String>())?;
    }
    let shown = newest.sessions.len();
    if newest.others > 0 {
        say(&format!("agent: {shown} of {} sessions; `-n` shows more", shown + newest.others));
    }
    if newest.empty > 0 {
        let empty = newest.empty;
        say(&format!("agent: not listed: {empty} without a message, which `--continue` skips; `--all` lists them"));
    } else if shown == 0 && newest.others == 0 {
        say("agent: there is no session for this directory");
    }
    Ok(0)
}

fn listed(store: &SessionStore, newest: &Newest) -> Vec<Listed> {
    let mut room = MOST_BYTES_FOR_COSTS;
    let listed = |(at, (session, said)): (usize, &(SessionInfo, Said))| {
        let is_read = at < MOST_COSTS && session.bytes <= room;
        room -= if is_read { session.bytes } else { 0 };
        Listed {
            id: session.id.clone(),
            name: store.name(&session.id),
            words: if let Said::Words(words) = said { Some(words.clone()) } else { None },
            is_readable: !matches!(said, Said::Unreadable),
            modified: rfc3339(since_epoch_ms(session.modified)),
            modified_at: session.modified,
            bytes: session.kept_bytes(),
            cost_nano_usd: if is_read { cost(&session.path) } else { None },
        }
    };
    newest.sessions.iter().enumerate().map(listed).collect()
}

/// What a session cost, where its journal can be read and every price is known.
fn cost(path: &Path) -> Option<u64> {
    let mut records = Reader::open(path).ok()?;
    let mut replayer = Replayer::new(records.next()?.ok()?).ok()?;
    for record in records {
        replayer.advance(record.ok()?).ok()?;
    }
    let ledger = replayer.session().ledger();
    let is_known = ledger.unpriced_calls == 0 && !replayer.session().has_open_cost();
    is_known.then_some(ledger.whole().cost_nano_usd)
}

impl Listed {
    fn line(&self) -> String {
        let words = match &self.words {
            Some(words) => words,
            None if self.is_readable => "(no message)",
            None => "(cannot be read; `agent sessions verify` says why)",
        };
        let shown = shown(self.name.as_deref(), words);
        // A session that cost nothing, and one of which it is not known, have none to show.
        let cost = match self.cost_nano_usd {
            Some(0) | None => String::from("-"),
            Some(nano) => match usd(nano).strip_prefix('<') {
                Some(least) => format!("<${least}"),
                None => format!("${}", usd(nano)),
            },
        };
        let (when, size) = (age(self.modified_at), size(self.bytes));
        format!("{:<24} {when:>9} {size:>9} {cost:>9}  {shown}\n", inline(&self.id))
    }
}

/// A session that can be chosen.
pub(crate) struct Choosable {
    pub(crate) id: String,
    /// The line that shows it, which also says whether it is in use.
    pub(crate) shown: String,
}

/// Sessions that can be resumed, the newest first.
pub(crate) fn sessions_to_choose(store: &SessionStore) -> Result<Vec<Choosable>, Failure> {
    let newest = store.newest_said(MOST_TO_CHOOSE, false).map_err(|error| failed(&error))?;
    let choosable = newest.sessions.into_iter().filter_map(|(session, said)| {
        let Said::Words(words) = said else { return None };
        let shown = shown(store.name(&session.id).as_deref(), &words);
        // One of which the system does not say it is said when it is opened.
        let is_in_use = store.is_in_use(&session.id).unwrap_or(false);
        let in_use = if is_in_use { "(in use) " } else { "" };
        let start = session.id.get(..SHORT_ID).unwrap_or(&session.id);
        let shown = format!("{:>8}  {start}  {in_use}{shown}", age(session.modified));
        Some((is_in_use, Choosable { shown, id: session.id }))
    });
    let mut choosable: Vec<_> = choosable.collect();
    // Those cannot be opened here.
    choosable.sort_by_key(|(is_in_use, _)| *is_in_use);
    Ok(choosable.into_iter().map(|(_, session)| session).collect())
}

/// Letters of an id that tell sessions of a directory apart.
const SHORT_ID: usize = 8;

/// By what a person knows a session: its name and its first words.
pub(super) fn shown(name: Option<&str>, words: &str) -> String {
    let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
    one_line(&format!("{name}{words}"), 80)
}

pub(super) fn age(modified: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(modified).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A number of bytes, in the unit in which it is short.
pub(super) fn size(bytes: u64) -> String {
    let mut out = String::new();
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let tenths = bytes / (unit / 10);
    let _ = write!(out, "{}.{} {name}", tenths / 10, tenths % 10);
    out
}

fn since_epoch_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A cost is summed from all records of a session: of so many sessions and bytes in one list, the newest first.
const MOST_COSTS: usize = 20;
const MOST_BYTES_FOR_COSTS: u64 = 64 * 1024 * 1024;
const MOST_TO_CHOOSE: usize = 200;

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short() {
        let shown = [0, 999, 1_000, 1_949, 999_999, 1_000_000, 2_500_000_000].map(size);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.9 kB", "999.9 kB", "1.0 MB", "2.5 GB"]);
    }
}
