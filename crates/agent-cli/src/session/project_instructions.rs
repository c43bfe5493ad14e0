//! The files of instructions: the user's own `AGENTS.md`, then those of the project from its root down to the working directory, with the
//! files that they import. They become part of the system prompt. Those of directories below are found by the same rules
//! ([`instructions_below`](crate::session::instructions_below)).
//!
//! All together have a limit. An import reads other files of instructions of the project only, opened once and on a way without links, so
//! that a repository cannot send other files to the provider.

use crate::config::beneath::read_beneath;
use crate::config::file::{config_home, read_capped};
use crate::config::project;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, say, shown_path};
use crate::session::above::Above;
use agent_core::instructions::{GivenInstructions, Instructions};
use agent_core::permission::{Basis, Decision, Permissions};
use agent_core::picture::Digest;
use agent_core::protected::is_instructions;
use agent_core::tool::{HookVerdict, Inspection};
use agent_runner::journal::{check_own_target, read_regular};
use agent_tools::{Look, Workspace};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The instructions of a system prompt.
pub(crate) struct Head {
    /// Each file below a heading that names it.
    pub(crate) text: String,
    pub(crate) given: GivenInstructions,
}

/// All instructions for a workspace. What is not used is said, and what a deny rule keeps from the model is not used.
pub(crate) fn of(workspace: &Workspace, permissions: &Permissions, above: &Above) -> Head {
    let look = workspace.look();
    let mut finding = Finding::keeping(workspace.root(), |path| {
        kept_from_model(&look, permissions, path).or_else(|| above.keep_from_model(path))
    });
    let (unusable, left_out) = (std::mem::take(&mut finding.unusable), std::mem::take(&mut finding.left_out));
    for (_, why) in unusable.into_iter().chain(left_out) {
        say(&format!("agent: {why}"));
    }
    let (mut text, mut left, mut cut) = (String::new(), MAX_BYTES, 0);
    for found in &finding.found {
        let own = finding.own.as_ref().filter(|own| **own == found.path);
        let whose = if own.is_some() { "the user" } else { "the project" };
        text.push_str(&format!("\n\n# Instructions of {whose} ({})\n\n", shown_path(Path::new(&found.path))));
        let whole = found.text.trim_end();
        let kept = whole.get(..whole.floor_char_boundary(left)).unwrap_or_default();
        text.push_str(kept);
        left -= kept.len();
        if kept.len() < whole.len() {
            let more = whole.len() - kept.len();
            text.push_str(&format!("\n[… {more} bytes left out]"));
            cut += more as u64;
        }
    }
    if cut > 0 {
        let cut = counted(cut, "byte");
        say(&format!("agent: the instructions are cut: {cut} beyond the limit of {MAX_BYTES} bytes are left out"));
    }
    let files = finding.found.into_iter().map(|found| (found.path, found.digest)).collect();
    Head { text, given: GivenInstructions { files: Arc::new(files), left_bytes: left as u64 } }
}

/// Why the model must not read a file of the workspace, by its name or by where a link from elsewhere leads. A deny rule without a pattern
/// is about a tool, not about this file.
pub(crate) fn kept_from_model(look: &Look<'_>, permissions: &Permissions, path: &Path) -> Option<String> {
    let inside = |path: PathBuf| Some(path.strip_prefix(look.root()).ok()?.to_string_lossy().into_owned());
    let named = normalised(path).and_then(inside);
    // Within the workspace, links are followed there.
    let inside = named.or_else(|| inside(path.canonicalize().ok()?))?;
    let is_open = |read: &Inspection| match permissions.decide("read_file", read, &HookVerdict::None) {
        Decision::Deny(Basis::Denied(rule)) => !rule.has_pattern(),
        Decision::Deny(_) | Decision::Run(_) | Decision::Ask(_) => true,
    };
    look.open_to_show(&inside, is_open).err()
}

/// Files of instructions, in the order in which they are read.
pub(crate) struct Finding<'a> {
    /// Why a file is not for the model, if it is not. Then nothing that it imports is read either.
    keeps: Keeps<'a>,
    /// Where the project begins. Nothing in a repository of another user instructs.
    root: Option<PathBuf>,
    found: Vec<Instructions>,
    /// The one of `found` that is the user's.
    own: Option<String>,
    /// Files that are in it, so that each is in it once.
    read: BTreeSet<PathBuf>,
    /// Imports that were looked up, whatever came of it.
    tried: usize,
    /// The paths of what cannot be used, and why.
    unusable: Vec<(PathBuf, String)>,
    /// The paths of what is kept from the model, and why.
    left_out: Vec<(PathBuf, String)>,
}

