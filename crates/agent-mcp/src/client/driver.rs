//! The task of one server: takes in what happens, steps the machine, performs what it asks for. It decides nothing.

use super::asking::Inputs;
use super::connection::{CallRequest, Connection, Ended, Input};
use super::input::Again;
use super::offer::recorded;
use super::process::Log;
use super::run;
use super::status::Status;
use super::wanted::Wanted;
use super::wire::{Ear, Reply, Said, Talking};
use crate::ServerConfig;
use crate::content::Answer;
use crate::servers::{Change, Launcher, Outside};
use crate::shelf::Shelf;
use crate::text::plain;
use crate::trust::{Identity, Record, ToolRecord, TrustStore};
use agent_core::ports::{ProgressSink, Tool};
use agent_core::server::{Action, Asked, CallEnd, Event, Gate, Limits, Server, State};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

/// What a task needs.
pub(crate) struct Needs {
    pub(crate) config: ServerConfig,
    pub(crate) launcher: Arc<dyn Launcher>,
    pub(crate) outside: Arc<Outside>,
    pub(crate) shelf: Arc<Shelf>,
    /// Whether it may be started.
    pub(crate) begun: watch::Receiver<bool>,
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
    let was_known = needs.known.is_some();
    let connection = Connection::new(needs.config.clone(), inbox.clone(), status, needs.outside.clone(), was_known);
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
        inputs: Inputs::default(),
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

pub(super) struct Driver {
    pub(super) needs: Needs,
    server: Server,
    begun: Instant,
    pub(super) inbox: mpsc::WeakUnboundedSender<Input>,
    pub(super) status: watch::Sender<Status>,
    pub(super) connection: Connection,
    pub(super) identity: Result<Identity, String>,
    /// Its tools as it describes them now.
    pub(super) tools: BTreeMap<String, ToolRecord>,
    /// The tools that the session knows, by their own names.
    pub(super) offered: Vec<String>,
    open: HashMap<u64, Open>,
    /// Answers that came and were not delivered yet.
    answers: HashMap<u64, Ended>,
    /// What the server asks for in the middle of calls.
    pub(super) inputs: Inputs,
    talking: Option<Talking>,
    said: Option<mpsc::Receiver<Said>>,
    end_run: Option<oneshot::Sender<()>>,
    timer: Option<AbortHandle>,
    log: Log,
    /// A record that is being kept.
    pub(super) keeping: Option<JoinHandle<()>>,
}

/// A call without an answer.
struct Open {
    wanted: Wanted,
    progress: Arc<dyn ProgressSink>,
    reply: oneshot::Sender<Ended>,
    timer: Option<AbortHandle>,
    sending: Option<AbortHandle>,
}

impl Driver {
    async fn run(mut self, mut inputs: mpsc::UnboundedReceiver<Input>) {
        let mut begun = self.needs.begun.clone();
        tokio::select! {
            biased;
            // A host that is gone needs nothing any more, and says so in the inbox.
            _ = begun.wait_for(|begun| *begun) => {}
            input = inputs.recv() => match input {
                Some(input) => self.take(input),
                None => return,
            },
        }
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
            Input::Considered(gate, found) => {
                (self.identity, self.needs.known) = *found;
                self.step(Event::Considered { gate });
            }
            Input::Came(run, ready) => {
                if run == self.server.run() {
                    self.tools = recorded(ready.tools, self.needs.store.secrets());
                    self.ask_for_offers(&ready.talking);
                    self.talking = Some(ready.talking);
                    self.status.send_modify(|status| status.peer = ready.peer);
                }
                self.step(Event::Came { run });
            }
            Input::Listed(run, tools) => {
                if run == self.server.run() {
                    self.tools = recorded(tools, self.needs.store.secrets());
                }
                self.step(Event::Listed { run });
            }
            // The end of the run follows.
            Input::Answered(_, Reply::Gone) => {}
            Input::Replied(input, replies) => self.replied(input, replies),
            Input::Answered(ticket, Reply::Asks(asks)) => self.input_asked(Some(ticket), asks),
            Input::Answered(ticket, Reply::Answer(answer)) => self.answered(ticket, Ended::Answer(answer)),
            Input::Answered(ticket, Reply::Lost(why)) => self.answered(ticket, Ended::By(CallEnd::Unknown { why })),
            Input::Answered(ticket, Reply::NotSent(why)) => self.answered(ticket, Ended::By(CallEnd::NotRun { why })),
        }
    }

