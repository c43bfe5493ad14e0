//! `input do it; done; turn completed; check 1 kept`: an agent with one commitment and a limit on every wait, unless `config` says
//! otherwise.

use agent_check::lifecycle::{Script, config};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{State, Trigger};

pub(crate) fn lifecycle(words: &str) -> Vec<(State, Trigger, State)> {
    let made = |words: &str| Script::on(config(&format!("{USUAL} {words}")).unwrap(), &TABLE);
    let (mut script, mut out) = (made(""), Vec::new());
    for line in words.split("; ") {
        match line.strip_prefix("config ") {
            Some(words) => script = made(words),
            None => out.extend(script.tell(line).transitions.iter().map(|row| (row.from, row.on, row.to))),
        }
    }
    out
}

const USUAL: &str = "commitments=true idle-ms=1 work-ms=1 wait-ms=1";
