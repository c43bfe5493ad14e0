//! The protocol: all that this crate knows of `rmcp`, which changes often.
//!
//! Both ways to begin are spoken: discovery (2026-07-28), and `initialize` (2025-11-25 and before) with servers that do not know it.

use super::authorized::Far;
use super::http;
use super::input::{Again, Asks};
use super::late::WithoutLate;
use super::lines::{Closed, Lines};
use super::listener::Listener;
use super::wanted::{self, Wanted};
use crate::content::{Answer, Part};
use agent_core::redact::Redactor;
use agent_exec::Talk;
use rmcp::model::{
    CancelledNotificationParam, ContentBlock, PaginatedRequestParams, ProgressToken, ProtocolVersion, RequestId,
    ResourceContents, ServerResult, SubscriptionFilter, Tool as RemoteTool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// What leads to a server.
pub(crate) enum Link {
    /// The input and the output of a program.
    Streams(Talk),
    /// Requests of HTTP.
    Url(reqwest::Client, Far),
}

/// A connection to a server. Dropping it closes the server's input.
pub(crate) struct Wire {
    peer: Peer<RoleClient>,
    calls: Arc<Calls>,
    far: Option<Arc<Far>>,
    /// The connection ends with it.
    _open: oneshot::Sender<()>,
    roots: Arc<[PathBuf]>,
    told: Told,
}

/// Where what a server says by itself is heard, and what is not to be shown of it.
#[derive(Clone)]
pub(crate) struct Ear {
    pub(crate) said: mpsc::Sender<Said>,
    pub(crate) secrets: Redactor,
}

/// What a server says by itself.
#[derive(Debug)]
pub(crate) enum Said {
    /// Its tools changed.
    ListChanged,
    /// A call makes progress, with a word about it.
    Progress { ticket: u64, told: Option<String> },
    /// It asks for something, by a request that does not say in the middle of which call.
    Asks(Asks),
}

/// A tool as a server describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) annotations: Value,
}

/// What became of a call that was sent.
#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Answer),
    /// It asks for something before it answers, and wants the call once more then.
    Asks(Asks),
    /// The connection ended.
    Gone,
    /// No answer will come, with the reason, and the connection goes on.
    Lost(String),
    /// It never arrived, with the reason.
    NotSent(String),
}

/// The calls that are with the server, by what it names them with.
#[derive(Default)]
pub(super) struct Calls {
    by_token: Mutex<HashMap<ProgressToken, u64>>,
    ids: Mutex<HashMap<u64, RequestId>>,
}

impl Calls {
    fn add(&self, ticket: u64, token: ProgressToken, id: RequestId) {
        lock(&self.by_token).insert(token, ticket);
        lock(&self.ids).insert(ticket, id);
    }

    pub(super) fn of(&self, token: &ProgressToken) -> Option<u64> {
        lock(&self.by_token).get(token).copied()
    }

    fn remove(&self, ticket: u64) -> Option<RequestId> {
        lock(&self.by_token).retain(|_, other| *other != ticket);
        lock(&self.ids).remove(&ticket)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// Agrees with a server on the protocol. Takes as long as the server does.
    pub(crate) async fn connect(link: Link, ear: Ear, closed: Closed, roots: Vec<PathBuf>) -> Result<Self, String> {
        let calls = Arc::new(Calls::default());
        let roots: Arc<[PathBuf]> = if matches!(link, Link::Streams(_)) { roots.into() } else { Arc::default() };
        let far = match &link {
            Link::Streams(_) => None,
            Link::Url(_, far) => Some(Arc::new(far.clone())),
        };
        let told = Told { far: far.clone(), secrets: ear.secrets.clone() };
        let listener = || Listener {
            said: ear.said.clone(),
            calls: calls.clone(),
            roots: roots.clone(),
            told: told.clone(),
            asking: Arc::default(),
        };
        let service = match link {
            Link::Streams(talk) => {
                let lines = Lines::new(talk.output, MESSAGE_LIMIT_BYTES, closed.clone());
                let transport = WithoutLate::new(AsyncRwTransport::new_client(lines, talk.input));
                let service = serve_client_with_lifecycle(listener(), transport, lifecycle()).await;
                service.map_err(|error: ClientInitializeError| error.to_string())?
            }
            Link::Url(client, far) => {
                let transport = || http::transport(client.clone(), &far);
                let mut service = serve_client_with_lifecycle(listener(), transport()?, lifecycle()).await;
                // Some servers answer what they do not know with nothing, in place of an error: they know `initialize` alone.
                if matches!(service, Err(ClientInitializeError::ExpectedInitResult(_))) {
                    let older = ClientLifecycleMode::Initialize;
                    service = serve_client_with_lifecycle(listener(), transport()?, older).await;
                }
                service.map_err(|error| http::not_come(&error, &far))?
            }
        };
        let (open, dropped) = oneshot::channel();
        let wire = Self { peer: service.peer().clone(), calls, far, _open: open, roots, told };
        tokio::spawn(stay(service, dropped, closed));
        wire.listen(ear.said);
        Ok(wire)
    }

    /// Has the server say when its tools change, where the protocol wants to be asked for it.
    fn listen(&self, said: mpsc::Sender<Said>) {
        let peer = self.peer.clone();
        let info = peer.peer_info();
        let wants_listening = info.is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize() && tools.is_some_and(|tools| tools.list_changed == Some(true))
        });
        if !wants_listening {
            return;
        }
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that does not let itself be listened to has the tools that it had.
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                // A full queue has one already.
                let _ = said.try_send(Said::ListChanged);
            }
        });
    }

    /// What the server calls itself, with the protocol's version.
    pub(crate) fn peer(&self) -> Option<String> {
        let info = self.peer.peer_info()?;
        let name = info.server_info.as_ref().map(|server| format!("{} {}", server.name, server.version));
        let name = name.map(|name| hidden(self.far.as_deref(), &name));
        Some(format!("{}, protocol {}", name.unwrap_or_else(|| "unnamed".to_owned()), info.protocol_version))
    }

    pub(crate) fn to_peer(&self) -> Talking {
        let (calls, far, roots) = (self.calls.clone(), self.far.clone(), self.roots.clone());
        Talking { peer: self.peer.clone(), calls, far, roots, told: self.told.clone() }
    }
}

