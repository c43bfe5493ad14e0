//! The task of one server: takes in what happens, steps the machine, performs what it asks for. It decides nothing.

use super::process::Log;
use super::run::{self, Ready};
use super::status::Status;
use super::wire::{Described, Reply, Said, Talking};
use crate::content::Answer;
use crate::names::tool_name;
use crate::servers::{Change, Launcher, Outside};
use crate::text::plain;
use crate::tool::McpTool;
use crate::trust::{Identity, Record, ToolRecord, TrustStore};
use crate::{Exposure, ServerConfig};
use agent_core::ports::{ProgressSink, Tool};
use agent_core::server::{Action, Asked, CallEnd, Event, Gate, Limits, Server, State};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

/// A server from outside of its task. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Shared>);

struct Shared {
    config: ServerConfig,
    inbox: mpsc::UnboundedSender<Input>,
    status: watch::Receiver<Status>,
    /// The number of the last call: held while a call is sent, so that calls arrive in their order.
    last_ticket: Mutex<u64>,
    outside: Arc<Outside>,
}

/// A call of a tool.
pub(crate) struct CallRequest {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) is_repeatable: bool,
    pub(crate) progress: Arc<dyn ProgressSink>,
}

/// How a call ended.
pub(crate) enum Ended {
    Answer(Answer),
    /// In the server's place.
    By(CallEnd),
}

/// What comes to the task.
pub(super) enum Input {
    Event(Event),
    Call(u64, CallRequest, oneshot::Sender<Ended>),
    Considered(Gate, Result<Identity, String>, Option<Record>),
    Came(u32, Ready),
    Listed(u32, Vec<Described>),
    Answered(u64, Reply),
}

impl Connection {
    pub(crate) fn name(&self) -> &str {
        &self.0.config.name
    }

    pub(crate) fn family(&self) -> &str {
        &self.0.config.family
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    pub(crate) fn outside(&self) -> Arc<Outside> {
        self.0.outside.clone()
    }

    pub(crate) fn status(&self) -> watch::Receiver<Status> {
        self.0.status.clone()
    }

    /// Why a tool is not called, where that is known already.
    pub(crate) fn why_not(&self, tool: &str) -> Option<String> {
        let status = self.0.status.borrow();
        let is_gone = matches!(status.state, State::Failed | State::Trusting | State::Stopping | State::Stopped);
        let gone = || {
            format!(
                "the server {} {}: {}",
                self.name(),
                status.word(),
                plain(status.found.as_deref().unwrap_or_default())
            )
        };
        status.withheld.get(tool).cloned().or_else(|| is_gone.then(gone))
    }

    pub(crate) fn why_withheld(&self, tool: &str) -> Option<String> {
        self.0.status.borrow().withheld.get(tool).cloned()
    }

    /// Calls a tool. When this is dropped, the call is withdrawn.
    pub(crate) async fn call(&self, request: CallRequest) -> Ended {
        let (reply, ended) = oneshot::channel();
        let guard = {
            let mut last = self.0.last_ticket.lock().unwrap_or_else(PoisonError::into_inner);
            *last += 1;
            // A task that has ended answers by dropping the sender.
            let _ = self.0.inbox.send(Input::Call(*last, request, reply));
            Withdraw { ticket: *last, inbox: &self.0.inbox }
        };
        let ended = ended.await;
        std::mem::forget(guard);
        ended.unwrap_or_else(|_| {
            Ended::By(CallEnd::NotRun { why: format!("the server {} has been stopped", self.name()) })
        })
    }

    /// Has it tried again: after it failed, or after a review.
    pub(crate) fn restart(&self) {
        self.event(Event::RestartRequested);
    }

    pub(crate) fn stop(&self) {
        self.event(Event::StopRequested);
    }

    fn event(&self, event: Event) {
        let _ = self.0.inbox.send(Input::Event(event));
    }
}

/// Withdraws a call that nobody waits for.
struct Withdraw<'a> {
    ticket: u64,
    inbox: &'a mpsc::UnboundedSender<Input>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let _ = self.inbox.send(Input::Event(Event::CallCancelled { ticket: self.ticket }));
    }
}

/// What a task needs.
pub(crate) struct Needs {
    pub(crate) config: ServerConfig,
    pub(crate) launcher: Arc<dyn Launcher>,
    pub(crate) outside: Arc<Outside>,
    pub(crate) store: TrustStore,
    /// Whose configuration names it, for the record.
    pub(crate) place: PathBuf,
    pub(crate) known: Option<Record>,
    pub(crate) changes: mpsc::UnboundedSender<Change>,
}