    fn answered(&mut self, ticket: u64, ended: Ended) {
        self.answers.insert(ticket, ended);
        self.step(Event::CallAnswered { ticket });
        self.answers.remove(&ticket);
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
            Said::Asks(asks) => self.input_asked(None, asks),
        }
    }

    fn ask(&mut self, ticket: u64, request: CallRequest, reply: oneshot::Sender<Ended>) {
        let CallRequest { wanted, is_repeatable, progress } = request;
        let times = self.needs.config.times;
        let call = Asked { ticket, idle_ms: times.call_ms, max_ms: times.call_max_ms, is_repeatable };
        self.open.insert(ticket, Open { wanted, progress, reply, timer: None, sending: None });
        if let Some(why) = self.try_step(Event::CallAsked { call }) {
            self.answer(ticket, Ended::By(CallEnd::NotRun { why }));
        }
    }

    pub(super) fn step(&mut self, event: Event) {
        // What is refused is late: it is of an earlier run, or of a call that has its answer.
        let _ = self.try_step(event);
    }

    /// Why the machine refuses the event, if it does.
    pub(super) fn try_step(&mut self, event: Event) -> Option<String> {
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
            Action::AskPerson { input, ticket } => self.ask_person(input, ticket),
            Action::SendInput { input, ticket } => self.send_input(input, ticket),
            Action::RefuseInput { input } => self.refuse_input(input),
            Action::WithdrawInputs { inputs } => self.withdraw_inputs(&inputs),
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
            let look = |known| Ok(launcher.identity(&config, known)?.remembering(known));
            let identity = if config.is_enabled { look(known) } else { Err(String::new()) };
            let untrusted = known.zip(identity.as_ref().ok()).and_then(|(known, now)| known.differs(now));
            let gate = Gate { is_disabled: !config.is_enabled, untrusted };
            let _ = inbox.send(Input::Considered(gate, Box::new((identity, record))));
        });
    }

    fn start(&mut self, run: u32) {
        let Some(inbox) = self.inbox.upgrade() else { return };
        let (said, heard) = mpsc::channel(SAID_LIMIT);
        let (end, ended) = oneshot::channel();
        (self.said, self.end_run, self.talking) = (Some(heard), Some(end), None);
        let (config, launcher) = (self.needs.config.clone(), self.needs.launcher.clone());
        let refused = self.identity.as_ref().err().cloned();
        let (log, ear) = (self.log.clone(), Ear { said, secrets: self.needs.store.secrets().clone() });
        tokio::spawn(async move {
            match refused {
                Some(found) => drop(inbox.send(Input::Event(Event::StartFailed { run, found }))),
                None => run::run(run, config, launcher, log, ear, inbox, ended).await,
            }
        });
    }

    fn send(&mut self, ticket: u64) {
        self.send_again(ticket, Again::default());
    }

    /// Sends a call with what it is sent with once more; with nothing the first time.
    pub(super) fn send_again(&mut self, ticket: u64, again: Again) {
        let (Some(open), Some(inbox)) = (self.open.get_mut(&ticket), self.inbox.upgrade()) else { return };
        let withheld = match &open.wanted {
            Wanted::Tool { name, .. } => self.status.borrow().withheld.get(name).cloned(),
            // A person asks for these.
            Wanted::Resource { .. } | Wanted::Prompt { .. } => None,
        };
        let (wanted, talking) = (open.wanted.clone(), self.talking.clone());
        let sending = tokio::spawn(async move {
            let reply = match (withheld, talking) {
                // It waited for the server, and only now is known for what it is.
                (Some(why), _) => Reply::Answer(Answer::failed(format!("not run: {why}"))),
                (None, Some(talking)) => talking.call(ticket, wanted, again).await,
                (None, None) => Reply::Gone,
            };
            let _ = inbox.send(Input::Answered(ticket, reply));
        });
        open.sending.replace(sending.abort_handle()).inspect(AbortHandle::abort);
    }

    pub(super) fn wanted(&self, ticket: u64) -> Option<&Wanted> {
        self.open.get(&ticket).map(|open| &open.wanted)
    }

    pub(super) fn run_now(&self) -> u32 {
        self.server.run()
    }

    pub(super) fn next_input(&self) -> u64 {
        self.server.last_input() + 1
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
        self.say(&text);
    }

    pub(super) fn say(&self, text: &str) {
        let text = format!("the MCP server {}: {text}", self.needs.config.name);
        let _ = self.needs.changes.send(Change::Said(text));
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How much a server may say by itself before it is heard.
const SAID_LIMIT: usize = 64;