/// What a call needs of a connection.
#[derive(Clone)]
pub(crate) struct Talking {
    pub(super) peer: Peer<RoleClient>,
    calls: Arc<Calls>,
    pub(super) far: Option<Arc<Far>>,
    roots: Arc<[PathBuf]>,
    told: Told,
}

impl Talking {
    /// All tools, page by page.
    pub(crate) async fn tools(&self) -> Result<Vec<Described>, String> {
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor;
            let page = self.peer.list_tools(Some(params)).await;
            let page = page.map_err(|error| format!("it did not tell its tools: {}", self.in_words(&error)))?;
            found.extend(page.tools.into_iter().map(|tool| self.without_tokens(described(tool))));
            if found.len() > MAX_TOOLS {
                return Err(format!("it has more than {MAX_TOOLS} tools"));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(found);
            }
        }
        Err(format!("its list of tools has more than {MAX_PAGES} pages"))
    }

    /// Sends a call and waits for its answer, however long that takes.
    pub(crate) async fn call(&self, ticket: u64, wanted: Wanted, again: Again) -> Reply {
        let request = wanted.into_request(again);
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => return self.no_answer(error),
        };
        self.calls.add(ticket, handle.progress_token.clone(), handle.id.clone());
        let response = handle.await_response().await;
        self.calls.remove(ticket);
        match response {
            Ok(ServerResult::CallToolResult(result)) => Reply::Answer(self.told(wanted::of_tool(result))),
            Ok(ServerResult::ReadResourceResult(result)) => Reply::Answer(self.told(wanted::of_resource(result))),
            Ok(ServerResult::GetPromptResult(result)) => Reply::Answer(self.told(wanted::of_prompt(result))),
            Ok(ServerResult::InputRequiredResult(asked)) => {
                match Asks::of_result(asked, &roots(&self.roots), &|text| self.told.clean(text)) {
                    Ok(asks) => Reply::Asks(asks),
                    Err(why) => {
                        let why = format!("the server asks for more before it does this, and is not given it: {why}");
                        Reply::Answer(Answer::failed(why))
                    }
                }
            }
            // Nothing but what every result has.
            Ok(ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_)) => {
                Reply::Answer(Answer { is_error: false, parts: Vec::new(), structured: None })
            }
            // With parts of a kind that is not known here: told as it came.
            Ok(ServerResult::CustomResult(custom)) => {
                let is_error = custom.0.get("isError").and_then(Value::as_bool).unwrap_or(false);
                Reply::Answer(self.told(Answer {
                    is_error,
                    parts: vec![Part::Text(custom.0.to_string())],
                    structured: None,
                }))
            }
            Ok(_) => {
                Reply::Answer(Answer::failed("the server answered with something that is no result of a call".into()))
            }
            Err(error) => self.no_answer(error),
        }
    }

    /// An answer without the tokens of the login: a server may repeat what it was sent.
    fn told(&self, mut answer: Answer) -> Answer {
        let Some(far) = &self.far else { return answer };
        for part in &mut answer.parts {
            match part {
                Part::Text(text) | Part::Other(text) => *text = far.without_tokens(text),
                Part::Picture { data, media_type } => {
                    *media_type = far.without_tokens(media_type);
                    // What holds a token is no picture.
                    *data = far.without_tokens(data);
                }
            }
        }
        answer.structured = answer.structured.map(|value| far.value_without_tokens(value));
        answer
    }

    fn without_tokens(&self, tool: Described) -> Described {
        let Some(far) = &self.far else { return tool };
        let Described { name, description, schema, annotations } = tool;
        Described {
            name: far.without_tokens(&name),
            description: far.without_tokens(&description),
            schema: far.value_without_tokens(schema),
            annotations: far.value_without_tokens(annotations),
        }
    }

    fn no_answer(&self, error: ServiceError) -> Reply {
        match (error, &self.far) {
            (ServiceError::McpError(error), far) => Reply::Answer(Answer::failed(format!(
                "the server refused the call: {} ({})",
                hidden(far.as_deref(), &error.message),
                error.code.0
            ))),
            // The end of the run follows.
            (ServiceError::TransportClosed | ServiceError::TransportSend(_), None) => Reply::Gone,
            (ServiceError::TransportClosed, Some(_)) if self.peer.is_transport_closed() => Reply::Gone,
            (ServiceError::TransportClosed, Some(_)) => {
                Reply::Lost("the connection ended before the answer was complete".to_owned())
            }
            (ServiceError::TransportSend(error), Some(far)) => http::lost(error.error.as_ref(), far),
            (error, far) => Reply::Answer(Answer::failed(hidden(far.as_deref(), &error.to_string()))),
        }
    }

    fn in_words(&self, error: &ServiceError) -> String {
        match (error, &self.far) {
            (ServiceError::TransportSend(error), Some(far)) => http::told(error.error.as_ref(), far),
            (error, far) => hidden(far.as_deref(), &error.to_string()),
        }
    }

    /// Tells the server that a call is no longer wanted.
    pub(crate) async fn withdraw(&self, ticket: u64) {
        let Some(id) = self.calls.remove(ticket) else { return };
        let params = CancelledNotificationParam::new(Some(id), None);
        // A server that is gone needs no word.
        let _ = self.peer.notify_cancelled(params).await;
    }
}

