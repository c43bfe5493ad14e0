//! What a configuration says of servers: `mcpServers` as everybody writes it, with what is this agent's own beside it.

use crate::login::kept::scopes_of;
use crate::names::{family, hex};
use crate::once::Once;
use crate::reach::{Endpoint, LoginSettings, Program, Reach};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A server as it is configured. Variables in it (`${NAME}`, `${NAME:-otherwise}`) are not put in yet: see [`launch`](Self::launch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name in the file.
    pub name: String,
    /// What rules name: `mcp__NAME`.
    pub family: String,
    /// Who says it.
    pub source: Source,
    /// What is started or asked, as the file says it.
    pub reach: Reach,
    /// Whether it is used.
    pub is_enabled: bool,
    /// Whether the first turn waits for it, for a bounded time.
    pub is_required: bool,
    /// How long it may take for what.
    pub times: Times,
    /// What its sandbox lets it do.
    pub policy: Policy,
    /// How its tools are offered.
    pub exposure: Exposure,
    /// Names of its tools that a host's rules name. What of them it does not have is said when it first tells its tools: nothing is held by
    /// such a rule.
    pub named_tools: Vec<String>,
}

/// Who says that there is a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user's configuration.
    User,
    /// The repository's: used only where the user trusts it, and with no looser policy than the usual one.
    Repository,
}

/// How long a server may take, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// To start and to tell its tools, before nothing waits for it any more.
    pub start_ms: u64,
    /// For a call without a sign of progress.
    pub call_ms: u64,
    /// For a call in all.
    pub call_max_ms: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { start_ms: 10_000, call_ms: 120_000, call_max_ms: 1_800_000 }
    }
}

/// What a server's sandbox lets it do, besides what every command may read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Whether it reaches the network.
    pub network: bool,
    /// What it may do in the workspace.
    pub workspace: WorkspaceAccess,
    /// Directories that it may write, absolute.
    pub write: Vec<PathBuf>,
}

/// What a server may do in the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceAccess {
    /// Read it.
    #[default]
    Read,
    /// Write it, but for what no command writes.
    Write,
}

/// How a server's tools are offered to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exposure {
    /// Each is declared, as long as those of all servers are not too many; else they are found by searching.
    #[default]
    Auto,
    /// Each is declared, however many there are.
    Direct,
    /// None is declared: they are found by searching, and declared then.
    Deferred,
    /// None: the server runs, and no tool of it is offered.
    Hidden,
}

