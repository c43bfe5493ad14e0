//! Where sessions are kept, and why one cannot be had.

use crate::config::file::{check_places, state_home};
use crate::config::options::Options;
use crate::config::project::working_directory;
use crate::config::settings::Settings;
use crate::failure::Failure;
use agent_runner::journal::{OpenError, ReadError, SessionStore, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The sessions of a directory.
pub(crate) fn store(directory: &Path) -> Result<SessionStore, Failure> {
    Ok(SessionStore::new(&root()?, directory))
}

/// The sessions of all directories, those of one directory together.
pub(crate) fn all_stores() -> Result<Vec<SessionStore>, Failure> {
    SessionStore::all(&root()?).map_err(|error| failed(&error))
}

/// Below it all sessions are.
fn root() -> Result<PathBuf, Failure> {
    check_places()?;
    let home = state_home().ok_or_else(|| {
        Failure::config(
            "cannot keep the session: there is no home directory; set AGENT_STATE_HOME or use `--no-session`",
        )
    })?;
    Ok(home.join("sessions"))
}

/// Why a kept session cannot be used, and what can be done.
pub(crate) fn failed(error: &StoreError) -> Failure {
    match error {
        StoreError::NoSuchSession { .. } => {
            Failure::input(format!("{error}; `agent sessions list` shows the sessions"))
        }
        StoreError::Open(OpenError::NotOwn(error)) => Failure::config(error),
        StoreError::Open(OpenError::Read(error)) => unreadable(error),
        StoreError::BadId { .. }
        | StoreError::Below { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::Open(OpenError::InUse { .. }) => Failure::input(error),
        StoreError::Open(OpenError::Io { source, .. }) if source.kind() == ErrorKind::FileTooLarge => {
            Failure::internal(format!("{error}; raise the file size limit (`ulimit -f`) or use `--no-session`"))
        }
        StoreError::Open(_) => {
            Failure::internal(format!("{error}; set AGENT_STATE_HOME to a writable directory or use `--no-session`"))
        }
        _ => Failure::internal(error),
    }
}

/// Why a journal cannot be read, and what can be done.
pub(crate) fn unreadable(error: &ReadError) -> Failure {
    match error {
        ReadError::Damaged { damage, .. } if damage.line > 1 => {
            Failure::input(format!("{error}; `agent sessions lint FILE --repair OUT` copies the records before it"))
        }
        _ => Failure::input(error),
    }
}

/// Fails when a session is named that has to be there and is not. It needs nothing but the directory: a mistyped id is said before a
/// missing key, an unknown model or a broken configuration is.
pub(crate) fn check_named(options: &Options) -> Result<(), Failure> {
    let has_to_be_there = options.continue_newest || options.must_exist || options.fork_session;
    if !has_to_be_there || options.no_session {
        return Ok(());
    }
    let directory = working_directory(options.directory.as_deref())?;
    let store = store(&directory)?;
    match &options.session_id {
        Some(id) if options.must_exist => store.id_of(id).map(|_| ()).map_err(|error| failed(&error)),
        Some(id) => store.existing(id).map(|_| ()).map_err(|error| failed(&error)),
        None => newest(&store, &directory).map(|_| ()),
    }
}

pub(crate) fn newest(store: &SessionStore, directory: &Path) -> Result<String, Failure> {
    let newest = store.newest().map_err(|error| failed(&error))?;
    let newest = newest.map(|newest| newest.id);
    newest.ok_or_else(|| {
        let directory = directory.display();
        Failure::input(format!(
            "cannot resume a session: there is none for {directory}; start one with `agent`, or `agent run` without `--continue`"
        ))
    })
}

/// Whether the options name a session that is there.
pub(crate) fn is_kept(settings: &Settings, options: &Options) -> Result<bool, Failure> {
    Ok(match &options.session_id {
        _ if options.no_session => false,
        _ if options.continue_newest => true,
        Some(id) => store(&settings.directory)?.path(id).map_err(|error| failed(&error))?.exists(),
        None => false,
    })
}
