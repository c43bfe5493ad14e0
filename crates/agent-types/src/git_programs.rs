//! The settings of git by which a configuration has it start a program, and what holds each where git runs for the agent: its own git, and
//! git in calls of `bash` that run unasked or have a door open.
//!
//! The list is here because two hands hold it. A test compares it with the list of settings of the git that is installed.
//!
//! Absent: settings that only choose among programs which other settings name (`diff.tool`), and what hooks do: there are none, see
//! `core.hooksPath`.

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramSetting {
    /// As `git help --config` writes it: `<name>` stands for one part that somebody chooses.
    pub key: &'static str,
    /// What holds it.
    pub held: Held,
}

/// What holds a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It has this value, whatever a file says.
    Set(&'static str),
    /// This variable of the environment, with this value, goes before it.
    Variable(&'static str, &'static str),
    /// Git does not start it there, and why.
    Never(&'static str),
    /// The agent's own git does not start it; in a call of `bash` it runs, held by the sandbox, and why that is harmless.
    Confined(&'static str),
}

/// Values that go before those of files.
pub fn values() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_programs = PROGRAMS.iter().filter_map(|setting| match setting.held {
        Held::Set(value) => Some((setting.key, value)),
        Held::Variable(..) | Held::Never(_) | Held::Confined(_) => None,
    });
    of_programs.chain(ASKING.iter().copied())
}

/// Variables that go before settings.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.iter().filter_map(|setting| match setting.held {
        Held::Variable(name, value) => Some((name, value)),
        Held::Set(_) | Held::Never(_) | Held::Confined(_) => None,
    })
}

const fn setting(key: &'static str, held: Held) -> ProgramSetting {
    ProgramSetting { key, held }
}

const BY_TRADE: &str = "its sub-command is not among those that run";
const OF_FILES: &str =
    "no command can write the configuration that names it, and what it writes is looked at afterwards";
const THERE: &str = "the program is on the other machine; repositories on this one are not reached";

/// All of them.
#[rustfmt::skip]
pub const PROGRAMS: &[ProgramSetting] = &[
    setting("core.fsmonitor", Held::Set("false")),
    setting("core.hooksPath", Held::Set("/dev/null")),
    setting("core.alternateRefsCommand", Held::Set("false")),
    setting("gpg.program", Held::Set("false")),
    setting("gpg.openpgp.program", Held::Set("false")),
    setting("gpg.x509.program", Held::Set("false")),
    setting("gpg.ssh.program", Held::Set("false")),
    setting("gpg.ssh.defaultKeyCommand", Held::Set("false")),
    setting("gpg.<format>.program", Held::Never("there are three formats, and each is set")),
    setting("credential.helper", Held::Set("")),
    setting("credential.<url>.helper", Held::Never("an empty `credential.helper` empties the list of both")),
    setting("interactive.diffFilter", Held::Set("cat")),
    setting("core.editor", Held::Variable("GIT_EDITOR", "true")),
    setting("sequence.editor", Held::Variable("GIT_SEQUENCE_EDITOR", "true")),
    setting("core.pager", Held::Variable("GIT_PAGER", "cat")),
    setting("pager.<cmd>", Held::Never("a pager is for a terminal, and there is none")),
    setting("core.sshCommand", Held::Variable("GIT_SSH_COMMAND", "ssh")),
    setting("core.gitProxy", Held::Variable("GIT_PROXY_COMMAND", "")),
    setting("core.askPass", Held::Variable("GIT_ASKPASS", "")),
    setting("diff.external", Held::Confined(OF_FILES)),
    setting("diff.<driver>.command", Held::Confined(OF_FILES)),
    setting("diff.<driver>.textconv", Held::Confined(OF_FILES)),
    setting("filter.<driver>.clean", Held::Confined(OF_FILES)),
    setting("filter.<driver>.smudge", Held::Confined(OF_FILES)),
    setting("filter.<driver>.process", Held::Confined(OF_FILES)),
    setting("merge.<driver>.driver", Held::Confined(OF_FILES)),
    setting("trailer.<token>.command", Held::Confined(OF_FILES)),
    setting("trailer.<token>.cmd", Held::Confined(OF_FILES)),
    setting("trailer.<keyAlias>.command", Held::Confined(OF_FILES)),
    setting("trailer.<keyAlias>.cmd", Held::Confined(OF_FILES)),
    setting("alias.*", Held::Never("a name of git's own is not taken for an alias, and no other runs")),
    setting("remote.<name>.uploadpack", Held::Never(THERE)),
    setting("remote.<name>.receivepack", Held::Never(THERE)),
    setting("remote.<name>.vcs", Held::Never("only four protocols are allowed, and none of them is a program's")),
    setting("uploadpack.packObjectsHook", Held::Never(THERE)),
    setting("gc.recentObjectsHook", Held::Never("nothing is cleaned up: `gc.auto` is 0")),
    setting("submodule.<name>.update", Held::Never(BY_TRADE)),
    setting("tar.<format>.command", Held::Never(BY_TRADE)),
    setting("difftool.<tool>.cmd", Held::Never(BY_TRADE)),
    setting("difftool.<tool>.path", Held::Never(BY_TRADE)),
    setting("mergetool.<tool>.cmd", Held::Never(BY_TRADE)),
    setting("mergetool.<tool>.path", Held::Never(BY_TRADE)),
    setting("guitool.<name>.cmd", Held::Never(BY_TRADE)),
    setting("browser.<tool>.cmd", Held::Never(BY_TRADE)),
    setting("browser.<tool>.path", Held::Never(BY_TRADE)),
    setting("man.<tool>.cmd", Held::Never(BY_TRADE)),
    setting("man.<tool>.path", Held::Never(BY_TRADE)),
    setting("man.viewer", Held::Never(BY_TRADE)),
    setting("help.browser", Held::Never(BY_TRADE)),
    setting("web.browser", Held::Never(BY_TRADE)),
    setting("instaweb.browser", Held::Never(BY_TRADE)),
    setting("instaweb.httpd", Held::Never(BY_TRADE)),
    setting("instaweb.modulePath", Held::Never(BY_TRADE)),
    setting("imap.tunnel", Held::Never(BY_TRADE)),
    setting("sendemail.ccCmd", Held::Never(BY_TRADE)),
    setting("sendemail.toCmd", Held::Never(BY_TRADE)),
    setting("sendemail.headerCmd", Held::Never(BY_TRADE)),
    setting("sendemail.smtpServer", Held::Never(BY_TRADE)),
    setting("sendemail.sendmailCmd", Held::Never(BY_TRADE)),
];

/// What makes git start one of them without being asked by a word of the command.
const ASKING: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_stands_once_and_what_is_set_has_no_part_that_somebody_chooses() {
        for (at, one) in PROGRAMS.iter().enumerate() {
            assert!(PROGRAMS[at + 1..].iter().all(|other| !other.key.eq_ignore_ascii_case(one.key)), "{}", one.key);
            assert!(!matches!(one.held, Held::Set(_)) || !one.key.contains(['<', '*']), "{}", one.key);
        }
        assert!(values().any(|pair| pair == ("core.fsmonitor", "false")));
        assert!(variables().any(|pair| pair == ("GIT_EDITOR", "true")));
    }
}