impl ServerConfig {
    /// How it is reached with the variables put in, each as `value` gives it.
    ///
    /// # Errors
    /// Names the variable that is not set, or the `${` that is not closed.
    pub fn launch(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Reach, ConfigError> {
        let fault = |found| ConfigError { server: Some(self.name.clone()), found };
        self.reach.filled(value).map_err(fault)
    }

    /// What would run or be asked, as one line for a person, without what may be secret.
    #[must_use]
    pub fn shown(&self) -> String {
        self.reach.shown()
    }

    /// All of it as one line for a record of what is trusted: what would run or be asked, without what may be secret, and a digest of the
    /// whole. Two servers have the same line if they are used alike.
    #[must_use]
    pub fn line(&self) -> String {
        // Who says it is known where the line is kept, the family follows from the name, and rules are the host's.
        let Self {
            name,
            family: _,
            source: _,
            reach,
            is_enabled,
            is_required,
            times,
            policy,
            exposure,
            named_tools: _,
        } = self;
        let reach = match reach {
            Reach::Program(Program { command, args, env, cwd }) => json!([command, args, env, cwd]),
            Reach::Url(Endpoint { url, headers, login }) if *login == LoginSettings::default() => json!([url, headers]),
            Reach::Url(Endpoint { url, headers, login }) => {
                let LoginSettings { client_id, client_secret, client_metadata_url, callback_port, scopes } = login;
                json!([url, headers, [client_id, client_secret, client_metadata_url, callback_port, scopes]])
            }
        };
        let Times { start_ms, call_ms, call_max_ms } = times;
        let Policy { network, workspace, write } = policy;
        let write: Vec<_> = write.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
        let held = json!([network, *workspace == WorkspaceAccess::Write, write]);
        let exposure = format!("{exposure:?}");
        let whole = json!([name, reach, is_enabled, is_required, [start_ms, call_ms, call_max_ms], held, exposure]);
        let digest = hex(&Sha256::digest(whole.to_string().as_bytes()), 32);
        format!("MCP server {name}: {} (SHA-256 of all that is said of it: {digest})", self.shown())
    }
}

/// Reads a file of servers: those that can be used, and what is wrong with the others, each with its server.
///
/// # Errors
/// [`ConfigError`] when the text is not JSON, has a key twice in one object, or is not an object with `mcpServers`.
pub fn parse(text: &str, source: Source) -> Result<(Vec<ServerConfig>, Vec<ConfigError>), ConfigError> {
    let whole = |found: String| ConfigError { server: None, found };
    // Readers differ in which of two they take.
    serde_json::from_str::<Once>(text).map_err(|error| whole(error.to_string()))?;
    let file: File = serde_json::from_str(text).map_err(|error| whole(error.to_string()))?;
    let (mut servers, mut faults): (Vec<ServerConfig>, Vec<ConfigError>) = (Vec::new(), Vec::new());
    for (name, value) in file.servers.0 {
        match of_entry(&name, value, source, &mut faults) {
            Ok(server) => {
                let same = servers.iter().find(|other| other.name == name || other.family == server.family);
                match same {
                    None => servers.push(server),
                    Some(other) => {
                        let found = format!("it is called like `{}`, and the first of both is used", other.name);
                        faults.push(ConfigError { server: Some(name), found });
                    }
                }
            }
            Err(found) => faults.push(ConfigError { server: Some(name), found }),
        }
    }
    Ok((servers, faults))
}

fn of_entry(name: &str, value: Value, source: Source, faults: &mut Vec<ConfigError>) -> Result<ServerConfig, String> {
    let family = family(name).ok_or("its name has no letter or digit")?;
    let entry: Entry = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let reach = match &entry.url {
        Some(url) => Reach::Url(endpoint(url, &entry, source)?),
        None => Reach::Program(program(&entry)?),
    };
    if let Some(path) = entry.policy.write.iter().find(|path| !path.is_absolute()) {
        return Err(format!("`{}` in `policy.write` is not absolute", path.to_string_lossy()));
    }
    // A repository tightens, and never loosens.
    if source == Source::Repository && entry.policy != Policy::default() {
        return Err("a repository cannot loosen the sandbox of its servers: copy the server to your own configuration to give it a \
                    `policy`"
            .to_owned());
    }
    for key in entry.others.keys() {
        let found = format!("`{key}` is not known here, and does nothing");
        faults.push(ConfigError { server: Some(name.to_owned()), found });
    }
    let usual = Times::default();
    let times = Times {
        start_ms: entry.start_timeout_ms.unwrap_or(usual.start_ms),
        call_ms: entry.call_timeout_ms.unwrap_or(usual.call_ms),
        call_max_ms: entry.call_max_ms.unwrap_or(usual.call_max_ms.max(entry.call_timeout_ms.unwrap_or(0))),
    };
    if let Some(wrong) =
        [times.start_ms, times.call_ms, times.call_max_ms].iter().find(|ms| !(1..=MAX_TIME_MS).contains(*ms))
    {
        return Err(format!("a time of {wrong} ms is not between 1 and {MAX_TIME_MS}"));
    }
    Ok(ServerConfig {
        name: name.to_owned(),
        family,
        source,
        reach,
        is_enabled: entry.enabled.unwrap_or(true) && !entry.disabled,
        is_required: entry.required,
        times,
        policy: entry.policy,
        exposure: entry.exposure,
        named_tools: Vec::new(),
    })
}

fn program(entry: &Entry) -> Result<Program, String> {
    if let Some(other) = entry.kind.as_deref().filter(|kind| *kind != "stdio") {
        return Err(format!("it is of the type `{other}` and has no `url`"));
    }
    if !entry.headers.is_empty() {
        return Err("it has `headers` and no `url`".to_owned());
    }
    if entry.oauth.is_some() {
        return Err("it has `oauth` and no `url`".to_owned());
    }
    let command = entry.command.clone().filter(|command| !command.is_empty());
    let command = command.ok_or("it has no `command` and no `url`")?;
    if let Some(bad) = entry.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(format!("`{bad}` is no name of a variable"));
    }
    Ok(Program { command, args: entry.args.clone(), env: entry.env.clone(), cwd: entry.cwd.clone() })
}

