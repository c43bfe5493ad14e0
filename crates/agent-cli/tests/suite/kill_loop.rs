//! The real program, killed at random moments and gone on with, until its work is done.
//!
//! Short by default; `cargo xtask kill-loop` does 2,000 runs. Every call leaves a mark of its own, so that one that runs twice is seen.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Asks for one mark after the other, as many as the history does not have yet.
fn next_step(body: &Value) -> Step {
    let calls = body["messages"].to_string().matches("\"tool_use_id\"").count();
    if calls >= MARKS {
        return Step::text("All marks are made.");
    }
    Step::call(
        "bash",
        json!({"command": format!("echo mark-{calls} >> marks.txt; sleep 0.01; echo end-{calls} >> ends.txt")}),
    )
}

/// One session: killed again and again, then left to end.
struct Life<'a> {
    model: &'a Model,
    scratch: Scratch,
    runs: usize,
    said: Vec<String>,
}

impl Life<'_> {
    fn command(&mut self, first: bool) -> Command {
        let words = format!("input-{}.", self.runs);
        self.runs += 1;
        let mut arguments = vec!["-p", &words, "--permission-mode", "bypass", "--output-format", "json"];
        if !first {
            arguments.push("--continue");
        }
        let command = self.scratch.run_command(self.model, &arguments);
        self.said.push(words);
        command
    }

    /// Starts it, and kills it after a while; whether it ended before by itself.
    fn killed(&mut self, first: bool, after: Duration) -> bool {
        let mut command = self.command(first);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        while since.elapsed() < after {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "it failed by itself: {status}; {:?}", self.said);
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What stands in the journal or was sent to the model was acknowledged; what was not may be gone. That the model was asked does not
        // say so: a life begins with what the one before had asked.
        if !self.said.last().is_some_and(|words| self.is_taken(words)) {
            self.said.pop();
        }
        false
    }

    fn is_taken(&self, words: &str) -> bool {
        let is_kept =
            |text: String| text.split_inclusive('\n').any(|line| line.ends_with('\n') && line.contains(words));
        let mut journals = self.scratch.journals().into_iter();
        journals.any(|path| std::fs::read_to_string(path).is_ok_and(is_kept))
            || self.model.requests().iter().any(|request| request.body["messages"].to_string().contains(words))
    }

    fn check(&self) {
        self.model.assert_valid();
        let marks = std::fs::read_to_string(self.scratch.work("marks.txt")).unwrap_or_default();
        let lines: Vec<&str> = marks.lines().collect();
        let once: BTreeSet<&str> = lines.iter().copied().collect();
        assert_eq!(lines.len(), once.len(), "a call ran twice: {marks}");
    }
}

#[test]
fn killed_at_any_moment_it_goes_on_and_nothing_runs_twice() {
    let runs: usize = std::env::var("KILL_LOOP_RUNS").map_or(12, |text| text.parse().unwrap());
    let (mut done, mut sessions, mut chance) = (0, 0, 0x2545_F491_4F6C_DD1D_u64);
    while done < runs {
        let model = Model::always(Step::respond(next_step));
        let mut life = Life { model: &model, scratch: Scratch::new(), runs: 0, said: Vec::new() };
        let mut ended = false;
        // A kill before the first words are kept leaves no session to go on with: begin anew then.
        while !ended && life.runs < 40 && done < runs {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let first = !has_session(&life.scratch);
            ended = life.killed(first, Duration::from_millis(chance >> 32 & 0xFF));
            life.check();
            done += 1;
        }
        // Whatever was left, the last run ends well and the model has heard every word.
        let first = !has_session(&life.scratch);
        let last = life.command(first).output().unwrap();
        assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
        life.check();
        let heard = model.requests().pop().unwrap().body["messages"].to_string();
        for words in &life.said {
            assert!(heard.contains(words.as_str()), "`{words}` is lost: {heard}");
        }
        sessions += 1;
    }
    eprintln!("{done} kills in {sessions} sessions");
}

/// Whether there is a journal in which something was said: one that was only opened is no session to go on with.
fn has_session(scratch: &Scratch) -> bool {
    let is_begun =
        |text: String| text.split_inclusive('\n').any(|line| line.ends_with('\n') && line.contains("{\"UserInput\""));
    scratch.journals().iter().any(|path| std::fs::read_to_string(path).is_ok_and(is_begun))
}

const MARKS: usize = 12;
