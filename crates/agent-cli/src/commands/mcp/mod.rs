//! `agent mcp`: which servers there are, whether they come, what they offer, and what is trusted of them.

pub(crate) mod args;
mod edit;
mod login;

use crate::commands::mcp::args::{Add, List, McpArguments, McpCommand, Remove, Review, Test};
use crate::config::options::{Options, Seat};
use crate::config::project;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp::launch::InSandbox;
use crate::mcp::{files, logins, of_servers, store};
use crate::model::secrets;
use crate::screen::confirm::confirmed;
use crate::screen::counted::counted;
use crate::screen::terminal::{escaped, inline, print, print_json, say, shown_path};
use crate::session::apart;
use agent_mcp::{
    Launcher, Outside, ResultKeeper, ServerConfig, Servers, Source, Status, Tried, TrustStore, difference, plain,
};
use serde_json::{Value, json};
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Does what was asked for. Without a thread for what blocks, nothing is started.
pub(crate) async fn run(arguments: McpArguments, thread: Result<(), Failure>) -> Result<u8, Failure> {
    thread?;
    match arguments.command {
        McpCommand::List(list) => show(list).await,
        McpCommand::Add(add) => self::add(add).await,
        McpCommand::Remove(remove) => self::remove(&remove),
        McpCommand::Test(test) => try_out(test).await,
        McpCommand::Review(review) => self::review(review).await,
        McpCommand::Login(login) => login::login(login).await,
        McpCommand::Logout(logout) => login::logout(logout).await,
    }
}

/// The servers of a directory, as a session there would have them.
struct Here {
    settings: Settings,
    root: PathBuf,
    store: TrustStore,
    launcher: Arc<dyn Launcher>,
}

impl Here {
    async fn find(directory: Option<PathBuf>) -> Result<Self, Failure> {
        let options = Options { directory, quiet: true, ..Options::default() };
        let settings = apart::settings(&options, Seat::Looking).await?;
        // Before what keeps them out of records is made.
        let root = project::root(&settings.directory);
        secrets::learn(&of_servers(&settings.servers, &root));
        let store = store().ok_or_else(|| {
            Failure::config("cannot keep what is trusted of servers: there is no home directory; set AGENT_STATE_HOME")
        })?;
        let launcher = Arc::new(InSandbox::of(&settings));
        Ok(Self { settings, root, store, launcher })
    }

    fn server(&self, name: &str) -> Result<&ServerConfig, Failure> {
        let found = self.settings.servers.iter().find(|server| server.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.settings.servers.iter().map(|server| &*server.name).collect();
            let there =
                if names.is_empty() { "there are none".to_owned() } else { format!("there are {}", names.join(", ")) };
            Failure::input(format!("there is no MCP server called `{}`; {}", inline(name), inline(&there)))
        })
    }

    async fn tried(&self, server: &ServerConfig) -> Result<Tried, Failure> {
        let tried = Servers::try_one(server, self.launcher.clone(), &self.store).await;
        tried.map_err(|found| Failure {
            code: 1,
            message: format!("the MCP server {} did not come: {}", inline(&server.name), inline(&plain(&found))),
        })
    }
}

/// Where nothing is called, nothing has to be kept.
struct Nowhere;

impl ResultKeeper for Nowhere {
    fn keep(&self, _server: &str, _text: &str) -> Result<String, String> {
        Err("no session runs".to_owned())
    }
}

async fn show(arguments: List) -> Result<u8, Failure> {
    let here = Here::find(arguments.directory).await?;
    let outside = Outside { pictures: None, results: Arc::new(Nowhere) };
    let configs = here.settings.servers.clone();
    let (servers, _, _changes) = Servers::open(configs, &here.root, &here.store, &here.launcher, outside);
    servers.decided().await;
    let statuses = servers.statuses();
    servers.stop().await;
    let is_missing = |(config, status): &(ServerConfig, Status)| config.is_required && !status.is_ready();
    let code = u8::from(statuses.iter().any(is_missing));
    let shown = match arguments.json {
        true => {
            let all: Vec<Value> = statuses.iter().map(|(config, status)| as_json(config, status)).collect();
            print_json(&serde_json::to_string_pretty(&all).unwrap_or_default())
        }
        false => print(&rows(&statuses)),
    };
    shown.map_err(|error| Failure::internal(format!("cannot write the list: {error}")))?;
    Ok(code)
}

