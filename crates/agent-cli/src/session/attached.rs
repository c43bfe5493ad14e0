//! Where a session is kept: in a new journal, in the one of a session that continues, or nowhere.

use crate::config::options::Options;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::screen::terminal::say;
use crate::session::differences::stay_denied;
use crate::session::kept::{failed, newest, store};
use crate::session::limits::Raise;
use crate::session::pictured::say_missing;
use crate::session::setup::Before;
use agent_core::budget::LimitReached;
use agent_core::journal::Rebuilt;
use agent_core::lifecycle::Lifecycle;
use agent_core::permission::Permissions;
use agent_core::session::SessionConfig;
use agent_runner::Builder;
use agent_runner::journal::{FileJournal, Reopened, SessionPictures, SessionStore, root_of};
use std::path::Path;

/// Where the session is kept.
pub(super) enum Kept {
    /// Nowhere.
    No,
    New {
        id: String,
        journal: FileJournal,
    },
    Old {
        id: String,
        journal: FileJournal,
        rebuilt: Box<Rebuilt>,
    },
}

/// What a session that is gone on with was.
pub(super) struct Resumed {
    pub(super) config: SessionConfig,
    pub(super) before: Before,
    pub(super) reached: Option<(LimitReached, Raise)>,
    /// Whether agents below it are alive.
    pub(super) has_agents: bool,
    /// What bound it.
    pub(super) left: Option<Lifecycle>,
}

impl Kept {
    /// The session that the options name, or a new one.
    pub(super) fn find(settings: &Settings, options: &Options) -> Result<Self, Failure> {
        Self::existing(settings, options)?.map_or_else(|| Self::new(settings, options), Ok)
    }

    /// A new session, or none.
    pub(super) fn new(settings: &Settings, options: &Options) -> Result<Self, Failure> {
        if options.no_session {
            return Ok(Self::No);
        }
        let id = options.session_id.clone().unwrap_or_else(SessionStore::new_id);
        let journal = store(&settings.directory)?.create(&id).map_err(|error| failed(&error))?;
        Ok(Self::New { id, journal })
    }

    /// The session that the options name, if it is there.
    pub(super) fn existing(settings: &Settings, options: &Options) -> Result<Option<Self>, Failure> {
        if options.no_session {
            return Ok(None);
        }
        let store = store(&settings.directory)?;
        let id = if options.continue_newest {
            Some(newest(&store, &settings.directory)?)
        } else {
            options.session_id.clone()
        };
        let Some(id) = id else { return Ok(None) };
        if let Some(root) = root_of(&id) {
            return Err(Failure::input(format!("{id} is an agent below the session {root}: resume that")));
        }
        if options.fork_session {
            let fork = SessionStore::new_id();
            store.branch(&id, None, &fork).map_err(|error| failed(&error))?;
            say(&format!("agent: continuing {id} in a new session, {fork}"));
            return Self::resume(&store, fork, true).map(Some);
        }
        let path = store.path(&id).map_err(|error| failed(&error))?;
        if !options.continue_newest && !options.must_exist && !path.exists() {
            return Ok(None);
        }
        Self::resume(&store, id, options.must_exist).map(Some)
    }

    /// The permissions with what the session keeps of its own: its tools, its instructions and what is attached obey the same rules.
    pub(super) fn permissions(&self, settings: &Settings) -> Permissions {
        let mut permissions = settings.permissions.clone();
        if let Self::Old { rebuilt, .. } = self {
            stay_denied(&rebuilt.agent.session().config().permissions, &mut permissions);
        }
        permissions
    }

    /// Takes a copy away that was made for a session which cannot be.
    pub(super) fn take_back(self, settings: &Settings, options: &Options) {
        if let (true, Self::Old { id, journal, .. }) = (options.fork_session, self) {
            drop(journal);
            // A copy that stays harms nothing.
            let _ = store(&settings.directory).map(|store| store.remove(&id));
        }
    }

    fn resume(store: &SessionStore, id: String, must_exist: bool) -> Result<Self, Failure> {
        let Reopened { journal, rebuilt, torn_bytes, .. } = store.rebuild(&id).map_err(|error| failed(&error))?;
        if torn_bytes > 0 {
            say(&format!(
                "agent: a crash cut the session's last record; its {} bytes are kept beside the journal",
                torn_bytes
            ));
        }
        let Some(rebuilt) = rebuilt else {
            // Cut before its first record: there is nothing to lose and nothing to go on with.
            return match must_exist {
                false => Ok(Self::New { id, journal }),
                true => Err(Failure::input(format!("cannot resume the session {id}: its journal is empty"))),
            };
        };
        if rebuilt.agent.session().is_over() {
            return Err(Failure::input(format!(
                "cannot resume the session {id}: it has ended for good; `--fork-session` continues in a new one"
            )));
        }
        Ok(Self::Old { id, journal, rebuilt: Box::new(rebuilt) })
    }

    pub(super) fn attach(
        self,
        builder: Builder,
        directory: &Path,
        pictures: &SessionPictures,
    ) -> (Builder, String, Option<Resumed>) {
        if let Self::New { journal, .. } | Self::Old { journal, .. } = &self {
            pictures.keep_beside(journal.path());
        }
        let identify = |builder: Builder, id: &str| {
            let program = concat!("agent ", env!("CARGO_PKG_VERSION"));
            builder.identity(id, directory.display().to_string(), program)
        };
        match self {
            Self::No => (identify(builder, ""), String::new(), None),
            Self::New { id, journal } => (identify(builder, &id).journal(Box::new(journal)), id, None),
            Self::Old { id, journal, rebuilt } => {
                let Rebuilt { agent, next_seq, begun, .. } = *rebuilt;
                let (session, left) = (agent.session(), agent.unless_passed_over().cloned());
                say_missing(session.conversation(), pictures);
                let has_agents = !agent.alive().is_empty();
                let kind = session.ended_by_limit();
                let reached = session.limit_reached().filter(|reached| Some(reached.kind) == kind);
                let reached = reached.zip(Raise::of(session));
                let resumed = Resumed {
                    config: session.config().clone(),
                    reached,
                    has_agents,
                    before: Before::of(session, &begun),
                    left,
                };
                let builder = identify(builder, &id).journal(Box::new(journal));
                (builder.resume(agent, next_seq).begun(begun), id, Some(resumed))
            }
        }
    }
}
