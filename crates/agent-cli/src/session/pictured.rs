//! Pictures that belong to a message: `@picture.png` in its text, and files that are named beside it.
//!
//! 1. A file is a picture by its content. An `@` before anything else means what it always did: a name for the model to read.
//! 2. A picture that cannot be sent keeps its message from being sent, with the reason. So nothing that says "this one" goes out without
//!    it.
//! 3. A text names files of the workspace alone, and only what the model may read without asking: a text may have been put together from
//!    what others wrote, by a pipe, a paste or the output of a command. A picture that the person drops on the prompt may lie anywhere.

use crate::config::settings::Settings;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, say, shown_path};
use agent_core::conversation::{Conversation, UserMessage};
use agent_core::permission::{Decision, Permissions};
use agent_core::picture::{Head, Picture, PictureFault, look};
use agent_core::ports::PictureKeeper;
use agent_core::tool::HookVerdict;
use agent_llm::Pictures;
use agent_runner::journal::{SessionPictures, read_regular};
use agent_tools::Workspace;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What attaches pictures to the messages of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attaching {
    /// Keeps them.
    pub(crate) keeper: Arc<SessionPictures>,
    /// Which models take them.
    pub(crate) taken: Pictures,
    /// The model that is asked.
    pub(crate) model: String,
    directory: PathBuf,
    pub(super) permissions: Permissions,
    /// Opens what a text names, as the tools would. Without it no text names anything.
    pub(crate) workspace: Option<Arc<Workspace>>,
    /// What the person dropped on the prompt: it may lie anywhere.
    dropped: BTreeSet<PathBuf>,
}

/// A message with its pictures, and a line about each.
#[derive(Debug)]
pub(crate) struct Pictured {
    pub(crate) message: UserMessage,
    pub(crate) told: Vec<String>,
}

/// Why a message is not sent as it is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAttached {
    #[error("the picture `{path}` {found}")]
    Picture { path: String, found: String },
    #[error(
        "the model {model} takes no pictures: leave them out, choose another model, or set `images = true` for it in your configuration"
    )]
    Model { model: String },
    #[error("{} are too many for one message, which takes {}: send them in several", counted(*count as u64, "picture"), Picture::MAX_IN_MESSAGE)]
    TooMany { count: usize },
}

impl Attaching {
    pub(crate) fn new(keeper: Arc<SessionPictures>, taken: Pictures) -> Self {
        Self { keeper, taken, ..Self::default() }
    }

    /// The same for a session with these settings.
    pub(crate) fn within(mut self, settings: &Settings) -> Self {
        self.directory.clone_from(&settings.directory);
        self.permissions.clone_from(&settings.permissions);
        self
    }

    /// Without rules, for tests.
    #[cfg(test)]
    pub(crate) fn in_directory(directory: &Path) -> Self {
        let workspace = Workspace::open(directory).ok().map(Arc::new);
        Self { directory: directory.to_owned(), workspace, ..Self::default() }
    }

    /// The message of a text, with the pictures that the text names and those of `files`.
    pub(crate) fn to(&self, text: &str, files: &[PathBuf]) -> Result<Pictured, NotAttached> {
        let mut found = Vec::new();
        for file in files {
            let shown = shown_path(file);
            let file = open(&self.place(&shown)).map_err(|error| wrong(&shown, format!("cannot be read: {error}")))?;
            found.push((shown, file));
        }
        for name in mentions(text) {
            if let Some(file) = self.mentioned(&name) {
                found.push((name, file));
            }
        }
        if found.is_empty() {
            return Ok(Pictured { message: text.into(), told: Vec::new() });
        }
        if found.len() > Picture::MAX_IN_MESSAGE {
            return Err(NotAttached::TooMany { count: found.len() });
        }
        if !self.taken.are_taken_by(&self.model) {
            return Err(NotAttached::Model { model: self.model.clone() });
        }
        // Everything is looked at before anything is kept.
        let read = found.into_iter().map(|(name, file)| Ok((whole(&name, file)?, name)));
        let read = read.collect::<Result<Vec<_>, NotAttached>>()?;
        let kept = read.into_iter().map(|((bytes, head), name)| self.kept(&name, &bytes, head));
        let pictures = kept.collect::<Result<Vec<Picture>, NotAttached>>()?;
        let told = pictures.iter().map(told).collect();
        Ok(Pictured { message: UserMessage::new(text, pictures), told })
    }