/// A server in a few rows: where it stands, what it is, what is withheld.
pub(crate) fn rows(statuses: &[(ServerConfig, Status)]) -> String {
    if statuses.is_empty() {
        return "no MCP server is configured; `agent mcp add` adds one\n".to_owned();
    }
    let mut text = String::new();
    for (config, status) in statuses {
        let required = if config.is_required { ", required" } else { "" };
        let of = if config.source == Source::Repository { ", of the repository" } else { "" };
        let searched =
            if status.searched > 0 { format!(" ({} found by searching)", status.searched) } else { String::new() };
        let tools = counted(status.offered as u64, "tool") + &searched;
        text.push_str(&format!(
            "{}: {}, {tools}{required}{of}: {}\n",
            inline(&config.name),
            status.word(),
            inline(&config.shown())
        ));
        if let Some(peer) = &status.peer {
            text.push_str(&format!("  {}\n", inline(&plain(peer))));
        }
        if let Some(found) = status.found.as_ref().filter(|_| !status.is_ready()) {
            text.push_str(&format!("  {}\n", inline(&plain(found))));
        }
        for (tool, why) in &status.withheld {
            text.push_str(&format!("  not offered: {}: {}\n", inline(&plain(tool)), inline(&plain(why))));
        }
    }
    text
}

fn as_json(config: &ServerConfig, status: &Status) -> Value {
    json!({
        "name": config.name,
        "state": status.word(),
        "ready": status.is_ready(),
        "required": config.is_required,
        "source": if config.source == Source::User { "user" } else { "repository" },
        "command": config.shown(),
        "found": status.found.as_deref().map(plain),
        "server": status.peer.as_deref().map(plain),
        "tools": status.offered,
        "searched": status.searched,
        "withheld": status.withheld.iter().map(|(tool, why)| (plain(tool), plain(why))).collect::<std::collections::BTreeMap<_, _>>(),
    })
}

async fn add(arguments: Add) -> Result<u8, Failure> {
    let path = files::user_path()
        .ok_or_else(|| Failure::config("there is no home directory for the configuration; set AGENT_CONFIG_HOME"))?;
    let changed = edit::added(&path, &arguments)?;
    let (servers, faults) = agent_mcp::parse(&changed, Source::User).map_err(Failure::internal)?;
    let of_this = |server: &Option<String>| server.as_deref() == Some(&*arguments.name);
    if let Some(fault) = faults.iter().find(|fault| of_this(&fault.server)) {
        return Err(Failure::input(format!("cannot add the MCP server: {}", inline(&fault.to_string()))));
    }
    let server = servers.into_iter().find(|server| server.name == arguments.name);
    let server = server.ok_or_else(|| Failure::internal("the server that was added is not read again"))?;
    secrets::learn(&of_servers(std::slice::from_ref(&server), Path::new("")));
    if !arguments.no_test {
        let here = Here::find(arguments.directory).await?;
        let tried = here.tried(&server).await.map_err(|failure| {
            let Failure { code, message } = failure;
            let hint = "; `--no-test` adds it as it is, so that one can log in there";
            let hint = if message.contains("agent mcp login") { hint } else { "" };
            Failure { code, message: message + hint }
        })?;
        show_tools(&server, &tried)?;
        Servers::trust(&server, &here.root, &here.store, &tried.record)
            .map_err(|error| Failure::internal(format!("cannot keep what is trusted of the server: {error}")))?;
    }
    edit::write(&path, &changed)?;
    say(&format!("agent: added {} to {}", inline(&arguments.name), shown_path(&path)));
    Ok(0)
}