type Keeps<'a> = Box<dyn Fn(&Path) -> Option<String> + 'a>;

impl<'a> Finding<'a> {
    /// The user's own, and those from the project's root down to a directory, without what is kept from the model.
    pub(crate) fn keeping(directory: &Path, keeps: impl Fn(&Path) -> Option<String> + 'a) -> Self {
        let is_others = project::of_another_user(directory).is_some();
        let folders = if is_others { Vec::new() } else { project::folders(directory) };
        let mut finding = Self {
            keeps: Box::new(keeps),
            root: (!is_others).then(|| folders.first().copied().unwrap_or(directory).to_path_buf()),
            found: Vec::new(),
            own: None,
            read: BTreeSet::new(),
            tried: 0,
            unusable: Vec::new(),
            left_out: Vec::new(),
        };
        finding.add_own();
        // The closest comes last and so has the last word.
        folders.into_iter().for_each(|folder| finding.add_folder(folder));
        finding
    }

    /// All that was found.
    pub(crate) fn take_found(&mut self) -> Vec<Instructions> {
        std::mem::take(&mut self.found)
    }

    /// Why files below a folder cannot be used, in the place of their texts.
    pub(crate) fn into_unusable(mut self, folder: &Path) -> Vec<Instructions> {
        for (path, why) in std::mem::take(&mut self.unusable) {
            if path.strip_prefix(folder).is_ok_and(|inside| inside.components().count() > 1) {
                let (path, digest) = (path.display().to_string(), digest_of(&why));
                self.found.push(Instructions { path, digest, text: String::new(), unusable: Some(why) });
            }
        }
        self.found
    }

    fn add_own(&mut self) {
        let Some(path) = config_home().map(|home| home.join(AGENTS)) else { return };
        if !self.is_open(&path) {
            return;
        }
        match own_text(&path) {
            Ok(text) => {
                let text = text.unwrap_or_default();
                self.own = (!text.trim().is_empty()).then(|| path.display().to_string());
                self.add(&path, text);
            }
            Err(error) => {
                let why = format!("cannot read the instructions {}: {error}", path.display());
                self.unusable.push((path, why));
            }
        }
    }

    /// The file of a folder of the project. Other agents' file counts where there is none of ours.
    pub(crate) fn add_folder(&mut self, folder: &Path) {
        let Some(root) = self.root.clone() else { return };
        let _ = self.add_file(&root, &folder.join(AGENTS)) || self.add_file(&root, &folder.join(CLAUDE));
    }

    /// Adds a file of the project and what it imports. Returns whether there is such a file, also one that cannot be used.
    fn add_file(&mut self, root: &Path, path: &Path) -> bool {
        match read_inside(root, path) {
            Ok(Some((real, text))) if !text.trim().is_empty() => {
                if self.read.insert(real.clone()) && self.is_open(path) {
                    self.add(path, text.clone());
                    self.add_imports(root, &real, &text, 1);
                }
                true
            }
            Ok(_) => false,
            Err(error) => {
                let shown = shown_path(path);
                self.unusable.push((path.to_owned(), format!("cannot read the instructions {shown}: {error}")));
                true
            }
        }
    }

    /// Adds the files that a text names with `@`, and those that they name. What is no file of the project is a word like any other.
    fn add_imports(&mut self, root: &Path, importer: &Path, text: &str, depth: usize) {
        for name in imports(text) {
            if self.tried >= MAX_FILES {
                return;
            }
            let Some(path) = importer.parent().and_then(|folder| below(folder, name)) else { continue };
            // Commands cannot write files of these names. Others could lead to what deny rules or hidden places keep from the model.
            if !is_instructions(&path.file_name().unwrap_or_default().to_string_lossy()) {
                continue;
            }
            self.tried += 1;
            match read_import(root, &path) {
                Ok(Some((real, text))) if self.read.insert(real.clone()) && self.is_open(&path) => {
                    self.add(&path, text.clone());
                    if depth < MAX_DEPTH {
                        self.add_imports(root, &real, &text, depth + 1);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let why = format!("not imported into the instructions: `@{}`: {error}", inline(name));
                    self.unusable.push((path, why));
                }
            }
        }
    }

    /// Whether the file is for the model. One that is not is said to be left out.
    fn is_open(&mut self, path: &Path) -> bool {
        let Some(why) = (self.keeps)(path) else { return true };
        let why = format!("the instructions {} are left out: {why}", shown_path(path));
        self.left_out.push((path.to_owned(), why));
        false
    }

    fn add(&mut self, path: &Path, text: String) {
        if !text.trim().is_empty() {
            let path = path.display().to_string();
            self.found.push(Instructions { path, digest: digest_of(&text), text, unusable: None });
        }
    }
}

fn digest_of(text: &str) -> Digest {
    Digest::new(Sha256::digest(text.as_bytes()).into())
}

/// What became of a file since it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Same,
    Differs,
    Gone,
}

