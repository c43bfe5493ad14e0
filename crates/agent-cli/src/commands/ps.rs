//! `agent ps`: a session and the agents below it, as their journals have them. It needs no lock, so it shows a session that is in use.

use crate::commands::args::Ps;
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::counted::usd;
use crate::screen::terminal::{inline, one_line, print, print_json};
use crate::session::kept::{failed, newest, store};
use agent_core::agent::{Agent, Doing};
use agent_core::child::State;
use agent_core::conversation::Item;
use agent_core::journal::{Header, Replayer};
use agent_runner::journal::{Reader, SessionStore};
use serde::Serialize;

/// An agent of the list, in the names of the JSON form.
#[derive(Serialize)]
struct Row {
    id: String,
    /// Empty for the session's own agent.
    name: String,
    state: &'static str,
    model: String,
    model_calls: u64,
    tool_calls: u64,
    /// Its own and that of the agents below it.
    cost_usd: f64,
    #[serde(skip)]
    cost_nano_usd: u64,
    /// The first line of its task.
    task: String,
}

/// Prints a line an agent, parents before their children.
pub(crate) fn run(arguments: &Ps) -> Result<u8, Failure> {
    let directory = working_directory(arguments.directory.as_deref())?;
    let store = store(&directory)?;
    let root = match &arguments.id {
        Some(id) => store.id_of(id).map_err(|error| failed(&error))?,
        None => newest(&store, &directory)?,
    };
    let is_in_use = store.is_in_use(&root).map_err(|error| failed(&error))?;
    let below = store.descendants(&root).map_err(|error| failed(&error))?;
    let rows: Vec<Row> = std::iter::once(root).chain(below).map(|id| row(&store, id, is_in_use)).collect();
    let written = if arguments.json {
        print_json(&(serde_json::to_string(&rows).map_err(Failure::internal)? + "\n"))
    } else {
        print(&shown(&rows))
    };
    written.map_err(|error| Failure::internal(format!("cannot list the agents: {error}")))?;
    Ok(0)
}

fn row(store: &SessionStore, id: String, is_in_use: bool) -> Row {
    let unreadable = |id: String| Row {
        id,
        name: String::new(),
        state: "cannot be read",
        model: String::new(),
        model_calls: 0,
        tool_calls: 0,
        cost_usd: 0.0,
        cost_nano_usd: 0,
        task: String::new(),
    };
    let Some((header, agent)) = replayed(store, &id) else { return unreadable(id) };
    let (session, spent) = (agent.session(), agent.session().ledger().whole());
    Row {
        name: header.child.map(|child| child.name).unwrap_or_default(),
        state: state(&agent, is_in_use),
        model: session.config().models.first().map(|model| model.id.to_string()).unwrap_or_default(),
        model_calls: session.ledger().model_calls,
        tool_calls: session.ledger().tool_calls,
        cost_usd: spent.cost_nano_usd as f64 / 1e9,
        cost_nano_usd: spent.cost_nano_usd,
        task: task(&agent),
        id,
    }
}

/// As far as the journal can be read: another program may be writing it.
fn replayed(store: &SessionStore, id: &str) -> Option<(Header, Agent)> {
    let mut records = Reader::open(&store.existing(id).ok()?).ok()?;
    let mut replayer = Replayer::new(records.next()?.ok()?).ok()?;
    for record in records.map_while(Result::ok) {
        replayer.advance(record).ok()?;
    }
    Some((replayer.header().clone(), replayer.agent().clone()))
}

fn state(agent: &Agent, is_in_use: bool) -> &'static str {
    let asks = agent.kin().any(|kin| kin.child().state() == State::Asking);
    match agent.doing() {
        _ if agent.is_dismissed() => "ended",
        Doing::Idle if agent.is_child() => "at rest",
        Doing::Idle => "idle",
        _ if !is_in_use => "interrupted",
        Doing::Stopping => "stopping",
        _ if agent.waits_for_children() && asks => "is asked",
        _ if agent.waits_for_children() => "gathering",
        _ => "working",
    }
}

fn task(agent: &Agent) -> String {
    let first = agent.session().conversation().iter().find_map(|item| match item.as_ref() {
        Item::Input(input) => input.messages().first().map(|said| said.text.clone()),
        Item::Summary(summary) => summary.said().first().cloned(),
        Item::Answer(_) | Item::Round(_) => None,
    });
    let first = first.or_else(|| agent.session().pending_input().next().map(str::to_owned)).unwrap_or_default();
    let task = first.rsplit_once("\n\nYour task:\n").map_or(first.as_str(), |(_, task)| task);
    one_line(task.trim(), 60)
}

fn shown(rows: &[Row]) -> String {
    let widest = |of: fn(&Row) -> &str, least: usize| rows.iter().map(|row| of(row).len()).fold(least, usize::max);
    let (ids, names, states) = (widest(|row| &row.id, 2), widest(|row| &row.name, 4), widest(|row| row.state, 5));
    let mut out =
        format!("{:<ids$}  {:<names$}  {:<states$}  {:>7}  {:>8}  TASK\n", "ID", "NAME", "STATE", "CALLS", "USD");
    for row in rows {
        let calls = format!("{}+{}", row.model_calls, row.tool_calls);
        let (id, name, cost) = (inline(&row.id), inline(&row.name), usd(row.cost_nano_usd));
        out.push_str(&format!(
            "{id:<ids$}  {name:<names$}  {:<states$}  {calls:>7}  {cost:>8}  {}\n",
            row.state,
            inline(&row.task)
        ));
    }
    out
}
