//! The clean environment: only names on a list get through, so a secret that the list does not foresee stays here.

use crate::search_path::SearchPath;
use std::ffi::{OsStr, OsString};

/// Variables that every program gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The variables of this process that are on the list, and `TERM=dumb`.
    #[must_use]
    pub fn inherited() -> Self {
        Self::filtered(std::env::vars_os())
    }

    /// Those of the given variables that are on the list, and `TERM=dumb`.
    #[must_use]
    pub fn filtered(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut kept: Vec<_> = variables.into_iter().filter(|(name, _)| is_harmless(name)).collect();
        kept.push((OsString::from("TERM"), OsString::from("dumb")));
        Self(kept)
    }

    /// The same with another `PATH`: what programs start themselves is found in these directories, too.
    #[must_use]
    pub fn with_programs(mut self, programs: &SearchPath) -> Self {
        self.0.retain(|(name, _)| name != "PATH");
        self.0.push((OsString::from("PATH"), programs.directories().to_owned()));
        self
    }

    /// The variables, in the order in which they are set; the last of equal names counts.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The value of a variable.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&OsStr> {
        self.iter().filter_map(|(found, value)| (found == name).then_some(value)).last()
    }
}

fn is_harmless(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("LC_"))
}

/// Where things are, who and where the user is, and what toolchains need to find themselves. Nothing that steers a program (`GIT_*`,
/// `LD_*`, `RUSTFLAGS`) and nothing that could hold a secret (proxy URLs may contain a password).
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_get_through() {
        let given = [
            ("PATH", true),
            ("HOME", true),
            ("LC_ALL", true),
            ("CARGO_HOME", true),
            ("ANTHROPIC_API_KEY", false),
            ("OPENAI_API_KEY", false),
            ("GITHUB_TOKEN", false),
            ("GIT_DIR", false),
            ("LD_PRELOAD", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("SSH_AUTH_SOCK", false),
            ("PATHS", false),
        ];
        let clean = Environment::filtered(given.map(|(name, _)| (name.into(), "x".into())));
        for (name, kept) in given {
            assert_eq!(clean.value(name).is_some(), kept, "{name}");
        }
        assert_eq!(clean.value("TERM"), Some(OsStr::new("dumb")));
    }
}