/// Compares a file with what it was.
pub(crate) fn since(path: &str, digest: Digest) -> Since {
    let file = match read_regular(Path::new(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Since::Gone,
        Err(_) => return Since::Differs,
    };
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    let is_same = read.is_ok() && Digest::new(Sha256::digest(&bytes).into()) == digest;
    if is_same { Since::Same } else { Since::Differs }
}

/// As the configuration is read: what others may write is not the user's word.
fn own_text(path: &Path) -> Result<Option<String>, String> {
    check_own_target(path).map_err(|error| error.to_string())?;
    read_capped(path).map_err(|error| error.to_string())
}

/// A repository must not send other files to the provider by a link, from elsewhere or its own: a link may only lead to instructions of
/// another name. Nor do others speak in the user's prompt.
fn read_inside(root: &Path, path: &Path) -> io::Result<Option<(PathBuf, String)>> {
    let Some(real) = real(path)? else { return Ok(None) };
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    if !real.starts_with(root) {
        return Err(io::Error::other("it is a link that leads out of the project"));
    }
    if !is_instructions(&name) {
        return Err(io::Error::other(format!(
            "it is a link to `{name}`, which is not the name of an instructions file"
        )));
    }
    let inside = real.strip_prefix(root).map_err(io::Error::other)?.to_path_buf();
    read_own(root, &inside)
}

/// A file that is imported.
fn read_import(root: &Path, path: &Path) -> io::Result<Option<(PathBuf, String)>> {
    let Some(inside) = normalised(path).and_then(|path| path.strip_prefix(root).map(Path::to_path_buf).ok()) else {
        return Err(io::Error::other("it leads out of the project"));
    };
    read_own(root, &inside)
}

/// The path without `.` and `..`.
pub(crate) fn normalised(path: &Path) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => whole.pop().then_some(())?,
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => whole.push(part),
        }
    }
    Some(whole)
}

/// A file of the project that may instruct.
fn read_own(root: &Path, inside: &Path) -> io::Result<Option<(PathBuf, String)>> {
    let Some((found, text)) = read_beneath(root, inside, MAX_FILE_BYTES)? else { return Ok(None) };
    if !may_instruct(&found, root) {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(Some((root.join(inside), text)))
}

fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(real) => Ok(Some(real)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The user, and in a repository of another user that the user told git to work with, that one.
fn may_instruct(file: &Metadata, root: &Path) -> bool {
    let is_of_root = || root.metadata().is_ok_and(|root| root.uid() == file.uid());
    let is_accepted = || project::repository(root).is_some() && project::of_another_user(root).is_none();
    project::belongs_to_user(file) || is_accepted() && is_of_root()
}

/// What a text names with `@` at the beginning of a word, outside of code.
fn imports(text: &str) -> Vec<&str> {
    let (mut found, mut fence) = (Vec::new(), None);
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            // Between an odd and an even tick there is code.
            (None, None) => found.extend(line.split('`').step_by(2).flat_map(names)),
        }
    }
    found
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|sign: char| sign.is_whitespace() || "()[]<>\"'".contains(sign));
    words.filter_map(|word| word.strip_prefix('@')).map(|name| name.trim_end_matches(['.', ',', ';', ':', '!', '?']))
}

/// The path of an import, from the folder of the file that names it, the same for each spelling. Nothing from elsewhere has one.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let name = Path::new(name);
    let is_relative =
        name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir));
    let path = folder.join(name);
    let is_import = is_relative && name.file_name().is_some() && !name.starts_with("~");
    is_import.then(|| normalised(&path).unwrap_or(path))
}

