//! The client under the official conformance suite: it asks the server at the URL that is its last argument for its tools and calls each.
//!
//! `cargo xtask mcp-conformance` runs the suite with it.

#![expect(clippy::print_stderr, reason = "what it did stands in the report of the suite")]

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::Tool;
use agent_core::tool::ToolStatus;
use agent_mcp::{
    Change, Exposure, Identity, Launched, Launcher, Outside, Reach, ResultKeeper, ServerConfig, Servers, Source,
    TrustStore, parse,
};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

struct Plain;

impl Launcher for Plain {
    fn identity(&self, config: &ServerConfig, _: Option<&Identity>) -> Result<Identity, String> {
        match &config.reach {
            Reach::Url(endpoint) => Ok(Identity::of_url(endpoint)),
            Reach::Program(_) => Err("the suite has servers at URLs alone".to_owned()),
        }
    }

    fn launch(&self, config: &ServerConfig) -> Result<Launched, String> {
        let Reach::Url(endpoint) = config.reach.clone() else { return Err("no URL".to_owned()) };
        // Beside crates that have it speak TLS, a client asks for this, though nothing here is encrypted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build();
        Ok(Launched::Url(client.map_err(|error| error.to_string())?, endpoint))
    }
}

struct Nowhere;

impl ResultKeeper for Nowhere {
    fn keep(&self, _: &str, _: &str) -> Result<String, String> {
        Err("nothing is kept here".to_owned())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(found) => {
            eprintln!("{found}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let url = std::env::args().next_back().unwrap_or_default();
    let file = json!({"mcpServers": {"s": {"url": url, "callTimeoutMs": 10_000}}}).to_string();
    let (servers, faults) = parse(&file, Source::User).map_err(|error| error.to_string())?;
    if let Some(fault) = faults.first() {
        return Err(fault.to_string());
    }
    let servers = servers.into_iter().map(|server| ServerConfig { exposure: Exposure::Direct, ..server }).collect();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let store = TrustStore::new(folder.path().to_path_buf());
    let launcher: Arc<dyn Launcher> = Arc::new(Plain);
    let outside = Outside { pictures: None, results: Arc::new(Nowhere) };
    let (servers, mut tools, mut changes) = Servers::open(servers, Path::new("/"), &store, &launcher, outside);
    servers.decided().await;
    while let Ok(change) = changes.try_recv() {
        match change {
            Change::Tools(new) => tools.extend(new),
            Change::Found(new, declared) => {
                tools.extend(new);
                let _ = declared.send(());
            }
            Change::Said(said) => eprintln!("{said}"),
        }
    }
    let (_, status) = servers.statuses().into_iter().next().ok_or("there is no server")?;
    let outcome =
        if status.is_ready() { call_all(&tools).await } else { Err(format!("{}: {:?}", status.word(), status.found)) };
    servers.stop().await;
    outcome
}

/// Calls what the scenario names, or each tool once.
async fn call_all(tools: &[Arc<dyn Tool>]) -> Result<(), String> {
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut failed = Vec::new();
    for tool in tools {
        let spec = tool.spec();
        let named = context["toolCalls"].as_array().into_iter().flatten();
        let named: Vec<Value> = named
            .filter(|call| call["name"].as_str().is_some_and(|name| spec.name.ends_with(&format!("__{name}"))))
            .map(|call| call["arguments"].clone())
            .collect();
        let mut all = if named.is_empty() { vec![sample(&spec.input_schema)] } else { named };
        // One tool wants to see what became of the schema of another.
        let focal = tools.iter().find(|tool| tool.spec().name.ends_with("__json_schema_2020_12_tool"));
        for arguments in all.iter_mut().filter(|arguments| arguments["schema"].is_object()) {
            if let Some(focal) = focal {
                arguments["schema"] = (*focal.spec().input_schema).clone();
            }
        }
        for arguments in all {
            let arguments = Arguments::parse(&arguments.to_string()).map_err(|error| error.to_string())?;
            let call = ToolCall { id: CallId::new("1"), name: spec.name.clone(), arguments };
            let (context, _, _) = agent_testkit::tool_context();
            let outcome = tool.run(&call, &context).await;
            eprintln!("{}: {:?}: {}", spec.name, outcome.status, outcome.content);
            if outcome.status != ToolStatus::Ok {
                failed.push(spec.name.to_string());
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Arguments that fit a plain schema.
fn sample(schema: &Value) -> Value {
    let of = |schema: &Value| match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.map(|(name, schema)| (name.clone(), of(schema))).collect::<serde_json::Map<_, _>>().into()
}