fn remove(arguments: &Remove) -> Result<u8, Failure> {
    let path = files::user_path()
        .ok_or_else(|| Failure::config("there is no home directory for the configuration; set AGENT_CONFIG_HOME"))?;
    let changed = edit::removed(&path, &arguments.name)?;
    edit::write(&path, &changed)?;
    if let Some(store) = store() {
        store
            .forget(Path::new(""), &arguments.name)
            .map_err(|error| Failure::internal(format!("cannot forget what was trusted of the server: {error}")))?;
    }
    if let Some(logins) = logins() {
        logins
            .forget(Path::new(""), &arguments.name)
            .map_err(|error| Failure::internal(format!("cannot remove the login at the server: {error}")))?;
    }
    say(&format!("agent: removed {} from {}", inline(&arguments.name), shown_path(&path)));
    Ok(0)
}

async fn try_out(arguments: Test) -> Result<u8, Failure> {
    let here = Here::find(arguments.directory).await?;
    let server = here.server(&arguments.name)?;
    let tried = here.tried(server).await?;
    show_tools(server, &tried)?;
    match Servers::known(server, &here.root, &here.store) {
        None => say("agent: nothing of it is trusted yet: what it has is trusted when it is first used"),
        Some(known) => {
            let lines = difference(Some(&known), &tried.record);
            if !lines.is_empty() {
                let name = inline(&server.name);
                say(&format!("agent: not as it was trusted (`agent mcp review {name}` shows the whole difference):"));
                lines.iter().for_each(|line| say(&format!("  {}", inline(&plain(line)))));
            }
        }
    }
    Ok(0)
}

fn show_tools(server: &ServerConfig, tried: &Tried) -> Result<(), Failure> {
    let peer = tried.peer.as_deref().map(plain).unwrap_or_default();
    let mut text = format!("{}: {}\n", inline(&server.name), inline(&peer));
    for (remote, tool) in &tried.record.tools {
        let name = agent_mcp::tool_name(&server.family, remote).unwrap_or_else(|| plain(remote));
        text.push_str(&format!("  {name}: {}\n", inline(&plain(&tool.description))));
    }
    print(&text).map_err(|error| Failure::internal(format!("cannot write the tools: {error}")))
}

/// First what would be started is looked at, and only then it is started.
async fn review(arguments: Review) -> Result<u8, Failure> {
    let here = Here::find(arguments.directory).await?;
    let server = here.server(&arguments.name)?;
    let known = Servers::known(server, &here.root, &here.store);
    let (launcher, of) = (here.launcher.clone(), server.clone());
    let identity = apart::apart(move || launcher.identity(&of, None)).await?;
    let identity =
        identity.map_err(|found| Failure::input(format!("cannot start the MCP server: {}", inline(&found))))?;
    let changed = known.as_ref().and_then(|known| known.identity.differs(&identity));
    if let Some(changed) = changed {
        say(&format!("agent: {}: {}", inline(&server.name), inline(&plain(&changed))));
        if !arguments.yes && !is_agreed("agent: start it as it is now?")? {
            say("agent: not started");
            return Ok(1);
        }
    }
    let tried = here.tried(server).await?;
    let lines = difference(known.as_ref(), &tried.record);
    if lines.is_empty() {
        say(&format!("agent: {} is as it was trusted", inline(&server.name)));
        return Ok(0);
    }
    let shown: String = lines.iter().map(|line| format!("{}\n", escaped(&plain(line)))).collect();
    print(&shown).map_err(|error| Failure::internal(format!("cannot write the difference: {error}")))?;
    if !arguments.yes && !is_agreed("agent: trust this?")? {
        say("agent: not trusted");
        return Ok(1);
    }
    Servers::trust(server, &here.root, &here.store, &tried.record)
        .map_err(|error| Failure::internal(format!("cannot keep what is trusted of the server: {error}")))?;
    say("agent: trusted from the next session on");
    Ok(0)
}

fn is_agreed(question: &str) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage("no one is at a terminal to confirm: `--yes` trusts what is shown"));
    }
    confirmed(question).map_err(|error| Failure::input(format!("cannot read the answer: {error}")))
}
