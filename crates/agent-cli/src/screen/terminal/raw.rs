//! The terminal while the line editor has it: keys come one by one and are not echoed, pastes are marked.
//!
//! The terminal goes on to make signals of Ctrl-C, Ctrl-\ and Ctrl-Z, to stop and start output with Ctrl-S and Ctrl-Q, and to begin each
//! new line at its start: a program that was killed leaves nothing that `stty sane` does not repair.

use super::charset::foreign;
use super::live;
use super::queue::{self, Kind};
use super::{clean, inline};
use rustix::process::{Pid, Signal, getpgid, getpgrp, getpid, kill_process};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The terminal in this state, as long as it is kept.
pub(crate) struct Raw {
    before: Termios,
    /// What stands in the title of the window, where something was put there.
    title: Option<String>,
}

impl Raw {
    /// Takes the terminal, where there is a capable one on both sides.
    pub(crate) fn take(is_coloured: bool) -> Option<Self> {
        if !is_attended() {
            return None;
        }
        let raw = Self { before: tcgetattr(io::stdin()).ok()?, title: None };
        raw.set().ok()?;
        live::begin(is_coloured);
        let _ = queue::write(Kind::Aside, MARK_PASTES);
        Some(raw)
    }

    fn set(&self) -> rustix::io::Result<()> {
        let mut raw = self.before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN);
        // What was typed before Ctrl-Z or Ctrl-C is still there after it.
        raw.local_modes.insert(LocalModes::NOFLSH);
        // Enter and Ctrl-J are two keys.
        raw.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::ISTRIP);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)
    }

    /// Puts this into the title of the window. The title that was there comes back in the end, where the terminal keeps it; elsewhere none
    /// is left.
    pub(crate) fn set_title(&mut self, title: &str) {
        let title = inline(&clean(title));
        if self.title.as_ref() == Some(&title) {
            return;
        }
        let keep = if self.title.is_none() { KEEP_TITLE } else { "" };
        let _ = queue::write(Kind::Aside, &format!("{keep}\x1b]2;{title}\x1b\\"));
        self.title = Some(title);
    }

    fn unset(&self) {
        if self.title.is_some() {
            let _ = queue::write(Kind::Aside, GIVE_TITLE_BACK);
        }
        let _ = queue::write(Kind::Aside, UNMARK_PASTES);
        // Of a terminal that is gone nothing has to be put right.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }

    /// Gives the terminal back before the program is stopped.
    pub(crate) fn put_away(&self) {
        live::put_away();
        self.unset();
    }

    /// Takes it again, where this program is in front: whoever had it meanwhile may have set it otherwise.
    pub(crate) fn bring_back(&self) {
        if tcgetpgrp(io::stdin()).is_ok_and(|front| front != getpgrp()) {
            return;
        }
        let _ = self.set();
        let _ = queue::write(Kind::Aside, MARK_PASTES);
        if let Some(title) = &self.title {
            let _ = queue::write(Kind::Aside, &format!("{KEEP_TITLE}\x1b]2;{title}\x1b\\"));
        }
        live::bring_back();
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        live::end();
        self.unset();
    }
}

/// The terminal while one key is waited for, Ctrl-C among them: nothing is echoed, pastes are marked. What ends the program meanwhile
/// [gives it back](give_back).
pub(crate) struct KeyByKey(());

impl KeyByKey {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Standard input is none.
    pub(crate) fn take() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        *before_keys() = Some(before);
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        if io::stdout().is_terminal() {
            let _ = queue::write(Kind::Aside, MARK_PASTES);
        }
        Ok(Self(()))
    }
}

impl Drop for KeyByKey {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back from which a key is waited for, if one is.
pub(crate) fn give_back() {
    let Some(before) = before_keys().take() else { return };
    live::end();
    if io::stdout().is_terminal() {
        let _ = queue::write(Kind::Aside, UNMARK_PASTES);
    }
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
}

fn before_keys() -> MutexGuard<'static, Option<Termios>> {
    BEFORE_KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops this program as Ctrl-Z stops any, where there is a shell that could have it go on. Returns after that.
pub(crate) fn stop() {
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Whether a process of another group of this session started this one's group: only then can anything continue it.
pub(crate) fn can_be_continued() -> bool {
    let group = getpgrp();
    let mut process = getpid();
    for _ in 0..MOST_PARENTS {
        let Some(parent) = parent_of(process) else { return false };
        match getpgid(Some(parent)) {
            Ok(parents) if parents == group => process = parent,
            Ok(_) => {
                let session = |process| rustix::process::getsid(Some(process)).ok();
                return session(parent).is_some() && session(parent) == session(getpid());
            }
            Err(_) => return false,
        }
    }
    false
}

fn parent_of(process: Pid) -> Option<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Pid::from_raw(parent.trim().parse().ok()?)
}

/// Runs the person's editor on a file, with the terminal.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run_editor(editor: &str, file: &Path) -> io::Result<ExitStatus> {
    let _keys = hold_keys();
    Command::new("/bin/sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// What was typed and not read by anyone, also of a line that was not ended. The caller holds the keys.
pub(super) fn pending() -> Vec<u8> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let Ok(before) = tcgetattr(&stdin) else { return bytes };
    let mut modes = before.clone();
    // In the background nothing is read: the system would stop this program.
    if tcgetpgrp(&stdin).is_ok_and(|front| front != getpgrp()) {
        return bytes;
    }
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    if tcsetattr(&stdin, OptionalActions::Now, &modes).is_err() {
        return bytes;
    }
    let mut part = [0; 4096];
    while bytes.len() < MOST_PENDING
        && let Ok(length @ 1..) = rustix::io::read(&stdin, &mut part)
    {
        bytes.extend_from_slice(part.get(..length).unwrap_or_default());
    }
    let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
    bytes
}

/// While this is held no key is read: another program reads them.
pub(crate) fn hold_keys() -> MutexGuard<'static, ()> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

static KEYS: Mutex<()> = Mutex::new(());
/// How the terminal was before one key was waited for.
static BEFORE_KEYS: Mutex<Option<Termios>> = Mutex::new(None);
const MARK_PASTES: &str = "\x1b[?2004h";
const UNMARK_PASTES: &str = "\x1b[?2004l";
/// Keeps the title on the terminal's stack; empties it, and takes it from there.
const KEEP_TITLE: &str = "\x1b[22;2t";
const GIVE_TITLE_BACK: &str = "\x1b]2;\x1b\\\x1b[23;2t";
const MOST_PARENTS: u32 = 64;
const MOST_PENDING: usize = 64 * 1024;

/// Whether a person sits at a terminal on which rows at the bottom can be drawn. Where its characters are not UTF-8 nobody knows how wide
/// they are.
pub(crate) fn is_attended() -> bool {
    is_capable() && foreign().is_none() && io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn is_capable() -> bool {
    std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb")
}
