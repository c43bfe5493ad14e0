//! `start; valid m; as-suggested; wrong; timer; done; written`: a job with three retries, unless `config retries=0` says otherwise.

use agent_check::job::{Script, config};
use agent_core::job::table::TABLE;
use agent_core::job::{State, Trigger};

pub(crate) fn job(words: &str) -> Vec<(State, Trigger, State)> {
    let made = |words: &str| Script::on(config(&format!("{words} fix the crash")).unwrap(), 0, &TABLE);
    let (mut script, mut out) = (made("retries=3"), Vec::new());
    for line in words.split("; ") {
        match line.strip_prefix("config ") {
            Some(words) => script = made(words),
            None => out.extend(script.tell(line).transitions.iter().map(|row| (row.from, row.on, row.to))),
        }
    }
    out
}
