//! The servers of a session at the prompt: what is told of them, and `/mcp`.

use super::Screen;
use super::asked::Told;
use crate::commands::mcp::rows;
use crate::screen::counted::counted;
use crate::screen::terminal::inline;
use agent_mcp::{Change, Offer, Offers};

impl Screen {
    /// The session has begun and the prompt is there: now the servers may have the processors. Once is enough.
    pub(super) fn start_servers(&self) {
        if let Some(mcp) = &self.mcp {
            mcp.servers.start();
        }
    }

    /// Something was told of a server: tools are offered between turns.
    pub(super) fn told_of_servers(&mut self, told: Told) {
        let change = match told {
            Told::Withdrawn => return self.server_asks_no_more(),
            Told::Change(Change::Asked(question)) => return self.server_asks(question),
            Told::Change(change) => change,
        };
        let rests = self.is_idle();
        let is_of_offers = matches!(change, Change::Offers(_));
        let told = self.mcp.as_mut().and_then(|mcp| mcp.take(change, rests, &self.handle));
        if is_of_offers {
            self.know_offers();
        }
        if let Some(told) = told {
            self.view.tell(&told);
            self.prompt_if_idle();
        }
    }

    /// A turn has ended: what waited for that is offered.
    pub(super) fn offer_tools(&mut self) {
        if let Some(mcp) = &mut self.mcp {
            mcp.offer(&self.handle);
        }
    }
}

/// What a server offers besides its tools.
fn offered(offers: &Offers) -> Option<String> {
    let count = |offers: &[Offer], noun| (!offers.is_empty()).then(|| counted(offers.len() as u64, noun));
    let resources =
        count(&offers.resources, "resource").map(|count| format!("{count} (`@{}:…`)", inline(&offers.server)));
    let prompts = count(&offers.prompts, "prompt").map(|count| format!("{count} (`/{}:…`)", inline(&offers.server)));
    let all: Vec<String> = resources.into_iter().chain(prompts).collect();
    (!all.is_empty()).then(|| format!("{}: {}; Tab completes them", inline(&offers.server), all.join(", ")))
}

pub(super) fn mcp(screen: &mut Screen, argument: &str) -> bool {
    let Some(mcp) = &screen.mcp else {
        screen.view.tell("no MCP server is configured; `agent mcp add` in a shell adds one");
        return false;
    };
    match argument.split_once(char::is_whitespace).map(|(word, name)| (word, name.trim())) {
        None if argument.is_empty() => {
            let shown = rows(&mcp.servers.statuses());
            let offered: Vec<String> = mcp.offers.values().filter_map(offered).collect();
            shown.lines().for_each(|line| screen.view.tell(line));
            offered.iter().for_each(|line| screen.view.tell(line));
        }
        Some(("restart", name)) if mcp.servers.restart(name) => {
            screen.view.tell(&format!("{}: tried again, if it does not run", inline(name)));
        }
        Some(("restart", name)) => screen.view.tell(&format!("there is no MCP server called `{}`", inline(name))),
        _ => screen.view.tell("`/mcp` shows the servers, `/mcp restart NAME` tries one again"),
    }
    false
}