/// Starts the task of a server. The tools are those that are known from the record.
pub(crate) fn start(needs: Needs) -> (Connection, Vec<Arc<dyn Tool>>, JoinHandle<()>) {
    let (inbox, inputs) = mpsc::unbounded_channel();
    let (told, status) = watch::channel(Status::default());
    let connection = Connection(Arc::new(Shared {
        config: needs.config.clone(),
        inbox: inbox.clone(),
        status,
        last_ticket: Mutex::new(0),
        outside: needs.outside.clone(),
    }));
    let times = needs.config.times;
    let limits = Limits {
        start_ms: times.start_ms,
        give_up_ms: Limits::default().give_up_ms.max(times.start_ms.saturating_mul(4)),
        ..Limits::default()
    };
    let mut driver = Driver {
        server: Server::new(limits),
        begun: Instant::now(),
        inbox: inbox.downgrade(),
        status: told,
        connection: connection.clone(),
        identity: Err("it was not looked at".to_owned()),
        tools: BTreeMap::new(),
        offered: Vec::new(),
        open: HashMap::new(),
        answers: HashMap::new(),
        talking: None,
        said: None,
        end_run: None,
        timer: None,
        log: Log::default(),
        keeping: None,
        needs,
    };
    let known = driver.needs.known.as_ref().map(|record| record.tools.clone()).unwrap_or_default();
    let tools = driver.declared(&known);
    driver.publish();
    let task = tokio::spawn(driver.run(inputs));
    (connection, tools, task)
}

struct Driver {
    needs: Needs,
    server: Server,
    begun: Instant,
    inbox: mpsc::WeakUnboundedSender<Input>,
    status: watch::Sender<Status>,
    connection: Connection,
    identity: Result<Identity, String>,
    /// Its tools as it describes them now.
    tools: BTreeMap<String, ToolRecord>,
    /// The tools that the session knows, by their own names.
    offered: Vec<String>,
    open: HashMap<u64, Open>,
    /// Answers that came and were not delivered yet.
    answers: HashMap<u64, Ended>,
    talking: Option<Talking>,
    said: Option<mpsc::Receiver<Said>>,
    end_run: Option<oneshot::Sender<()>>,
    timer: Option<AbortHandle>,
    log: Log,
    /// A record that is being kept.
    keeping: Option<JoinHandle<()>>,
}

/// A call without an answer.
struct Open {
    tool: String,
    arguments: Map<String, Value>,
    progress: Arc<dyn ProgressSink>,
    reply: oneshot::Sender<Ended>,
    timer: Option<AbortHandle>,
    sending: Option<AbortHandle>,
}

