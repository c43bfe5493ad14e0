//! What the user, or a trusted repository, configures of a formatter.

use std::path::PathBuf;

/// A formatter for some kinds of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatterConfig {
    /// Extensions of the files it handles, without the dot.
    pub extensions: Vec<String>,
    /// The program, by absolute path: a name could be answered by the repository.
    pub program: PathBuf,
    /// Its arguments. `{file}` stands for the path of the file. An argument that is `{files}` stands for the paths of all files, one
    /// argument each. An argument with `{edition}` gets the edition of Rust that the nearest `Cargo.toml` says, and is left out where none
    /// does.
    pub arguments: Vec<String>,
    /// How it gets and gives the text.
    pub input: FormatterInput,
    /// The files that configure it.
    pub settings: Vec<SettingsFile>,
    /// Whether new files are formatted where no settings file says that it is used.
    pub new_files: bool,
    /// Time that one process may take.
    pub timeout_ms: u64,
}

/// A file that configures a formatter, in the directory of a formatted file or above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// Its name: one for which [`is_name`](Self::is_name) holds.
    pub name: String,
    /// The text in it that says that the formatter is used. Without one, the file says nothing about that.
    pub sign: Option<String>,
}

impl SettingsFile {
    /// Whether this is the name of one file, so that it stands beside a formatted file and nowhere else.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
    }
}

/// How a formatter gets and gives the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatterInput {
    /// It reads standard input and writes standard output. `{file}` is where the text belongs, and it is run in the directory of that.
    Stdin,
    /// It rewrites a file: a copy outside the workspace, for which `{file}` stands.
    File,
    /// It rewrites many files: copies outside the workspace, for which `{files}` stands. It is run in a directory with the copies where
    /// they are in the repository, and links to its settings files beside them.
    Files,
}
