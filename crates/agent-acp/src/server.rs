//! The methods of the protocol. What belongs to one session goes to its task; what may wait has a task of its own, so nothing waits for it.

use crate::asking::ClientApprover;
use crate::choices;
use crate::client::{Abilities, Client};
use crate::content::Prompt;
use crate::host::{Host, Opened, Wanted};
use crate::lines::{Line, MAX_LINE_BYTES};
use crate::params::{
    Authenticate, CancelRequest, List, Load, Named, New, PromptParams, Resume, SetMode, SetOption, absolute, parsed,
};
use crate::session::{Command, Session};
use crate::text::inline;
use crate::updates::Telling;
use crate::wire::{self, Incoming, RpcError};
use agent_runner::Notice;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The connection. Cheap to clone: a task for a request has its own.
#[derive(Clone)]
pub(crate) struct Server {
    host: Arc<dyn Host>,
    client: Arc<Client>,
    sessions: Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<Box<Command>>>>>,
    /// Fires when the client is gone.
    left: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    pub(crate) fn new(host: Arc<dyn Host>, client: Arc<Client>) -> Self {
        Self { host, client, sessions: Arc::default(), left: CancellationToken::new(), tasks: TaskTracker::new() }
    }

    /// The client is gone: every session is left as it is, and what was opened ends.
    pub(crate) async fn leave(&self) {
        self.left.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub(crate) fn line(&self, line: Line) {
        let read = match line {
            Line::Text(text) => wire::read(&text),
            Line::TooLong => {
                let found = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                Err((Value::Null, RpcError::parse(found)))
            }
        };
        match read {
            Ok(Incoming::Request { id, method, params }) => self.request(&id, &method, params),
            Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
            Ok(Incoming::Answer { id, result }) => self.client.answered(&id, result),
            Err((id, error)) => self.client.answer(&id, Err(error)),
        }
    }

    fn request(&self, id: &Value, method: &str, params: Value) {
        if method != "initialize" && self.client.abilities.get().is_none() {
            let found = RpcError::request(format!("`{method}` came before `initialize`"));
            return self.client.answer(id, Err(found));
        }
        let answered = match method {
            "initialize" => self.initialize(&params).map(Some),
            "authenticate" => self.authenticate(id, params),
            "session/new" => self.open::<New>(id, params),
            "session/load" => self.open::<Load>(id, params),
            "session/resume" => self.open::<Resume>(id, params),
            "session/list" => self.list(id, params),
            "session/delete" => self.delete(id, params),
            "session/close" => parsed(params).and_then(|Named { session_id }| self.close(id, &session_id)),
            "session/prompt" => self.prompt(id, params),
            "session/set_mode" => parsed(params).and_then(|SetMode { session_id, mode_id }| {
                let (id, option) = (id.clone(), String::from("mode"));
                self.send(&session_id, Command::Set { id, option, value: mode_id, is_mode: true })
            }),
            "session/set_config_option" => parsed(params).and_then(|SetOption { session_id, config_id, value }| {
                let command = Command::Set { id: id.clone(), option: config_id, value, is_mode: false };
                self.send(&session_id, command)
            }),
            other => Err(RpcError::method(other)),
        };
        // Nothing here: whoever has the request now answers it.
        if let Some(answer) = answered.transpose() {
            self.client.answer(id, answer);
        }
    }

    /// One that is not known, or not right, is passed over: nothing may be answered to it.
    fn notification(&self, method: &str, params: Value) {
        match method {
            "session/cancel" => {
                if let Ok(Named { session_id }) = parsed(params) {
                    let _ = self.send(&session_id, Command::Cancel);
                }
            }
            "$/cancel_request" => {
                if let Ok(CancelRequest { request_id: id }) = parsed(params) {
                    for session in self.sessions().values() {
                        let _ = session.send(Box::new(Command::CancelRequest { id: id.clone() }));
                    }
                }
            }
            _ => {}
        }
    }

    fn initialize(&self, params: &Value) -> Result<Value, RpcError> {
        if !params.get("protocolVersion").is_some_and(Value::is_u64) {
            return Err(RpcError::params("`protocolVersion` is no whole number"));
        }
        let session = params.pointer("/clientCapabilities/session");
        let has = |name: &str| session.and_then(|session| session.get(name)).is_some_and(Value::is_object);
        let asks =
            |way: &str| params.pointer(&format!("/clientCapabilities/elicitation/{way}")).is_some_and(Value::is_object);
        let abilities = Abilities {
            notices: has("notices"),
            compaction: has("compaction"),
            form: asks("form"),
            visit: asks("url"),
        };
        if self.client.abilities.set(abilities).is_err() {
            return Err(RpcError::request("`initialize` came a second time"));
        }
        let [name, title, version] = self.host.about();
        let none = json!({});
        Ok(json!({
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": { "name": name, "title": title, "version": version },
            "authMethods": [{ "id": AUTH_METHOD, "name": "API key", "description": self.host.how_to_authenticate() }],
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
                "mcpCapabilities": { "http": true, "sse": false },
                "sessionCapabilities": { "list": none, "resume": none, "close": none, "delete": none },
            },
        }))
    }

