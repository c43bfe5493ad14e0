//! `agent completions` and `agent man`: what shells and `man` read, made from the command line's own definition.

use crate::commands::args::{Cli, Completions, Man};
use crate::failure::Failure;
use crate::screen::terminal::print;
use clap::CommandFactory as _;

pub(crate) fn completions(arguments: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), NAME, &mut script);
    write("completions", script)
}

pub(crate) fn man(arguments: &Man) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    for word in &arguments.command {
        let Some(found) = command.find_subcommand(word) else {
            let name = command.get_bin_name().unwrap_or(NAME);
            return Err(Failure::usage(format!("cannot show the manual page: `{name}` has no command `{word}`")));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::internal(format!("cannot make the manual page: {error}")))?;
    write("manual page", page)
}

fn write(what: &str, text: Vec<u8>) -> Result<u8, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::internal(format!("cannot write the {what}: {error}"));
    let text = String::from_utf8(text).map_err(|error| failed(&error))?;
    print(&text).map_err(|error| failed(&error))?;
    Ok(0)
}

const NAME: &str = "agent";
