//! What is run and measured.

use super::kept::{Kept, Records};
use super::nursery::Cradle;
use super::ports::{Beginner, Meeting, Model};
use agent_core::agent::Agent;
use agent_core::agents::AgentLimits;
use agent_core::budget::Limits;
use agent_core::child;
use agent_core::journal::{Entry, Record};
use agent_core::ports::LlmProvider;
use agent_core::session::{ModelConfig, OutcomeKind, SessionConfig};
use agent_core::tool::ToolStatus;
use agent_runner::journal::SessionStore;
use agent_runner::{Builder, Notice};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Most calls of one answer that run together.
const MOST_IN_ANSWER: usize = 256;

/// How the agents stand below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All of them are the root's children.
    Flat,
    /// A hundred below the root, the others below these.
    Deep,
}

/// What is run.
pub struct Crowd {
    /// About how many agents there are, the root included.
    pub agents: usize,
    /// How many model calls each makes.
    pub turns: usize,
    /// How they stand.
    pub shape: Shape,
    /// Where the journals are kept; nothing for none.
    pub journals: Option<PathBuf>,
    /// How many bytes are allocated.
    pub live: fn() -> usize,
}

/// What was found.
pub struct Measured {
    /// How many agents there were.
    pub agents: usize,
    /// How many model calls they made.
    pub calls: usize,
    /// From the first message to the prompt.
    pub seconds: f64,
    /// Processor time of a model call and what belongs to it, in microseconds.
    pub processor_us_per_call: f64,
    /// Before the first agent.
    pub before: Moment,
    /// When all at the lowest level are at their second model call.
    pub early: Moment,
    /// When all at the lowest level are at their last model call.
    pub late: Moment,
    /// When all have ended and the root waits.
    pub ended: Moment,
    /// The bytes that an agent's history takes then.
    pub history_bytes: usize,
    /// What the steps of some agents took, in microseconds.
    pub steps: Vec<(&'static str, Times)>,
}

/// What the process holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Bytes allocated since the beginning.
    pub bytes: usize,
    /// Open file descriptors.
    pub descriptors: usize,
}

/// Times in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Half of them are shorter.
    pub median: f64,
    /// All but a hundredth of them are shorter.
    pub p99: f64,
    /// The longest.
    pub longest: f64,
    /// How many.
    pub count: usize,
}

impl Times {
    fn of(mut took: Vec<f64>) -> Result<Self, String> {
        took.sort_by(f64::total_cmp);
        let at = |share: usize| took.get(took.len() * share / 100).or(took.last()).copied().unwrap_or_default();
        if took.is_empty() {
            return Err(String::from("nothing was measured"));
        }
        Ok(Self { median: at(50), p99: at(99), longest: at(100), count: took.len() })
    }
}

