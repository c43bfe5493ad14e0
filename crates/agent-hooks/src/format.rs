//! Runs the user's formatters on files that the agent changed.
//!
//! A file is formatted only when it was formatted before, or is new: otherwise the agent's small change would carry a rewrite of the
//! whole file. The formatter never writes to the workspace; its result replaces the file at once, or not at all.

use crate::config::{FormatterConfig, FormatterInput};
use crate::image::Image;
use crate::replace::replace;
use agent_core::ports::{CancelSignal, Command, CommandError, CommandRunner, Exit};
use std::io;
use std::path::{Path, PathBuf};

/// Output kept of one formatter; a longer one is refused.
const OUTPUT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// What became of one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Formatted {
    /// It was formatted already.
    Unchanged,
    /// It was rewritten.
    Changed,
}

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormatError {
    /// It was not formatted before the agent changed it.
    #[error("it was not formatted before the agent changed it")]
    NotFormattedBefore,
    /// Nobody remembers how it was.
    #[error("it is not known how it was before the agent changed it")]
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
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The hook is to stop.
    #[error("stopped: cancelled")]
    Cancelled,
}

/// Formats one file at a time.
pub(crate) struct Formatter<'a> {
    pub(crate) config: &'a FormatterConfig,
    pub(crate) runner: &'a dyn CommandRunner,
    /// Where the runner's programs can write; without one, where every program can.
    pub(crate) scratch: Option<&'a Path>,
    pub(crate) workspace: &'a Path,
    pub(crate) cancel: &'a dyn CancelSignal,
}

impl FormatterConfig {
    /// Whether it handles the file.
    pub(crate) fn handles(&self, path: &str) -> bool {
        let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.extensions.iter().any(|known| known == extension))
    }
}

impl Formatter<'_> {
    /// Formats a file, given how it was before the agent's changes.
    pub(crate) async fn format(&self, path: &str, before: &[Image]) -> Result<Formatted, FormatError> {
        if !self.config.program.is_absolute() {
            return Err(FormatError::NotAbsolute(self.config.program.clone()));
        }
        let target = self.workspace.join(path);
        let now = Image::take(&target);
        let bytes = match &now {
            Image::File { bytes, .. } if !bytes.is_empty() => bytes,
            Image::File { .. } | Image::Absent => return Ok(Formatted::Unchanged),
            Image::Link(_) => return Err(FormatError::Unfit("it is a symbolic link")),
            Image::Opaque(reason) => return Err(FormatError::Unfit(reason)),
        };
        self.check_before(path, before).await?;
        let formatted = self.run(path, bytes).await?;
        if formatted[..] == bytes[..] {
            return Ok(Formatted::Unchanged);
        }
        if Image::take(&target) != now {
            return Err(FormatError::Unfit("it changed meanwhile"));
        }
        replace(&target, &formatted, None)?;
        Ok(Formatted::Changed)
    }

    async fn check_before(&self, path: &str, before: &[Image]) -> Result<(), FormatError> {
        match before.first() {
            None | Some(Image::Opaque(_)) => Err(FormatError::Unknown),
            Some(Image::Absent) => Ok(()),
            Some(Image::Link(_)) => Err(FormatError::Unfit("it was a symbolic link")),
            Some(Image::File { bytes, .. }) if bytes.is_empty() => Ok(()),
            // What the formatter refuses was not formatted.
            Some(Image::File { bytes, .. }) => match self.run(path, bytes).await {
                Ok(formatted) if formatted[..] == bytes[..] => Ok(()),
                Ok(_) | Err(FormatError::Failed { .. }) => Err(FormatError::NotFormattedBefore),
                Err(error) => Err(error),
            },
        }
    }

    /// The formatter's version of a text.
    async fn run(&self, path: &str, text: &[u8]) -> Result<Vec<u8>, FormatError> {
        match self.config.input {
            FormatterInput::Stdin => {
                let place = self.workspace.join(path);
                let output = self.call(&place, text.to_vec()).await?;
                self.checked(output, text)
            }
            FormatterInput::File => {
                let directory = self.scratch.map_or_else(std::env::temp_dir, Path::to_path_buf);
                let scratch = tempfile::Builder::new().prefix("agent-hooks-").tempdir_in(directory)?;
                let copy = scratch.path().join(Path::new(path).file_name().unwrap_or_default());
                std::fs::write(&copy, text)?;
                self.call(&copy, Vec::new()).await?;
                self.checked(std::fs::read(&copy)?, text)
            }
        }
    }

    async fn call(&self, file: &Path, stdin: Vec<u8>) -> Result<Vec<u8>, FormatError> {
        let file = file.to_string_lossy();
        let command = Command {
            program: self.config.program.to_string_lossy().into_owned(),
            arguments: self.config.arguments.iter().map(|argument| argument.replace("{file}", &file)).collect(),
            directory: self.workspace.to_string_lossy().into_owned(),
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
            Exit::TimedOut => Err(self.failed("took too long")),
            Exit::Code(code) => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Err(self.failed(&format!("ended with status {code}: {line}")))
            }
            _ => Err(self.failed("was killed")),
        }
    }

    /// Refuses results that cannot be a formatted text.
    fn checked(&self, result: Vec<u8>, text: &[u8]) -> Result<Vec<u8>, FormatError> {
        if result.is_empty() {
            return Err(self.failed("left nothing of the file"));
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
