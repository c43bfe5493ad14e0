//! What git's configuration names in a workspace, and what this program's own configuration leads to there: the directory of hooks, files
//! that are included, scripts that commands name. Also what is not there yet: an included file that somebody makes counts at once.
//!
//! ```text
//! ordinary.rs      repositories of which git need not be asked
//! environment.rs   what the user's environment tells git
//! words.rs         the files that a command names; shell.rs takes it apart
//! options.rs       options and variables that name directories and modules
//! ```

mod environment;
mod options;
mod ordinary;
mod shell;
mod words;

use super::{links, repositories};
use crate::config::file::{config_home, read_capped, state_home};
use crate::config::project;
use crate::screen::terminal::{escaped, say, shown_path};
use crate::walls::own_programs::{Answer, ask_with};
use agent_core::protected::{self, makes_repository};
use agent_exec::SearchPath;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use words::Place;

/// What other programs read or run from the workspace because a configuration says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// The directories whose files git runs as hooks, where it was told others than its own.
    pub(crate) hooks: Vec<PathBuf>,
    /// Files that a configuration includes or leads to, and files that its commands name; there or not. Directories where a command runs
    /// something in them that is not known by its name.
    pub(crate) files: Vec<PathBuf>,
    /// Links of the workspace on the way to all of these.
    pub(crate) links: Vec<PathBuf>,
    /// All of these by names that lie outside: a link made later may lead them into the workspace, and they may be mounted there.
    pub(crate) elsewhere: Vec<PathBuf>,
    /// The links in this program's own directories, by their own names.
    pub(crate) own_links: Vec<PathBuf>,
}

impl GitSettings {
    /// All that they lead to.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.hooks.iter().chain(&self.files)
    }

    /// The same with the links on the way: what must not be replaced.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths().chain(&self.links)
    }
}

/// Asks git, in the workspace and in repositories within it. Where it does not answer, and where there is too much, that is said.
pub(crate) fn git_settings(workspace: &Path, programs: &SearchPath, within: &[PathBuf]) -> GitSettings {
    let (settings, notes) = asked(workspace, programs, within, environment::of_user(), PATIENCE);
    notes.iter().for_each(|note| say(&escaped(&format!("agent: sandbox: {note}"))));
    settings
}

/// The same with an environment and the time for all questions together, and what is to be said.
pub(super) fn asked(
    workspace: &Path,
    programs: &SearchPath,
    within: &[PathBuf],
    environment: Vec<(String, String)>,
    patience: Duration,
) -> (GitSettings, Vec<String>) {
    let mut found = Collected::new(workspace, programs, environment);
    found.until = Instant::now() + patience;
    let root = project::folders(workspace).first().map_or_else(|| workspace.to_path_buf(), |root| root.to_path_buf());
    found.others.extend(within.iter().take(MOST_PLACES).cloned());
    found.is_cut = within.len() > MOST_PLACES && root.join(".gitmodules").exists();
    // Without a repository the user's own configuration counts all the same; without git nothing of it does.
    if root.join(".git").exists() || programs.find("git").is_ok() {
        found.take(&root);
    }
    within.iter().for_each(|folder| found.take_hooks_of(folder));
    let telling: Vec<&PathBuf> = within.iter().filter(|folder| !says_the_ordinary(folder)).collect();
    telling.iter().take(MOST_REPOSITORIES).for_each(|folder| found.take(folder));
    found.take_environment(&root);
    found.take_own();
    found.done(telling.get(MOST_REPOSITORIES..).unwrap_or_default())
}

struct Collected<'a> {
    workspace: &'a Path,
    programs: &'a SearchPath,
    environment: Vec<(String, String)>,
    hooks: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    links: BTreeSet<PathBuf>,
    elsewhere: BTreeSet<PathBuf>,
    own_links: Vec<PathBuf>,
    /// Configuration files that were read by themselves.
    read: BTreeSet<PathBuf>,
    /// Repositories within, where git may run what is said for submodules.
    others: Vec<PathBuf>,
    /// Directories that are protected as a whole, and settings of which nothing more is known.
    whole: BTreeSet<(String, PathBuf)>,
    unknown: BTreeSet<String>,
    notes: Vec<String>,
    /// Repositories whose configuration is not known.
    unasked: Vec<PathBuf>,
    /// When nothing more is asked.
    until: Instant,
    /// There is more than was read.
    is_cut: bool,
}

