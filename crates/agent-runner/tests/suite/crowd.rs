//! Many agents below one, all at work at the same time.

use agent_core::agent::Birth;
use agent_core::agents::AgentLimits;
use agent_core::child::{State, Word};
use agent_core::conversation::Item;
use agent_core::llm::{LlmChunk, LlmError, LlmRequest, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::ports::{LlmProvider, LlmStream, Tool};
use agent_core::session::{ModelConfig, OutcomeKind, SessionConfig};
use agent_runner::journal::{Reopened, SessionStore, descendant_id};
use agent_runner::{AgentName, Builder, Found, Notice, Nursery};
use agent_testkit::FakeTool;
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// More than journals stay open.
const AGENTS: usize = 160;
/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(300);

/// The root begins all agents in one answer; each looks at something, and all wait there for each other; then each looks again and ends.
struct Model {
    calls: AtomicUsize,
    here: AtomicUsize,
    are_all_here: watch::Sender<bool>,
    look: Box<dyn Fn() + Send + Sync>,
}

fn is_child(request: &LlmRequest) -> bool {
    let first = request.conversation.iter().next().map(AsRef::as_ref);
    matches!(first, Some(Item::Input(input)) if input.texts().concat().contains("work for another agent"))
}

fn calls(calls: Vec<(String, &str, String)>) -> LlmResponse {
    let call = |(id, name, arguments): (String, &str, String)| {
        ResponseBlock::Call(RawCall { id, name: name.into(), arguments, complete: true })
    };
    let blocks = calls.into_iter().map(call).collect();
    LlmResponse { blocks, stop: StopReason::ToolUse, usage: None, model: String::new() }
}

#[async_trait]
impl LlmProvider for Model {
    fn dialect(&self) -> &str {
        "crowd"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let number = request.conversation.len();
        let answer = match (is_child(&request), number) {
            (false, 1) => {
                let spawn = |at| format!(r#"{{"name":"a{at}","task":"Look around.","budget":{{"model_calls":3}}}}"#);
                calls((0..AGENTS).map(|at| (format!("s{at}"), "spawn_agent", spawn(at))).collect())
            }
            (true, 1 | 2) => calls(vec![(format!("c{number}"), "look", format!(r#"{{"at":{number}}}"#))]),
            (false | true, _) => LlmResponse::text("It is done."),
        };
        if is_child(&request) && number == 2 {
            let mut opens = self.are_all_here.subscribe();
            if self.here.fetch_add(1, Ordering::SeqCst) + 1 == AGENTS {
                (self.look)();
                self.are_all_here.send_replace(true);
            }
            opens.wait_for(|are_here| *are_here).await.unwrap();
        }
        Ok(Box::pin(futures_util::stream::iter([Ok(LlmChunk::Completed(answer))])))
    }
}

struct Cradle {
    model: Arc<Model>,
    store: SessionStore,
}

fn tools() -> Vec<Arc<dyn Tool>> {
    ["look", "spawn_agent"].map(|name| Arc::new(FakeTool::reads(name)) as Arc<dyn Tool>).into()
}

#[async_trait]
impl Nursery for Cradle {
    fn id(&self, place: &[u32]) -> String {
        descendant_id("root", place)
    }

    async fn begin(&self, agent: &AgentName, birth: &Birth) -> Result<Builder, String> {
        let has = |tool: &Arc<dyn Tool>| birth.config.tools.iter().any(|spec| spec.name == tool.spec().name);
        let journal = self.store.create_below(&agent.id).map_err(|error| error.to_string())?;
        let builder = Builder::new(birth.config.clone()).provider(self.model.clone());
        Ok(builder.tools(tools().into_iter().filter(has)).journal(Box::new(journal)))
    }

    async fn find(&self, _: &AgentName, _: &Birth) -> Found {
        Found::Nothing
    }
}

/// How many of this process's descriptors are files of a folder. None where the system does not say.
fn open_files_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|path| path.starts_with(folder))).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_ends_whole_and_holds_few_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let store = SessionStore::new(&folder, Path::new("/w"));
    let open = Arc::new(AtomicUsize::new(0));
    let (seen, place) = (open.clone(), folder.clone());
    let look = Box::new(move || seen.store(open_files_in(&place), Ordering::SeqCst));
    let (calls, here) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let model = Arc::new(Model { calls, here, are_all_here: watch::Sender::new(false), look });
    let mut config = SessionConfig::new(ModelConfig::new("crowd"));
    config.limits.max_model_calls = Some(10_000);
    let all = u32::try_from(AGENTS).unwrap();
    config.agents = Some(AgentLimits { depth: 1, width: all, total: all, per_minute: all });
    let builder = Builder::new(config).provider(model.clone()).tools(tools()).identity("root", "/w", "test");
    let builder = builder.journal(Box::new(store.create("root").unwrap()));
    let builder = builder.nursery(Arc::new(Cradle { model: model.clone(), store: store.clone() }));
    let (runner, handle, mut notices) = builder.build().unwrap();
    let running = tokio::spawn(runner.run());

    handle.input("Have it looked at.");
    let mut done = 0;
    let outcome = loop {
        let notice = timeout(PATIENCE, notices.recv()).await.unwrap().unwrap();
        match notice {
            Notice::AgentEnded { outcome, .. } => done += usize::from(outcome.word == Word::Done),
            Notice::Prompt { outcome: Some(outcome), is_new: true, .. } => break outcome,
            _ => {}
        }
    };
    assert_eq!((outcome.kind, done), (OutcomeKind::Success, AGENTS));
    handle.shut_down();
    let (_, agent) = running.await.unwrap();
    assert!(agent.alive().is_empty() && agent.kin().all(|kin| kin.child().state() == State::Told));
    assert_eq!(model.calls.load(Ordering::SeqCst), 3 * AGENTS + 2);
    let spent = agent.spent();
    assert_eq!((spent.model_calls, spent.agents), (3 * AGENTS as u64 + 2, all));
    let open = open.load(Ordering::SeqCst);
    assert!(open < AGENTS, "{open} files are open while {AGENTS} agents work");
    // What was closed and opened again in between has every record.
    for id in store.descendants("root").unwrap() {
        let Reopened { rebuilt: Some(rebuilt), torn_bytes: 0, .. } = store.rebuild(&id).unwrap() else {
            panic!("{id}")
        };
        assert_eq!(rebuilt.agent.spent().model_calls, 3, "{id}");
        assert!(rebuilt.agent.is_dismissed(), "{id}");
    }
}
