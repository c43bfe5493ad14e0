//! A session with the user's hooks at every point, once each, and a look at it wherever it rests.

use crate::kept::{self, Kept, one_of_each};
use crate::session::machines_on_the_way;
use agent_core::conversation::{Arguments, CallId};
use agent_core::hook::{HookEnd, HookOccasion, HookPoint, HookReport, HookRun};
use agent_core::journal::{ActionStarted, Entry, Header, Record};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State, Summaries, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let story = Story::told();
    vec![
        Kept::new("machines", "hooks.machines.jsonl", kept::written(machines_on_the_way(&story.records))),
        Kept::new("machines", "hooks.actions.jsonl", kept::written(one_of_each(story.actions))),
        Kept::new("journal", "hooks.jsonl", kept::written(story.records)),
    ]
}

const OF_AGENTS_BELOW: [HookPoint; 2] = [HookPoint::SubagentStart, HookPoint::SubagentStop];

struct Story {
    session: Session,
    records: Vec<Record>,
    actions: Vec<Action>,
}

impl Story {
    fn told() -> Self {
        let mut config = SessionConfig::new(ModelConfig::new("large-1"));
        config.summaries = Summaries::of_earlier_versions();
        // Those of a session that is nobody's agent below, which every version has known.
        config.hooks = HookPoint::ALL.into_iter().filter(|point| !OF_AGENTS_BELOW.contains(point)).collect();
        let header = Header::new("golden-hooks", "agent-core 0.1.0", "/home/somebody/project", config.clone());
        let records = vec![Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header)) }];
        let mut story = Self { session: Session::new(config), records, actions: Vec::new() };
        story.take(Event::Started);
        story.take(Event::UserInput { text: "Fix the parser, please.".into() });
        story.hooks(HookPoint::SessionStart, HookReport { context: vec!["The branch is `main`.".into()], ..passed() });
        story.hooks(HookPoint::UserPromptSubmit, passed());
        story.calls_a_tool();
        let objection = HookReport { block: Some("It does not compile.".into()), ..passed() };
        story.hooks(HookPoint::PostToolUse, objection.clone());
        let ticket = story.asked();
        story.take(Event::HookFailed { ticket, message: "git is not there".into() });
        story.answers(vec![ResponseBlock::Text("All done, and a long report of it. ".repeat(20))], StopReason::EndTurn);
        story.hooks(HookPoint::Stop, objection);
        story.answers(vec![ResponseBlock::Text("Now it compiles.".into())], StopReason::EndTurn);
        story.hooks(HookPoint::Stop, passed());
        story.take(Event::CompactionRequested);
        story.hooks(HookPoint::PreCompact, HookReport { stop: Some("Not now.".into()), ..passed() });
        story.take(Event::LeaveRequested);
        story.hooks(HookPoint::SessionEnd, HookReport::default());
        assert_eq!(story.session.state(), State::WaitingForUserInput);
        story
    }

    fn calls_a_tool(&mut self) {
        let arguments = r#"{"path":"src/parser.rs"}"#.into();
        let raw = RawCall { id: "edit-1".into(), name: "edit".into(), arguments, complete: true };
        self.answers(vec![ResponseBlock::Call(raw)], StopReason::ToolUse);
        let subject = Subject::Paths(vec!["src/lib.rs".into()]);
        let finding = Finding::Runnable(Inspection { effect: Effect::Changes, subject });
        let arguments = Some(Arguments::parse(r#"{"path":"src/lib.rs"}"#).unwrap());
        let hooks = Some(Box::new(HookReport { arguments, ..ran(HookPoint::PreToolUse, HookReport::default()) }));
        let verdict = HookVerdict::Allow { reason: "It is generated.".into() };
        let fact = CallFacts { verdict, hooks, ..CallFacts::new(CallId::new("edit-1"), finding) };
        let ticket = self.asked();
        self.take(Event::ToolsPrepared { ticket, facts: vec![fact] });
        let ticket = self.asked();
        let outcome = ToolOutcome::ok("changed").with_changed_paths(vec!["src/lib.rs".into()]);
        self.take(Event::ToolCompleted { ticket, call: CallId::new("edit-1"), outcome });
    }

    fn answers(&mut self, blocks: Vec<ResponseBlock>, stop: StopReason) {
        let ticket = self.asked();
        let response = LlmResponse { blocks, stop, usage: None, model: "large-1".into() };
        self.take(Event::LlmCompleted { ticket, response });
    }

    fn hooks(&mut self, point: HookPoint, report: HookReport) {
        let Some(Action::RunHooks { ticket, occasion }) = self.outstanding() else { panic!("{point} is not due") };
        assert_eq!(occasion.point(), point);
        let call = match *occasion {
            HookOccasion::PostToolUse { calls } => calls.first().map(|ended| ended.call.id.clone()),
            _ => None,
        };
        let mut report = ran(point, report);
        report.runs[0].call = call;
        self.take(Event::HooksFinished { ticket, report: Box::new(report) });
    }

    fn take(&mut self, event: Event) {
        let at_ms = 1_000 * self.records.len() as u64;
        self.record(at_ms, Entry::Event(event.clone().into()));
        let step = self.session.step(at_ms, event).unwrap();
        for started in step.actions.iter().filter_map(ActionStarted::of) {
            self.record(at_ms, Entry::ActionStarted(started));
        }
        self.actions.extend(step.actions);
    }

    fn record(&mut self, at_ms: u64, entry: Entry) {
        self.records.push(Record { seq: self.records.len() as u64, at_ms, entry });
    }

    fn outstanding(&self) -> Option<Action> {
        self.session.outstanding().into_iter().next().map(|outstanding| outstanding.action)
    }

    fn asked(&self) -> Ticket {
        match self.outstanding() {
            Some(
                Action::SendLlmRequest { ticket, .. }
                | Action::PrepareTools { ticket, .. }
                | Action::ExecuteTools { ticket, .. }
                | Action::CheckGitCommits { ticket, .. },
            ) => ticket,
            other => panic!("{:?} waits for {other:?}", self.session.state()),
        }
    }
}

fn passed() -> HookReport {
    HookReport::default()
}

/// The report with the one program that made it.
fn ran(point: HookPoint, report: HookReport) -> HookReport {
    let message = report.block.clone().or_else(|| report.stop.clone()).unwrap_or_default();
    let end = if message.is_empty() { HookEnd::Passed } else { HookEnd::Blocked };
    let run = HookRun { point, command: "~/bin/check".into(), call: None, took_ms: 40, end, message };
    HookReport { runs: vec![run], ..report }
}
