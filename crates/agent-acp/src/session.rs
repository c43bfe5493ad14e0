//! One session of the client: a task that owns the runner's handle and notices. It knows no phase of the agent but what notices say of it,
//! and writes everything of the session, so the order of what it writes is the order of what happened.

use crate::asking::{Asking, Question};
use crate::choices;
use crate::client::Client;
use crate::content::Prompt;
use crate::eliciting::{can_be_asked, elicit};
use crate::host::{Elicitation, Elicited, Insight, Live, Told};
use crate::text::inline;
use crate::updates::Telling;
use crate::wire::RpcError;
use agent_core::agent::Doing;
use agent_core::conversation::CallId;
use agent_core::permission::{Basis, Decision, Ruling};
use agent_core::session::{Outcome, OutcomeKind, SessionConfig};
use agent_runner::{End, Handle, Notice, Notices};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What the client wants of a session.
#[derive(Debug)]
pub(crate) enum Command {
    Prompt {
        id: Value,
        prompt: Prompt,
    },
    Cancel,
    /// The request with this id is not needed any more.
    CancelRequest {
        id: Value,
    },
    /// Another value of an option; as a mode, the answer says nothing.
    Set {
        id: Value,
        option: String,
        value: String,
        is_mode: bool,
    },
    /// A deletion has an answer of its own.
    Close {
        id: Option<Value>,
    },
}

/// A session that runs.
pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    pub(crate) id: String,
    pub(crate) handle: Handle,
    pub(crate) notices: Notices,
    pub(crate) runner: JoinHandle<End>,
    /// On the heap: a channel keeps room for many.
    pub(crate) commands: mpsc::UnboundedReceiver<Box<Command>>,
    pub(crate) questions: mpsc::UnboundedReceiver<Box<Question>>,
    pub(crate) insight: Arc<dyn Insight>,
    pub(crate) live: Box<dyn Live>,
    pub(crate) telling: Telling,
    /// What holds, as the session said it last.
    pub(crate) config: Box<SessionConfig>,
    /// How it begins; of one that goes on that is not told again.
    pub(crate) title: Option<String>,
}

/// What the session's task keeps while it runs: requests that are not answered yet, and what notices said last.
struct Desk {
    doing: Doing,
    taken: u64,
    outcome: Option<Outcome>,
    /// Prompts, each with how many messages had been sent with it.
    prompts: Vec<(Value, u64)>,
    /// Changed options, the same; and whether the answer says nothing.
    changes: Vec<(Value, u64, bool)>,
    /// Who waits for the session's end: until it rests, and then until it has ended.
    closes: Vec<Option<Value>>,
    ends: Vec<Option<Value>>,
    asked_by_hook: BTreeSet<CallId>,
    remarks: mpsc::UnboundedSender<String>,
    /// How many questions of others were put.
    elicitations: u64,
}

impl Session {
    /// Runs until the session ends, is closed, or is left. Returns the requests that its end answers.
    pub(crate) async fn run(mut self, early: Vec<Notice>, left: CancellationToken) -> Vec<Option<Value>> {
        let (remarks, mut remarked) = mpsc::unbounded_channel();
        let mut desk = Desk {
            doing: Doing::Working,
            taken: 0,
            outcome: None,
            prompts: Vec::new(),
            changes: Vec::new(),
            closes: Vec::new(),
            ends: Vec::new(),
            asked_by_hook: BTreeSet::new(),
            remarks,
            elicitations: 0,
        };
        self.take(&mut desk, early);
        let mut batch = Vec::new();
        loop {
            let rests = desk.doing == Doing::Idle;
            tokio::select! {
                biased;
                () = left.cancelled() => {
                    self.handle.detach();
                    break;
                }
                Some(command) = self.commands.recv() => self.command(&mut desk, *command),
                count = self.notices.recv_many(&mut batch, BATCH) => match count {
                    0 => break,
                    _ => self.take(&mut desk, std::mem::take(&mut batch)),
                },
                Some(question) = self.questions.recv() => {
                    // The call was announced before it is asked about.
                    let mut before = Vec::new();
                    while let Ok(notice) = self.notices.try_recv() {
                        before.push(notice);
                    }
                    self.take(&mut desk, before);
                    self.ask(&desk, *question);
                }
                Some(remark) = remarked.recv() => self.telling.remark("info", &remark),
                told = self.live.told(&self.handle, rests) => match told {
                    Told::Said(told) => self.telling.remark("info", &told),
                    Told::Asked(asked) => self.elicit(&mut desk, asked),
                },
            }
        }
        self.end(desk).await
    }