    /// The message with further pictures, whose bytes are at hand.
    pub(crate) fn with_bytes(
        &self,
        message: UserMessage,
        pictures: &[(String, Vec<u8>)],
    ) -> Result<UserMessage, NotAttached> {
        let count = message.pictures.len() + pictures.len();
        if count > Picture::MAX_IN_MESSAGE {
            return Err(NotAttached::TooMany { count });
        }
        if !pictures.is_empty() && !self.taken.are_taken_by(&self.model) {
            return Err(NotAttached::Model { model: self.model.clone() });
        }
        // Everything is looked at before anything is kept.
        let looked = pictures.iter().map(|(name, bytes)| {
            let size = bytes.len() as u64;
            if size > Picture::MAX_BYTES {
                return Err(wrong(name, PictureFault::TooLarge { bytes: size }.to_string()));
            }
            Ok((name, bytes, look(bytes).map_err(|fault| wrong(name, fault.to_string()))?))
        });
        let looked = looked.collect::<Result<Vec<_>, NotAttached>>()?;
        let mut all = message.pictures.to_vec();
        for (name, bytes, head) in looked {
            all.push(self.kept(name, bytes, head)?);
        }
        Ok(UserMessage { pictures: all.into(), ..message })
    }

    fn kept(&self, name: &str, bytes: &[u8], Head { kind, width, height }: Head) -> Result<Picture, NotAttached> {
        let digest = self.keeper.keep(bytes).map_err(|error| wrong(name, format!("is not sent: {error}")))?;
        Ok(Picture { digest, kind, bytes: bytes.len() as u64, width, height, name: name.into() })
    }

    /// Whether an `@` names a picture that would go with a message.
    pub(crate) fn is_picture(&self, name: &str) -> bool {
        self.mentioned(name).is_some()
    }

    /// The file that an `@` names, if it begins as a picture.
    fn mentioned(&self, name: &str) -> Option<File> {
        let place = self.place(name);
        let mut file = if self.dropped.contains(&place) { open(&place).ok()? } else { self.opened(name).ok()? };
        is_picture(&mut file).ok().filter(|is_picture| *is_picture)?;
        // From its beginning again: what is looked at now is the whole.
        io::Seek::rewind(&mut file).ok()?;
        Some(file)
    }

    /// A file that a text names, if the model may read it without asking; else why it does not go with a message. A text may have been put
    /// together from what others wrote, also one that was typed: pastes and the output of commands are parts of it.
    pub(crate) fn opened(&self, name: &str) -> Result<File, String> {
        let workspace = self.workspace.as_ref().ok_or("there is no workspace")?;
        let place = self.place(name);
        let place = place.to_str().ok_or("its name is not Unicode")?;
        workspace.open_to_show(place, |read| {
            matches!(self.permissions.decide("read_file", read, &HookVerdict::None), Decision::Run(_))
        })
    }

    /// The names in a folder that a text names, as many as a message takes, and how many more there are; else why they do not go with it.
    pub(crate) fn listed(&self, name: &str, most: usize) -> Result<(Vec<String>, usize), String> {
        let workspace = self.workspace.as_ref().ok_or("there is no workspace")?;
        let place = self.place(name);
        let place = place.to_str().ok_or("its name is not Unicode")?;
        workspace.entries_to_show(place, most, |read| {
            matches!(self.permissions.decide("read_file", read, &HookVerdict::None), Decision::Run(_))
        })
    }

    /// Whether a name leads to a folder.
    pub(crate) fn is_folder(&self, name: &str) -> bool {
        self.place(name).is_dir()
    }

    /// Whether a name leads to a file at all.
    pub(crate) fn is_file(&self, name: &str) -> bool {
        self.place(name).is_file()
    }

    fn place(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/").zip(std::env::home_dir()) {
            Some((below, home)) => home.join(below),
            None => self.directory.join(name),
        }
    }

    /// What a paste becomes that consists of the path of a picture, as a terminal pastes a file that is dropped on it.
    pub(crate) fn pasted(&mut self, paste: &str) -> Option<String> {
        let path = dropped(paste.trim())?;
        let mut file = open(&self.place(&path)).ok()?;
        is_picture(&mut file).ok().filter(|is_picture| *is_picture)?;
        self.dropped.insert(self.place(&path));
        Some(mention(&path))
    }
}