    fn authenticate(&self, id: &Value, params: Value) -> Answered {
        let Authenticate { method_id } = parsed(params)?;
        if method_id != AUTH_METHOD {
            let found = format!("there is no way to authenticate called `{method_id}`; there is `{AUTH_METHOD}`");
            return Err(RpcError::params(found));
        }
        let host = self.host.clone();
        self.later(id, async move { host.authenticate().await.map(|()| json!({})) });
        Ok(None)
    }

    fn prompt(&self, id: &Value, params: Value) -> Answered {
        let PromptParams { session_id, prompt } = parsed(params)?;
        let prompt = Prompt::of(&prompt)?;
        self.send(&session_id, Command::Prompt { id: id.clone(), prompt })
    }

    fn close(&self, id: &Value, session: &str) -> Answered {
        self.send(session, Command::Close { id: Some(id.clone()) })
    }

    fn list(&self, id: &Value, params: Value) -> Answered {
        let List { cwd, cursor } = parsed(params)?;
        if let Some(cwd) = &cwd {
            absolute(cwd)?;
        }
        let after = match cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| RpcError::params("the `cursor` is none that was given here"))?,
        };
        let host = self.host.clone();
        self.later(id, async move {
            let listed = host.list(cwd, after, PAGE + 1).await?;
            let session = |listed: &crate::host::Listed| {
                let mut session = json!({
                    "sessionId": listed.id, "cwd": listed.directory.to_string_lossy(), "updatedAt": listed.updated,
                });
                if let Some(title) = &listed.title {
                    session["title"] = inline(title).into();
                }
                session
            };
            let mut page = json!({ "sessions": listed.iter().take(PAGE).map(session).collect::<Vec<_>>() });
            if listed.len() > PAGE {
                page["nextCursor"] = (after + PAGE).to_string().into();
            }
            Ok(page)
        });
        Ok(None)
    }

    /// One that runs here is closed first.
    fn delete(&self, id: &Value, params: Value) -> Answered {
        let Named { session_id } = parsed(params)?;
        let server = self.clone();
        self.later(id, async move {
            if server.send(&session_id, Command::Close { id: None }).is_ok() {
                let session = server.sessions().get(&session_id).cloned();
                if let Some(session) = session {
                    session.closed().await;
                }
            }
            server.host.delete(session_id).await.map(|()| json!({}))
        });
        Ok(None)
    }

    fn open<P: DeserializeOwned + Into<Result<Wanted, RpcError>>>(&self, id: &Value, params: Value) -> Answered {
        let wanted: Result<Wanted, RpcError> = parsed::<P>(params)?.into();
        let wanted = wanted?;
        if let Some(session) = wanted.id.as_ref().filter(|session| self.sessions().contains_key(*session)) {
            return Err(RpcError::request(format!("the session {session} is open in this connection already")));
        }
        let (server, id) = (self.clone(), id.clone());
        self.tasks.spawn(async move {
            if let Err(error) = server.session(&id, wanted).await {
                server.client.answer(&id, Err(error));
            }
        });
        Ok(None)
    }

    /// Opens a session, answers, and runs it to its end.
    async fn session(&self, id: &Value, wanted: Wanted) -> Result<(), RpcError> {
        let (approver, questions) = mpsc::unbounded_channel();
        let (is_new, has_history) = (wanted.id.is_none(), wanted.has_history);
        let opening = self.host.open(wanted, Arc::new(ClientApprover(approver)));
        let opened = tokio::select! {
            biased;
            () = self.left.cancelled() => return Err(RpcError::internal("the client is gone")),
            opened = opening => opened?,
        };
        let Opened { id: session_id, runner, handle, mut notices, history, insight, live } = opened;
        let mut telling = Telling::new(self.client.clone(), session_id.clone(), insight.clone());
        if has_history {
            telling.history(&history);
            drop(history);
        }
        let runner = tokio::spawn(async move { runner.run().await.0 });
        let mut early = Vec::new();
        let config = loop {
            match notices.recv().await {
                Some(Notice::Configured(config)) => break config,
                Some(notice) => early.push(notice),
                None => {
                    let why = match runner.await {
                        Ok(agent_runner::End::JournalFailed(error)) => error.to_string(),
                        _ => String::from("the session ended before it began"),
                    };
                    return Err(RpcError::internal(why));
                }
            }
        };
        telling.window(config.models.first().and_then(|model| model.context_window_tokens));
        let (sender, commands) = mpsc::unbounded_channel();
        self.sessions().insert(session_id.clone(), sender);
        let mut result = json!({
            "modes": choices::modes(&*live, &config), "configOptions": choices::options(&*live, &config),
        });
        if is_new {
            result["sessionId"] = session_id.as_str().into();
        }
        self.client.answer(id, Ok(result));
        let command = |command: crate::host::Command| {
            let mut shown = json!({ "name": inline(&command.name), "description": inline(&command.description) });
            if !command.hint.is_empty() {
                shown["input"] = json!({ "hint": inline(&command.hint) });
            }
            shown
        };
        let all: Vec<Value> = live.commands().into_iter().map(command).collect();
        telling.update(&json!({ "sessionUpdate": "available_commands_update", "availableCommands": all }));
        let client = self.client.clone();
        let title = (!is_new).then(String::new);
        let id = session_id.clone();
        let session =
            Session { client, id, handle, notices, runner, commands, questions, insight, live, telling, config, title };
        let closes = session.run(early, self.left.clone()).await;
        self.sessions().remove(&session_id);
        closes.iter().flatten().for_each(|id| self.client.answer(id, Ok(json!({}))));
        Ok(())
    }

    /// Sends a session's task what the client wants of it.
    fn send(&self, session: &str, command: Command) -> Answered {
        let sent = self.sessions().get(session).is_some_and(|session| session.send(Box::new(command)).is_ok());
        let shown: String = session.chars().take(100).collect();
        let missing = || {
            RpcError::not_found(format!(
                "the session {shown} is not open here; `session/load` or `session/resume` opens it"
            ))
        };
        if sent { Ok(None) } else { Err(missing()) }
    }

    /// Answers a request when that is done.
    fn later(&self, id: &Value, work: impl Future<Output = Result<Value, RpcError>> + Send + 'static) {
        let (client, left, id) = (self.client.clone(), self.left.clone(), id.clone());
        self.tasks.spawn(async move {
            // Nobody is left who could read the answer.
            if let Some(result) = left.run_until_cancelled(work).await {
                client.answer(&id, result);
            }
        });
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, mpsc::UnboundedSender<Box<Command>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer; nothing where it comes later.
type Answered = Result<Option<Value>, RpcError>;

/// The version that is spoken, whatever the client asks for.
const PROTOCOL_VERSION: u32 = 1;
const AUTH_METHOD: &str = "api-key";
/// Sessions of one answer.
const PAGE: usize = 50;