impl Driver {
    async fn run(mut self, mut inputs: mpsc::UnboundedReceiver<Input>) {
        self.consider();
        while self.server.state() != State::Stopped {
            let said = async {
                match &mut self.said {
                    Some(said) => said.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                input = inputs.recv() => match input {
                    Some(input) => self.take(input),
                    None => break,
                },
                said = said => match said {
                    Some(said) => self.hear(said),
                    None => self.said = None,
                },
            }
        }
        if let Some(keeping) = self.keeping.take() {
            // A record that could not be kept was told.
            let _ = keeping.await;
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Event(event) => self.step(event),
            Input::Call(ticket, request, reply) => self.ask(ticket, request, reply),
            Input::Considered(gate, identity, known) => {
                (self.identity, self.needs.known) = (identity, known);
                self.step(Event::Considered { gate });
            }
            Input::Came(run, ready) => {
                if run == self.server.run() {
                    self.tools = recorded(ready.tools);
                    self.talking = Some(ready.talking);
                    self.status.send_modify(|status| status.peer = ready.peer);
                }
                self.step(Event::Came { run });
            }
            Input::Listed(run, tools) => {
                if run == self.server.run() {
                    self.tools = recorded(tools);
                }
                self.step(Event::Listed { run });
            }
            // The end of the run follows.
            Input::Answered(_, Reply::Gone) => {}
            Input::Answered(ticket, Reply::Answer(answer)) => {
                self.answers.insert(ticket, Ended::Answer(answer));
                self.step(Event::CallAnswered { ticket });
                self.answers.remove(&ticket);
            }
        }
    }

    fn hear(&mut self, said: Said) {
        match said {
            Said::ListChanged => self.step(Event::ListChanged { run: self.server.run() }),
            Said::Progress { ticket, told } => {
                if let (Some(open), Some(told)) = (self.open.get(&ticket), told) {
                    open.progress.report(&format!("{}\n", plain(&told)));
                }
                self.step(Event::CallProgressed { ticket });
            }
        }
    }

    fn ask(&mut self, ticket: u64, request: CallRequest, reply: oneshot::Sender<Ended>) {
        let CallRequest { tool, arguments, is_repeatable, progress } = request;
        let times = self.needs.config.times;
        let call = Asked { ticket, idle_ms: times.call_ms, max_ms: times.call_max_ms, is_repeatable };
        self.open.insert(ticket, Open { tool, arguments, progress, reply, timer: None, sending: None });
        if let Some(why) = self.try_step(Event::CallAsked { call }) {
            self.answer(ticket, Ended::By(CallEnd::NotRun { why }));
        }
    }

    fn step(&mut self, event: Event) {
        // What is refused is late: it is of an earlier run, or of a call that has its answer.
        let _ = self.try_step(event);
    }

    /// Why the machine refuses the event, if it does.
    fn try_step(&mut self, event: Event) -> Option<String> {
        let (now_ms, before) = (ms(self.begun.elapsed()), self.server.state());
        match self.server.step(now_ms, event) {
            Ok(step) => {
                step.actions.into_iter().for_each(|action| self.perform(action));
                self.publish();
                self.tell(before);
                None
            }
            Err(rejected) => Some(rejected.reason.to_string()),
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::ConsiderServer => self.consider(),
            // Whoever looks at the status is told.
            Action::AskReview { .. } => {}
            Action::StartServer { run } => self.start(run),
            Action::ArmTimer { timer, delay_ms } => {
                let armed = self.after(delay_ms, Event::TimerFired { timer });
                self.timer.replace(armed).inspect(AbortHandle::abort);
            }
            Action::OfferTools { .. } => self.offer(),
            Action::SendHeld { calls } => {
                for (ticket, delay_ms) in calls {
                    self.send(ticket);
                    self.arm(ticket, delay_ms);
                }
            }
            Action::SendCall { ticket } => self.send(ticket),
            Action::ArmCall { ticket, delay_ms } => self.arm(ticket, delay_ms),
            Action::DeliverAnswer { ticket } => {
                if let Some(ended) = self.answers.remove(&ticket) {
                    self.answer(ticket, ended);
                }
            }
            Action::WithdrawCall { ticket } => {
                if let Some(talking) = self.talking.clone() {
                    tokio::spawn(async move { talking.withdraw(ticket).await });
                }
            }
            Action::AnswerCall { ticket, end } => self.answer(ticket, Ended::By(end)),
            Action::AnswerOpen { calls } | Action::AnswerLost { calls } => {
                calls.into_iter().for_each(|(ticket, end)| self.answer(ticket, Ended::By(end)));
            }
            Action::ListTools { run } => self.list(run),
            Action::EndServer { .. } => {
                self.talking = None;
                // A run that has ended needs no word.
                let _ = self.end_run.take().map(|end| end.send(()));
            }
        }
    }

    fn consider(&mut self) {
        let Some(inbox) = self.inbox.upgrade() else { return };
        let (config, launcher) = (self.needs.config.clone(), self.needs.launcher.clone());
        let (store, place) = (self.needs.store.clone(), self.needs.place.clone());
        tokio::task::spawn_blocking(move || {
            // Read anew: a person may have reviewed it.
            let record = store.read(&place, &config.name);
            let known = record.as_ref().map(|record| &record.identity);
            let identity = if config.is_enabled { launcher.identity(&config, known) } else { Err(String::new()) };
            let untrusted = known.zip(identity.as_ref().ok()).and_then(|(known, now)| known.differs(now));
            let gate = Gate { is_disabled: !config.is_enabled, untrusted };
            let _ = inbox.send(Input::Considered(gate, identity, record));
        });
    }

    fn start(&mut self, run: u32) {
        let Some(inbox) = self.inbox.upgrade() else { return };
        let (said, heard) = mpsc::channel(SAID_LIMIT);
        let (end, ended) = oneshot::channel();
        (self.said, self.end_run, self.talking) = (Some(heard), Some(end), None);
        let (config, launcher) = (self.needs.config.clone(), self.needs.launcher.clone());
        let refused = self.identity.as_ref().err().cloned();
        let log = self.log.clone();
        tokio::spawn(async move {
            match refused {
                Some(found) => drop(inbox.send(Input::Event(Event::StartFailed { run, found }))),
                None => run::run(run, config, launcher, log, said, inbox, ended).await,
            }
        });
    }

    /// Offers what may be: all of a server that is not known yet, and else what is as it was trusted.
    fn offer(&mut self) {
        if self.needs.known.is_none()
            && let Ok(identity) = &self.identity
        {
            self.keep(Record::new(identity.clone(), self.tools.clone()));
        } else if let (Ok(identity), Some(known)) = (&self.identity, &self.needs.known)
            && *identity != known.identity
        {
            // The same content in files that were touched.
            self.keep(Record::new(identity.clone(), known.tools.clone()));
        }
        let known = self.needs.known.as_ref().map(|record| record.tools.clone()).unwrap_or_default();
        let new = self.declared(&known);
        let withheld = self.withheld(&known);
        self.status.send_modify(|status| status.withheld.clone_from(&withheld));
        if !new.is_empty() {
            let _ = self.needs.changes.send(Change::Tools(new));
        }
        let changed = withheld.iter().filter(|(_, why)| why.contains(REVIEW)).map(|(tool, _)| plain(tool));
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            let name = &self.needs.config.name;
            self.say(format!(
                "{} withheld: {}; `agent mcp review {name}` shows what changed",
                counted(changed.len()),
                changed.join(", ")
            ));
        }
    }

