//! Runs one formatter over texts: in as few processes as it can be called with, and never on the files themselves.

use super::config::{FormatterConfig, FormatterInput};
use super::copies::Copies;
use super::edition;
use agent_git::Tree;
use agent_types::ports::{CancelSignal, Command, CommandError, CommandRunner, Exit};
use std::io;
use std::path::{Path, PathBuf};

/// Output kept of one formatter; a longer one is refused.
const OUTPUT_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// Files on one command line.
const FILES_PER_PROCESS: usize = 200;

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormatError {
    /// It was not formatted before the agent changed it.
    #[error("it was not formatted before the agent changed it")]
    NotFormattedBefore,
    /// Its earlier content is unknown.
    #[error("its content before the agent changed it is unknown")]
    Unknown,
    /// It is not a file to format.
    #[error("{0}")]
    Unfit(&'static str),
    /// The configured program is a name, which the repository could answer.
    #[error("the formatter must be an absolute path: {}", .0.display())]
    NotAbsolute(PathBuf),
    /// The formatter could not be started.
    #[error("{0}")]
    Start(#[from] CommandError),
    /// It ended otherwise than well.
    #[error("{program} {found}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        found: String,
    },
    /// It did not end.
    #[error("{program} took too long")]
    TooLong {
        /// The program.
        program: String,
    },
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The hook is to stop.
    #[error("stopped: cancelled")]
    Cancelled,
}

/// A text, and the path it belongs to, relative to the root.
pub(crate) type Text<'a> = (&'a Path, &'a [u8]);

/// One formatter, and where it works.
pub(crate) struct Formatter<'a> {
    pub(crate) config: &'a FormatterConfig,
    pub(crate) runner: &'a dyn CommandRunner,
    /// Where the runner's programs can write; without one, where every program can.
    pub(crate) scratch: Option<&'a Path>,
    /// The working tree, or the workspace where there is no repository.
    pub(crate) files: &'a Tree,
    /// Where a formatter of one file runs.
    pub(crate) workspace: &'a Path,
    pub(crate) cancel: &'a dyn CancelSignal,
}

impl Formatter<'_> {
    fn root(&self) -> &Path {
        self.files.path()
    }

    /// The formatter's versions of texts, in order.
    pub(crate) async fn texts(&self, texts: &[Text<'_>]) -> Vec<Result<Vec<u8>, FormatError>> {
        let mut made = Vec::new();
        if self.config.input == FormatterInput::Files {
            for chunk in texts.chunks(FILES_PER_PROCESS) {
                made.extend(self.together(chunk).await);
            }
            return made;
        }
        for text in texts {
            made.push(self.alone(*text).await);
        }
        made
    }

    /// One process. When it fails, the text that broke it is unknown: each is tried alone, but not when it took too long with all of them.
    async fn together(&self, texts: &[Text<'_>]) -> Vec<Result<Vec<u8>, FormatError>> {
        match self.in_copies(texts).await {
            Ok(made) => return made,
            Err(failure) if texts.len() == 1 => return vec![Err(failure)],
            Err(FormatError::TooLong { program }) => {
                return texts.iter().map(|_| Err(FormatError::TooLong { program: program.clone() })).collect();
            }
            Err(_) => {}
        }
        let mut made = Vec::new();
        for text in texts {
            let one = self.in_copies(&[*text]).await;
            made.push(one.and_then(|mut made| made.pop().unwrap_or(Err(FormatError::Unknown))));
        }
        made
    }

    async fn in_copies(&self, texts: &[Text<'_>]) -> Result<Vec<Result<Vec<u8>, FormatError>>, FormatError> {
        let copies = Copies::make(self.scratch, self.root(), texts, &self.config.settings)?;
        let files: Vec<PathBuf> = texts.iter().map(|(path, _)| copies.of(path)).collect();
        self.call(copies.root(), &files, Vec::new()).await?;
        Ok(texts.iter().map(|(path, text)| self.checked(copies.text(path).unwrap_or_default(), text)).collect())
    }

    async fn alone(&self, (path, text): Text<'_>) -> Result<Vec<u8>, FormatError> {
        if self.config.input == FormatterInput::Stdin {
            let file = self.root().join(path);
            let output =
                self.call(file.parent().unwrap_or(self.root()), std::slice::from_ref(&file), text.to_vec()).await?;
            return self.checked(output, text);
        }
        let name = Path::new(path.file_name().unwrap_or_default());
        let copies = Copies::make(self.scratch, self.root(), &[(name, text)], &[])?;
        self.call(self.workspace, &[copies.of(name)], Vec::new()).await?;
        self.checked(copies.text(name).unwrap_or_default(), text)
    }

    async fn call(&self, directory: &Path, files: &[PathBuf], stdin: Vec<u8>) -> Result<Vec<u8>, FormatError> {
        let command = Command {
            program: self.config.program.to_string_lossy().into_owned(),
            arguments: self.arguments(files),
            directory: directory.to_string_lossy().into_owned(),
            environment: Vec::new(),
            stdin,
            timeout_ms: self.config.timeout_ms,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        };
        let output = self.runner.run(&command, self.cancel).await?;
        match output.exit {
            Exit::Code(0) if output.dropped_bytes > 0 => Err(self.failed("wrote too much")),
            Exit::Code(0) => Ok(output.stdout),
            Exit::Cancelled => Err(FormatError::Cancelled),
            Exit::TimedOut => Err(FormatError::TooLong { program: command.program }),
            Exit::Code(code) => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Err(self.failed(&format!("ended with status {code}: {line}")))
            }
            _ => Err(self.failed("was killed")),
        }
    }

    /// The arguments with what their placeholders stand for.
    fn arguments(&self, files: &[PathBuf]) -> Vec<String> {
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let first = names.first().map(String::as_str).unwrap_or_default();
        let folder = files.first().and_then(|file| file.parent()).unwrap_or(self.root());
        let mut made = Vec::new();
        for argument in &self.config.arguments {
            if argument == "{files}" {
                made.extend(names.iter().cloned());
                continue;
            }
            let mut argument = argument.replace("{file}", first);
            if argument.contains("{edition}") {
                let Some(edition) = edition::of(folder, self.root()) else { continue };
                argument = argument.replace("{edition}", &edition);
            }
            made.push(argument);
        }
        made
    }

    /// Refuses results that cannot be a formatted text.
    fn checked(&self, result: Vec<u8>, text: &[u8]) -> Result<Vec<u8>, FormatError> {
        if result.is_empty() {
            return Err(self.failed("left an empty file"));
        }
        if str::from_utf8(text).is_ok() && str::from_utf8(&result).is_err() {
            return Err(self.failed("wrote something that is not text"));
        }
        Ok(result)
    }

    fn failed(&self, found: &str) -> FormatError {
        FormatError::Failed { program: self.config.program.to_string_lossy().into_owned(), found: found.to_owned() }
    }
}
