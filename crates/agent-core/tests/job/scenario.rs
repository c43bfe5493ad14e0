//! Scenarios in text: what becomes of a job, and what is asked of its driver. `config` names the job and its retries; what else can be said
//! stands in `agent_check::job`. Answers carry the newest ticket.

use crate::stage::table;
use agent_check::job::{Script, config, show};
use agent_check::scenarios::{self, Story};
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("job", &play);
}

pub(crate) fn play(text: &str) -> String {
    scenarios::play(text, &mut Told::default())
}

struct Told(Script);

impl Default for Told {
    fn default() -> Self {
        Self::of("fix the crash")
    }
}

impl Told {
    fn of(words: &str) -> Self {
        Self(Script::on(config(words).unwrap(), 0, table()))
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
        if let Some(ms) = line.strip_prefix("wait ") {
            self.0.now_ms += ms.parse::<u64>().unwrap();
            return String::new();
        }
        let before = self.0.job.clone();
        match self.0.take(self.0.read(line)) {
            Ok(step) => {
                let mut out = format!("{:?}\n", self.0.job.state());
                for action in &step.actions {
                    let _ = writeln!(out, "- {}", show::action(action));
                }
                out
            }
            Err(rejected) => {
                assert_eq!(self.0.job, before, "a refusal changed the job: {line}");
                rejected.to_string()
            }
        }
    }
}
