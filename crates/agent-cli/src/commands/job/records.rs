//! `agent job audit` and `agent job show`: the records that jobs leave.

use crate::commands::job::args::{Records, Show};
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::terminal::{print_json, say};
use crate::session::kept::store;
use agent_core::job::AuditRecord;
use agent_runner::job::AuditLog;
use std::path::Path;

/// Prints every record, oldest first, one a line.
pub(crate) fn audit(arguments: &Records) -> Result<u8, Failure> {
    let mut out = String::new();
    for record in read(arguments)? {
        out.push_str(&serde_json::to_string(&record).map_err(Failure::internal)?);
        out.push('\n');
    }
    print_json(&out).map_err(|error| Failure::internal(format!("cannot write the records: {error}")))?;
    Ok(0)
}

/// Prints one record to read.
pub(crate) fn show(arguments: &Show) -> Result<u8, Failure> {
    let id = &arguments.id;
    let found = read(&arguments.records)?.into_iter().rev().find(|record| record.job_id == *id);
    let record = found
        .ok_or_else(|| Failure::input(format!("cannot show the job `{id}`: it has no record in this directory")))?;
    let text = serde_json::to_string_pretty(&record).map_err(Failure::internal)?;
    print_json(&format!("{text}\n")).map_err(|error| Failure::internal(format!("cannot write the record: {error}")))?;
    Ok(0)
}

/// The records of the jobs in a directory.
pub(crate) fn log(directory: &Path) -> Result<AuditLog, Failure> {
    // Jobs are kept by project as sessions are: the folder of the one names the file of the other.
    let sessions = store(directory)?.path("any").map_err(Failure::internal)?;
    let project = sessions.parent().filter(|folder| folder.file_name().is_some());
    let (Some(project), Some(home)) = (project, crate::config::file::state_home()) else {
        return Err(Failure::config(
            "cannot keep the record of the job: there is no directory for it; set AGENT_STATE_HOME",
        ));
    };
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    Ok(AuditLog::new(home.join("audit").join(format!("{name}.jsonl"))))
}

fn read(arguments: &Records) -> Result<Vec<AuditRecord>, Failure> {
    let log = log(&working_directory(arguments.directory.as_deref())?)?;
    let audited = log.read().map_err(Failure::internal)?;
    for line in audited.unreadable_lines {
        say(&format!("agent: line {line} of {} is not a record that this version can read", log.path().display()));
    }
    Ok(audited.records)
}