impl Crowd {
    /// Has them all do their work.
    ///
    /// # Errors
    /// What did not end as it has to.
    pub async fn run(self) -> Result<Measured, String> {
        let middles = if self.shape == Shape::Deep { 100.min(self.agents.saturating_sub(1)) } else { 0 };
        let leaves = self.agents.saturating_sub(1 + middles);
        let each = leaves.checked_div(middles).unwrap_or(0);
        let (leaves, agents) =
            if middles > 0 { (each * middles, each * middles + middles + 1) } else { (leaves, leaves + 1) };
        let spawn = |index: usize, level: usize, below: usize| {
            // Each beginning is a tool call, too.
            let own = 2 * (self.turns + 1);
            let calls = own + below * (own + 1);
            format!(
                r#"{{"name":"a{index}","task":"Look around. level {level}","budget":{{"model_calls":{calls},"tool_calls":{calls},"agents":{below}}}}}"#
            )
        };
        let asks = if middles > 0 {
            vec![(0..middles).map(|at| spawn(at, 1, each)).collect(), (0..each).map(|at| spawn(at, 2, 0)).collect()]
        } else {
            vec![(0..leaves).map(|at| spawn(at, 1, 0)).collect()]
        };
        // What one answer asks for beyond this begins when the first of it have ended, and all wait for each other.
        if asks.iter().any(|asks: &Vec<String>| asks.len() > MOST_IN_ANSWER) {
            return Err(format!("an agent begins at most {MOST_IN_ANSWER} at once"));
        }
        let moments: Arc<Mutex<Vec<(Moment, usize)>>> = Arc::default();
        let before = Moment { bytes: (self.live)(), descriptors: descriptors() };
        let meeting = |at_call: usize| {
            let (moments, live) = (moments.clone(), self.live);
            Meeting::new(at_call, leaves, move |request| {
                let bytes = live().saturating_sub(before.bytes);
                let history = serde_json::to_string(&request.conversation).map_or(0, |text| text.len());
                if let Ok(mut moments) = moments.lock() {
                    moments.push((Moment { bytes, descriptors: descriptors() }, history));
                }
            })
        };
        let meetings = vec![meeting(2), meeting(self.turns)];
        let model = Arc::new(Model { turns: self.turns, asks, calls: AtomicUsize::new(0), meetings });
        let depth = if middles > 0 { 2 } else { 1 };
        let width = u32::try_from(middles.max(each).max(leaves)).unwrap_or(u32::MAX);
        let limits = AgentLimits { depth, width, total: u32::MAX, per_minute: u32::MAX };
        let mut cradle = Cradle::new(model.clone(), store(self.journals.as_deref())?);
        let (first, leaf) = (Records::default(), Records::default());
        cradle.kept = vec![(vec![1], first.clone()), (vec![1, 1], leaf.clone())];
        let mut root = Root::new(cradle, model.clone(), limits)?;

        let (begun, used) = (Instant::now(), processor_us());
        let ended = root.work().await?;
        let (seconds, used) = (begun.elapsed().as_secs_f64(), processor_us() - used);
        let calls = model.calls.load(Ordering::SeqCst);
        let after = Moment { bytes: (self.live)().saturating_sub(before.bytes), descriptors: descriptors() };
        if ended + 1 != agents || calls != agents * self.turns {
            return Err(format!("{ended} of {} agents ended, with {calls} model calls", agents - 1));
        }
        let records = root.finish(agents, calls).await?;
        let mut steps = vec![("the root", steps(&records)?)];
        steps.push((if middles > 0 { "one in the middle" } else { "one below it" }, self::steps(&first)?));
        if middles > 0 {
            steps.push(("one at the lowest level", self::steps(&leaf)?));
        }
        let moments = moments.lock().map_err(|_| "a measurement panicked")?.clone();
        let [(early, _), (late, history_bytes)] = moments[..] else { return Err(String::from("they did not meet")) };
        #[expect(clippy::cast_precision_loss, reason = "it is a mean")]
        let processor_us_per_call = used as f64 / calls as f64;
        Ok(Measured {
            agents,
            calls,
            seconds,
            processor_us_per_call,
            before,
            early,
            late,
            ended: after,
            history_bytes,
            steps,
        })
    }
}

/// Begins so many agents one after the other, and says what each beginning took.
///
/// # Errors
/// What did not end as it has to.
pub async fn beginnings(agents: usize, journals: Option<PathBuf>) -> Result<Times, String> {
    let model = Arc::new(Beginner { agents, asked: Mutex::default(), took: Mutex::default() });
    let limits = AgentLimits { depth: 1, width: 1, total: u32::MAX, per_minute: u32::MAX };
    let cradle = Cradle::new(model.clone(), store(journals.as_deref())?);
    let mut root = Root::new(cradle, model.clone(), limits)?;
    let ended = root.work().await?;
    root.finish(agents + 1, 2 * agents + 1).await?;
    let took = std::mem::take(&mut *model.took.lock().map_err(|_| "a measurement panicked")?);
    if ended != agents || took.len() != agents {
        return Err(format!("{ended} of {agents} agents ended, {} were measured", took.len()));
    }
    Times::of(took)
}

/// The root of a tree at work.
struct Root {
    handle: agent_runner::Handle,
    notices: agent_runner::Notices,
    task: tokio::task::JoinHandle<(agent_runner::End, Agent)>,
    records: Records,
}

