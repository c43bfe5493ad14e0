//! `agent job`: single jobs and their audit records.

pub(crate) mod args;
pub(crate) mod config;
mod host;
mod records;
mod result;
mod run;

use crate::failure::Failure;
use args::{Batch, Job, JobCommand};

pub(crate) async fn dispatch(arguments: Job) -> Result<u8, Failure> {
    match arguments.command {
        JobCommand::Run(arguments) => run::run(*arguments).await,
        JobCommand::Batch(Batch { rest }) => {
            let of = rest.first().map(|first| format!(" of `{first}`")).unwrap_or_default();
            Err(Failure::usage(format!(
                "cannot run the jobs{of}: `agent job batch` does not exist yet; `agent job run DESC` runs one job"
            )))
        }
        JobCommand::Audit(arguments) => records::audit(&arguments),
        JobCommand::Show(arguments) => records::show(&arguments),
    }
}