fn endpoint(url: &str, entry: &Entry, source: Source) -> Result<Endpoint, String> {
    match entry.kind.as_deref() {
        None | Some("http" | "streamable-http" | "streamableHttp") => {}
        Some("sse") => {
            return Err("it is of the type `sse`, which ended in 2025: ask for its streamable HTTP".to_owned());
        }
        Some(other) => return Err(format!("it has a `url` and is of the type `{other}`: write `http`")),
    }
    if entry.command.is_some() || !entry.args.is_empty() || !entry.env.is_empty() || entry.cwd.is_some() {
        return Err("it has a `url`, and more that is for a `command`".to_owned());
    }
    if entry.policy != Policy::default() {
        return Err("it has a `url`, and nothing that a `policy` could hold".to_owned());
    }
    if !["http://", "https://", "${"].iter().any(|begin| url.starts_with(begin)) {
        return Err("its `url` does not begin with `https://` or `http://`".to_owned());
    }
    if let Some(bad) = entry.headers.keys().find(|name| HeaderName::try_from(name.as_str()).is_err()) {
        return Err(format!("`{bad}` is no name of a header"));
    }
    // What a repository says is sent as it is: it must not choose which of the user's secrets go where.
    let login = login(entry.oauth.clone().unwrap_or_default())?;
    let mut texts = entry.headers.values().chain(&login.client_secret).map(String::as_str).chain([url]);
    let has_variables = texts.any(|text| text.contains("${"));
    drop(texts);
    if source == Source::Repository && has_variables {
        return Err(
            "a repository cannot have variables sent to a `url`: copy the server to your own configuration".to_owned()
        );
    }
    let endpoint = Endpoint { url: url.to_owned(), headers: entry.headers.clone(), login };
    endpoint.check()?;
    Ok(endpoint)
}

fn login(entry: LoginEntry) -> Result<LoginSettings, String> {
    let LoginEntry { client_id, client_secret, client_metadata_url, callback_port, scopes } = entry;
    if client_secret.is_some() && client_id.is_none() {
        return Err("its `oauth` has a `clientSecret` and no `clientId`".to_owned());
    }
    if client_metadata_url.as_ref().is_some_and(|url| !url.starts_with("https://")) {
        return Err("the `clientMetadataUrl` of its `oauth` does not begin with `https://`".to_owned());
    }
    if callback_port == Some(0) {
        return Err("0 is no `callbackPort`".to_owned());
    }
    if let Some(scope) = scopes.iter().find(|scope| scopes_of(scope) != [scope.as_str()]) {
        return Err(format!("`{scope}` is no scope"));
    }
    Ok(LoginSettings { client_id, client_secret, client_metadata_url, callback_port, scopes })
}

/// What is wrong in a configuration of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The server, if it is one.
    pub server: Option<String>,
    /// What was found.
    pub found: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "the server `{server}`: {}", self.found),
            None => f.write_str(&self.found),
        }
    }
}

impl std::error::Error for ConfigError {}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: Entries,
}

/// The entries in the order of the file.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of servers by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    oauth: Option<LoginEntry>,
    enabled: Option<bool>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    required: bool,
    start_timeout_ms: Option<u64>,
    call_timeout_ms: Option<u64>,
    call_max_ms: Option<u64>,
    #[serde(default)]
    policy: Policy,
    #[serde(default)]
    exposure: Exposure,
    /// What others know.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// How one logs in, as the file says it.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct LoginEntry {
    client_id: Option<String>,
    client_secret: Option<String>,
    client_metadata_url: Option<String>,
    callback_port: Option<u16>,
    scopes: Vec<String>,
}

