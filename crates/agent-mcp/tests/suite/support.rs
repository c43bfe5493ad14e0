//! Servers without a sandbox, which the program's tests have, and a look at what becomes of them.

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::{Command, Tool};
use agent_core::tool::ToolOutcome;
use agent_exec::{Environment, Processes};
use agent_mcp::{
    Account, Change, Endpoint, Identity, Launched, Launcher, LoginStore, Offers, Outside, Question, Reach,
    ResultKeeper, ServerConfig, Servers, Source, Status, TrustStore,
};
use agent_testkit::mcp::{MCP_CALLS, MCP_SERVER};
use agent_testkit::{ManualCancel, tool_context};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Nothing here takes nearly as long, on whatever machine.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// A place for records and notes, and how servers are configured.
pub(crate) struct Place {
    pub(crate) root: tempfile::TempDir,
    pub(crate) more: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), more: String::new() }
    }

    /// The same with more in each server's entry, such as `"callTimeoutMs": 100`.
    pub(crate) fn with(more: &str) -> Self {
        Self { more: format!(", {more}"), ..Self::new() }
    }

    pub(crate) fn store(&self) -> TrustStore {
        TrustStore::new(self.root.path().join("trust"))
    }

    pub(crate) fn logins(&self) -> LoginStore {
        LoginStore::new(self.root.path().join("logins"))
    }

    /// The account at the server `s` of this URL.
    pub(crate) fn account(&self, url: &str) -> Account {
        let Reach::Url(endpoint) = self.far(url).reach else { panic!("{url}") };
        Bare(self.logins()).account(&endpoint, "s").unwrap()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root.path().join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A server by its words.
    pub(crate) fn config(&self, name: &str, words: &str) -> ServerConfig {
        let program = serde_json::to_string(&std::env::current_exe().unwrap()).unwrap();
        let calls = serde_json::to_string(&self.root.path().join("calls")).unwrap();
        let entry = format!(
            r#"{{"mcpServers": {{"{name}": {{"command": {program}, "env": {{"{MCP_SERVER}": "{words}", "{MCP_CALLS}": {calls}}}{}}}}}}}"#,
            self.more
        );
        let (mut servers, faults) = agent_mcp::parse(&entry, Source::User).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        servers.remove(0)
    }

    /// A server at a URL.
    pub(crate) fn far(&self, url: &str) -> ServerConfig {
        let entry = format!(r#"{{"mcpServers": {{"s": {{"url": "{url}"{}}}}}}}"#, self.more);
        let (mut servers, faults) = agent_mcp::parse(&entry, Source::User).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        servers.remove(0)
    }

    /// One server that runs.
    pub(crate) fn open(&self, words: &str) -> Session {
        self.open_all(vec![self.config("s", words)])
    }

    /// Has it known what the server offers.
    pub(crate) async fn known(&self) {
        let mut session = self.open("");
        session.decided().await;
        session.servers.stop().await;
    }

    pub(crate) fn open_all(&self, configs: Vec<ServerConfig>) -> Session {
        let launcher: Arc<dyn Launcher> = Arc::new(Bare(self.logins()));
        let results = Arc::new(Kept(Mutex::default()));
        let outside = Outside { pictures: None, results: results.clone() };
        let (servers, tools, changes) = Servers::open(configs, Path::new("/"), &self.store(), &launcher, outside);
        servers.start();
        Session { servers, tools, changes, said: Vec::new(), offers: Vec::new(), results, questions: Vec::new() }
    }
}

/// What starts this program, as another one or with other arguments.
pub(crate) fn program(command: &str, args: &[&str]) -> Reach {
    Reach::Program(agent_mcp::Program {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: std::collections::BTreeMap::new(),
        cwd: None,
    })
}

/// Starts servers as they are.
pub(crate) struct Bare(pub(crate) LoginStore);

impl Bare {
    fn account(&self, endpoint: &Endpoint, server: &str) -> Option<Account> {
        Account::of(endpoint, self.0.clone(), Path::new(""), server, Arc::new(|_| client()))
    }
}

pub(crate) fn client() -> Result<reqwest::Client, String> {
    // Beside crates that have it speak TLS, a client asks for this, though nothing here is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    client.build().map_err(|error| error.to_string())
}

impl Launcher for Bare {
    fn identity(&self, config: &ServerConfig, known: Option<&Identity>) -> Result<Identity, String> {
        let launch = match config.launch(&|name| std::env::var(name).ok()).map_err(|error| error.to_string())? {
            Reach::Program(program) => program,
            Reach::Url(endpoint) => {
                let login = self.account(&endpoint, &config.name).and_then(|account| account.login());
                return Ok(Identity::of_url(&endpoint).with_issuer(login.map(|login| login.issuer)));
            }
        };
        // What a test notes in is no part of what it is.
        let env = launch.env.into_iter().filter(|(name, _)| name != MCP_SERVER).collect();
        let program = PathBuf::from(&launch.command);
        Identity::of(&program, &launch.args, Path::new("/"), &env, known)
            .map_err(|error| format!("cannot read the program {}: {error}", launch.command))
    }

    fn roots(&self) -> Vec<PathBuf> {
        vec![PathBuf::from("/w o")]
    }

    fn launch(&self, config: &ServerConfig) -> Result<Launched, String> {
        let launch = match config.launch(&|name| std::env::var(name).ok()).map_err(|error| error.to_string())? {
            Reach::Program(program) => program,
            Reach::Url(endpoint) => {
                let account = self.account(&endpoint, &config.name);
                return Ok(Launched::Url(client()?, endpoint, account));
            }
        };
        let command = Command {
            program: launch.command,
            arguments: launch.args,
            directory: "/".into(),
            environment: launch.env.into_iter().collect(),
            stdin: Vec::new(),
            timeout_ms: u64::MAX,
            output_limit_bytes: 1_000,
        };
        Ok(Launched::Program(Processes::with_environment(Environment::inherited()), command))
    }
}

pub(crate) struct Kept(pub(crate) Mutex<Vec<String>>);

impl ResultKeeper for Kept {
    fn keep(&self, server: &str, text: &str) -> Result<String, String> {
        self.0.lock().unwrap().push(text.to_owned());
        Ok(format!(".agent/mcp/{server}.txt"))
    }
}

/// Servers, and what is known of them.
pub(crate) struct Session {
    pub(crate) servers: Servers,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) changes: mpsc::UnboundedReceiver<Change>,
    pub(crate) said: Vec<String>,
    pub(crate) offers: Vec<Offers>,
    pub(crate) results: Arc<Kept>,
    pub(crate) questions: Vec<Question>,
}

