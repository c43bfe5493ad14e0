//! What `agent mcp` is called with.

use crate::commands::examples;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Start the servers of this directory, and show where each stands; exit code 1 when a required one is not ready.
    #[command(after_help = examples::MCP_LIST)]
    List(List),
    /// Add a server to your configuration, start it once, and trust the tools that it has.
    #[command(after_help = examples::MCP_ADD)]
    Add(Add),
    /// Remove a server from your configuration, with what was trusted of it.
    #[command(after_help = examples::MCP_REMOVE)]
    Remove(Remove),
    /// Start a server once and show its tools, with what is not as it was trusted; exit code 1 when it does not come.
    #[command(after_help = examples::MCP_TEST)]
    Test(Test),
    /// Show what of a server is not as it was trusted, and trust it after a question.
    #[command(after_help = examples::MCP_REVIEW)]
    Review(Review),
    /// Log in at a server that wants to know who asks: an address is shown that you open in your browser. The tokens are kept like keys.
    #[command(after_help = examples::MCP_LOGIN)]
    Login(Login),
    /// Remove the login at a server.
    #[command(after_help = examples::MCP_LOGOUT)]
    Logout(Logout),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Write JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What to call it.
    pub(crate) name: String,
    /// A variable of its environment. May be repeated; `NAME='${NAME}'` takes the value from the environment at each start.
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Let it reach the network.
    #[arg(long)]
    pub(crate) network: bool,
    /// Let it write the workspace.
    #[arg(long)]
    pub(crate) write_workspace: bool,
    /// Let it write this directory, an absolute path. May be repeated.
    #[arg(long = "write", value_name = "DIR")]
    pub(crate) write: Vec<PathBuf>,
    /// Have the first turn wait for it, for a bounded time.
    #[arg(long)]
    pub(crate) required: bool,
    /// Do not start it now: its tools are trusted when it is first used.
    #[arg(long)]
    pub(crate) no_test: bool,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Where it is, if it runs elsewhere: `https://…`.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env", "network", "write_workspace", "write"])]
    pub(crate) url: Option<String>,
    /// A header that is sent to it. May be repeated; `'Authorization: Bearer ${TOKEN}'` takes the token from the environment each time.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// Its command, behind `--`.
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The server.
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The server.
    pub(crate) name: String,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Review {
    /// The server.
    pub(crate) name: String,
    /// Trust what is shown without a question.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server.
    pub(crate) name: String,
    /// Ask for this scope, in place of what the server wants. May be repeated.
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// Log in without a question where the tokens come from somewhere else than before.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server.
    pub(crate) name: String,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", alias = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