/// What a server says, without what it repeats of what is secret in the request.
fn hidden(far: Option<&Far>, said: &str) -> String {
    far.map_or_else(|| said.to_owned(), |far| far.hide(said))
}

/// Discovery first, and `initialize` with servers that do not know it.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Stays with a connection until it has ended, or nobody wants it any more; dropping the service ends it.
async fn stay(service: RunningService<RoleClient, Listener>, dropped: oneshot::Receiver<()>, closed: Closed) {
    tokio::select! {
        _ = service.waiting() => {}
        _ = dropped => {}
    }
    closed.close(None);
}

/// What is taken out of what a server says to people.
#[derive(Clone)]
pub(super) struct Told {
    far: Option<Arc<Far>>,
    secrets: Redactor,
}

impl Told {
    pub(super) fn clean(&self, text: &str) -> String {
        let text = self.secrets.redacted(text);
        self.far.as_ref().map_or_else(|| text.clone(), |far| far.without_tokens(&text))
    }
}

/// Where a program works, as the protocol has it.
#[expect(deprecated, reason = "servers ask for it all the same")]
fn roots(paths: &[PathBuf]) -> Value {
    serde_json::to_value(rmcp::model::ListRootsResult::new(listed(paths))).unwrap_or_default()
}

#[expect(deprecated, reason = "servers ask for it all the same")]
pub(super) fn listed(paths: &[PathBuf]) -> Vec<rmcp::model::Root> {
    let urls = paths.iter().filter_map(|path| reqwest::Url::from_directory_path(path).ok());
    // Without the `/` at its end, which some take for a part of the name.
    urls.map(|url| rmcp::model::Root::new(url.as_str().trim_end_matches('/'))).collect()
}

fn described(tool: RemoteTool) -> Described {
    Described {
        name: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned).or(tool.title).unwrap_or_default(),
        schema: Value::Object((*tool.input_schema).clone()),
        annotations: tool.annotations.and_then(|hints| serde_json::to_value(hints).ok()).unwrap_or_default(),
    }
}

pub(super) fn part(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => Part::Picture { data: image.data, media_type: image.mime_type },
        ContentBlock::Audio(audio) => Part::Other(format!("sound ({}), which is not played", audio.mime_type)),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => Part::Text(format!("{uri}:\n{text}")),
            ResourceContents::BlobResourceContents { ref uri, .. } => {
                match wanted::content(embedded.resource.clone()) {
                    Part::Other(told) => Part::Other(format!("{uri}: {told}")),
                    picture => picture,
                }
            }
            other => wanted::content(other),
        },
        ContentBlock::ResourceLink(link) => {
            let told = link.description.map(|told| format!(": {told}")).unwrap_or_default();
            Part::Text(format!("[link to {} {}{told}]", link.name, link.uri))
        }
        _ => Part::Other("content of a kind that is not known here".into()),
    }
}

/// How long one message of a server may be.
pub(super) const MESSAGE_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// How many tools are read of one server, and how many pages of them.
const MAX_TOOLS: usize = 2_000;
const MAX_PAGES: usize = 100;
