//! Opens sessions for an editor, as the prompt opens its own.

use super::insight::CallInsight;
use super::kept;
use super::live::LiveSession;
use crate::commands::sessions::said_in;
use crate::config::file::user_config_path;
use crate::config::options::{Options, Seat};
use crate::config::project::working_directory;
use crate::config::server_rules;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp::files;
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::terminal::{inline, say, shown_path};
use crate::session::apart::{self, apart};
use crate::session::kept::store;
use crate::session::own::own;
use crate::session::setup::{Before, Opened};
use agent_acp::{Host, Listed, McpReach, McpServer, RpcError, Wanted};
use agent_core::conversation::{Input, Item};
use agent_core::ports::Approver;
use agent_mcp::Source;
use agent_runner::journal::StoreError;
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The program for the editor's connection.
pub(super) struct EditorHost {
    /// Those of the command line: they hold for every session.
    options: Options,
}

impl EditorHost {
    pub(super) const fn new(options: Options) -> Self {
        Self { options }
    }

    /// The options for a session, which has to be there where it is named.
    async fn options(&self, wanted: &Wanted) -> Result<Options, RpcError> {
        let (directory, id) = (Some(wanted.directory.clone()), wanted.id.clone());
        let options = Options { must_exist: id.is_some(), session_id: id.clone(), directory, ..self.options.clone() };
        let Some(id) = id else { return Ok(options) };
        let found = apart(move || {
            let place = store(&working_directory(options.directory.as_deref())?)?;
            match place.existing(&id) {
                Ok(_) => own(&options).map(Ok),
                Err(error @ (StoreError::NoSuchSession { .. } | StoreError::BadId { .. })) => Ok(Err(error)),
                Err(error) => Err(Failure::input(error)),
            }
        });
        let (options, told) = found.await.and_then(|found| found).map_err(rpc)?.map_err(RpcError::not_found)?;
        told.iter().filter(|_| !options.quiet).for_each(|told| say(told));
        Ok(options)
    }
}

#[async_trait]
impl Host for EditorHost {
    fn about(&self) -> [&str; 3] {
        ["agent", "Agent", env!("CARGO_PKG_VERSION")]
    }

    fn how_to_authenticate(&self) -> String {
        let place = user_config_path().map_or_else(|| String::from("your configuration"), |path| shown_path(&path));
        format!(
            "Set the variable of your provider's key (ANTHROPIC_API_KEY, OPENAI_API_KEY) where the editor starts the agent, or name a \
             key file under [providers] in {place}; `agent doctor --online` tries it"
        )
    }

    async fn authenticate(&self) -> Result<(), RpcError> {
        let options = Options { quiet: true, allow_home: true, ..self.options.clone() };
        let tried = async {
            let settings = apart::settings(&options, Seat::Looking).await?;
            provider::choose(&settings).await.map(drop)
        };
        match timeout(PATIENCE, tried).await {
            Ok(tried) => tried.map_err(|failure| RpcError::authentication(failure.message)),
            Err(_) => {
                Err(RpcError::authentication(format!("the provider did not answer within {} s", PATIENCE.as_secs())))
            }
        }
    }

    async fn open(&self, wanted: Wanted, approver: Arc<dyn Approver>) -> Result<agent_acp::Opened, RpcError> {
        let options = self.options(&wanted).await?;
        let opening = async {
            let mut settings = apart::settings(&options, Seat::Editor).await?;
            add_servers(&mut settings, &wanted.servers)?;
            let chosen = provider::choose(&settings).await?.paced(Unread::IsTheEnd);
            apart::opened(settings, &options, chosen, Some(approver), Vec::new()).await
        };
        let (opened, settings) = opening.await.map_err(rpc)?;
        let Opened {
            runner, handle, notices, id, reach, before, repository, background, attaching, mcp, skills, ..
        } = opened;
        let history = match wanted.has_history {
            true => history(before, settings.directory.clone(), id.clone()).await.map_err(rpc)?,
            false => Vec::new(),
        };
        let insight = Arc::new(CallInsight::new(&settings));
        let live = LiveSession::new(settings, reach, attaching, repository, background, mcp, &skills);
        Ok(agent_acp::Opened { id, runner, handle, notices, history, insight, live: Box::new(live) })
    }

    async fn list(&self, directory: Option<PathBuf>, after: usize, most: usize) -> Result<Vec<Listed>, RpcError> {
        apart(move || kept::list(directory.as_deref(), after, most)).await.and_then(|listed| listed).map_err(rpc)
    }

    async fn delete(&self, id: String) -> Result<(), RpcError> {
        apart(move || kept::remove(&id)).await.and_then(|removed| removed).map_err(rpc)
    }
}

/// What was said in a session. A summary in its history has taken the place of what its records still hold.
async fn history(before: Before, directory: PathBuf, id: String) -> Result<Vec<Arc<Item>>, Failure> {
    let is_whole = !before.conversation.iter().any(|item| matches!(item.as_ref(), Item::Summary(_)));
    let mut history: Vec<Arc<Item>> = match is_whole {
        true => before.conversation.iter().cloned().collect(),
        false => {
            let path = store(&directory)?.existing(&id).map_err(Failure::input)?;
            apart(move || said_in(&path)).await??
        }
    };
    // Calls that were left open end when the session goes on, behind what was said.
    history.extend(before.open.map(|answer| Arc::new(Item::Answer(answer))));
    let unanswered = before.unanswered.and_then(|said| Input::new(vec![said.into()]).ok());
    history.extend(unanswered.map(|said| Arc::new(Item::Input(said))));
    Ok(history)
}

/// The servers that the editor names: as the user's own, since the editor is. Names of the configuration stand above them.
fn add_servers(settings: &mut Settings, servers: &[McpServer]) -> Result<(), Failure> {
    if servers.is_empty() {
        return Ok(());
    }
    let named = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    let entry = |server: &McpServer| {
        let entry = match &server.reach {
            McpReach::Program { command, args, env } => json!({ "command": command, "args": args, "env": named(env) }),
            McpReach::Url { url, headers } => json!({ "type": "http", "url": url, "headers": named(headers) }),
        };
        (server.name.clone(), entry)
    };
    let file = json!({ "mcpServers": servers.iter().map(entry).collect::<Map<String, Value>>() });
    let (found, faults) = agent_mcp::parse(&file.to_string(), Source::User).map_err(Failure::config)?;
    faults.iter().for_each(|fault| say(&format!("agent: ignored: {}", inline(&fault.to_string()))));
    for server in found {
        match files::holder(&settings.servers, &settings.held_servers, &server) {
            Some(own) => {
                say(&format!(
                    "agent: the editor's MCP server `{}` is not used: {}",
                    inline(&server.name),
                    inline(&own)
                ));
            }
            None => settings.servers.push(server),
        }
    }
    server_rules::settle(&mut settings.permissions, &mut settings.servers);
    Ok(())
}

/// A failure in the protocol's numbers.
fn rpc(failure: Failure) -> RpcError {
    match failure.code {
        41 => RpcError::authentication(failure.message),
        42 => RpcError::params(failure.message),
        _ => RpcError::internal(failure.message),
    }
}

/// How long a provider may take to say whether it takes a key.
const PATIENCE: Duration = Duration::from_secs(20);
