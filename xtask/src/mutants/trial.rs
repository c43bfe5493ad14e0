//! One mutant at a time: the tests are run with it chosen, the quick ones first, until one fails.

use super::found::Outcome;
use super::tree::Tests;
use crate::say;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The tests in the order in which they are asked.
pub(super) struct Trial {
    stages: Vec<Stage>,
    package: PathBuf,
}

/// Some of a program's tests.
struct Stage {
    name: String,
    program: PathBuf,
    arguments: Vec<&'static str>,
    limit: Duration,
}

impl Trial {
    /// Runs all tests on the code as it is, to know how long they take.
    ///
    /// # Errors
    /// When a test fails without any mutant.
    pub(super) fn prepare(tests: &Tests) -> Result<Self, String> {
        let mut timed = Vec::new();
        for (name, program) in &tests.programs {
            let skipped: Vec<&str> = SLOW.iter().flat_map(|test| ["--skip", test]).collect();
            for (name, arguments) in [(name.clone(), skipped), (format!("{name} (slow)"), SLOW.to_vec())] {
                let stage = Stage { name, program: program.clone(), arguments, limit: FIRST_LIMIT };
                let started = Instant::now();
                if stage.run(&tests.package, 0)? != End::Passed {
                    return Err(format!("the tests of {} fail without any mutant", stage.name));
                }
                let taken = started.elapsed();
                say(&format!("{} ms: tests of {}\n", taken.as_millis(), stage.name));
                timed.push((taken, Stage { limit: LEAST_LIMIT + taken * 8, ..stage }));
            }
        }
        // The examples have no assertions of their own that end a loop.
        timed.sort_by_key(|(taken, stage)| (stage.name.starts_with("examples"), *taken));
        Ok(Self { stages: timed.into_iter().map(|(_, stage)| stage).collect(), package: tests.package.clone() })
    }

    /// What the quick or the slow tests say of the mutant of this number, in this file. Those of other machines than the file's are asked
    /// last, and their slow ones, which see nothing of it, not at all.
    ///
    /// # Errors
    /// When a program cannot be run.
    pub(super) fn run(&self, mutant: usize, file: &str, slow: bool) -> Result<Outcome, String> {
        let own = MACHINES.iter().find(|machine| file.contains(&format!("/{machine}/")));
        let is_far = |stage: &&Stage| {
            own.is_some_and(|own| MACHINES.iter().any(|machine| machine != own && stage.name.starts_with(machine)))
        };
        let asked = || self.stages.iter().filter(|stage| (stage.arguments == SLOW) == slow);
        let near = asked().filter(|stage| !is_far(stage));
        for stage in near.chain(asked().filter(|stage| is_far(stage) && !slow)) {
            match stage.run(&self.package, mutant)? {
                End::Passed => {}
                End::Failed => return Ok(Outcome::Caught(stage.name.clone())),
                End::TimedOut => return Ok(Outcome::TimedOut(stage.name.clone())),
            }
        }
        Ok(Outcome::Missed)
    }
}

#[derive(PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    TimedOut,
}

impl Stage {
    fn run(&self, package: &Path, mutant: usize) -> Result<End, String> {
        // A mutant may ask for all the memory that there is.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\""]).arg(&self.program).args(&self.arguments);
        command.env("AGENT_CORE_MUTANT", mutant.to_string()).current_dir(package);
        let root = package.join("../..");
        command.env("CARGO_MANIFEST_DIR", package).env("INSTA_WORKSPACE_ROOT", root).env("INSTA_UPDATE", "no");
        // A failure is all that is wanted: neither its smallest case nor a note of it. And every run is to try the same.
        command.env("PROPTEST_MAX_SHRINK_ITERS", "0").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        command.env("PROPTEST_RNG_SEED", "1").env("RUST_MIN_STACK", "67108864").env("RUST_BACKTRACE", "0");
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("run {}: {error}", self.program.display()))?;
        let end = self.watch(&mut child);
        if end != End::Passed {
            // With what it started itself. All may be gone already.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        }
        let status = child.wait().map_err(|error| format!("wait for {}: {error}", self.program.display()))?;
        Ok(if end == End::Passed && !status.success() { End::Failed } else { end })
    }

    /// Reads along until a test fails, the program ends, or time is up.
    fn watch(&self, child: &mut Child) -> End {
        let Some(output) = child.stdout.take() else { return End::Failed };
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.all(|line| sender.send(line).is_ok())
        });
        let deadline = Instant::now() + self.limit;
        loop {
            match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.ends_with("... FAILED") => return End::Failed,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return End::TimedOut,
                Err(RecvTimeoutError::Disconnected) => return End::Passed,
            }
        }
    }
}

/// Directories of their sources, and programs of their tests.
const MACHINES: &[&str] = &["session", "lifecycle", "job"];
/// Tests that take most of the time: asked last.
const SLOW: &[&str] = &[
    "properties",
    "coverage",
    "each_with_each",
    "rebuilt_after_every_event",
    "every_change_of_the_table_is_noticed",
    "that_is_spoilt",
    "a_million_items",
];
/// How long tests may take without a mutant.
const FIRST_LIMIT: Duration = Duration::from_secs(300);
/// Beside eight times what they take without a mutant.
const LEAST_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(script: &'static str, limit: Duration) -> Stage {
        Stage { name: String::new(), program: "sh".into(), arguments: vec!["-c", script], limit }
    }

    #[test]
    fn a_program_of_tests_passes_fails_or_is_stopped() {
        let run = |script, limit| stage(script, limit).run(Path::new("."), 5).unwrap();
        assert!(run("test $AGENT_CORE_MUTANT = 5", FIRST_LIMIT) == End::Passed);
        assert!(run("exit 1", FIRST_LIMIT) == End::Failed);
        let started = Instant::now();
        assert!(run("echo 'test a ... FAILED'; sleep 60", FIRST_LIMIT) == End::Failed);
        assert!(run("exec sleep 60", Duration::from_millis(50)) == End::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(30), "nobody waited for them to end");
    }
}
