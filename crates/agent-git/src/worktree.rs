//! Worktrees for agents that change files of their own: each made of a commit, and removed when nothing was changed in it.
//!
//! A worktree lies in a folder of its own that the host names, beside a note of what is done with it. The note is written before each step,
//! so that whatever a killed program left is known again:
//!
//! ```text
//! making COMMIT     half made, no agent worked there    taken away, with the branch if it is at that commit
//! made COMMIT       an agent works there, or did        looked through: removed without changes, else kept
//! removing COMMIT   looked through, nothing was changed taken away
//! ```
//!
//! 1. Nothing that an agent changed is removed: what is kept stays until a person removes it. What cannot be looked into may be changed.
//! 2. Nothing that the repository names is run: files are written as git keeps them, without filters.

mod doubts;
mod listed;
mod note;
mod removal;

use crate::config::HooksConfig;
use crate::git::{Git, GitError};
use crate::hooks::RepositoryHooks;
use crate::repository::{Discovery, Repository};
use crate::tree::is_absence;
use crate::watch::head_commit;
use agent_types::ports::{CancelSignal, CommandRunner};
use listed::Listed;
use note::{MADE, MAKING, NEW_NOTE, NOTE, REMOVING};
use removal::LEAVING;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Where a worktree is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreePlace {
    /// A folder that is for it alone; absolute. It is made, and removed with the worktree.
    pub folder: PathBuf,
    /// The branch that is made for it.
    pub branch: String,
}

/// What is left of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeLeft {
    /// Nothing: nothing was changed in it, and it is removed; or there was none.
    Nothing,
    /// Changes. It stays where it is.
    Changes {
        /// Its directory.
        path: PathBuf,
        /// The branch that is checked out there; the one that was made for it, where none is.
        branch: String,
        /// How many commits were made since.
        commits: u32,
        /// Whether files are in no commit, or in another state.
        has_uncommitted: bool,
    },
    /// It is not known, and why: it was removed, or git cannot look.
    Unknown(String),
}

impl RepositoryHooks {
    /// The commit that is checked out.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub async fn head(&self, cancel: &dyn CancelSignal) -> Result<String, String> {
        let repository = self.repository()?;
        let head = head_commit(&self.git(repository, cancel)).await.map_err(|error| error.to_string())?;
        head.ok_or_else(|| String::from("the repository has no commit yet"))
    }

    /// Where the directory in which the agent works lies in such a worktree, without links. In the commit it may be a link, which would
    /// lead out of the worktree.
    ///
    /// # Errors
    /// There is no repository to make one of, or no such directory in the worktree; in words.
    pub fn in_worktree(&self, place: &WorktreePlace) -> Result<PathBuf, String> {
        let repository = self.repository()?;
        let below = self.config().workspace.strip_prefix(&repository.top).unwrap_or(Path::new(""));
        let failed = |error: io::Error| format!("cannot open {}: {error}", place.folder.display());
        let mut at = place.folder.canonicalize().map_err(failed)?.join(tree_name(repository));
        let mut left = below.components();
        loop {
            match at.symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => {
                    return Err(format!(
                        "{} is no directory in the commit, but a link or a file: the agent would work elsewhere",
                        at.display()
                    ));
                }
                Err(_) => return Err(String::from("the directory in which the agent works is in no commit")),
            }
            match left.next() {
                Some(part) => at.push(part),
                None => return Ok(at),
            }
        }
    }

    /// Makes a worktree of a commit, on a branch of its own. What an attempt before left in its place is taken away. `runner` lets git
    /// write in the repository's directory and in the folder.
    ///
    /// # Errors
    /// Why there is none, in words; then nothing is left of it.
    pub async fn make_worktree(
        &self,
        runner: &dyn CommandRunner,
        place: &WorktreePlace,
        commit: &str,
        cancel: &dyn CancelSignal,
    ) -> Result<(), String> {
        let repository = self.repository()?;
        let config = patient(self.config());
        let git = Git { config: &config, runner, directory: &repository.top, cancel, environment: Vec::new() };
        let making = Making { git, repository, place, tree: tree_of(repository, place) };
        match making.clear().await {
            WorktreeLeft::Nothing => {}
            WorktreeLeft::Changes { path, .. } => {
                return Err(format!("there are changes in {} already", path.display()));
            }
            WorktreeLeft::Unknown(found) => return Err(found),
        }
        let made = making.make(commit).await.map_err(|error| error.to_string());
        let made = made.and_then(|()| self.in_worktree(place).map(drop));
        if made.is_err() {
            // What is left of it is known by its note.
            if let Ok(Some((phase, base))) = making.noted() {
                let _ = making.discard(&phase, &base).await;
            }
        }
        made
    }

    /// Looks through a worktree in which nothing runs any more, and removes it if nothing was changed there: no commit, no file that git
    /// does not ignore.
    pub async fn clear_worktree(
        &self,
        runner: &dyn CommandRunner,
        place: &WorktreePlace,
        cancel: &dyn CancelSignal,
    ) -> WorktreeLeft {
        let repository = match self.repository() {
            Ok(repository) => repository,
            Err(_) if !place.folder.exists() => return WorktreeLeft::Nothing,
            Err(why) => return WorktreeLeft::Unknown(why),
        };
        let config = patient(self.config());
        let git = Git { config: &config, runner, directory: &repository.top, cancel, environment: Vec::new() };
        Making { git, repository, place, tree: tree_of(repository, place) }.clear().await
    }
}

