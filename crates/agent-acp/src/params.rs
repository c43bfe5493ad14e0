//! What requests say, read and checked.

use crate::host::{McpReach, McpServer, Wanted};
use crate::wire::RpcError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, RpcError> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| RpcError::params(format!("cannot read `params`: {error}")))
}

pub(crate) fn absolute(directory: &Path) -> Result<(), RpcError> {
    if directory.is_absolute() {
        return Ok(());
    }
    Err(RpcError::params(format!("`cwd` is not absolute: {:?}", directory.to_string_lossy())))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct New {
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Option<Vec<Value>>,
    #[serde(default)]
    additional_directories: Option<Vec<Value>>,
}

impl From<New> for Result<Wanted, RpcError> {
    fn from(new: New) -> Self {
        absolute(&new.cwd)?;
        if new.additional_directories.is_some_and(|others| !others.is_empty()) {
            return Err(RpcError::params("`additionalDirectories` are not supported, and were not announced"));
        }
        if !new.cwd.is_dir() {
            let found = if new.cwd.exists() { "is no directory" } else { "is not there" };
            return Err(RpcError::params(format!("`cwd` {found}: {:?}", new.cwd.to_string_lossy())));
        }
        let servers = new.mcp_servers.unwrap_or_default().into_iter().map(server).collect::<Result<_, _>>()?;
        Ok(Wanted { directory: new.cwd, id: None, has_history: false, servers })
    }
}

/// A server of tools as a client names it.
fn server(server: Value) -> Result<McpServer, RpcError> {
    let wrong = |error| RpcError::params(format!("cannot read an MCP server: {error}"));
    let pairs = |named: Option<Vec<Pair>>| {
        named.unwrap_or_default().into_iter().map(|Pair { name, value }| (name, value)).collect()
    };
    let kind = server.get("type").filter(|kind| !kind.is_null()).cloned();
    match kind.as_ref().map(|kind| kind.as_str().unwrap_or_default()) {
        None | Some("stdio") => {
            let Stdio { name, command, args, env } = serde_json::from_value(server).map_err(wrong)?;
            let (args, env) = (args.unwrap_or_default(), pairs(env));
            Ok(McpServer { name, reach: McpReach::Program { command, args, env } })
        }
        Some("http") => {
            let Http { name, url, headers } = serde_json::from_value(server).map_err(wrong)?;
            Ok(McpServer { name, reach: McpReach::Url { url, headers: pairs(headers) } })
        }
        Some(other) => Err(RpcError::params(format!(
            "an MCP server is of the type `{other}`: only `stdio` and `http` are supported"
        ))),
    }
}

#[derive(Deserialize)]
struct Stdio {
    name: String,
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<Vec<Pair>>,
}

#[derive(Deserialize)]
struct Http {
    name: String,
    url: String,
    #[serde(default)]
    headers: Option<Vec<Pair>>,
}

/// A variable or a header.
#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Load {
    pub(crate) session_id: String,
    #[serde(flatten)]
    new: New,
}

impl From<Load> for Result<Wanted, RpcError> {
    fn from(load: Load) -> Self {
        let wanted = Self::from(load.new)?;
        Ok(Wanted { id: Some(load.session_id), has_history: true, ..wanted })
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Resume(Load);

impl From<Resume> for Result<Wanted, RpcError> {
    fn from(Resume(load): Resume) -> Self {
        Ok(Wanted { has_history: false, ..Self::from(load)? })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Named {
    pub(crate) session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Authenticate {
    pub(crate) method_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelRequest {
    pub(crate) request_id: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptParams {
    pub(crate) session_id: String,
    pub(crate) prompt: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetMode {
    pub(crate) session_id: String,
    pub(crate) mode_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetOption {
    pub(crate) session_id: String,
    pub(crate) config_id: String,
    pub(crate) value: String,
}

#[derive(Deserialize)]
pub(crate) struct List {
    #[serde(default)]
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}
