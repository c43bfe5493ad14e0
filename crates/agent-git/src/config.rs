//! What the user configures. None of it may come from the repository.

use std::path::{Path, PathBuf};

/// How [`RepositoryHooks`](crate::RepositoryHooks) works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksConfig {
    /// The directory the agent works in; absolute. It may be a part of a repository, or none.
    pub workspace: PathBuf,
    /// Whether the agent's changes are committed after each batch.
    pub auto_commit: bool,
    /// The identity of commits. Without it, the one in git's configuration, else [`Identity::agent`].
    pub identity: Option<Identity>,
    /// Last line of every commit message, such as `Assisted-by: agent`.
    pub trailer: Option<String>,
    /// The git program: a name that the runner finds, or an absolute path.
    pub git_program: String,
    /// The user's home directory, in which git finds the user's configuration. Without it, that configuration is not read.
    pub home: Option<PathBuf>,
    /// Where programs keep their configuration, if that is not `.config` in the home directory: git reads the user's there, too.
    pub config_home: Option<PathBuf>,
    /// Time that one call of git may take.
    pub git_timeout_ms: u64,
    /// Absolute paths that must not be written, besides the names of [`agent_types::protected`]: the host's own files, for instance.
    pub protected: Vec<PathBuf>,
    /// A file with the key by which the agent knows its own records of turns again; it is made where there is none. It must lie where
    /// commands cannot read it. Without one, whatever is in place of a record counts as one.
    pub record_key: Option<PathBuf>,
    /// Absolute paths that commands do not read. No copy of it is kept for undo: commands read what git keeps.
    pub hidden: Vec<PathBuf>,
}

impl HooksConfig {
    /// Commits off, the home directory of this process, and what it has for the place of configuration.
    #[must_use]
    pub fn new(workspace: PathBuf) -> Self {
        Self {
            workspace,
            auto_commit: false,
            identity: None,
            trailer: Some("Assisted-by: agent".to_owned()),
            git_program: "git".to_owned(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            config_home: std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from),
            git_timeout_ms: 20_000,
            protected: Vec::new(),
            record_key: None,
            hidden: Vec::new(),
        }
    }
}

impl HooksConfig {
    /// Why a path below a root is not written, as the end of a sentence.
    pub(crate) fn protected(&self, root: &Path, path: &str) -> Option<&'static str> {
        let absolute = root.join(path);
        // A link is put in its place, not written through; a place may have been mounted there since.
        let looked_at = match absolute.is_symlink() {
            true => absolute.parent().unwrap_or(&absolute),
            false => &absolute,
        };
        let is_hosts = self.protected.iter().any(|protected| absolute.starts_with(protected))
            || agent_exec::leads_into(looked_at, &self.protected);
        let by_mount = || {
            let mounts = agent_exec::MountTable::now().ok()?;
            let names = mounts.names(root, &absolute).into_iter().chain(mounts.names_outside(root, &absolute));
            { names }.find_map(|name| agent_types::protected::reason(&name.to_string_lossy()))
        };
        agent_types::protected::reason(path)
            .or_else(|| is_hosts.then_some("is protected by the host"))
            .or_else(by_mount)
    }

    /// Whether commands do not read a path below a root.
    pub(crate) fn is_hidden(&self, root: &Path, path: &str) -> bool {
        let absolute = root.join(path);
        // Also by another mount of what is hidden.
        self.hidden.iter().any(|hidden| absolute.starts_with(hidden)) || agent_exec::leads_into(&absolute, &self.hidden)
    }
}

/// An author and committer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name, without `<`, `>` and line ends.
    pub name: String,
    /// Address.
    pub email: String,
}

impl Identity {
    /// The committer when none is configured.
    #[must_use]
    pub fn agent() -> Self {
        Self { name: "agent".to_owned(), email: "agent@localhost".to_owned() }
    }
}
