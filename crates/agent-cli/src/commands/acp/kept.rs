//! Sessions that were kept, for the editor's list.

use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::terminal::one_line;
use crate::session::kept::{all_stores, failed, store};
use agent_acp::Listed;
use agent_core::job::time::rfc3339;
use agent_core::journal::Entry;
use agent_runner::journal::{Reader, Said, SessionInfo, SessionStore, StoreError};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Those of a directory, or all: the last written first, so many at most after so many others. Those in which nothing was said are left
/// out.
pub(super) fn list(directory: Option<&Path>, after: usize, most: usize) -> Result<Vec<Listed>, Failure> {
    let stores = match directory {
        // One that is not there any more may have had sessions.
        Some(given) => vec![store(&working_directory(Some(given)).unwrap_or_else(|_| given.to_owned()))?],
        None => all_stores()?,
    };
    let mut found: Vec<(SessionStore, SessionInfo, Said)> = Vec::new();
    for place in stores {
        let newest = place.newest_said(after + most, false).map_err(|error| failed(&error))?;
        found.extend(newest.sessions.into_iter().map(|(session, said)| (place.clone(), session, said)));
    }
    found.sort_by(|(_, a, _), (_, b, _)| b.modified.cmp(&a.modified).then_with(|| b.id.cmp(&a.id)));
    let page = found.into_iter().skip(after).take(most);
    Ok(page.filter_map(|(place, session, said)| listed(&place, session, said)).collect())
}

/// Nothing where the journal does not say where the session works.
fn listed(place: &SessionStore, session: SessionInfo, said: Said) -> Option<Listed> {
    let Entry::Header(header) = Reader::open(&session.path).ok()?.next()?.ok()?.entry else { return None };
    let words = if let Said::Words(words) = said { Some(one_line(&words, 80)) } else { None };
    let since_epoch = session.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Listed {
        title: place.name(&session.id).or(words),
        directory: PathBuf::from(header.directory),
        updated: rfc3339(u64::try_from(since_epoch.as_millis()).unwrap_or_default()),
        id: session.id,
    })
}

/// Removes a session, wherever it works. One that is not there is removed already.
pub(super) fn remove(id: &str) -> Result<(), Failure> {
    for place in all_stores()? {
        match place.remove(id) {
            Ok(()) => return Ok(()),
            Err(StoreError::NoSuchSession { .. }) => {}
            Err(error @ StoreError::BadId { .. }) => return Err(Failure::input(error)),
            Err(error) => return Err(failed(&error)),
        }
    }
    Ok(())
}