    async fn end(mut self, mut desk: Desk) -> Vec<Option<Value>> {
        while let Some(notice) = self.notices.recv().await {
            self.take(&mut desk, vec![notice]);
        }
        let why = match (&mut self.runner).await {
            Ok(End::JournalFailed(error)) => error.to_string(),
            Ok(_) => String::from("the session was closed"),
            Err(error) => format!("the session's task failed: {error}"),
        };
        let waiting = desk.prompts.into_iter().map(|(id, _)| id).chain(desk.changes.into_iter().map(|(id, ..)| id));
        waiting.for_each(|id| self.client.answer(&id, Err(RpcError::internal(&why))));
        self.live.end().await;
        desk.ends.append(&mut desk.closes);
        desk.ends
    }

    fn command(&mut self, desk: &mut Desk, command: Command) {
        match command {
            Command::Prompt { id, prompt } => self.prompt(desk, id, prompt),
            Command::Cancel => self.handle.cancel(),
            Command::CancelRequest { id } => {
                if desk.prompts.iter().any(|(prompt, _)| *prompt == id) {
                    self.handle.cancel();
                }
            }
            Command::Set { id, option, value, is_mode } => {
                match choices::changed(&mut *self.live, &self.config, &option, &value) {
                    Ok(config) => {
                        self.handle.reconfigure(config);
                        desk.changes.push((id, self.handle.sent(), is_mode));
                    }
                    Err(error) => self.client.answer(&id, Err(error)),
                }
            }
            Command::Close { id } if !desk.ends.is_empty() => desk.ends.push(id),
            // What runs is stopped first; the session is left once it rests.
            Command::Close { id } => {
                desk.closes.push(id);
                self.handle.cancel();
            }
        }
    }

    fn prompt(&mut self, desk: &mut Desk, id: Value, prompt: Prompt) {
        if !desk.closes.is_empty() || !desk.ends.is_empty() {
            return self.client.answer(&id, Err(RpcError::request("the session is being closed")));
        }
        let focus = prompt.text.trim().strip_prefix("/compact").filter(|rest| rest.is_empty() || rest.starts_with(' '));
        match focus.map(str::trim) {
            Some("") => self.handle.compact(),
            Some(focus) => self.handle.compact_keeping(focus),
            None => {
                let title = prompt.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                let title: String = title.chars().take(LONGEST_TITLE).collect();
                match self.live.message(prompt, &self.config) {
                    Ok(message) => self.handle.input(message),
                    Err(error) => return self.client.answer(&id, Err(error)),
                }
                if self.title.is_none() && !title.is_empty() {
                    self.telling.update(&json!({ "sessionUpdate": "session_info_update", "title": inline(&title) }));
                    self.title = Some(title);
                }
            }
        }
        desk.prompts.push((id, self.handle.sent()));
    }

    /// Takes what has happened, and tells it.
    fn take(&mut self, desk: &mut Desk, notices: Vec<Notice>) {
        for notice in notices {
            self.telling.notice(&notice);
            self.notice(desk, notice);
        }
        self.telling.flush();
    }

    fn notice(&mut self, desk: &mut Desk, notice: Notice) {
        match notice {
            Notice::TurnBegan => self.live.turn_began(),
            Notice::Configured(config) => self.configured(config),
            Notice::Ruled(Ruling { call, decision: Decision::Ask(Basis::Hook(_)), .. }) => {
                desk.asked_by_hook.insert(call);
            }
            Notice::Refused(rejected) => self.refused(desk, rejected.event(), &rejected.to_string()),
            Notice::Prompt { outcome, is_new, .. } => {
                if is_new {
                    desk.outcome = outcome;
                }
                desk.asked_by_hook.clear();
                self.live.at_rest(&self.handle);
            }
            Notice::Doing { doing, taken } => {
                (desk.doing, desk.taken) = (doing, taken);
                self.answer_changes(desk);
                if doing == Doing::Idle {
                    self.answer_prompts(desk);
                    if !desk.closes.is_empty() && taken >= self.handle.sent() {
                        // Once: a second time would cut the hooks at its end short.
                        desk.ends.append(&mut desk.closes);
                        self.handle.detach();
                    }
                }
            }
            _ => {}
        }
    }