impl Session {
    /// Waits until every server is there, or will not come; takes in what was told until then.
    pub(crate) async fn decided(&mut self) -> Status {
        tokio::time::timeout(HANG, self.servers.decided()).await.unwrap();
        self.heard();
        self.status()
    }

    pub(crate) fn heard(&mut self) {
        while let Ok(change) = self.changes.try_recv() {
            match change {
                Change::Tools(tools) => self.tools.extend(tools),
                Change::Found(tools, offered) => {
                    self.tools.extend(tools);
                    let _ = offered.send(());
                }
                Change::Offers(offers) => self.offers.push(offers),
                Change::Said(text) => self.said.push(text),
                Change::Asked(question) => self.questions.push(question),
            }
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.servers.statuses().remove(0).1
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| &*tool.spec().name).collect()
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let found = self.tools.iter().find(|tool| tool.spec().name.ends_with(&format!("__{name}")));
        found.unwrap_or_else(|| panic!("no {name} among {:?}", self.names())).clone()
    }

    pub(crate) async fn call(&self, name: &str, arguments: &str) -> ToolOutcome {
        let run = call(self.tool(name), arguments.to_owned(), Arc::default());
        tokio::time::timeout(HANG, run).await.unwrap()
    }

    /// A call of a tool that is of no server.
    pub(crate) async fn call_named(&self, name: &str, arguments: &str) -> ToolOutcome {
        let found = self.tools.iter().find(|tool| &*tool.spec().name == name);
        let tool = found.unwrap_or_else(|| panic!("no {name} among {:?}", self.names())).clone();
        tokio::time::timeout(HANG, call(tool, arguments.to_owned(), Arc::default())).await.unwrap()
    }

    /// Waits until something holds.
    pub(crate) async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        loop {
            self.heard();
            if holds(self) {
                return;
            }
            assert!(since.elapsed() < HANG, "never came: {what}; {:?} {:?}", self.status(), self.said);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

pub(crate) async fn call(tool: Arc<dyn Tool>, arguments: String, cancel: Arc<ManualCancel>) -> ToolOutcome {
    let arguments = Arguments::parse(&arguments).unwrap();
    let call = ToolCall { id: CallId::new("1"), name: tool.spec().name.clone(), arguments };
    let (mut context, _, _) = tool_context();
    context.cancel = cancel;
    tool.run(&call, &context).await
}

/// Whether a process of this number is there, and is more than a status that nobody took.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
