//! `agent diagram`: the machines, from their tables.

use crate::args::{Diagram, DiagramFormat, Machine};
use crate::failure::Failure;
use crate::terminal::put;
use agent_core::diagram;
use agent_core::session::table::TABLE;

pub(crate) fn run(arguments: &Diagram) -> Result<u8, Failure> {
    let Machine::Session = arguments.machine;
    let text = match arguments.format {
        DiagramFormat::Mermaid => diagram::mermaid(&TABLE),
        DiagramFormat::Dot => diagram::dot(&TABLE),
        DiagramFormat::Markdown => diagram::markdown(&TABLE),
        DiagramFormat::Grid => diagram::grid(&TABLE),
        DiagramFormat::Json => diagram::json(&TABLE),
    };
    put(&text).map_err(|error| Failure::internal(format!("write the diagram: {error}")))?;
    Ok(0)
}