    fn keep(&mut self, record: Record) {
        self.needs.known = Some(record.clone());
        let (store, place, name) = (self.needs.store.clone(), self.needs.place.clone(), self.needs.config.name.clone());
        let changes = self.needs.changes.clone();
        let before = self.keeping.take();
        self.keeping = Some(tokio::task::spawn_blocking(move || {
            // The newest is written last.
            drop(before.map(|before| tokio::runtime::Handle::current().block_on(before)));
            if let Err(error) = store.write(&place, &name, &record) {
                let text = format!("cannot keep what was trusted of the server {name}: {error}");
                let _ = changes.send(Change::Said(text));
            }
        }));
    }

    /// The tools of a record that the session does not know yet. Of two with one name none is offered.
    fn declared(&mut self, known: &BTreeMap<String, ToolRecord>) -> Vec<Arc<dyn Tool>> {
        let config = &self.needs.config;
        if config.exposure == Exposure::Hidden || !config.is_enabled {
            return Vec::new();
        }
        let named: Vec<(String, &String, &ToolRecord)> = known
            .iter()
            .filter_map(|(remote, record)| Some((tool_name(&config.family, remote)?, remote, record)))
            .collect();
        let mut new: Vec<Arc<dyn Tool>> = Vec::new();
        for (name, remote, record) in &named {
            let is_shared = named.iter().filter(|(other, ..)| other == name).count() > 1;
            if is_shared || self.offered.contains(remote) || self.offered.len() >= MAX_OFFERED {
                continue;
            }
            if let Ok(tool) = McpTool::new(name.clone(), remote, record, self.connection.clone()) {
                self.offered.push((*remote).clone());
                new.push(Arc::new(tool));
            }
        }
        self.status.send_modify(|status| status.offered = self.offered.len());
        new
    }

    /// What of the server's tools, or of those that the session knows, is not to be called, with the reason.
    fn withheld(&self, known: &BTreeMap<String, ToolRecord>) -> BTreeMap<String, String> {
        let config = &self.needs.config;
        let name = |remote: &String| tool_name(&config.family, remote);
        let why = |remote: &String| match (known.get(remote), self.tools.get(remote)) {
            (_, None) => Some("the server does not offer it any more".to_owned()),
            (None, Some(_)) => Some(format!("it is new since the server was trusted; {REVIEW}")),
            (Some(was), Some(is)) if was != is => Some(format!("it changed since it was trusted; {REVIEW}")),
            (Some(record), Some(_)) => match name(remote) {
                None => Some("its name has no letter or digit".to_owned()),
                Some(_) if self.offered.contains(remote) => None,
                Some(_) if config.exposure == Exposure::Hidden => Some("the server's tools are hidden".to_owned()),
                Some(own) if known.keys().filter(|other| name(other).as_ref() == Some(&own)).count() > 1 => {
                    Some(format!("another tool of the server would be called `{own}`, too"))
                }
                Some(own) => match McpTool::new(own, remote, record, self.connection.clone()) {
                    Ok(_) => Some(format!("a server offers {MAX_OFFERED} tools at most")),
                    Err(why) => Some(why),
                },
            },
        };
        let all = self.tools.keys().chain(known.keys());
        all.filter_map(|remote| Some((remote.clone(), why(remote)?))).collect()
    }

