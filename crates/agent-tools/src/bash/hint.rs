//! Whether a sandbox is the likely reason why a command failed, by what it printed. It is a guess, and says so.

use agent_exec::{Access, Mechanism, Processes, Sandbox};
use agent_types::protected;
use agent_types::tool::{Door, Opening};

/// In what a command runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    sandbox: Option<Sandbox>,
    opening: Option<Opening>,
}

impl Around {
    pub(crate) fn of(processes: &Processes, opening: Option<&Opening>) -> Self {
        Self { sandbox: processes.sandbox().cloned(), opening: opening.cloned() }
    }

    /// What to tell a model about a command that failed and printed this.
    pub(crate) fn hint(&self, output: &str) -> Option<String> {
        hint(output, self.sandbox.as_ref()?, self.opening.as_ref())
    }
}

fn hint(output: &str, sandbox: &Sandbox, opening: Option<&Opening>) -> Option<String> {
    let output = output.to_ascii_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
    let is_refused = match sandbox.mechanism() {
        Mechanism::Bubblewrap => has(REFUSED_BY_MOUNTS),
        _ => has(REFUSED_BY_MOUNTS) || has(REFUSED_BY_LANDLOCK),
    };
    let (what, door, wanted) = if is_refused && has(CONFIGURATION) {
        return Some(
            "the sandbox is a likely reason: git's configuration stays protected; let the user change it".to_owned(),
        );
    } else if is_refused && has(GIT) {
        ("commands cannot write the repository's `.git`", Door::Git, r#""git": true"#)
    } else if is_refused && names_protected(&output) {
        return Some(
            "the sandbox is a likely reason: instructions, configuration and hooks stay protected from commands: change instructions with the file tools, and let the user change the rest"
                .to_owned(),
        );
    } else if has(NETWORK) {
        ("commands have no network", Door::Network, r#""network": true"#)
    } else if is_refused {
        let what = match sandbox.policy().access {
            Access::WorkspaceWrite => {
                "commands write only in the workspace, without its protected files, and in `$TMPDIR`"
            }
            Access::ReadOnly => "commands write only in `$TMPDIR`",
        };
        (what, Door::Write(String::new()), r#""write": ["/absolute/path"]"#)
    } else {
        return None;
    };
    let is_open = opening.is_some_and(|opening| opening.doors.iter().any(|open| open.word() == door.word()));
    (!is_open).then(|| {
        format!(
            "the sandbox is a likely reason: {what}. If the task needs it, repeat the call with \
             `\"sandbox\": {{{wanted}, \"reason\": \"…\"}}`: a rule of the user's allows it, or the user is asked; do without where no \
             one can be asked"
        )
    })
}

/// Whether a line that says what was refused names a file that no command writes.
fn names_protected(output: &str) -> bool {
    let refused = output.lines().filter(|line| REFUSED_BY_MOUNTS.iter().any(|sign| line.contains(sign)));
    let words = refused.flat_map(|line| line.split(|c: char| c.is_whitespace() || "':`\"‘’".contains(c)));
    words
        .filter(|word| word.contains('.'))
        .any(|word| protected::reason(word).is_some() || protected::is_instructions(word))
}

const REFUSED_BY_MOUNTS: &[&str] = &["read-only file system", "device or resource busy"];
const REFUSED_BY_LANDLOCK: &[&str] = &["permission denied", "operation not permitted"];
const CONFIGURATION: &[&str] = &["could not lock config file", "could not write config file"];
const GIT: &[&str] = &[".git/", "cannot lock ref", "insufficient permission for adding an object"];
const NETWORK: &[&str] = &[
    "could not resolve host",
    "couldn't connect to server",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no address associated with hostname",
    "failed to lookup address information",
    "getaddrinfo",
    "eai_again",
    "dns error",
];