    fn configured(&mut self, config: Box<SessionConfig>) {
        let before = std::mem::replace(&mut self.config, config);
        self.telling.window(self.config.models.first().and_then(|model| model.context_window_tokens));
        let mode = self.config.permissions.mode;
        if before.permissions.mode != mode {
            self.telling.update(&json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode.to_string() }));
        }
        let options = choices::options(&*self.live, &self.config);
        if choices::options(&*self.live, &before) != options {
            self.telling.update(&json!({ "sessionUpdate": "config_option_update", "configOptions": options }));
        }
    }

    /// Options that hold now are answered with all of them.
    fn answer_changes(&mut self, desk: &mut Desk) {
        let taken = desk.taken;
        let (due, open) = std::mem::take(&mut desk.changes).into_iter().partition(|(_, sent, _)| *sent <= taken);
        desk.changes = open;
        let due: Vec<(Value, u64, bool)> = due;
        for (id, _, is_mode) in due {
            let options = || json!({ "configOptions": choices::options(&*self.live, &self.config) });
            let result = if is_mode { json!({}) } else { options() };
            self.telling.flush();
            self.client.answer(&id, Ok(result));
        }
    }

    /// The agent rests: the prompts that led here are answered with what came of them, behind everything that was told.
    fn answer_prompts(&mut self, desk: &mut Desk) {
        let taken = desk.taken;
        let (due, open) = std::mem::take(&mut desk.prompts).into_iter().partition(|(_, sent)| *sent <= taken);
        desk.prompts = open;
        let due: Vec<(Value, u64)> = due;
        if due.is_empty() {
            return;
        }
        let result = stopped(desk.outcome.take());
        if let Ok((_, Some(why))) = &result {
            self.telling.remark("warning", why);
        }
        self.telling.flush();
        for (id, _) in due {
            let result = result.clone().map(|(reason, _)| json!({ "stopReason": reason }));
            self.client.answer(&id, result);
        }
    }

    /// A message that was not taken is answered with why.
    fn refused(&mut self, desk: &mut Desk, event: &str, why: &str) {
        let refused = match event {
            "Reconfigured" if !desk.changes.is_empty() => Some(desk.changes.remove(0).0),
            "UserInput" | "InputReceived" | "CompactionRequested" | "FocusedCompactionRequested" => {
                desk.prompts.pop().map(|(id, _)| id)
            }
            _ => None,
        };
        if let Some(id) = refused {
            self.telling.flush();
            self.client.answer(&id, Err(RpcError::request(why)));
        }
    }

    /// Somebody else asks the person, by the client if it can.
    fn elicit(&mut self, desk: &mut Desk, asked: Elicitation) {
        if !can_be_asked(&self.client, &asked.wants) {
            let told = format!("{}: dismissed, this editor has no way to ask that", asked.message);
            self.telling.remark("warning", &told);
            // Whoever asked may have gone.
            return drop(asked.answer.send(Elicited::Cancelled));
        }
        desk.elicitations += 1;
        tokio::spawn(elicit(self.client.clone(), self.id.clone(), desk.elicitations, asked));
    }

    fn ask(&mut self, desk: &Desk, (question, answer): Question) {
        let is_of_hook = desk.asked_by_hook.contains(&question.call.id);
        let asking = Asking {
            client: self.client.clone(),
            session: self.id.clone(),
            insight: self.insight.clone(),
            described: self.telling.described(&question.call),
            offered: if is_of_hook { Vec::new() } else { self.insight.offered(&question) },
            question,
            handle: self.handle.clone(),
            remarks: desk.remarks.clone(),
        };
        tokio::spawn(asking.run(answer));
    }
}

/// The protocol's word for how a turn ended, with what a person has to know beside it. A failure is an error of the request.
fn stopped(outcome: Option<Outcome>) -> Result<(&'static str, Option<String>), RpcError> {
    let Some(Outcome { kind, error, .. }) = outcome else { return Ok(("end_turn", None)) };
    let why = || error.clone().unwrap_or_else(|| String::from("the turn failed"));
    match kind {
        OutcomeKind::Success | OutcomeKind::Waiting => Ok(("end_turn", None)),
        OutcomeKind::VerificationFailed | OutcomeKind::Permission => Ok(("end_turn", error)),
        OutcomeKind::CallLimit | OutcomeKind::Budget => Ok(("max_turn_requests", error)),
        OutcomeKind::Cancelled => Ok(("cancelled", None)),
        OutcomeKind::Authentication => Err(RpcError::authentication(why())),
        // Those there may be one day are failures until they have a word here.
        _ => Err(RpcError::internal(why())),
    }
}

/// Notices that are told together.
const BATCH: usize = 256;
/// Characters of a session's title.
const LONGEST_TITLE: usize = 80;