const AGENTS: &str = "AGENTS.md";
const CLAUDE: &str = "CLAUDE.md";
/// Of all instructions together, without their headings.
const MAX_BYTES: usize = 32 * 1024;
const MAX_FILES: usize = 64;
/// How many imports may lead from one to the next.
const MAX_DEPTH: usize = 5;
/// Of one file; more than this is beyond the limit of all in any case.
const MAX_FILE_BYTES: u64 = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn imports_are_words_outside_of_code() {
        let text = "See @docs/a.md, (@b.md) and mail me@example.com.\n`@c.md` is `code`, @d.txt. is not\n```\n@e.md\n~~~\n@f.md\n```\n@g.md";
        assert_eq!(imports(text), ["docs/a.md", "b.md", "d.txt", "g.md"]);
        assert_eq!(imports("~~~ sh\n@a.md\n~~~\n@b.md"), ["b.md"]);
    }

    #[test]
    fn an_import_is_relative() {
        for (name, path) in [
            ("a.md", Some("/p/docs/a.md")),
            ("../a.md", Some("/p/a.md")),
            ("deep/.././b.md", Some("/p/docs/b.md")),
            ("../../../a.md", Some("/p/docs/../../../a.md")),
            ("/etc/motd.txt", None),
            ("~/notes.md", None),
            ("", None),
            ("..", None),
        ] {
            assert_eq!(below(Path::new("/p/docs"), name).as_deref(), path.map(Path::new), "{name}");
        }
    }

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir(project.path().join(".git")).unwrap();
        for (path, text) in files {
            let path = project.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    fn of_project(project: &tempfile::TempDir, directory: &str) -> String {
        let workspace = Workspace::open(project.path().join(directory).canonicalize().unwrap()).unwrap();
        of(&workspace, &Permissions::default(), &Above::default()).text
    }

    /// Loops, repetitions, chains that are too long.
    #[test]
    fn every_file_is_there_once_in_the_order_in_which_it_is_named() {
        let project = project(&[
            ("AGENTS.md", "first, see @docs/two.instructions.md and @docs/two.instructions.md"),
            (
                "docs/two.instructions.md",
                "second, see @../AGENTS.md, @three.instructions.md and @nothing.instructions.md",
            ),
            ("docs/three.instructions.md", "third @three.instructions.md @deep/1.instructions.md"),
            ("docs/deep/1.instructions.md", "d1 @2.instructions.md"),
            ("docs/deep/2.instructions.md", "d2 @3.instructions.md"),
            ("docs/deep/3.instructions.md", "d3 @4.instructions.md"),
            ("docs/deep/4.instructions.md", "d4"),
        ]);
        let text = of_project(&project, ".");
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
        assert!(at("first,") < at("second,") && at("second,") < at("third") && at("third") < at("d1"), "{text}");
        assert!(text.contains("d3 ") && !text.contains("\nd4"), "{text}");
        assert_eq!(text.matches("# Instructions of the project").count(), 6, "{text}");
    }

    #[test]
    fn imports_send_no_other_files() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("AGENTS.md"), "outside").unwrap();
        let text =
            "@.env @id_rsa @x.md @link/AGENTS.md @link.instructions.md @folder.instructions.md and @docs/AGENTS.md";
        let project = project(&[
            ("AGENTS.md", text),
            (".env", "hidden-1"),
            ("id_rsa", "hidden-2"),
            ("x.md", "hidden-3"),
            ("folder.instructions.md/x.md", "hidden-5"),
            ("docs/AGENTS.md", "is used"),
        ]);
        std::os::unix::fs::symlink(outside.path().join("AGENTS.md"), project.path().join("link.instructions.md"))
            .unwrap();
        std::os::unix::fs::symlink(outside.path(), project.path().join("link")).unwrap();
        let text = of_project(&project, ".");
        assert!(text.contains("is used") && !text.contains("hidden-") && !text.contains("outside"), "{text}");
    }

    #[test]
    fn other_agents_file_counts_where_there_is_none_of_ours() {
        let project = project(&[
            ("AGENTS.md", "ours"),
            ("CLAUDE.md", "theirs"),
            ("a/AGENTS.md", "  \n"),
            ("a/CLAUDE.md", "theirs of a"),
            ("a/b/AGENTS.md", "ours of b"),
        ]);
        let text = of_project(&project, "a/b");
        assert!(!text.contains("theirs\n") && text.contains("theirs of a") && text.ends_with("ours of b"), "{text}");
    }

    #[test]
    fn all_together_have_a_limit() {
        let (long, longer) = ("é".repeat(8 * 1024), "ü".repeat(20 * 1024));
        let project = project(&[("AGENTS.md", &long), ("a/AGENTS.md", &longer), ("a/b/AGENTS.md", "last")]);
        let text = of_project(&project, "a/b");
        assert!(
            text.contains(&long) && text.contains("[… 24576 bytes left out]") && text.contains("[… 4 bytes left out]")
        );
        assert!(text.len() < MAX_BYTES + 1024, "{}", text.len());
    }
}