/// A day.
const MAX_TIME_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> (Vec<ServerConfig>, Vec<String>) {
        let (servers, faults) = parse(text, Source::User).unwrap();
        (servers, faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_server_as_everybody_writes_it() {
        let (servers, faults) = user(
            r#"{"mcpServers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "x", "${HOME}/a b"], "env": {"A": "1"}}}}"#,
        );
        assert!(faults.is_empty(), "{faults:?}");
        let [server] = &servers[..] else { panic!("{servers:?}") };
        assert!(server.is_enabled && !server.is_required && !server.policy.network);
        let launch = server.launch(&|name| (name == "HOME").then(|| "/home/a".to_owned())).unwrap();
        let Reach::Program(launch) = launch else { panic!("{launch:?}") };
        assert_eq!(launch.args, ["-y", "x", "/home/a/a b"]);
        assert_eq!(server.shown(), "npx -y x '${HOME}/a b' A=…");
    }

    #[test]
    fn each_bad_entry_is_named_and_the_others_are_used() {
        let (servers, faults) = user(
            r#"{"mcpServers": {"good": {"command": "a"}, "remote": {"url": "ftp://x"}, "mixed": {"url": "https://x", "command": "a"}, "walled": {"url": "https://x", "policy": {"network": true}},
                "headed": {"command": "a", "headers": {"A": "b"}}, "head": {"url": "https://x", "headers": {"A b": "c"}}, "old": {"url": "https://x", "type": "sse"}, "漢": {"command": "a"}, "odd": {"command": 1},
                "none": {}, "Good": {"command": "b"}, "good ": {"command": "c"}, "late": {"command": "a", "startTimeoutMs": 0},
                "wide": {"command": "a", "policy": {"write": ["rel"]}}, "extra": {"command": "a", "autoApprove": ["x"]},
                "sse": {"type": "sse", "command": "a"}, "var": {"command": "a", "env": {"A=B": "c"}}, "odder": {"command": "a", "policy": {"net": true}}}}"#,
        );
        let names: Vec<&str> = servers.iter().map(|server| &*server.name).collect();
        assert_eq!(names, ["good", "Good", "extra"]);
        for (name, said) in [
            ("remote", "does not begin with"),
            ("mixed", "more that is for a `command`"),
            ("walled", "nothing that a `policy` could hold"),
            ("headed", "`headers` and no `url`"),
            ("head", "`A b` is no name of a header"),
            ("old", "ended in 2025"),
            ("漢", "no letter or digit"),
            ("odd", "expected a string"),
            ("none", "no `command`"),
            ("good ", "called like `good`"),
            ("late", "0 ms"),
            ("wide", "not absolute"),
            ("extra", "`autoApprove` is not known here"),
            ("sse", "has no `url`"),
            ("var", "no name of a variable"),
            ("odder", "unknown field `net`"),
        ] {
            let found = faults.iter().any(|fault| fault.contains(&format!("`{name}`")) && fault.contains(said));
            assert!(found, "{name}: {faults:?}");
        }
        for whole in ["", "[]", "{}", r#"{"mcpServers": []}"#, r#"{"mcpServers": {"#] {
            assert!(parse(whole, Source::User).is_err(), "{whole}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"mcpServers": {"good": {"command": "c"}, "good": {"command": "d"}}}"#,
            r#"{"mcpServers": {"good": {"command": "c", "command": "d"}}}"#,
            r#"{"mcpServers": {"good": {"command": "c", "comm\u0061nd": "d"}}}"#,
            r#"{"mcpServers": {"good": {"command": "c", "env": {"good": "1", "good": "2"}}}}"#,
            r#"{"mcpServers": {"good": {"command": "c", "other": [{"good": 1, "good": 2}]}}}"#,
            r#"{"mcpServers": {}, "mcpServers": {}}"#,
            r#"{"mcpServers": {}, "other": {"good": {}, "good": {}}}"#,
        ] {
            for source in [Source::User, Source::Repository] {
                let found = parse(text, source).unwrap_err().to_string();
                assert!(found.contains("is there twice"), "{text}: {found}");
            }
        }
        parse(r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}"#, Source::User).unwrap();
    }

    /// What is recorded as trusted differs as soon as what is used does, and has no secret in it.
    #[test]
    fn a_line_is_about_all_that_is_used() {
        let line = |entry: &str| {
            let (servers, _) = parse(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#), Source::Repository).unwrap();
            servers[0].line()
        };
        let entries = [
            r#"{"command": "x"}"#,
            r#"{"command": "y"}"#,
            r#"{"command": "x", "args": ["1"]}"#,
            r#"{"command": "x", "env": {"A": "hidden-one"}}"#,
            r#"{"command": "x", "env": {"A": "hidden-two"}}"#,
            r#"{"command": "x", "cwd": "sub"}"#,
            r#"{"command": "x", "disabled": true}"#,
            r#"{"command": "x", "required": true}"#,
            r#"{"command": "x", "startTimeoutMs": 1}"#,
            r#"{"command": "x", "callTimeoutMs": 1}"#,
            r#"{"command": "x", "callMaxMs": 1}"#,
            r#"{"command": "x", "exposure": "hidden"}"#,
            r#"{"url": "https://u:hidden@x/?hidden=1"}"#,
            r#"{"url": "https://u:hidden@x/?hidden=2"}"#,
            r#"{"url": "https://x", "headers": {"A": "hidden-one"}}"#,
            r#"{"url": "https://x", "headers": {"A": "hidden-two"}}"#,
        ];
        let lines: std::collections::BTreeSet<String> = entries.iter().map(|entry| line(entry)).collect();
        assert_eq!(lines.len(), entries.len(), "{lines:#?}");
        assert!(lines.iter().all(|line| !line.replace("exposure", "").contains("hidden")), "{lines:#?}");
        assert_eq!(line(entries[0]), line(r#"{"args": [], "command": "x", "enabled": true}"#));
    }

    #[test]
    fn a_url_as_everybody_writes_it() {
        let (servers, faults) = user(
            r#"{"mcpServers": {"far": {"type": "http", "url": "https://x/mcp?k=1", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}"#,
        );
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(servers[0].shown(), "https://x/mcp Authorization=…");
        let launch = servers[0].launch(&|name| (name == "TOKEN").then(|| "1".to_owned())).unwrap();
        let Reach::Url(endpoint) = launch else { panic!("{launch:?}") };
        assert_eq!((&*endpoint.url, &*endpoint.headers["Authorization"]), ("https://x/mcp?k=1", "Bearer 1"));
        assert!(servers[0].launch(&|_| None).unwrap_err().to_string().contains("`TOKEN` is not set"));
    }

    #[test]
    fn a_repository_sends_no_variables_to_a_url() {
        for entry in [r#"{"url": "https://x/${KEY}"}"#, r#"{"url": "https://x", "headers": {"A": "${KEY:-}"}}"#] {
            let (servers, faults) =
                parse(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#), Source::Repository).unwrap();
            assert!(servers.is_empty() && faults[0].to_string().contains("cannot have variables"), "{faults:?}");
        }
        let (servers, _) = parse(r#"{"mcpServers": {"a": {"url": "https://x"}}}"#, Source::Repository).unwrap();
        assert_eq!(servers.len(), 1);
    }

    #[test]
    fn a_repository_does_not_open_the_sandbox_of_its_servers() {
        let text = r#"{"mcpServers": {"a": {"command": "x", "policy": {"network": true}}, "b": {"command": "x"}}}"#;
        let (servers, faults) = parse(text, Source::Repository).unwrap();
        assert_eq!((servers.len(), faults.len()), (1, 1));
        assert!(faults[0].to_string().contains("cannot loosen"), "{}", faults[0]);
        assert!(user(text).0[0].policy.network);
    }
}
