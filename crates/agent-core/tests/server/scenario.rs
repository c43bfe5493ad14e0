//! Scenarios in text: what becomes of a server, and what is asked of its driver. `config` names limits, `at` the time; what else can be
//! said stands in `agent_check::server`.

use crate::stage::table;
use agent_check::scenarios::{self, Story};
use agent_check::server::{Script, config, show};
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("server", &play);
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
            return String::new();
        }
        if let Some(ms) = line.strip_prefix("at ") {
            self.0.now_ms = ms.parse().unwrap();
            return String::new();
        }
        let before = self.0.server.clone();
        match self.0.take(self.0.read(line)) {
            Ok(step) => {
                let mut out = format!("{}\n", show::standing(&self.0.server));
                for action in &step.actions {
                    let _ = writeln!(out, "- {}", show::action(action));
                }
                out
            }
            Err(rejected) => {
                assert_eq!(self.0.server, before, "a refusal changed the server: {line}");
                rejected.to_string()
            }
        }
    }
}