impl Root {
    fn new(cradle: Cradle, provider: Arc<dyn LlmProvider>, agents: AgentLimits) -> Result<Self, String> {
        let mut config = SessionConfig::new(ModelConfig::new("crowd"));
        config.agents = Some(agents);
        config.limits =
            Limits { max_model_calls: Some(100_000_000), max_tool_calls: Some(100_000_000), ..Limits::default() };
        let records = Records::default();
        let file = cradle.store.as_ref().map(|store| store.create(&cradle.root)).transpose();
        let beside = file.map_err(|error| error.to_string())?.map(|file| Box::new(file) as _);
        let builder = Builder::new(config)
            .provider(provider)
            .tools(cradle.tools.clone())
            .identity(cradle.root.clone(), "/", "bench")
            .journal(Box::new(Kept { records: records.clone(), beside }))
            .nursery(Arc::new(cradle));
        let (runner, handle, notices) = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { handle, notices, task: tokio::spawn(runner.run()), records })
    }

    /// Gives the task, and waits for the prompt. Returns how many agents ended well.
    async fn work(&mut self) -> Result<usize, String> {
        self.handle.input("Look around. level 0");
        let mut ended = 0;
        loop {
            let notice = self.notices.recv().await.ok_or("the runner has ended")?;
            if let Notice::OfAgent { notice, .. } = notice {
                match *notice {
                    Notice::ToolFinished { outcome, .. } if outcome.status != ToolStatus::Ok => {
                        return Err(format!("a call below failed: {outcome:?}"));
                    }
                    Notice::Refused(rejected) => return Err(format!("an event was refused below: {rejected}")),
                    _ => {}
                }
                continue;
            }
            match notice {
                Notice::AgentEnded { outcome, agent, .. } if outcome.word != child::Word::Done => {
                    return Err(format!("{} ended otherwise: {outcome:?}", agent.id));
                }
                Notice::AgentEnded { .. } => ended += 1,
                Notice::Prompt { outcome: Some(outcome), is_new: true, .. } => match outcome.kind {
                    OutcomeKind::Success => return Ok(ended),
                    _ => return Err(format!("the root ended otherwise: {outcome:?}")),
                },
                // One that is not begun would be waited for without end.
                Notice::ToolFinished { outcome, .. } if outcome.status != ToolStatus::Ok => {
                    return Err(format!("a call failed: {outcome:?}"));
                }
                Notice::Refused(rejected) => return Err(format!("an event was refused: {rejected}")),
                _ => {}
            }
        }
    }

    /// Ends the root and checks what it says of all of them. Returns its records.
    async fn finish(self, agents: usize, calls: usize) -> Result<Records, String> {
        let Self { handle, notices, task, records } = self;
        handle.detach();
        drop(notices);
        let (_, agent) = task.await.map_err(|error| error.to_string())?;
        let spent = agent.spent();
        if !agent.alive().is_empty() || spent.model_calls != calls as u64 || spent.agents as usize + 1 != agents {
            return Err(format!("{:?} are alive, and this was spent: {spent:?}", agent.alive()));
        }
        match agent.kin().find(|kin| kin.child().state() != child::State::Told) {
            Some(kin) => Err(format!("the outcome of {} was not told", kin.child().name())),
            None => Ok(records),
        }
    }
}

/// What the steps of an agent take, by its records: the same agent takes the same events again.
fn steps(records: &Records) -> Result<Times, String> {
    let records = std::mem::take(&mut *records.lock().map_err(|_| "a journal panicked")?);
    let mut records = records.into_iter();
    let Some(Record { entry: Entry::Header(header), .. }) = records.next() else { return Err("no header".into()) };
    let agent = Agent::new(header.config);
    let mut agent = match header.child {
        Some(child) => agent.of_parent(child.changes_files),
        None => agent,
    };
    let mut took = Vec::new();
    for Record { at_ms, entry, .. } in records {
        let Entry::Event(event) = entry else { continue };
        let before = Instant::now();
        let step = agent.step(at_ms, event);
        took.push(before.elapsed().as_secs_f64() * 1e6);
        drop(step.map_err(|error| format!("a recorded event is refused: {error}"))?);
    }
    Times::of(took)
}

fn store(directory: Option<&Path>) -> Result<Option<SessionStore>, String> {
    let Some(directory) = directory else { return Ok(None) };
    std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(Some(SessionStore::new(directory, Path::new("/"))))
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The processor time of this process so far, in microseconds.
fn processor_us() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time in hundredths of a second.
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10_000
}
