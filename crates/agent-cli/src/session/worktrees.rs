//! Agents that work in worktrees of their own: each has walls, tools and git of its own there, and no more rights than the session.

use crate::config::file::data_home;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::hooks::{ChildHooks, Hooks};
use crate::screen::terminal::inline;
use crate::session::above::Above;
use crate::session::parts::{formatters, hooks_config, workspace};
use crate::walls::own_git::OwnGit;
use crate::walls::own_programs;
use agent_core::child::Left;
use agent_core::ports::{CancelSignal, Hook};
use agent_exec::Processes;
use agent_git::{RepositoryHooks, WorktreeLeft, WorktreePlace};
use agent_hooks::UserHooks;
use agent_runner::journal::SessionPictures;
use agent_tools::Workspace;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::spawn_blocking;

/// What agents work in: the session's directory, or a worktree.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) directory: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) processes: Processes,
    pub(crate) above: Above,
    pub(crate) users: Arc<UserHooks>,
    pub(crate) repository: Arc<RepositoryHooks>,
}

impl Ground {
    /// The session's directory.
    pub(crate) fn of_session(
        settings: &Settings,
        workspace: &Arc<Workspace>,
        processes: &Processes,
        users: &Arc<UserHooks>,
        repository: &Arc<RepositoryHooks>,
    ) -> Self {
        Self {
            directory: settings.directory.clone(),
            workspace: workspace.clone(),
            processes: processes.clone(),
            above: settings.above.clone(),
            users: users.clone(),
            repository: repository.clone(),
        }
    }

    /// The hooks of an agent there. One that has it for itself also looks after the repository.
    pub(crate) fn hooks(&self, is_its_own: bool) -> Arc<dyn Hook> {
        let (users, repository) = (self.users.clone(), self.repository.clone());
        match is_its_own {
            true => Arc::new(Hooks { users, repository, workspace: self.workspace.clone() }),
            false => Arc::new(ChildHooks { users, repository }),
        }
    }
}

/// The worktrees of the agents of a session.
pub(crate) struct Worktrees {
    settings: Arc<Settings>,
    keeper: Arc<SessionPictures>,
    root: Ground,
    /// Those in which agents work, by the places of the agents that have them for themselves.
    open: Mutex<BTreeMap<Vec<u32>, Ground>>,
}

impl Worktrees {
    pub(crate) fn new(settings: &Settings, keeper: Arc<SessionPictures>, root: Ground) -> Self {
        Self { settings: Arc::new(settings.clone()), keeper, root, open: Mutex::default() }
    }

    /// What the agent at a place works in: the worktree of its own, or of the nearest agent above it, or the session's directory.
    pub(crate) fn ground(&self, place: &[u32]) -> Ground {
        let open = self.open();
        let nearest = (1..=place.len()).rev().find_map(|length| open.get(place.get(..length)?));
        nearest.unwrap_or(&self.root).clone()
    }

    /// Makes the worktree of an agent, of the commit that is checked out where its parent works.
    ///
    /// # Errors
    /// Why there is none, in words for the model of its parent.
    pub(crate) async fn make(&self, id: &str, place: &[u32], stop: &dyn CancelSignal) -> Result<(), String> {
        let spot = spot(id)?;
        let above = place.split_last().map_or(place, |(_, above)| above);
        let commit = self.ground(above).repository.head(stop).await?;
        let git = self.git(&spot)?;
        self.root.repository.make_worktree(&git, &spot, &commit, stop).await
    }

    /// Opens the worktree of an agent, for it and those below it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) async fn open_for(&self, id: &str, place: &[u32]) -> Result<(), String> {
        let directory = self.root.repository.in_worktree(&spot(id)?)?;
        let (settings, keeper) = (self.settings.clone(), self.keeper.clone());
        let users = self.root.users.clone();
        let opened = spawn_blocking(move || open(&settings, &directory, keeper, &users)).await;
        let ground = opened.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())?;
        self.open().insert(place.to_vec(), ground);
        Ok(())
    }

    /// Looks through the worktree of an agent that has ended, and removes it if nothing was changed in it.
    pub(crate) async fn clear(&self, id: &str, place: &[u32], stop: &dyn CancelSignal) -> Left {
        self.open().remove(place);
        // Where it has no place, it was not made for the same reason.
        let Ok(spot) = spot(id) else { return Left::Nothing };
        let git = match self.git(&spot) {
            Ok(git) => git,
            Err(found) => return Left::Unknown { found },
        };
        match self.root.repository.clear_worktree(&git, &spot, stop).await {
            WorktreeLeft::Nothing => Left::Nothing,
            WorktreeLeft::Changes { path, branch, commits, has_uncommitted } => {
                Left::Changes { path: inline(&path.display().to_string()), branch, commits, has_uncommitted }
            }
            WorktreeLeft::Unknown(found) => Left::Unknown { found },
        }
    }

    /// Git that makes and removes worktrees: besides the repository's own directory it writes where they are.
    fn git(&self, spot: &WorktreePlace) -> Result<OwnGit, String> {
        let home = spot.folder.parent().unwrap_or(&spot.folder);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(home)
            .map_err(|error| format!("cannot create {}: {error}", home.display()))?;
        let own = own_programs::processes(&self.settings.programs);
        Ok(OwnGit::beyond(&self.settings.directory, own, home.to_path_buf()))
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Vec<u32>, Ground>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the worktree of an agent is.
fn spot(id: &str) -> Result<WorktreePlace, String> {
    // Without a session's id, agents of two sessions would have the same.
    if id.is_empty() || id.starts_with('.') {
        return Err(String::from("a session that is not kept has no worktrees"));
    }
    let home = data_home().ok_or("there is no home directory for worktrees; set AGENT_DATA_HOME")?;
    Ok(WorktreePlace { folder: home.join("worktrees").join(id), branch: format!("agent/{id}") })
}

fn open(
    settings: &Settings,
    directory: &Path,
    keeper: Arc<SessionPictures>,
    users: &UserHooks,
) -> Result<Ground, Failure> {
    let directory = directory.canonicalize().map_err(|error| {
        Failure::input(format!("cannot open the worktree {}: {error}", inline(&directory.display().to_string())))
    })?;
    let settings = settings.in_worktree(directory)?;
    let own = own_programs::processes(&settings.programs);
    let commands = own_programs::processes_of_commands(&settings.programs);
    let processes = match &settings.sandbox {
        Some(sandbox) => commands.in_sandbox(sandbox.clone()),
        None => commands,
    };
    let workspace = workspace(&settings, keeper)?;
    let git = OwnGit::new(&settings.directory, own.clone());
    let repository = RepositoryHooks::new(hooks_config(&settings), Arc::new(git));
    let repository = Arc::new(repository.formatting_with(Arc::new(formatters(&settings, own)?)));
    let users = Arc::new(users.working_in(settings.directory.clone(), Arc::new(processes.clone())));
    Ok(Ground { directory: settings.directory, workspace, processes, above: settings.above, users, repository })
}
