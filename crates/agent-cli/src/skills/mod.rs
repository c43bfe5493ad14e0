//! Skills: instructions for a kind of work that the model reads when it needs them, in folders with a `SKILL.md` (agentskills.io).
//!
//! The prompt lists names and descriptions; the tool `activate_skill` gives the text. A skill is text: nothing of it runs by itself, and it
//! widens no permission. A repository's skills are listed only where the repository is trusted, with the text that was shown.

mod for_model;
mod head;
mod tool;

use crate::config::beneath::read_beneath;
use crate::config::file::config_home;
use crate::config::project;
use crate::screen::terminal::shown_path;
use agent_runner::journal::{check_own_opened, check_own_target};
use head::Head;
use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use for_model::ForModel;
pub(crate) use tool::activate_skill;

/// A skill that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The `SKILL.md`.
    pub(crate) file: PathBuf,
    pub(crate) is_of_project: bool,
    /// The tools that its author suggests.
    pub(crate) allowed_tools: Option<String>,
    /// The text for the model, without the head: as it was when the session began, and when it was compared with what was trusted.
    pub(crate) body: Arc<str>,
}

impl Skill {
    /// The folder that holds everything of the skill.
    pub(crate) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    fn is_in_its_folder(&self) -> bool {
        self.folder().file_name().is_some_and(|folder| *folder == *self.name)
    }
}

/// The skills of a place, and what is wrong with those that are not among them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) skills: Vec<Skill>,
    pub(crate) notes: Vec<String>,
}

/// The user's skills.
pub(crate) fn users() -> Users {
    let mut search = Search::default();
    search.users();
    Users(search)
}

/// What the search for the user's skills found.
pub(crate) struct Users(Search);

impl Users {
    /// With those of a project that is trusted, which stand above them.
    pub(crate) fn with(self, of_project: Option<Found>) -> Found {
        let Self(mut search) = self;
        let Found { skills, notes } = of_project.unwrap_or_default();
        search.notes.extend(notes);
        // They are of other places.
        search.place = None;
        skills.into_iter().for_each(|skill| search.keep(skill));
        search.found()
    }
}

/// The skills that a project has, trusted or not. Of two with one name the one in the folder that is closest to the directory counts.
pub(crate) fn of_project(directory: &Path) -> Found {
    let mut search = Search::default();
    search.projects(directory);
    search.found()
}

#[derive(Default)]
struct Search {
    skills: BTreeMap<String, Skill>,
    notes: Vec<String>,
    /// The place that is searched.
    place: Option<PathBuf>,
    folders: usize,
    /// Of all files that were read.
    bytes: u64,
    /// Files that were not read because there are too many bytes in all.
    left_out: usize,
}

impl Search {
    fn users(&mut self) {
        let home = std::env::home_dir().map(|home| home.join(".agents"));
        for place in home.into_iter().chain(config_home()).map(|place| place.join(SKILLS)) {
            self.search(&place, None, 1);
        }
    }

    fn projects(&mut self, directory: &Path) {
        if project::of_another_user(directory).is_some() {
            return;
        }
        let root = project::root(directory);
        for folder in project::folders(directory) {
            for own in OWN {
                self.search(&folder.join(own).join(SKILLS), Some(&root), 1);
            }
        }
    }

    /// Looks for folders with a `SKILL.md`, by name. What is below such a folder belongs to that skill.
    fn search(&mut self, place: &Path, root: Option<&Path>, depth: usize) {
        if depth == 1 {
            self.place = Some(place.to_path_buf());
        }
        let mut entries = fs::read_dir(place).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.by_ref().take(MAX_ENTRIES).filter_map(|entry| folder(&entry)).collect();
        if entries.next().is_some() {
            self.notes.push(format!("skills: only {MAX_ENTRIES} entries of {} are looked at", shown_path(place)));
        }
        folders.sort_unstable();
        for folder in folders {
            if self.folders == MAX_FOLDERS {
                let said = format!("skills: only {MAX_FOLDERS} folders are searched");
                if self.notes.last() != Some(&said) {
                    self.notes.push(said);
                }
                return;
            }
            self.folders += 1;
            let file = FILES.iter().map(|name| folder.join(name));
            if let Some((seen, file)) = file.filter_map(|file| Some((file.symlink_metadata().ok()?, file))).next() {
                self.add(&folder, file, &seen, root);
            } else if depth < MAX_DEPTH {
                self.search(&folder, root, depth + 1);
            }
        }
    }

    fn add(&mut self, folder: &Path, file: PathBuf, seen: &Metadata, root: Option<&Path>) {
        let shown = shown_path(&file);
        // What is too large by itself is said when it is read; a link stands for what it leads to.
        let length = if seen.is_symlink() { file.metadata().map_or(0, |found| found.len()) } else { seen.len() };
        let bytes = length.min(MAX_BYTES);
        if self.bytes + bytes > MAX_TOTAL_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        let (head, body) = match read(&file, seen.is_symlink(), root) {
            Ok(read) => read,
            Err(why) => return self.notes.push(format!("not a skill: {shown}: {why}")),
        };
        let folder = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = head.name.clone().unwrap_or_else(|| folder.clone());
        if !is_usable(&name) {
            return self.notes.push(format!("not a skill: {shown}: its name is not a name: {name:?}"));
        }
        if !is_name(&name) || head.name.is_none() || name != folder {
            self.notes.push(format!(
                "the skill `{name}` should say the name of its folder, in small letters, digits and single hyphens: {shown}"
            ));
        }
        if head.compatibility.chars().count() > MAX_COMPATIBILITY {
            self.notes.push(format!(
                "the `compatibility` of the skill `{name}` is not looked at; it may have {MAX_COMPATIBILITY} characters"
            ));
        }
        let description = if head.description.chars().count() > MAX_DESCRIPTION {
            self.notes.push(format!(
                "the description of the skill `{name}` is cut: it may have {MAX_DESCRIPTION} characters"
            ));
            head.description.chars().take(MAX_DESCRIPTION).collect()
        } else {
            head.description
        };
        let skill =
            Skill { name, description, file, is_of_project: root.is_some(), allowed_tools: head.allowed_tools, body };
        self.keep(skill);
    }

