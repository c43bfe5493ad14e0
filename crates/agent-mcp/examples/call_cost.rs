//! What a call of a local server costs, beside what it costs with `rmcp` alone: the same server, in one run, by turns.
//!
//! `cargo run --release -p agent-mcp --example call_cost`

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::{Command, Tool};
use agent_core::tool::ToolStatus;
use agent_exec::{Environment, Processes};
use agent_mcp::{
    Change, Identity, Launched, Launcher, Outside, Reach, ResultKeeper, ServerConfig, Servers, Source, TrustStore,
    parse,
};
use agent_testkit::mcp::MCP_SERVER;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Bare;

impl Launcher for Bare {
    fn identity(&self, config: &ServerConfig, _: Option<&Identity>) -> Result<Identity, String> {
        let Reach::Program(program) = &config.reach else { return Err("no program".to_owned()) };
        let (path, none) = (Path::new(&program.command), std::collections::BTreeMap::new());
        Identity::of(path, &[], Path::new("/"), &none, None).map_err(|error| error.to_string())
    }

    fn launch(&self, config: &ServerConfig) -> Result<Launched, String> {
        let Reach::Program(program) = config.reach.clone() else { return Err("no program".to_owned()) };
        let command = Command {
            program: program.command,
            arguments: program.args,
            directory: "/".into(),
            environment: program.env.into_iter().collect(),
            stdin: Vec::new(),
            timeout_ms: u64::MAX,
            output_limit_bytes: 1_000,
        };
        Ok(Launched::Program(Processes::with_environment(Environment::inherited()), command))
    }
}

struct Nowhere;

impl ResultKeeper for Nowhere {
    fn keep(&self, _: &str, _: &str) -> Result<String, String> {
        Err("nothing is kept here".to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // This program is the server, too.
    agent_testkit::mcp::serve_if_asked();
    let program = std::env::current_exe()?;
    let file = json!({"mcpServers": {"s": {"command": program, "env": {MCP_SERVER: ""}}}}).to_string();
    let (configs, _) = parse(&file, Source::User)?;
    let folder = tempfile::tempdir()?;
    let launcher: Arc<dyn Launcher> = Arc::new(Bare);
    let outside = Outside { pictures: None, results: Arc::new(Nowhere) };
    let store = TrustStore::new(folder.path().to_path_buf());
    let (servers, _, mut changes) = Servers::open(configs, Path::new("/"), &store, &launcher, outside);
    servers.decided().await;
    let tool = loop {
        match changes.recv().await {
            Some(Change::Tools(tools)) => break tools.into_iter().find(|tool| tool.spec().name.ends_with("__echo")),
            Some(_) => {}
            None => return Err("the server did not come".into()),
        }
    };
    let tool: Arc<dyn Tool> = tool.ok_or("the server has no `echo`")?;

    let mut child = tokio::process::Command::new(&program)
        .env(MCP_SERVER, "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (output, input) = (child.stdout.take().ok_or("no output")?, child.stdin.take().ok_or("no input")?);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    let alone = serve_client_with_lifecycle((), AsyncRwTransport::new_client(output, input), lifecycle).await?;

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let text = format!("call {round}");
        let call = ToolCall {
            id: CallId::new("1"),
            name: tool.spec().name.clone(),
            arguments: Arguments::parse(&json!({"text": text}).to_string())?,
        };
        let (context, _, _) = agent_testkit::tool_context();
        let since = Instant::now();
        let outcome = tool.run(&call, &context).await;
        ours.push(since.elapsed());
        if outcome.status != ToolStatus::Ok || outcome.content != text {
            return Err(format!("{outcome:?}").into());
        }
        let arguments = json!({"text": text}).as_object().cloned().unwrap_or_default();
        let since = Instant::now();
        alone.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
        theirs.push(since.elapsed());
    }
    servers.stop().await;
    for (name, times) in [("agent-mcp", &mut ours), ("rmcp alone", &mut theirs)] {
        times.sort();
        println!("{name}: least {}, median {} µs", micros(times.first()), micros(times.get(ROUNDS / 2)));
    }
    Ok(())
}

fn micros(time: Option<&Duration>) -> u128 {
    time.map_or(0, Duration::as_micros)
}

const ROUNDS: usize = 2_000;
