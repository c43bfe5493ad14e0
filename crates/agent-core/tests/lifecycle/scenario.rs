//! Scenarios in text: what happens to an agent, and what is asked of its driver. `config` names commitments and limits; what else can be
//! said stands in `agent_check::lifecycle`. Answers carry the newest ticket.

use crate::stage::table;
use agent_check::lifecycle::{Script, config, show};
use agent_check::scenarios::{self, Story};
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("lifecycle", &play);
}

pub(crate) fn play(text: &str) -> String {
    scenarios::play(text, &mut Told::default())
}

struct Told(Script);

impl Default for Told {
    fn default() -> Self {
        Self::of("")
    }
}

impl Told {
    fn of(words: &str) -> Self {
        Self(Script::on(config(words).unwrap(), table()))
    }
}

impl Story for Told {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn perform(&mut self, line: &str) -> String {
        if let Some(words) = line.strip_prefix("config ") {
            *self = Self::of(words);
            let first = self.0.machine.outstanding();
            return first.iter().fold(String::new(), |out, action| format!("{out}- {}\n", show::action(action)));
        }
        if let Some(passed_ms) = line.strip_prefix("wait ") {
            self.0.now_ms += passed_ms.parse::<u64>().unwrap();
            return String::new();
        }
        let before = self.0.machine.clone();
        match self.0.take(self.0.read(line)) {
            Ok(step) => {
                let mut out = format!("{:?}\n", self.0.machine.state());
                for action in &step.actions {
                    let _ = writeln!(out, "- {}", show::action(action));
                }
                out
            }
            Err(rejected) => {
                assert_eq!(self.0.machine, before, "a refusal changed the agent: {line}");
                rejected.to_string()
            }
        }
    }
}