/// One worktree and the git that makes and removes it.
struct Making<'a> {
    git: Git<'a>,
    repository: &'a Repository,
    place: &'a WorktreePlace,
    tree: PathBuf,
}

/// Why a worktree could not be made or removed.
#[derive(Debug, thiserror::Error)]
enum WorktreeError {
    #[error("{0}")]
    Git(#[from] GitError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("a branch `{0}` is there already, which the agent did not make: rename it (`git branch -m {0} NAME`)")]
    Taken(String),
    #[error(
        "the branch `{0}` is in the way, for git has no branch `{0}/…` beside it: rename it (`git branch -m {0} NAME`)"
    )]
    InTheWay(String),
}

impl Making<'_> {
    async fn make(&self, commit: &str) -> Result<(), WorktreeError> {
        // From the note on, a branch of this name is the one that is made here.
        if self.branch_commit().await?.is_some() {
            return Err(WorktreeError::Taken(self.place.branch.clone()));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.place.folder)?;
        self.note(MAKING, commit)?;
        let (tree, branch) = (self.tree_text()?, self.place.branch.as_str());
        // Locked, so that no other git takes it for one that is gone.
        let arguments = ["worktree", "add", "--quiet", "--no-checkout", "--lock", "-b", branch, "--", tree, commit];
        if let Err(error) = self.git.run(&arguments, Vec::new()).await {
            return Err(self.branch_in_the_way().await.map_or(error.into(), WorktreeError::InTheWay));
        }
        let inside = self.inside().await?;
        inside.run(&["reset", "--hard", "--quiet", "--no-recurse-submodules"], Vec::new()).await?;
        self.note(MADE, commit)?;
        Ok(())
    }

    async fn clear(&self) -> WorktreeLeft {
        let left = match self.noted() {
            Ok(None) => self.without_note().await,
            Ok(Some((phase, base))) if phase == MADE => self.look_through(&base).await,
            Ok(Some((phase, base))) => self.discard(&phase, &base).await.map(|()| WorktreeLeft::Nothing),
            Err(error) => Err(error.into()),
        };
        left.unwrap_or_else(|error| WorktreeLeft::Unknown(format!("{}: {error}", self.whereabouts())))
    }

    /// The branch because of which git can make none of this name: `agent`, where `agent/x` is meant.
    async fn branch_in_the_way(&self) -> Option<String> {
        let (above, _) = self.place.branch.split_once('/')?;
        let name = format!("refs/heads/{above}");
        let found = self.git.ask(&["rev-parse", "--verify", "--quiet", &name], Vec::new()).await;
        found.ok()??;
        Some(above.to_owned())
    }

    /// There is no folder. Where git still knows the worktree, somebody removed it.
    async fn without_note(&self) -> Result<WorktreeLeft, WorktreeError> {
        Ok(match self.listed().await? {
            None => WorktreeLeft::Nothing,
            Some(_) => {
                self.unlock().await;
                self.removed_by_others()
            }
        })
    }

    fn removed_by_others(&self) -> WorktreeLeft {
        let place = self.whereabouts();
        WorktreeLeft::Unknown(format!(
            "{place}: it was removed, and what was not committed is lost; commits are on the branch"
        ))
    }

    async fn look_through(&self, base: &str) -> Result<WorktreeLeft, WorktreeError> {
        let listed = self.listed().await?;
        let (Some(listed), true) = (listed, self.tree.symlink_metadata().is_ok_and(|found| found.is_dir())) else {
            if self.has_others()? {
                // Somebody moved it: what it was is there.
                self.unlock().await;
                return Ok(WorktreeLeft::Unknown(format!(
                    "{}: it is not there any more, but other things are in {}, where they stay",
                    self.whereabouts(),
                    self.place.folder.display()
                )));
            }
            let is_at_base = self.branch_commit().await?.is_none_or(|commit| commit == base);
            if is_at_base {
                self.note(REMOVING, base)?;
                self.discard(REMOVING, base).await?;
            } else {
                self.unlock().await;
            }
            return Ok(self.removed_by_others());
        };
        if !self.is_of_repository() {
            self.unlock().await;
            return Ok(WorktreeLeft::Unknown(format!(
                "{}: its `.git` leads to another repository",
                self.whereabouts()
            )));
        }
        let inside = self.inside().await?;
        let status = inside.run(&["status", "--porcelain=v1", "-z", "--untracked-files=normal"], Vec::new()).await?;
        let doubts = self.doubts(&inside, base).await?;
        let has_uncommitted = !status.is_empty() || doubts.has_files_of_submodules;
        let is_at_base = |commit: Option<&String>| commit.is_some_and(|commit| commit == base);
        let branch_commit = self.branch_commit().await?;
        if !has_uncommitted && is_at_base(listed.head.as_ref()) && is_at_base(branch_commit.as_ref()) {
            return self.remove_unchanged(base, doubts.reason).await;
        }
        let range = format!("{base}..HEAD");
        let commits = inside.line(&["rev-list", "--count", &range, "--"], Vec::new()).await;
        self.unlock().await;
        Ok(WorktreeLeft::Changes {
            path: self.tree.clone(),
            branch: listed.branch.unwrap_or_else(|| self.place.branch.clone()),
            commits: commits.ok().and_then(|count| count.parse().ok()).unwrap_or_default(),
            has_uncommitted,
        })
    }

    /// Git says that nothing was changed. It stays if that is in doubt, or if not all of it can be removed.
    async fn remove_unchanged(&self, base: &str, doubt: Option<String>) -> Result<WorktreeLeft, WorktreeError> {
        let why = match doubt {
            Some(doubt) => format!("it may have changes, so it stays: {doubt}"),
            None => {
                self.note(REMOVING, base)?;
                match self.discard(REMOVING, base).await {
                    Ok(()) => return Ok(WorktreeLeft::Nothing),
                    Err(error) if self.tree.symlink_metadata().is_err() => return Err(error),
                    Err(error) => {
                        self.note(MADE, base)?;
                        format!("nothing was changed in it, but it stays: {error}")
                    }
                }
            }
        };
        self.unlock().await;
        Ok(WorktreeLeft::Unknown(format!("{}: {why}", self.whereabouts())))
    }

    /// From here on it is the user's, whose git may remove it.
    async fn unlock(&self) {
        if let Ok(tree) = self.tree_text() {
            // One that is not locked needs none.
            let _ = self.git.run(&["worktree", "unlock", "--", tree], Vec::new()).await;
        }
    }

    /// Whether something lies in the folder that the agent did not put there.
    fn has_others(&self) -> io::Result<bool> {
        let own = [NOTE, NEW_NOTE, LEAVING].map(OsStr::new);
        let is_own = |entry: io::Result<fs::DirEntry>| entry.map(|entry| own.contains(&&*entry.file_name()));
        fs::read_dir(&self.place.folder)?.map(is_own).try_fold(false, |others, is_own| Ok(others | !is_own?))
    }

    /// Takes away what no agent changed. It is not stopped in between: what it began it ends. The branch goes if it is as it was made.
    async fn discard(&self, phase: &str, base: &str) -> Result<(), WorktreeError> {
        let git = self.git.uninterrupted();
        let listed = self.listed_by(&git).await?;
        removal::remove(&self.tree, &self.place.folder.join(LEAVING))?;
        let name = format!("refs/heads/{}", self.place.branch);
        // A git that was killed left it: no other program works for this agent.
        remove_file(&self.repository.common_dir.join(format!("{name}.lock")))?;
        // The branch first: it is known by the worktree, or by the note if git was killed before it had made one.
        let of_tree = listed.as_ref().filter(|listed| listed.branch.as_ref() == Some(&self.place.branch));
        let made_alone = (phase == MAKING && of_tree.is_none()).then_some(base);
        let head = of_tree.and_then(|listed| listed.head.as_deref()).or(made_alone);
        if let Some(head) = head
            && (made_alone.is_none() || self.branch_commit_by(&git).await?.is_some_and(|commit| commit == head))
        {
            git.run(&["update-ref", "-d", &name, head], Vec::new()).await?;
        }
        if listed.is_some() {
            git.run(&["worktree", "remove", "--force", "--force", "--", self.tree_text()?], Vec::new()).await?;
        }
        for note in [NEW_NOTE, NOTE] {
            remove_file(&self.place.folder.join(note))?;
        }
        match fs::remove_dir(&self.place.folder) {
            // What else lies there is not the agent's.
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
                Err(error.into())
            }
            _ => Ok(()),
        }
    }

    /// Git in the worktree, which runs no filter that any configuration names there.
    async fn inside(&self) -> Result<Git<'_>, GitError> {
        let mut git = Git { directory: &self.tree, environment: Vec::new(), ..self.git };
        let found = git.ask(&["config", "-z", "--name-only", "--get-regexp", r"^filter\."], Vec::new()).await?;
        let found = found.unwrap_or_default();
        let keys = found.split(|byte| *byte == 0).filter_map(|key| str::from_utf8(key).ok());
        let values = keys.filter_map(|key| {
            let (_, variable) = key.rsplit_once('.')?;
            let value = match variable {
                "clean" | "smudge" | "process" => "",
                "required" => "false",
                _ => return None,
            };
            Some((key.to_owned(), value.to_owned()))
        });
        let values: Vec<(String, String)> = values.collect();
        git.environment.push(("GIT_CONFIG_COUNT".to_owned(), values.len().to_string()));
        for (number, (key, value)) in values.into_iter().enumerate() {
            git.environment.push((format!("GIT_CONFIG_KEY_{number}"), key));
            git.environment.push((format!("GIT_CONFIG_VALUE_{number}"), value));
        }
        Ok(git)
    }

    /// Whether git would work there in the repository that the worktree was made of.
    fn is_of_repository(&self) -> bool {
        let Ok(tree) = self.tree.canonicalize() else { return false };
        match Discovery::look(&tree) {
            Discovery::Found(found) => found.top == tree && found.common_dir == self.repository.common_dir,
            Discovery::None | Discovery::Bare | Discovery::Foreign | Discovery::Unusable(_) => false,
        }
    }

    async fn listed(&self) -> Result<Option<Listed>, GitError> {
        self.listed_by(&self.git).await
    }

    async fn listed_by(&self, git: &Git<'_>) -> Result<Option<Listed>, GitError> {
        let output = git.run(&["worktree", "list", "--porcelain", "-z"], Vec::new()).await?;
        Ok(Listed::at(&self.tree, &output))
    }

    async fn branch_commit(&self) -> Result<Option<String>, GitError> {
        self.branch_commit_by(&self.git).await
    }

    async fn branch_commit_by(&self, git: &Git<'_>) -> Result<Option<String>, GitError> {
        let name = format!("refs/heads/{}", self.place.branch);
        let answer = git.ask(&["rev-parse", "--verify", "--quiet", &name], Vec::new()).await?;
        Ok(answer.map(|text| String::from_utf8_lossy(&text).trim().to_owned()))
    }

    fn whereabouts(&self) -> String {
        format!("the worktree {} with the branch `{}`", self.tree.display(), self.place.branch)
    }

    fn tree_text(&self) -> io::Result<&str> {
        self.tree.to_str().ok_or_else(|| io::Error::other("the path of the worktree is not Unicode"))
    }
}

/// Named as the repository's own directory: some tools go by that.
fn tree_of(repository: &Repository, place: &WorktreePlace) -> PathBuf {
    place.folder.join(tree_name(repository))
}

/// No note beside it has this name.
fn tree_name(repository: &Repository) -> &OsStr {
    let name = repository.top.file_name().filter(|name| ![NOTE, NEW_NOTE, LEAVING].map(OsStr::new).contains(name));
    name.unwrap_or("tree".as_ref())
}

/// Writing many files takes longer than a question to git.
fn patient(config: &HooksConfig) -> HooksConfig {
    HooksConfig { git_timeout_ms: config.git_timeout_ms.max(CHECKOUT_TIMEOUT_MS), ..config.clone() }
}

/// What is not there is removed.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_absence(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Time for one call of git that writes all files of a commit, in milliseconds.
const CHECKOUT_TIMEOUT_MS: u64 = 10 * 60 * 1_000;