/// `origin`, `key`, `value`, as git lists them.
type Entry = (PathBuf, String, String);

impl<'a> Collected<'a> {
    fn new(workspace: &'a Path, programs: &'a SearchPath, environment: Vec<(String, String)>) -> Self {
        Self {
            workspace,
            programs,
            environment,
            hooks: BTreeSet::new(),
            files: BTreeSet::new(),
            links: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            own_links: Vec::new(),
            read: BTreeSet::new(),
            others: Vec::new(),
            whole: BTreeSet::new(),
            unknown: BTreeSet::new(),
            notes: Vec::new(),
            unasked: Vec::new(),
            until: Instant::now(),
            is_cut: false,
        }
    }

    /// What counts in one repository, or in a directory that is in none.
    fn take(&mut self, root: &Path) {
        self.take_hooks_of(root);
        if let Some(why) = git_dirs(root).find_map(|git_dir| repositories::odd_part(&git_dir)) {
            return self.is_unknown(root, &why);
        }
        let Some(list) = self.said(root, &["config", "--list", "--show-origin", "--includes", "-z"]) else { return };
        let entries = entries(&list, root);
        self.take_entries(root, &entries);
        let home = std::env::home_dir();
        let of_user = home.iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
        let elsewhere = std::env::var_os("XDG_CONFIG_HOME").map(|home| Path::new(&home).join("git/config"));
        of_user.chain(elsewhere.filter(|file| file.is_absolute())).for_each(|file| self.add_file(&file));
    }

    /// Where links among the hooks of a repository lead. No process is needed for that.
    fn take_hooks_of(&mut self, root: &Path) {
        git_dirs(root).for_each(|git_dir| self.take_hooks(&git_dir.join("hooks")));
    }

    /// A directory of hooks, and where links in it lead.
    fn take_hooks(&mut self, directory: &Path) {
        let real = self.follow(directory);
        let is_gits = is_gits(&real);
        if !is_gits && real.starts_with(self.workspace) && real != self.workspace && !is_part_of_repository(&real) {
            self.hooks.insert(real);
        }
        self.add_elsewhere(directory);
        self.take_links_in(directory);
    }

    fn take_links_in(&mut self, directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let links: Vec<PathBuf> = links.map(|entry| entry.path()).collect();
        links.iter().for_each(|link| self.add_file(link));
        links
    }

