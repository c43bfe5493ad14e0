//! `agent show`: one agent, where it stands, what it may spend, what it said last.

use super::args::One;
use super::lines::newest;
use super::reach::{Named, find};
use crate::failure::Failure;
use crate::screen::counted::{counted, usd};
use crate::screen::terminal::{in_rows, inline, one_line, print};
use agent_core::agent::Kin;
use agent_core::agents::{SharedWorkspace, TaskMode};
use agent_core::child::Left;
use agent_core::child::lease::Lease;
use agent_runner::journal::descendant_id;

/// Prints what is known of an agent.
pub(crate) fn run(arguments: &One) -> Result<u8, Failure> {
    let named = find(arguments)?;
    let shown = described(&named).join("\n") + "\n";
    print(&in_rows(&shown)).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))?;
    Ok(0)
}

fn described(Named { tree, place }: &Named) -> Vec<String> {
    let (row, kin) = (tree.row(place), tree.kin(place));
    let mut lines = vec![format!("agent    {}", inline(&row.id))];
    if let Some(kin) = kin {
        let asked = kin.asked();
        lines.push(format!("name     {}", inline(&row.name)));
        lines.push(format!("task     {}", one_line(kin.child().task().trim(), 300)));
        let files = match asked.workspace {
            SharedWorkspace::ReadOnly => "changes no files",
            SharedWorkspace::Shared => "changes its parent's files",
            SharedWorkspace::Worktree => "changes files in a worktree of its own",
        };
        lines.push(format!("mode     {}, {files}", mode(asked.mode)));
        if let Some((number, above)) = place.split_last() {
            lines
                .push(format!("parent   {}, of which it is child {number}", inline(&descendant_id(&tree.root, above))));
        }
        lines.extend(kin.child().lease().map(|lease| format!("may use  {}", leased(lease))));
    }
    lines.push(format!("state    {}", row.state));
    if let Some(question) = kin.and_then(|kin| kin.child().question()) {
        lines.push(format!("asks     {}", one_line(question, 300)));
    }
    if let Some(outcome) = tree.outcome(place) {
        let reason = outcome.reason.as_ref().map(|why| format!(" ({})", one_line(why, 200))).unwrap_or_default();
        lines.push(format!("outcome  {}{reason}", outcome.word));
        let stale = if kin.is_some_and(Kin::is_stale) { "; files may have changed since" } else { "" };
        lines.push(format!("checked  {}{stale}", outcome.checked()));
        lines.extend(match outcome.left.as_deref() {
            None | Some(Left::Nothing) => Vec::new(),
            Some(Left::Changes { path, branch, .. }) => {
                vec![format!("worktree {}", inline(path)), format!("branch   {}", inline(branch))]
            }
            Some(Left::Unknown { found }) => vec![format!("worktree {}", one_line(found, 300))],
        });
    }
    if !row.model.is_empty() {
        lines.push(format!("model    {}", inline(&row.model)));
    }
    let (calls, tools) = (counted(row.model_calls, "model call"), counted(row.tool_calls, "tool call"));
    lines.push(format!(
        "used     {calls}, {tools}, {} USD with the agents below it that have ended",
        usd(row.cost_nano_usd)
    ));
    let below = tree.places().into_iter().filter(|other| other.len() == place.len() + 1 && other.starts_with(place));
    for child in below {
        let row = tree.row(&child);
        lines.push(format!("below    {}  {}  {}", inline(&row.id), inline(&row.name), row.state));
    }
    let followed = tree.followed(place);
    lines.extend(
        followed.and_then(|of| of.fault()).map(|why| format!("journal  cannot be read to its end: {}", inline(why))),
    );
    let said = followed.and_then(|of| of.agent()).map(|agent| newest(agent, NEWEST)).unwrap_or_default();
    if !said.is_empty() {
        lines.push(String::new());
        lines.extend(said.into_iter().map(|line| format!("  {line}")));
    }
    lines
}

const fn mode(mode: TaskMode) -> &'static str {
    match mode {
        TaskMode::Execute => "does the work itself",
        TaskMode::Delegate => "has others do the work",
        TaskMode::Plan => "plans the work",
        TaskMode::BreakUp => "cuts the work into parts",
        TaskMode::Unify => "puts parts together",
    }
}

fn leased(lease: &Lease) -> String {
    let parts = [
        lease.model_calls.map(|most| counted(most, "model call")),
        lease.tool_calls.map(|most| counted(most, "tool call")),
        lease.tokens.map(|most| counted(most, "token")),
        lease.cost_nano_usd.map(|most| format!("{} USD", usd(most))),
        lease.time_ms.map(|most| format!("{} s", most / 1_000)),
        (lease.agents > 0).then(|| counted(lease.agents, "agent")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::from("whatever its parent may") } else { parts.join(", ") }
}

const NEWEST: usize = 12;
