//! Which tools of a server are offered, and which are withheld: what the record says, against what the server says now.

use super::driver::Driver;
use super::wire::{Described, Talking};
use crate::Exposure;
use crate::names::tool_name;
use crate::servers::Change;
use crate::text::plain;
use crate::tool::McpTool;
use crate::trust::{Record, ToolRecord};
use agent_core::ports::Tool;
use agent_core::redact::{REDACTED, Redactor};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

impl Driver {
    /// Offers what may be: all of a server that is not known yet, and else what is as it was trusted.
    pub(super) fn offer(&mut self) {
        if self.needs.known.is_none()
            && let Ok(identity) = &self.identity
        {
            self.keep(Record::new(identity.clone(), self.tools.clone()));
        } else if let (Ok(identity), Some(known)) = (&self.identity, &self.needs.known)
            && *identity != known.identity
        {
            // The same content in files that were touched.
            self.keep(Record::new(identity.clone(), known.tools.clone()));
        }
        let known = self.needs.known.as_ref().map(|record| record.tools.clone()).unwrap_or_default();
        let mut new = self.declared(&known);
        new.extend(self.needs.shelf.searching());
        self.tell_unknown(&known);
        let withheld = self.withheld(&known);
        self.status.send_modify(|status| status.withheld.clone_from(&withheld));
        if !new.is_empty() {
            let _ = self.needs.changes.send(Change::Tools(new));
        }
        let changed = withheld.iter().filter(|(_, why)| why.contains(REVIEW)).map(|(tool, _)| plain(tool));
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            let name = &self.needs.config.name;
            self.say(&format!(
                "{} withheld: {}; `agent mcp review {name}` shows what changed",
                counted(changed.len()),
                changed.join(", ")
            ));
        }
    }

    /// Says once which tools rules name that the server does not have.
    fn tell_unknown(&mut self, known: &BTreeMap<String, ToolRecord>) {
        let mut named = std::mem::take(&mut self.needs.config.named_tools);
        if named.is_empty() {
            return;
        }
        let config = &self.needs.config;
        let names = self.tools.keys().chain(known.keys()).filter_map(|remote| tool_name(&config.family, remote));
        let names: BTreeSet<String> = names.collect();
        named.retain(|name| !names.contains(name));
        if !named.is_empty() {
            let (named, server) = (named.join(", "), &config.name);
            self.say(&format!(
                "has no tool that is called {named}, as a rule says; `agent mcp test {server}` lists its tools"
            ));
        }
    }

    /// Has the host know what the server offers to a person. Nothing waits for it.
    pub(super) fn ask_for_offers(&self, talking: &Talking) {
        let (talking, changes, name) = (talking.clone(), self.needs.changes.clone(), self.needs.config.name.clone());
        let patience = Duration::from_millis(self.needs.config.times.start_ms);
        tokio::spawn(async move {
            if let Ok(offers) = tokio::time::timeout(patience, talking.offers(&name)).await {
                let _ = changes.send(Change::Offers(offers));
            }
        });
    }

    fn keep(&mut self, record: Record) {
        self.needs.known = Some(record.clone());
        let (store, place, name) = (self.needs.store.clone(), self.needs.place.clone(), self.needs.config.name.clone());
        let changes = self.needs.changes.clone();
        let before = self.keeping.take();
        self.keeping = Some(tokio::task::spawn_blocking(move || {
            // The newest is written last.
            drop(before.map(|before| tokio::runtime::Handle::current().block_on(before)));
            if let Err(error) = store.write(&place, &name, &record) {
                let text = format!("cannot keep what was trusted of the server {name}: {error}");
                let _ = changes.send(Change::Said(text));
            }
        }));
    }

    /// The tools of a record that the session does not know yet, as far as they are not found by searching. Of two with one name none is
    /// offered.
    pub(super) fn declared(&mut self, known: &BTreeMap<String, ToolRecord>) -> Vec<Arc<dyn Tool>> {
        let config = &self.needs.config;
        if config.exposure == Exposure::Hidden || !config.is_enabled {
            return Vec::new();
        }
        let named: Vec<(String, &String, &ToolRecord)> = known
            .iter()
            .filter(|(remote, _)| !holds_a_secret(remote))
            .filter_map(|(remote, record)| Some((tool_name(&config.family, remote)?, remote, record)))
            .collect();
        let mut new: Vec<Arc<dyn Tool>> = Vec::new();
        for (name, remote, record) in &named {
            let is_shared = named.iter().filter(|(other, ..)| other == name).count() > 1;
            if is_shared || self.offered.contains(remote) || self.offered.len() >= MAX_OFFERED {
                continue;
            }
            if let Ok(tool) = McpTool::new(name.clone(), remote, record, self.connection.clone()) {
                self.offered.push((*remote).clone());
                new.push(Arc::new(tool));
            }
        }
        let (declared, found) = self.needs.shelf.place(config.exposure, new);
        self.status.send_modify(|status| {
            status.offered = self.offered.len();
            status.searched += found;
        });
        declared
    }

    /// What of the server's tools, or of those that the session knows, is not to be called, with the reason.
    fn withheld(&self, known: &BTreeMap<String, ToolRecord>) -> BTreeMap<String, String> {
        let config = &self.needs.config;
        let name = |remote: &String| tool_name(&config.family, remote);
        let why = |remote: &String| match (known.get(remote), self.tools.get(remote)) {
            (_, None) => Some("the server does not offer it any more".to_owned()),
            (_, Some(_)) if holds_a_secret(remote) => Some("a secret stands in its name".to_owned()),
            (None, Some(_)) => Some(format!("it is new since the server was trusted; {REVIEW}")),
            (Some(was), Some(is)) if was != is => Some(format!("it changed since it was trusted; {REVIEW}")),
            (Some(record), Some(_)) => match name(remote) {
                None => Some("its name has no letter or digit".to_owned()),
                Some(_) if self.offered.contains(remote) => None,
                Some(_) if config.exposure == Exposure::Hidden => Some("the server's tools are hidden".to_owned()),
                Some(own) if known.keys().filter(|other| name(other).as_ref() == Some(&own)).count() > 1 => {
                    Some(format!("another tool of the server would be called `{own}`, too"))
                }
                Some(own) => match McpTool::new(own, remote, record, self.connection.clone()) {
                    Ok(_) => Some(format!("a server offers {MAX_OFFERED} tools at most")),
                    Err(why) => Some(why),
                },
            },
        };
        let all = self.tools.keys().chain(known.keys());
        all.filter_map(|remote| Some((remote.clone(), why(remote)?))).collect()
    }
}

/// Tools as they are recorded, compared and declared: without secrets, which a server may have put into what it says of itself.
pub(crate) fn recorded(tools: Vec<Described>, secrets: &Redactor) -> BTreeMap<String, ToolRecord> {
    let record = |tool: Described| {
        let Described { name, description, schema, annotations } = tool;
        (secrets.redacted(&name), ToolRecord { description, schema, annotations }.without(secrets))
    };
    tools.into_iter().map(record).collect()
}

/// Whether a name was recorded without a secret in it: by what is left no tool is called.
fn holds_a_secret(remote: &str) -> bool {
    remote.contains(REDACTED)
}

fn counted(tools: usize) -> String {
    if tools == 1 { "1 tool is".to_owned() } else { format!("{tools} tools are") }
}

const REVIEW: &str = "a person has to review it (`agent mcp review`)";
/// How many tools of one server are offered.
const MAX_OFFERED: usize = 128;