/// A device or a pipe is refused at once.
fn open(place: &Path) -> io::Result<File> {
    read_regular(place)
}

fn wrong(path: &str, found: String) -> NotAttached {
    NotAttached::Picture { path: path.to_owned(), found }
}

/// By its first bytes.
fn is_picture(file: &mut File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
    Ok(look(&beginning) != Err(PictureFault::NotAPicture) && std::str::from_utf8(&beginning).is_err())
}

/// Its bytes and what its head says. No more is read than a picture may have.
fn whole(name: &str, file: File) -> Result<(Vec<u8>, Head), NotAttached> {
    let failed = |error: io::Error| wrong(name, format!("cannot be read: {error}"));
    let bytes = file.metadata().map_err(failed)?.len();
    if bytes > Picture::MAX_BYTES {
        return Err(wrong(name, PictureFault::TooLarge { bytes }.to_string()));
    }
    let mut content = Vec::new();
    file.take(Picture::MAX_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    let head = look(&content).map_err(|fault| wrong(name, fault.to_string()))?;
    Ok((content, head))
}

/// Says which pictures the model will read the names of instead. It is a loss, and no reason to give the session up.
pub(crate) fn say_missing(conversation: &Conversation, keeper: &SessionPictures) {
    let all = conversation.iter().flat_map(|item| item.pictures());
    let missing = all.filter_map(|picture| Some((picture, keeper.bytes_of(picture).err()?)));
    for (picture, error) in missing {
        let (name, found) = (inline(&picture.name), inline(&error.found));
        say(&format!("agent: the picture {name} of the session is not sent again: {found}; the model reads its name"));
    }
}

/// As the person sees what goes with a message.
pub(crate) fn told(picture: &Picture) -> String {
    let Picture { name, width, height, .. } = picture;
    format!("{name} {width}x{height}, about {}", counted(picture.tokens(), "token"))
}

/// What the text names with an `@` at the beginning of a word: up to a blank, or in quotes, or with a backslash before each blank.
pub(crate) fn mentions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
        if next == '@' && (before.is_whitespace() || OPENING.contains(&before)) {
            let (name, after) = word(rest);
            let name = name.trim_end_matches(CLOSING);
            if !name.is_empty() && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
            rest = after;
            before = ' ';
        } else {
            before = next;
        }
    }
    found
}

/// The word that a text begins with, as a shell would read it, and what follows.
fn word(text: &str) -> (String, &str) {
    if let Some(quote @ ('"' | '\'')) = text.chars().next()
        && let Some((inside, after)) = text.get(1..).and_then(|rest| rest.split_once(quote))
    {
        return (inside.to_owned(), after);
    }
    let mut word = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => word.extend(letters.next().map(|(_, escaped)| escaped)),
            blank if blank.is_whitespace() => return (word, text.get(at..).unwrap_or_default()),
            letter => word.push(letter),
        }
    }
    (word, "")
}

/// The path that a paste consists of: absolute, or from the home directory, or a URL of a file.
fn dropped(paste: &str) -> Option<String> {
    if let Some(url) = paste.strip_prefix("file://") {
        return percent_decoded(url.strip_prefix("localhost").unwrap_or(url)).filter(|path| path.starts_with('/'));
    }
    let (path, after) = word(paste);
    let is_path = path.starts_with('/') || path.starts_with("~/");
    (is_path && after.trim().is_empty()).then_some(path)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// A path as [`mentions`] finds it.
fn mention(path: &str) -> String {
    let is_plain =
        !path.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\')) && !path.ends_with(CLOSING);
    match path {
        _ if is_plain => format!("@{path} "),
        _ if path.contains('"') => format!("@'{path}' "),
        _ => format!("@\"{path}\" "),
    }
}

const OPENING: [char; 3] = ['(', '[', ','];
const CLOSING: [char; 8] = ['.', ',', ';', ':', '!', '?', ')', ']'];
const BEGINNING_BYTES: u64 = 4096;

#[cfg(test)]
mod tests;
