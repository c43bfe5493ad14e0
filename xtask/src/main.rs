//! Chores of the project, run as `cargo xtask <chore>`.

mod source;
mod tidy;

use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let chore = std::env::args().nth(1);
    let done = match chore.as_deref() {
        Some("tidy") => tidy::run(),
        Some(other) => Err(format!("no chore is called `{other}`\n{USAGE}")),
        None => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Where not even this can be written, the exit code has to do.
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "usage: cargo xtask tidy";
