//! The agents below at the prompt: who they are, what they do, and `/agents`.

use super::Screen;
use super::status::{Below, duration};
use crate::screen::counted::{counted, usd};
use crate::screen::terminal::{inline, one_line};
use crate::screen::view::call_line;
use agent_core::budget::Ledger;
use agent_core::child::lease::Spent;
use agent_core::conversation::Block;
use agent_runner::{AgentName, NotTaken, Notice, Order};
use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// The agents below the session's own that this program saw begin.
#[derive(Default)]
pub(super) struct Agents {
    /// By the places where they stand.
    seen: BTreeMap<Vec<u32>, Seen>,
    /// Orders that were given and not answered yet: to whom, and the answer.
    given: VecDeque<(String, BoxFuture<'static, Result<(), NotTaken>>)>,
}

struct Seen {
    name: Arc<AgentName>,
    task: String,
    began: Instant,
    /// What it has used, while it is at work. Then its parent's account has it.
    used: Ledger,
    /// How it ended.
    end: Option<String>,
    /// What it did and said last.
    lines: VecDeque<String>,
}

impl Agents {
    pub(super) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::AgentBegun { agent, task, .. } => {
                let task = task.rsplit_once("\n\nYour task:\n").map_or(task.as_str(), |(_, task)| task);
                let seen = Seen {
                    name: agent.clone(),
                    task: one_line(task.trim(), 80),
                    began: Instant::now(),
                    used: Ledger::default(),
                    end: None,
                    lines: VecDeque::new(),
                };
                self.seen.insert(agent.place.clone(), seen);
            }
            Notice::AgentEnded { agent, outcome, .. } => {
                if let Some(seen) = self.seen.get_mut(&agent.place) {
                    seen.end = Some(outcome.word.to_string());
                    seen.used = Ledger::default();
                }
            }
            Notice::OfAgent { agent, notice } => {
                if let Some(seen) = self.seen.get_mut(&agent.place) {
                    seen.notice(notice);
                }
            }
            _ => {}
        }
    }

    fn alive(&self) -> impl Iterator<Item = &Seen> {
        self.seen.values().filter(|seen| seen.end.is_none())
    }

    /// What all agents below have used: those that have ended, as the session's account has it, and those at work.
    pub(super) fn spent(&self, used: &Ledger) -> Spent {
        self.alive().fold(used.below, |all, seen| all.plus(&seen.used.whole().with_itself()))
    }

    /// What the row of the state says of them.
    pub(super) fn at_work(&self, used: &Ledger) -> Below {
        Below { alive: self.alive().count(), cost_nano_usd: self.spent(used).cost_nano_usd }
    }

    /// The agent of this name, or at this place; of several of a name, one that is at work, and then the newest.
    fn find(&self, name: &str) -> Option<&Seen> {
        let is_it = |seen: &&Seen| seen.name.name == name || seen.name.id == name;
        let alive = self.alive().filter(is_it).last();
        alive.or_else(|| self.seen.values().rev().find(is_it))
    }
}

impl Seen {
    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Spent(ledger) if self.end.is_none() => self.used = *ledger,
            Notice::ToolStarted(call) => self.keep(format!("• {}", call_line(call))),
            Notice::Message { blocks, .. } => {
                for block in blocks {
                    if let Block::Text(text) = block {
                        text.trim().lines().for_each(|line| self.keep(one_line(line, 200)));
                    }
                }
            }
            Notice::Error { message, .. } => self.keep(one_line(message, 200)),
            _ => {}
        }
    }

    fn keep(&mut self, line: String) {
        if self.lines.len() == KEPT_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    fn line(&self) -> String {
        let name = inline(&self.name.name);
        let doing = match &self.end {
            Some(end) => end.clone(),
            None => format!("at work for {}", duration(self.began.elapsed())),
        };
        let cost = match self.used.cost_nano_usd {
            0 => String::new(),
            cost => format!(", {} USD", usd(cost)),
        };
        let used = match self.used.model_calls {
            0 => String::new(),
            calls => format!(", {}", counted(calls, "model call")),
        };
        format!("{}  {name}: {doing}{used}{cost}: {}", inline(&self.name.id), self.task)
    }
}

impl Screen {
    /// What was used, by this agent and by those below it.
    pub(super) fn tell_spent(&mut self, used: &Ledger, has_open_cost: bool) {
        self.view.spent(used, has_open_cost);
        let below = self.agents.spent(used);
        if !below.is_nothing() {
            let (all, calls) = (counted(below.agents, "agent"), counted(below.model_calls, "model call"));
            let (tools, tokens) = (counted(below.tool_calls, "tool call"), below.tokens);
            let cost = match below.cost_nano_usd {
                0 => String::new(),
                cost => format!(", cost {} USD", usd(cost)),
            };
            self.view.tell(&format!("and {all} below: {calls}, {tools}, {tokens} tokens{cost}"));
        }
    }

    /// An order was taken, or not.
    pub(super) fn ordered(&mut self, (name, taken): (String, Result<(), NotTaken>)) {
        if let Err(why) = taken {
            self.view.error(&format!("not taken by {}: {}", inline(&name), inline(&why.found)));
            self.prompt_if_idle();
        }
    }

    fn order(&mut self, name: &AgentName, order: Order) {
        let taken = self.handle.order(&name.place, order);
        self.agents.given.push_back((name.name.clone(), Box::pin(taken)));
    }
}

/// The answer to the oldest order that has none.
pub(super) async fn end_of_order(agents: &mut Agents) -> (String, Result<(), NotTaken>) {
    let Some((_, taken)) = agents.given.front_mut() else { return std::future::pending().await };
    let taken = taken.await;
    let name = agents.given.pop_front().map(|(name, _)| name).unwrap_or_default();
    (name, taken)
}

pub(super) fn agents(screen: &mut Screen, argument: &str) -> bool {
    if argument.is_empty() {
        if screen.agents.seen.is_empty() {
            screen.view.tell("no agent has worked for this one since the program began; `agent ps` lists earlier ones");
        }
        let lines: Vec<String> = screen.agents.seen.values().map(Seen::line).collect();
        lines.iter().for_each(|line| screen.view.tell(line));
        return false;
    }
    let (name, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let Some(seen) = screen.agents.find(name) else {
        screen.view.tell(&format!("there is no agent `{}`; `/agents` lists them", inline(name)));
        return false;
    };
    let agent = seen.name.clone();
    match rest.trim() {
        "" => {
            let lines = std::iter::once(seen.line()).chain(seen.lines.iter().map(|line| format!("  {line}")));
            let lines: Vec<String> = lines.collect();
            lines.iter().for_each(|line| screen.view.tell(line));
        }
        _ if seen.end.is_some() => screen.view.tell(&format!("{} has ended", inline(name))),
        "stop" => screen.order(&agent, Order::Stop),
        message => screen.order(&agent, Order::Say(message.to_owned())),
    }
    false
}

const KEPT_LINES: usize = 12;
