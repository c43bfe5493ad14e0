//! The session machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::session::alphabet::{MESSAGE_WAYS, Question, Way, by_the_user, ways};
use crate::session::{answer, event};
use agent_core::budget::Limits;
use agent_core::hook::HookPoint;
use agent_core::permission::PermissionMode;
use agent_core::session::table::TABLE;
use agent_core::session::{Action, ActionKind, Event, ModelConfig, Session, SessionConfig, State, Ticket, Trigger};
use agent_core::table::{Label as _, Table};
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct SessionMachine {
    session: Session,
    /// Messages that the user sent: more than two tell nothing new.
    inputs: u32,
}

impl Machine for SessionMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        let timed = |limits: Limits| {
            let mut config = SessionConfig::new(ModelConfig::new("first"));
            config.permissions.mode = PermissionMode::Bypass;
            config.limits = Limits { max_wall_time_ms: Some(60_000), ..limits };
            config
        };
        let plain = || timed(Limits::default());
        let mut asking = plain();
        asking.permissions.mode = PermissionMode::Default;
        let mut two_models = plain();
        two_models.models.push(ModelConfig::new("second"));
        let hooked = |everywhere: bool| {
            let mut config = plain();
            let done = [HookPoint::PostToolUse, HookPoint::Stop, HookPoint::SessionEnd];
            config.hooks = if everywhere { HookPoint::ALL.into() } else { done.into() };
            config
        };
        let mut stopped = timed(Limits { max_tool_calls: Some(0), ..Limits::default() });
        stopped.hooks = [HookPoint::SessionEnd].into();
        let configs = [
            ("everything allowed", plain()),
            ("asks", asking),
            ("one model call", timed(Limits { max_model_calls: Some(1), ..Limits::default() })),
            ("no repetition", timed(Limits { max_repetitions: Some(1), ..Limits::default() })),
            ("a second model", two_models),
            ("hooks everywhere", hooked(true)),
            ("hooks on what is done", hooked(false)),
            ("no tool calls, hooks at the end", stopped),
        ];
        configs.into_iter().map(|(name, config)| (name, written(&config), Self::new(config))).collect()
    }

    fn state(&self) -> State {
        self.session.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let session = &self.session;
        let may_be_told = |way: &&Way| {
            let most = MESSAGE_WAYS.iter().zip(MAX_INPUTS).find(|(name, _)| **name == way.0);
            most.is_none_or(|(_, most)| self.inputs < most)
        };
        let user = by_the_user(session.state()).iter().filter(may_be_told);
        let user = user.map(|(name, line)| (*name, event(line, NONE, session)));
        let outstanding = session.outstanding();
        let answers = outstanding.iter().flat_map(|open| {
            let ways = Question::of(&open.action).map(ways).unwrap_or_default().iter();
            ways.map(|(name, line)| (*name, answer(line, &open.action, session)))
        });
        let read = |(name, read): (&str, Result<Event, _>)| {
            (name.to_owned(), read.unwrap_or_else(|error| panic!("{name}: {error}")))
        };
        user.chain(answers).map(read).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let before = self.session.state();
        // Pieces of text leave no transition.
        let piece = match event {
            Event::LlmDelta { .. } => Some(Trigger::LlmDelta),
            Event::ToolProgress { .. } => Some(Trigger::ToolProgress),
            _ => None,
        };
        self.inputs += u32::from(event.message().is_some());
        let step = self.session.step(0, event).ok()?;
        // What is taken back is as if it had never been sent.
        let back = step.actions.iter().filter(|action| matches!(action, Action::ReturnQueuedInput { .. })).count();
        self.inputs = self.inputs.saturating_sub(u32::try_from(back).unwrap_or(0));
        let fired = step.transitions.iter().map(|transition| (transition.from, transition.on));
        let fired = fired.chain(piece.map(|trigger| (before, trigger))).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        // How many messages may still come makes a difference, too.
        format!("{} {}", self.inputs, serde_json::to_string(&self.session).unwrap_or_default())
    }

    fn rendered_as(on: Trigger, action: ActionKind) -> &'static str {
        if on == Trigger::ToolProgress { "DisplayProgress" } else { action.name() }
    }
}

impl SessionMachine {
    fn new(config: SessionConfig) -> Self {
        Self { session: Session::new(config), inputs: 0 }
    }
}

/// More messages than these show nothing new: one to be answered, one that waits, one after a conversation. One for later follows one.
const MAX_INPUTS: [u32; 2] = [3, 2];
/// The ticket of what needs none.
const NONE: Ticket = Ticket(0);
