//! The client under the official conformance suite: it asks the server at the URL that is its last argument for its tools and calls each.
//!
//! `cargo xtask mcp-conformance` runs the suite with it.

#![expect(clippy::print_stderr, reason = "what it did stands in the report of the suite")]

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::Tool;
use agent_core::tool::ToolStatus;
use agent_mcp::{
    Account, Change, Exposure, Field, FieldKind, Identity, Launched, Launcher, LoginError, LoginStore, Outside,
    Question, Reach, Redirect, Reply, ResultKeeper, ServerConfig, Servers, Source, TrustStore, Wants, parse,
};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

struct Plain(LoginStore);

impl Launcher for Plain {
    fn identity(&self, config: &ServerConfig, _: Option<&Identity>) -> Result<Identity, String> {
        match &config.reach {
            Reach::Url(endpoint) => Ok(Identity::of_url(endpoint)),
            Reach::Program(_) => Err("the suite has servers at URLs alone".to_owned()),
        }
    }

    fn launch(&self, config: &ServerConfig) -> Result<Launched, String> {
        let account = self.account(config)?;
        let Reach::Url(endpoint) = config.reach.clone() else { return Err("no URL".to_owned()) };
        Ok(Launched::Url(client()?, endpoint, Some(account)))
    }
}

impl Plain {
    fn account(&self, config: &ServerConfig) -> Result<Account, String> {
        let Reach::Url(endpoint) = &config.reach else { return Err("no URL".to_owned()) };
        let account = Account::of(endpoint, self.0.clone(), Path::new(""), &config.name, Arc::new(|_| client()));
        account.ok_or_else(|| "the server takes no login".to_owned())
    }

    /// Logs in as a person does, whose browser is sent back at once.
    async fn log_in(&self, config: &ServerConfig) -> Result<(), String> {
        let (account, redirect) =
            (self.account(config)?, Redirect::bind(None).await.map_err(|error| error.to_string())?);
        let told = |error: LoginError| error.to_string();
        let begun = account.begin(redirect.address(), &[]).await.map_err(told)?;
        let sent = client()?.get(&begun.address).send().await.map_err(|error| error.to_string())?;
        let answer = sent.headers().get("location").and_then(|to| to.to_str().ok()).ok_or("nobody was sent back")?;
        eprintln!("logged in for {:?}, back at {answer}", begun.scopes);
        begun.finish(&account, answer).await.map(|_| ()).map_err(told)
    }
}

fn client() -> Result<reqwest::Client, String> {
    // Beside crates that have it speak TLS, a client asks for this, though nothing here is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build();
    client.map_err(|error| error.to_string())
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
    let context = context();
    let mut oauth = json!({"clientMetadataUrl": "https://conformance-test.local/client-metadata.json"});
    if context["client_id"].is_string() {
        (oauth["clientId"], oauth["clientSecret"]) = (context["client_id"].clone(), context["client_secret"].clone());
    }
    let file = json!({"mcpServers": {"s": {"url": url, "callTimeoutMs": 10_000, "oauth": oauth}}}).to_string();
    let (servers, faults) = parse(&file, Source::User).map_err(|error| error.to_string())?;
    if let Some(fault) = faults.first() {
        return Err(fault.to_string());
    }
    let server = servers.into_iter().next().ok_or("there is no server")?;
    let server = ServerConfig { exposure: Exposure::Direct, ..server };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let plain = Arc::new(Plain(LoginStore::new(folder.path().join("logins"))));
    for _ in 0..LOGINS {
        match once(&server, &plain, folder.path()).await {
            Err(found) if found.contains(LOG_IN) => plain.log_in(&server).await?,
            done => return done,
        }
    }
    Err(format!("still not done after {LOGINS} logins"))
}

/// One session with the server.
async fn once(server: &ServerConfig, plain: &Arc<Plain>, folder: &Path) -> Result<(), String> {
    let store = TrustStore::new(folder.to_path_buf());
    let launcher: Arc<dyn Launcher> = plain.clone();
    let outside = Outside { pictures: None, results: Arc::new(Nowhere) };
    let (servers, mut tools, mut changes) =
        Servers::open(vec![server.clone()], Path::new("/"), &store, &launcher, outside);
    servers.decided().await;
    while let Ok(change) = changes.try_recv() {
        match change {
            Change::Tools(new) => tools.extend(new),
            Change::Found(new, declared) => {
                tools.extend(new);
                let _ = declared.send(());
            }
            Change::Offers(_) => {}
            Change::Said(said) => eprintln!("{said}"),
            Change::Asked(question) => agree(question),
        }
    }
    let agreeing = tokio::spawn(async move {
        while let Some(change) = changes.recv().await {
            if let Change::Asked(question) = change {
                agree(question);
            }
        }
    });
    // One of its servers asks on a stream that the client opens beside, and says nothing to who is not there yet.
    tokio::time::sleep(BESIDE).await;
    let (_, status) = servers.statuses().into_iter().next().ok_or("there is no server")?;
    let outcome = match status.is_ready() {
        true => call_all(&tools, || plain.log_in(server)).await,
        false => Err(format!("{}: {:?}", status.word(), status.found)),
    };
    servers.stop().await;
    agreeing.abort();
    outcome
}

/// Agrees as a person does who sets what has to be set, and leaves the rest as it is.
fn agree(question: Question) {
    let needed = match &question.wants {
        Wants::Form(fields) => fields.as_slice(),
        Wants::Visit(_) => &[],
    };
    let needed = needed.iter().filter(|field| field.is_needed && field.default.is_none());
    let value = |field: &Field| match &field.kind {
        FieldKind::Text { .. } => json!("text"),
        FieldKind::Number { .. } => json!(2),
        FieldKind::YesNo => json!(true),
        FieldKind::One(choices) => json!(choices[0].value),
        FieldKind::Several { choices, .. } => json!([choices[0].value]),
    };
    let values = needed.map(|field| (field.name.clone(), value(field))).collect();
    eprintln!("asked: {question:?}");
    match question.checked(values) {
        Ok(values) => question.answer(Reply::Accept(values)),
        Err(why) => eprintln!("dismissed: {why}"),
    }
}

fn context() -> Value {
    let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// How a server that wants a login is told.
const LOG_IN: &str = "`agent mcp login";
const LOGINS: usize = 5;
/// How long that stream may take to be open. No person calls a tool so soon.
const BESIDE: Duration = Duration::from_millis(500);

/// Calls what the scenario names, or each tool once.
async fn call_all<F: Future<Output = Result<(), String>>>(
    tools: &[Arc<dyn Tool>],
    log_in: impl Fn() -> F,
) -> Result<(), String> {
    let context = context();
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
            let outcome = loop {
                let (context, _, _) = agent_testkit::tool_context();
                let outcome = tool.run(&call, &context).await;
                eprintln!("{}: {:?}: {}", spec.name, outcome.status, outcome.content);
                if !outcome.content.contains(LOG_IN) {
                    break outcome;
                }
                log_in().await?;
            };
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
