//! What a sandbox really enforces on this machine: each thing that it should refuse is tried, in it and outside of it.
//!
//! An attempt counts only when it succeeds outside of the sandbox: otherwise it would prove nothing to see it fail inside. What came of an
//! attempt is not only asked of its maker: files, sockets and processes that must stay as they are (canaries) are looked at after each.

mod attempts;
mod canaries;
mod probes;

use crate::environment::Environment;
use crate::helper::launch::not_started;
use crate::helper::{Helper, PROBE, arguments::Arguments};
use crate::sandbox::attempt::output;
use crate::sandbox::{Access, Guarded, Input, Mechanism, Policy, Sandbox, Unavailable};
use crate::search_path::SearchPath;
use canaries::{CANARY, Canaries, Strangers};
use probes::{Expectation, PROBES, Probe};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the sandbox is made of.
    pub mechanism: Mechanism,
    /// One entry a probe.
    pub findings: Vec<Finding>,
}

/// What came of one probe.
#[derive(Clone, Debug)]
pub struct Finding {
    /// A stable word for it.
    pub id: &'static str,
    /// What was tried, as words that fit after "a command can".
    pub what: &'static str,
    /// Whether a command in the sandbox should be able to do it. Otherwise it should not.
    pub is_allowed: bool,
    /// What came of it.
    pub held: Held,
    /// What was seen.
    pub detail: String,
}

/// Whether a sandbox does what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does, and without it the same attempt comes to the opposite where that matters.
    Yes,
    /// It does not.
    No,
    /// It does not, and cannot: it is documented, and users learn of it when it matters.
    Known,
    /// It cannot be tried here: the attempt fails without the sandbox, too.
    Unknown,
}

impl Report {
    /// Whether nothing got through, and nothing failed that should work.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.held != Held::No)
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// There is no sandbox to be checked.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The way that was asked for does not work.
    #[error("{0}")]
    NotThisWay(String),
    /// The canaries could not be made.
    #[error("prepare the check: {0}")]
    Io(#[from] io::Error),
}

/// Checks what a sandbox enforces that lets commands write a workspace. Takes a second or two, and blocks.
///
/// The canaries are made in a new directory of the given one, which should not be below `/tmp`, and are removed. Without a mechanism the
/// strongest that works is checked. The helper's program has to be a file that can be started by its path.
///
/// # Errors
/// [`CheckError`] when there is nothing to check or it cannot be checked.
pub fn check(directory: &Path, mechanism: Option<Mechanism>, helper: &Helper) -> Result<Report, CheckError> {
    let root = tempfile::Builder::new().prefix("sandbox-check-").tempdir_in(directory)?;
    let root = root.path().canonicalize().map(|path| (path, root))?;
    crate::leftovers::note_path(&root.0);
    let mut strangers = Strangers::new()?;
    let checker = Checker::new(&root.0, mechanism, helper, &mut strangers)?;
    let findings: io::Result<Vec<_>> = PROBES.iter().map(|probe| checker.find(probe, &mut strangers)).collect();
    Ok(Report { mechanism: checker.sandbox.mechanism(), findings: findings? })
}

/// The helper's side: makes one attempt.
pub(crate) fn probe(mut arguments: Arguments) -> ExitCode {
    let name = arguments.next().unwrap_or_default();
    let Some(probe) = PROBES.iter().find(|probe| name == *probe.id) else {
        return ExitCode::from(2);
    };
    match attempts::Surroundings::read(&mut arguments).ok_or_else(|| io::Error::other("called wrongly")) {
        Ok(surroundings) => match (probe.attempt)(&surroundings) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                use std::io::Write as _;
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        },
        Err(_) => ExitCode::from(2),
    }
}

/// One of the system's own programs: the search path may lead into a directory that another user fills.
fn system(program: &str) -> Command {
    let found = SearchPath::default()
        .find(program)
        .or_else(|_| SearchPath::outside(std::env::var_os("PATH").as_deref(), std::env::current_dir()).find(program));
    let mut command = Command::new(found.unwrap_or_else(|_| Path::new("/usr/bin").join(program)));
    // What it starts by name is the system's, too.
    command.env("PATH", SearchPath::default().directories());
    command
}

struct Checker {
    root: PathBuf,
    program: PathBuf,
    leading: Vec<OsString>,
    environment: Environment,
    sandbox: Sandbox,
}