    /// A skill hides the one of its name that was there. In one place it is the one whose folder has the name, whichever comes first.
    fn keep(&mut self, skill: Skill) {
        let name = skill.name.clone();
        let is_here = |first: &Skill| self.place.as_ref().is_some_and(|place| first.file.starts_with(place));
        let is_first_meant = |first: &Skill| is_here(first) && first.is_in_its_folder() && !skill.is_in_its_folder();
        let (kept, hidden) = match self.skills.remove(&name) {
            Some(first) if is_first_meant(&first) => (first, Some(skill)),
            first => (skill, first),
        };
        if let Some(hidden) = hidden {
            let (hidden, shown) = (shown_path(&hidden.file), shown_path(&kept.file));
            self.notes.push(format!("the skill `{name}` of {hidden} is hidden by that of {shown}"));
        }
        self.skills.insert(name, kept);
    }

    fn found(mut self) -> Found {
        if self.left_out > 0 {
            let limit = MAX_TOTAL_BYTES / 1024 / 1024;
            let left_out = self.left_out;
            self.notes.push(format!(
                "skills: {left_out} are left out, because all together have more than {limit} MiB: make their `SKILL.md` shorter, or move \
                 parts to files beside it"
            ));
        }
        Found { skills: self.skills.into_values().collect(), notes: self.notes }
    }
}

/// The path of an entry that is a folder, or leads to one.
fn folder(entry: &DirEntry) -> Option<PathBuf> {
    let kind = entry.file_type().ok()?;
    let path = entry.path();
    (kind.is_dir() || kind.is_symlink() && path.is_dir()).then_some(path)
}

/// A repository's link could show the model any file of the user: its skills stand in the project themselves. The user's own may be links.
fn read(file: &Path, is_link: bool, root: Option<&Path>) -> Result<(Head, Arc<str>), String> {
    let real = if is_link && root.is_none() {
        check_own_target(file).map_err(|error| error.to_string())?.ok_or("it is gone")?
    } else {
        file.to_path_buf()
    };
    let folder = root.or_else(|| real.parent()).ok_or("it is in no folder")?;
    let inside = real.strip_prefix(folder).map_err(|error| error.to_string())?;
    let read = read_beneath(folder, inside, MAX_BYTES);
    let (found, text) = read.map_err(|error| error.to_string())?.ok_or("it is gone")?;
    if root.is_none() {
        check_own_opened(&real, &found).map_err(|error| error.to_string())?;
    }
    Ok((head::read(&text)?, Arc::from(head::body(&text))))
}

/// By the specification, of which the reference implementation takes letters of all languages.
fn is_name(name: &str) -> bool {
    is_usable(name)
        && name.chars().all(|c| c.is_alphanumeric() || c == '-')
        && name.to_lowercase() == name
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// What can be typed and shown; names that bend the rules are used all the same.
fn is_usable(name: &str) -> bool {
    let length = name.chars().count();
    (1..=MAX_NAME).contains(&length) && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

/// What the system prompt says of the skills: their names and descriptions, these shortened first where all are too long.
pub(crate) fn catalogue(skills: &[Skill]) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let names: usize = skills.iter().map(|skill| skill.name.len() + "- : \n".len()).sum();
    let whole: usize = skills.iter().map(|skill| skill.description.len()).sum();
    let room = MAX_CATALOGUE.saturating_sub(names);
    let share = if whole <= room { usize::MAX } else { (room / skills.len()).max(MIN_DESCRIPTION) };
    let mut text = String::from(INTRODUCTION);
    for (at, skill) in skills.iter().enumerate() {
        let line = format!("- {}: {}\n", skill.name, shortened(&skill.description, share));
        if text.len() + line.len() > MAX_CATALOGUE + INTRODUCTION.len() {
            text.push_str(&format!("- and {} more, which `activate_skill` lists\n", skills.len() - at));
            break;
        }
        text.push_str(&line);
    }
    text
}

fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8()));
    format!("{}…", text.get(..end).unwrap_or_default())
}

const SKILLS: &str = "skills";
/// What describes a skill. The first that is there counts.
const FILES: [&str; 2] = ["SKILL.md", "skill.md"];
/// Folders of a project that may hold skills, the one that counts more last.
const OWN: [&str; 2] = [".agents", ".agent"];
const MAX_DEPTH: usize = 4;
const MAX_FOLDERS: usize = 500;
/// Of a `SKILL.md`.
const MAX_BYTES: u64 = 64 * 1024;
/// Of all of a project's, and of all of a user's: they are read whenever a session begins.
const MAX_TOTAL_BYTES: u64 = 2 * 1024 * 1024;
/// Of one folder, whatever they are.
const MAX_ENTRIES: usize = 2_000;
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1_024;
const MAX_COMPATIBILITY: usize = 500;
const MIN_DESCRIPTION: usize = 40;
/// Bytes of the list in the prompt.
const MAX_CATALOGUE: usize = 8_000;
const INTRODUCTION: &str = "\n\n# Skills\n\nInstructions for some kinds of work. Before such work, call `activate_skill` with the name and follow \
                            what it returns.\n\n";

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod tests;
