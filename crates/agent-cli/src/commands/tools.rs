//! `agent tools`: what the model is offered.

use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::terminal::print;
use agent_exec::Processes;
use agent_tools::{Workspace, signal_tool, standard_tools};
use std::sync::Arc;

/// Prints each tool with its description and its parameters.
pub(crate) fn run() -> Result<u8, Failure> {
    let workspace = Workspace::open(working_directory(None)?).map_err(Failure::input)?;
    let mut out = String::new();
    let tools = standard_tools(&Arc::new(workspace), Processes::new());
    for tool in tools.into_iter().chain([signal_tool()]) {
        let spec = tool.spec();
        let schema = serde_json::to_string_pretty(&spec.input_schema).map_err(Failure::internal)?;
        out.push_str(&format!("{}\n  {}\n{schema}\n\n", spec.name, spec.description));
    }
    print(&out).map_err(|error| Failure::internal(format!("cannot write the tools: {error}")))?;
    Ok(0)
}