    fn take_entries(&mut self, root: &Path, entries: &[Entry]) {
        for (origin, key, value) in entries {
            self.add_file(origin);
            // An address that others are written as, which is a command.
            if let Some((address, _)) = key.strip_prefix("url.").and_then(|rest| rest.rsplit_once('.'))
                && address.contains("ext::")
            {
                self.take_command(root, key, address);
            }
            let key = key.to_ascii_lowercase();
            if value.is_empty() {
                continue;
            }
            if key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path") {
                let file = words::expanded(value, origin.parent().unwrap_or(root));
                self.add_file(&file);
                self.take_file(root, &file);
            } else if key == "core.hookspath" {
                self.take_hooks(&words::expanded(value, root));
            } else if key == "init.templatedir" {
                self.take_template(&words::expanded(value, root));
            } else if words::may_name_program(&key, value) {
                self.take_command(root, &key, value);
            }
        }
    }

    /// The files of a command, and the directories of which more is not known.
    fn take_command(&mut self, root: &Path, key: &str, command: &str) {
        let git_dir = git_dirs(root).next().unwrap_or_else(|| root.join(".git"));
        // Git runs it in the submodule.
        let others = if key.starts_with("submodule.") { self.others.clone() } else { Vec::new() };
        let named = words::named(command, Place { root, git_dir: &git_dir, others: &others });
        named.files.iter().for_each(|file| self.add_file(file));
        for directory in named.directories {
            let real = self.follow(&directory);
            if real == self.workspace || self.workspace.starts_with(&real) {
                self.unknown.insert(key.to_owned());
            } else if real.starts_with(self.workspace) && !is_gits(&real) {
                self.whole.insert((key.to_owned(), real.clone()));
                self.files.insert(real);
            }
        }
        if !named.unknown.is_empty() {
            self.unknown.insert(key.to_owned());
        }
    }

    /// Git copies what lies there into every repository that the user makes: hooks, for one.
    fn take_template(&mut self, directory: &Path) {
        self.add_file(directory);
        self.take_links_in(directory);
        self.take_links_in(&directory.join("hooks"));
    }

    /// What a file says that is included only under a condition, or by one that is.
    fn take_file(&mut self, root: &Path, file: &Path) {
        if !file.is_file() || self.read.contains(&links::follow(file).real) {
            return;
        }
        if self.read.len() >= MOST_INCLUDES {
            self.is_cut = true;
            return;
        }
        self.read.insert(links::follow(file).real);
        let list = self.said(root, &["config", "--file", &file.to_string_lossy(), "--list", "--show-origin", "-z"]);
        let entries = entries(&list.unwrap_or_default(), root);
        self.take_entries(root, &entries);
    }

    /// Files and programs that the environment names.
    fn take_environment(&mut self, root: &Path) {
        for (name, value) in self.environment.clone().into_iter().filter(|(_, value)| !value.is_empty()) {
            match environment::meaning(&name) {
                environment::Meaning::File => self.add_file(&root.join(&value)),
                environment::Meaning::Template => self.take_template(&root.join(&value)),
                environment::Meaning::Program => self.take_command(root, &name, &value),
                environment::Meaning::Setting => {}
            }
        }
    }

    /// Where links among this program's own files lead, and the way to them.
    fn take_own(&mut self) {
        for home in [config_home(), state_home()].into_iter().flatten() {
            self.follow(&home);
            let mut left = MOST_OWN_ENTRIES;
            self.take_links_below(&home, OWN_DEPTH, &mut left);
        }
        std::env::home_dir().iter().for_each(|home| self.take_names_in(home));
    }

    /// What has a protected name in the home directory, and other files are: `~/.bashrc` may be `bashrc` of a repository of dotfiles.
    fn take_names_in(&mut self, home: &Path) {
        let home = &links::follow(home).real;
        let is_link = |path: &Path| !links::follow(path).links.is_empty();
        for entry in fs::read_dir(home).into_iter().flatten().flatten().take(MOST_OWN_ENTRIES) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if protected::is_protected_name(&name) && is_link(&path) {
                self.add_file(&path);
            }
            let within = protected::names_in(&name).map(|child| path.join(child));
            within.filter(|path| is_link(path)).for_each(|path| self.add_file(&path));
        }
    }

    /// Sessions are many, and are files.
    fn take_links_below(&mut self, directory: &Path, depth: usize, left: &mut usize) {
        let links = self.take_links_in(directory);
        self.own_links.extend(links);
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let folders = entries.take(*left).filter(|entry| {
            *left = left.saturating_sub(1);
            entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        let folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
        for folder in folders.iter().filter(|_| depth > 1) {
            self.take_links_below(folder, depth - 1, left);
        }
    }

    /// What lies in a `.git` is protected with it.
    fn add_file(&mut self, path: &Path) {
        let real = self.follow(path);
        if !is_gits(&real) && real.starts_with(self.workspace) && real != self.workspace {
            self.files.insert(real);
        }
        self.add_elsewhere(path);
    }

    /// What holds the workspace would be all of it.
    fn add_elsewhere(&mut self, path: &Path) {
        let real = links::follow(path).real;
        if path.is_absolute() && !path.starts_with(self.workspace) && !self.workspace.starts_with(real) {
            self.elsewhere.insert(path.to_path_buf());
        }
    }

    /// Where a path leads. The links on the way are kept, too.
    fn follow(&mut self, path: &Path) -> PathBuf {
        let way = links::follow(path);
        self.links.extend(way.links.into_iter().filter(|link| link.starts_with(self.workspace) && !is_gits(link)));
        way.real
    }

    fn said(&mut self, root: &Path, arguments: &[&str]) -> Option<String> {
        // Programs are no settings, and git asks none of them here.
        let is_setting =
            |(name, _): &&(String, String)| !matches!(environment::meaning(name), environment::Meaning::Program);
        let environment = self.environment.iter().filter(is_setting).cloned().collect();
        let left = self.until.saturating_duration_since(Instant::now());
        let answer = match left.is_zero() {
            true => Err(format!("the time for queries to git ({} s) is used up", PATIENCE.as_secs())),
            false => ask_with(self.programs, "git", arguments, root, environment, left),
        };
        match answer {
            Ok(Answer::Said(said)) => Some(String::from_utf8_lossy(&said).into_owned()),
            Ok(Answer::Refused(_)) => Some(String::new()),
            Err(why) => {
                self.is_unknown(root, &why);
                None
            }
        }
    }

    /// Said in full for the first few; all of them are counted.
    fn is_unknown(&mut self, root: &Path, why: &str) {
        if self.unasked.iter().any(|unasked| unasked == root) {
            return;
        }
        if self.unasked.len() < MOST_SHOWN {
            let unknown = "it is unknown which files of the workspace git runs as hooks or includes";
            self.notes.push(format!("{unknown}: in {}: {why}", shown_path(root)));
        }
        self.unasked.push(root.to_path_buf());
    }

    /// All of it, and what is to be said. The configuration of these repositories was not asked for.
    fn done(mut self, not_asked: &[&PathBuf]) -> (GitSettings, Vec<String>) {
        let shown = |path: &Path| shown_path(path.strip_prefix(self.workspace).unwrap_or(path));
        for (key, directory) in &self.whole {
            let directory = shown(directory);
            self.notes.push(format!(
                "`{key}` of git's configuration runs an unnamed program in `{directory}`: neither commands nor tools may write there"
            ));
        }
        if !self.unknown.is_empty() {
            let keys: Vec<&str> = self.unknown.iter().map(String::as_str).take(MOST_SHOWN).collect();
            let more = if self.unknown.len() > MOST_SHOWN { ", …" } else { "" };
            self.notes.push(format!(
                "it is unknown what `{}`{more} of git's configuration runs: if it is in this workspace, commands can change it",
                keys.join("`, `")
            ));
        }
        let said_already = self.unasked.len().min(MOST_SHOWN);
        let others: BTreeSet<&PathBuf> =
            self.unasked.iter().skip(said_already).chain(not_asked.iter().copied()).collect();
        if let Some(first) = others.first() {
            self.notes.push(format!(
                "the git configuration of {} repositories within this workspace was not read (for example `{}`): commands can change \
                 what it names",
                others.len(),
                shown(first)
            ));
        }
        if self.is_cut {
            let text = "git's configuration has more includes or submodules than the agent reads: commands can change what the rest names";
            self.notes.push(text.to_owned());
        }
        // All of them: where those are too many for mounts, no command is started.
        let hooks = self.hooks.into_iter().collect();
        let (files, links) = (self.files.into_iter().collect(), self.links.into_iter().collect());
        let elsewhere = self.elsewhere.into_iter().collect();
        (GitSettings { hooks, files, links, elsewhere, own_links: self.own_links }, self.notes)
    }
}

/// The directories with git's own data of a repository: the working tree's own first.
fn git_dirs(root: &Path) -> impl Iterator<Item = PathBuf> {
    let dot_git = root.join(".git");
    let all = repositories::led_to(&dot_git).into_iter().chain([dot_git, root.to_path_buf()]);
    all.filter(|git_dir| git_dir.join("HEAD").symlink_metadata().is_ok())
}

/// What lies in a `.git`.
fn is_gits(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// Whether a repository's own configuration says nothing for which git would have to be asked.
fn says_the_ordinary(folder: &Path) -> bool {
    git_dirs(folder).all(|git_dir| {
        let is_ordinary = |name: &str| match read_capped(&git_dir.join(name)) {
            Ok(text) => text.is_none_or(|text| ordinary::is_ordinary(&text)),
            Err(_) => false,
        };
        is_ordinary("config") && is_ordinary("config.worktree")
    })
}

/// `file:… NUL key LF value NUL`; paths are relative to where git was asked.
fn entries(list: &str, root: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut fields = list.split('\0');
    while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
        let origin = root.join(origin.strip_prefix("file:").unwrap_or("/"));
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        found.push((origin, key.to_owned(), value.to_owned()));
    }
    found
}

/// The `hooks` of a bare repository are protected with it.
fn is_part_of_repository(hooks: &Path) -> bool {
    let folder = hooks.parent().unwrap_or(hooks);
    hooks.ends_with("hooks") && makes_repository(|name| folder.join(name).exists())
}

/// For all questions together: a session that begins is not held up by what lies in a workspace.
const PATIENCE: Duration = Duration::from_secs(10);
/// Of those within, asking costs a process each.
const MOST_REPOSITORIES: usize = 30;
/// How deep this program's own folders lie in each other, and how much is looked at.
const OWN_DEPTH: usize = 4;
const MOST_OWN_ENTRIES: usize = 20_000;
const MOST_PLACES: usize = 50;
const MOST_INCLUDES: usize = 20;
const MOST_SHOWN: usize = 3;
