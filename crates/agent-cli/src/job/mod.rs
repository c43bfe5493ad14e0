//! `agent job`: single jobs and their audit records.

pub(crate) mod args;
pub(crate) mod config;
mod host;
mod records;
mod result;
mod run;

use crate::failure::Failure;
use args::{Job, JobCommand};

pub(crate) async fn dispatch(arguments: Job) -> Result<u8, Failure> {
    match arguments.command {
        JobCommand::Run(arguments) => run::run(*arguments).await,
        JobCommand::Audit(arguments) => records::audit(&arguments),
        JobCommand::Show(arguments) => records::show(&arguments),
    }
}
