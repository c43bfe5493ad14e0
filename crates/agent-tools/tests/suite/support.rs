//! A workspace in a temporary directory, and tools that are called as a driver calls them.

use agent_core::permission::Permissions;
use agent_exec::Processes;
use agent_tools::{Workspace, standard_tools};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::permission::{Exclusions, Rule};
use agent_types::ports::{CancelSignal, ProgressSink, Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Opening, ToolOutcome, ToolStatus};
use async_trait::async_trait;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

pub(crate) struct Bench {
    pub(crate) outside: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) switch: Switch,
    pub(crate) progress: Arc<Heard>,
    /// Deny rules that hold for every call.
    pub(crate) deny: Vec<Rule>,
    /// Whether something else changes the files meanwhile, so that nothing can be foreseen.
    pub(crate) is_restless: bool,
}

impl Bench {
    /// A workspace `repo` in a directory that also has `secret.txt`.
    pub(crate) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.txt"), "secret\n").unwrap();
        let root = outside.path().join("repo");
        std::fs::create_dir(&root).unwrap();
        Self::of(outside, root.clone(), Workspace::open(&root).unwrap())
    }

    /// A workspace somewhere else.
    pub(crate) fn over(root: impl AsRef<Path>) -> Self {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.txt"), "secret\n").unwrap();
        Self::of(outside, root.as_ref().to_path_buf(), Workspace::open(root).unwrap())
    }

    pub(crate) fn of(outside: tempfile::TempDir, root: PathBuf, workspace: Workspace) -> Self {
        let workspace = Arc::new(workspace);
        let tools = standard_tools(&workspace, Processes::new());
        Self {
            outside,
            root,
            workspace,
            tools,
            switch: Switch::new(),
            progress: Arc::default(),
            deny: Vec::new(),
            is_restless: false,
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        let found = self.tools.iter().find(|tool| &*tool.spec().name == name);
        found.unwrap_or_else(|| panic!("no tool {name}"))
    }

    pub(crate) fn inspect(&self, tool: &str, arguments: &Value) -> Result<Inspection, String> {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        self.tool(tool).inspect(&arguments)
    }

    /// Runs a call without asking `inspect`: a tool must not rely on that.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolOutcome {
        self.call_judged(tool, arguments, Effect::Changes).await
    }

    /// The same for a call that was judged to do this.
    pub(crate) async fn call_judged(&self, tool: &str, arguments: Value, effect: Effect) -> ToolOutcome {
        let judged = self.tool(tool).inspect(&Arguments::parse(&arguments.to_string()).unwrap());
        let opening = judged.ok().and_then(|found| found.subject.opening().cloned());
        self.call_decided(tool, arguments, effect, opening).await
    }

    /// The same for a call about which this was decided.
    pub(crate) async fn call_decided(
        &self,
        tool: &str,
        arguments: Value,
        effect: Effect,
        opening: Option<Opening>,
    ) -> ToolOutcome {
        let call = ToolCall {
            id: CallId::new("call_1"),
            name: Arc::from(tool),
            arguments: Arguments::parse(&arguments.to_string()).unwrap(),
        };
        let context = ToolContext {
            progress: self.progress.clone(),
            cancel: Arc::new(self.switch.clone()),
            exclusions: self.exclusions(tool, &call.arguments),
            effect,
            known: Default::default(),
            opening,
        };
        let foreseen = self.tool(tool).foresee(&call.arguments).filter(|_| self.switch_is_off() && !self.is_restless);
        let outcome = self.tool(tool).run(&call, &context).await;
        // Whatever a test is about: what is foreseen is what happens.
        if let Some(foreseen) = foreseen {
            assert_eq!((outcome.status, &outcome.content), (ToolStatus::Failed, &foreseen), "{arguments}");
        }
        outcome
    }

    fn switch_is_off(&self) -> bool {
        use agent_types::ports::CancelSignal as _;
        !self.switch.is_cancelled()
    }

    /// What the policy would have a call leave out.
    fn exclusions(&self, tool: &str, arguments: &Arguments) -> Exclusions {
        let policy = Permissions { deny: self.deny.clone(), ..Permissions::default() };
        let inspection = self.tool(tool).inspect(arguments);
        inspection.map(|inspection| policy.exclusions(tool, &inspection.subject)).unwrap_or_default()
    }

    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.call(tool, arguments.clone()).await;
        assert_eq!(outcome.status, ToolStatus::Ok, "{arguments}: {outcome:?}");
        outcome.content
    }

    pub(crate) async fn fails(&self, tool: &str, arguments: Value, expected: &str) {
        let outcome = self.call(tool, arguments.clone()).await;
        let shown: String = arguments.to_string().chars().take(200).collect();
        assert_eq!(outcome.status, ToolStatus::Failed, "{shown}: {outcome:?}");
        assert!(outcome.content.contains(expected), "{shown}: {} has no {expected:?}", outcome.content);
        assert!(outcome.changed_paths.is_empty());
    }

    /// Nothing of a failed write may be left.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.root).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".agent")).collect()
    }
}

#[derive(Default)]
pub(crate) struct Heard(pub(crate) Mutex<Vec<String>>);

impl ProgressSink for Heard {
    fn report(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_string());
    }
}

#[derive(Clone)]
pub(crate) struct Switch(watch::Sender<bool>);

impl Switch {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn fire(&self) {
        self.0.send_replace(true);
    }
}

#[async_trait]
impl CancelSignal for Switch {
    fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        receiver.wait_for(|fired| *fired).await.unwrap();
    }
}

/// Ends a thread that disturbs a test, also when the test fails.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a std::sync::atomic::AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