    fn send(&mut self, ticket: u64) {
        let (Some(open), Some(inbox)) = (self.open.get_mut(&ticket), self.inbox.upgrade()) else { return };
        let withheld = self.status.borrow().withheld.get(&open.tool).cloned();
        let (tool, arguments, talking) = (open.tool.clone(), open.arguments.clone(), self.talking.clone());
        let sending = tokio::spawn(async move {
            let reply = match (withheld, talking) {
                // It waited for the server, and only now is known for what it is.
                (Some(why), _) => Reply::Answer(Answer::failed(format!("not run: {why}"))),
                (None, Some(talking)) => talking.call(ticket, tool, arguments).await,
                (None, None) => Reply::Gone,
            };
            let _ = inbox.send(Input::Answered(ticket, reply));
        });
        open.sending.replace(sending.abort_handle()).inspect(AbortHandle::abort);
    }

    fn arm(&mut self, ticket: u64, delay_ms: u64) {
        let armed = self.after(delay_ms, Event::CallTimedOut { ticket });
        match self.open.get_mut(&ticket) {
            Some(open) => drop(open.timer.replace(armed).inspect(AbortHandle::abort)),
            None => armed.abort(),
        }
    }

    fn answer(&mut self, ticket: u64, ended: Ended) {
        let Some(open) = self.open.remove(&ticket) else { return };
        open.timer.inspect(AbortHandle::abort);
        open.sending.inspect(AbortHandle::abort);
        // Who asked may have gone.
        let _ = open.reply.send(ended);
    }

    fn list(&self, run: u32) {
        let (Some(inbox), Some(talking)) = (self.inbox.upgrade(), self.talking.clone()) else { return };
        let patience = Duration::from_millis(self.needs.config.times.start_ms);
        tokio::spawn(async move {
            let listed = tokio::time::timeout(patience, talking.tools()).await;
            let _ = inbox.send(match listed {
                Ok(Ok(tools)) => Input::Listed(run, tools),
                Ok(Err(found)) => Input::Event(Event::ListFailed { run, found }),
                Err(_) => Input::Event(Event::ListFailed { run, found: "it did not tell its tools anew".to_owned() }),
            });
        });
    }

    fn after(&self, delay_ms: u64, event: Event) -> AbortHandle {
        let inbox = self.inbox.clone();
        let waiting = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            if let Some(inbox) = inbox.upgrade() {
                let _ = inbox.send(Input::Event(event));
            }
        });
        waiting.abort_handle()
    }

    fn publish(&self) {
        let (state, found) = (self.server.state(), self.server.found().map(ToOwned::to_owned));
        self.status.send_if_modified(|status| {
            let is_new = status.state != state || status.found != found;
            if is_new {
                (status.state, status.found, status.log) = (state, found, self.log.end());
            }
            is_new
        });
    }

    /// One line about where the server has come to, if that is worth one.
    fn tell(&self, before: State) {
        let state = self.server.state();
        if state == before {
            return;
        }
        let found = plain(self.server.found().unwrap_or_default());
        let name = &self.needs.config.name;
        let text = match state {
            State::Late => {
                format!("is not ready after {} ms; its tools follow when it is", self.needs.config.times.start_ms)
            }
            State::Failed => format!("failed: {found}"),
            State::Restarting => format!("ended: {found}; it is started again"),
            State::Trusting => {
                format!("is not as it was trusted: {found}; `agent mcp review {name}` shows what changed")
            }
            State::Configured
            | State::Wanted
            | State::Starting
            | State::Ready
            | State::Stopping
            | State::Stopped
            | _ => return,
        };
        self.say(text);
    }

    fn say(&self, text: String) {
        let text = format!("the MCP server {}: {text}", self.needs.config.name);
        let _ = self.needs.changes.send(Change::Said(text));
    }
}

fn recorded(tools: Vec<Described>) -> BTreeMap<String, ToolRecord> {
    let record = |tool: Described| {
        let Described { name, description, schema, annotations } = tool;
        (name, ToolRecord { description, schema, annotations })
    };
    tools.into_iter().map(record).collect()
}

pub(crate) fn records(tools: Vec<Described>) -> BTreeMap<String, ToolRecord> {
    recorded(tools)
}

fn counted(tools: usize) -> String {
    if tools == 1 { "1 tool is".to_owned() } else { format!("{tools} tools are") }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const REVIEW: &str = "a person has to review it (`agent mcp review`)";
/// How many tools of one server are offered.
const MAX_OFFERED: usize = 128;
/// How much a server may say by itself before it is heard.
const SAID_LIMIT: usize = 64;
