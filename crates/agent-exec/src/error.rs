//! Why a program could not be started.

use std::io;
use std::path::PathBuf;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No directory of the search path has it.
    #[error("no such program")]
    NotFound,
    /// The file is there and is no program: it has no execute permission, or is a directory.
    #[error("`{}` is not executable", .file.display())]
    NotExecutable {
        /// The file.
        file: PathBuf,
    },
    /// It begins like a script, but the interpreter it names does not exist, or it has a format that the system does not run.
    #[error("`{}` needs an interpreter or a format that this system does not have", .file.display())]
    WrongFormat {
        /// The file.
        file: PathBuf,
    },
    /// The directory to run in is not there.
    #[error("the directory `{}` does not exist", .directory.display())]
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The program, an argument or a variable contains a NUL byte.
    #[error("a NUL byte in the program, an argument or a variable")]
    NulByte,
    /// The arguments and the environment are longer than the system takes.
    #[error("the arguments are longer than the system allows")]
    TooLong,
    /// It was to run in a sandbox, and what prepares that could not do it.
    #[error("{0}")]
    NotPrepared(String),
    /// Anything else that the system said.
    #[error("{0}")]
    System(#[from] io::Error),
}