/// What came of one attempt.
struct Outcome {
    got_through: bool,
    said: String,
    /// How long something was waited for that it did.
    took: Duration,
}

/// How much longer than inside is waited for what an attempt does without a sandbox: where it does something, that is seen at once.
const CONTROL_TIMES: u32 = 20;

impl Checker {
    fn new(
        root: &Path,
        mechanism: Option<Mechanism>,
        helper: &Helper,
        strangers: &mut Strangers,
    ) -> Result<Self, CheckError> {
        let (program, leading) = helper.elsewhere()?;
        // Cleaned as an agent's environment is.
        let path = ("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
        let environment = Environment::filtered([path, (CANARY.into(), "1".into())]);
        let workspace = root.join("work");
        Canaries::lay(root, strangers)?;
        let policy = Policy {
            access: Access::WorkspaceWrite,
            protected: vec![workspace.join(".git"), workspace.join(".agent")],
            kept: vec![workspace.join("sub/.git"), workspace.join("sub/.agent")],
            placeholders: Vec::new(),
            workspace,
            writable: Vec::new(),
            hidden: ["hidden", "hidden-file"].map(|name| root.join(name)).to_vec(),
            readable: Vec::new(),
        };
        let sandbox = match mechanism {
            Some(mechanism) => {
                let made = Sandbox::with(mechanism, policy, helper.clone(), &environment);
                made.map_err(CheckError::NotThisWay)?
            }
            None => Sandbox::new(policy, helper.clone(), &environment)?,
        };
        Ok(Self { root: root.to_path_buf(), program, leading: leading.to_vec(), environment, sandbox })
    }

    fn find(&self, probe: &Probe, strangers: &mut Strangers) -> io::Result<Finding> {
        // First without the sandbox: a busy machine takes its time, and so an attempt inside gets at least as much of it.
        strangers.renew()?;
        let outside = self.attempt(probe, false, probe.patience * CONTROL_TIMES, strangers)?;
        strangers.renew()?;
        let inside = self.attempt(probe, true, probe.patience.max(outside.took * 2), strangers)?;
        let is_allowed = probe.expectation == Expectation::Works;
        let held = match (is_allowed, outside.got_through, inside.got_through) {
            (_, false, false) => Held::Unknown,
            (_, _, true) if probe.expectation == Expectation::Known => Held::Known,
            (true, _, true) | (false, true, false) => Held::Yes,
            (true, true, false) | (false, _, true) => Held::No,
        };
        let detail = match held {
            Held::Unknown => format!("does not work without a sandbox either: {}", outside.said),
            Held::Yes | Held::No | Held::Known => inside.said,
        };
        Ok(Finding { id: probe.id, what: probe.what, is_allowed, held, detail })
    }

    fn attempt(
        &self,
        probe: &Probe,
        is_sandboxed: bool,
        patience: Duration,
        strangers: &mut Strangers,
    ) -> io::Result<Outcome> {
        let mut canaries = Canaries::lay(&self.root, strangers)?;
        let workspace = self.root.join("work");
        let mut command = if is_sandboxed {
            let command = self.sandbox.command(&self.program, &workspace, &self.environment, None, Input::Nothing);
            let mut command = command.map_err(io::Error::other)?;
            command.env_clear().envs(self.environment.iter()).env("TMPDIR", self.sandbox.scratch());
            command
        } else {
            let mut command = Command::new(&self.program);
            command.env(CANARY, "1").stdin(Stdio::null());
            command
        };
        command.args(&self.leading).args([crate::helper::WORD, PROBE, probe.id]).current_dir(&workspace);
        command.args(canaries.arguments());
        let guarded = Guarded::begin(Some(&self.sandbox).filter(|_| is_sandboxed));
        let output = output(command)?;
        drop(guarded);
        // What was not tried was not refused.
        if let Some(why) = output.status.code().and_then(|code| not_started(code, &output.stderr)) {
            return Err(io::Error::other(format!("{}: {why}", probe.id)));
        }
        let ended = Instant::now();
        let touched = canaries.touched(patience);
        let took = ended.elapsed();
        let claimed = output.status.success() && probe.expectation != Expectation::LeavesNoTrace;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let said = match touched {
            Some(what) => what,
            None if said.is_empty() => if claimed { "it works" } else { "no effect" }.to_owned(),
            None => said,
        };
        // What is allowed may touch what it is allowed to touch.
        Ok(Outcome { got_through: claimed || canaries.is_touched(), said, took })
    }
}
