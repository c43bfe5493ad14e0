//! `agent diagram`: the machines, from their tables.

use crate::commands::args::{Diagram, DiagramFormat, Machine};
use crate::failure::Failure;
use crate::screen::terminal::print;
use agent_core::child::table::TABLE as CHILD;
use agent_core::diagram::{Format, render};
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::server::table::TABLE as SERVER;
use agent_core::session::table::TABLE as SESSION;

pub(crate) fn run(arguments: &Diagram) -> Result<u8, Failure> {
    let format = match arguments.format {
        DiagramFormat::Mermaid => Format::Mermaid,
        DiagramFormat::Dot => Format::Dot,
        DiagramFormat::Markdown => Format::Markdown,
        DiagramFormat::Grid => Format::Grid,
        DiagramFormat::Json => Format::Json,
        DiagramFormat::Svg => Format::Svg,
    };
    let text = match arguments.machine {
        Machine::Session => render(&SESSION, format),
        Machine::Lifecycle => render(&LIFECYCLE, format),
        Machine::Child => render(&CHILD, format),
        Machine::Job => render(&JOB, format),
        Machine::Server => render(&SERVER, format),
    };
    print(&text).map_err(|error| Failure::internal(format!("cannot write the diagram: {error}")))?;
    Ok(0)
}
