//! `agent demo`: the whole loop without key or network. Everything is real but the model, which is a script behind a real socket; what it
//! runs is held back as everywhere else, where this machine can.

use crate::commands::args::Demo;
use crate::config::file::UserConfig;
use crate::config::options::Options;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::asked::known_model;
use crate::model::effort::Reach;
use crate::model::paced::Unread;
use crate::model::provider::Chosen;
use crate::screen::signals::{self, Signal};
use crate::screen::terminal::{self, all_written, print};
use crate::screen::unread;
use crate::screen::view::{Level, View};
use crate::session::pictured::Attaching;
use crate::session::setup::{self, Opened};
use crate::walls::sandbox;
use crate::walls::search_path;
use agent_core::permission::{PermissionMode, Permissions};
use agent_core::session::OutcomeKind;
use agent_hooks::{FormatterConfig, FormatterInput};
use agent_llm::{AnthropicProvider, ProviderConfig};
use agent_runner::Notice;
use agent_testkit::demo::{self, DemoRepository};
use agent_testkit::http::ScriptedServer;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Runs the demo; exit code 0 only if the repository really ended up fixed.
pub(crate) async fn run(arguments: Demo) -> Result<u8, Failure> {
    let directory = match arguments.dir {
        Some(directory) => directory,
        None => tempfile::Builder::new().prefix("agent-demo-").tempdir().map_err(Failure::internal)?.keep(),
    };
    let shown = show(&directory, arguments.quiet).await;
    shown.map_err(|failure| {
        let message = format!("{}; the unfinished demo stays at {}", failure.message, directory.display());
        Failure { message, ..failure }
    })
}

async fn show(directory: &Path, is_quiet: bool) -> Result<u8, Failure> {
    terminal::queue()?;
    let mut view = View::new(!is_quiet, Level::of(is_quiet, false));
    let repository = demo::create_repository(directory).map_err(Failure::internal)?;
    view.tell(&format!("a repository with a failing test: {}", repository.path.display()));
    if !repository.rustfmt {
        view.tell("rustfmt was not found, so the demo runs without the formatter");
    }
    let server = ScriptedServer::start(demo::script()).await.map_err(Failure::internal)?;
    view.tell(&format!("a scripted model behind a real socket: {}", server.url()));
    view.tell(&format!("> {}", demo::PROMPT));
    let settings = settings(&repository, &mut view);
    let code = task(&settings, &server.url(), &mut view).await?;
    if matches!(code, INTERRUPTED | TERMINATED) {
        let how = if code == INTERRUPTED { "interrupted" } else { "terminated" };
        view.tell(&format!("{how} before the demo finished; the repository stays at {}", repository.path.display()));
        return Ok(code);
    }
    let violations = server.violations();
    for violation in &violations {
        view.error(&format!("the real API would reject this request: {violation}"));
    }
    if !is_quiet {
        show_changes(&repository)?;
    }
    let fixed = judge(&repository, &mut view)?;
    let is_good = code == OutcomeKind::Success.exit_code() && fixed && violations.is_empty();
    let code = match (is_good, code) {
        (true, _) => 0,
        (false, 0) => 1,
        (false, code) => code,
    };
    let code = unread::wait(code, false).await;
    all_written().map(|()| code).map_err(unwritten)
}

/// The agent's part: a session like any other, which grants itself its tools.
async fn task(settings: &Settings, url: &str, view: &mut View) -> Result<u8, Failure> {
    let config = ProviderConfig { base_url: url.to_owned(), ..ProviderConfig::default() };
    let provider = AnthropicProvider::new(config).map_err(Failure::internal)?;
    let models = vec![known_model("claude-sonnet-4-5")];
    let provider = Arc::new(provider);
    let attaching = Attaching::default().within(settings);
    let chosen = Chosen { provider, models, reach: Reach::default(), secrets: Vec::new(), attaching };
    let chosen = chosen.paced(Unread::GoesOn);
    let opened = setup::open(settings, &Options::default(), chosen, None, Vec::new())?;
    let Opened { runner, handle, mut notices, id, .. } = opened;
    let mut signals = signals::listen()?;
    let task = tokio::spawn(runner.run());
    let mut signalled = None;
    handle.input(demo::PROMPT);
    loop {
        tokio::select! {
            Some(signal) = signals.recv() => {
                signalled = Some(signal);
                break;
            }
            notice = notices.recv() => {
                let Some(notice) = notice else { break };
                view.notice(&notice);
                if let Notice::Prompt { outcome: Some(_), .. } = notice {
                    break;
                }
            }
        }
    }
    handle.detach();
    let (_, agent) = task.await.map_err(Failure::internal)?;
    view.end_line();
    view.spent(agent.session().ledger(), agent.session().has_open_cost());
    view.tell(&format!("the session's journal: {id}"));
    Ok(match signalled {
        Some(Signal::Interrupt) => INTERRUPTED,
        Some(Signal::Terminate) => TERMINATED,
        None => agent.outcome().map_or(OutcomeKind::Failed, |outcome| outcome.kind).exit_code(),
    })
}

fn settings(repository: &DemoRepository, view: &mut View) -> Settings {
    let programs = search_path::of(&repository.path, &UserConfig::default());
    let sandbox = sandbox::strongest(&repository.path, Vec::new(), &programs);
    match &sandbox {
        Ok(sandbox) => view.tell(&format!("sandbox: {sandbox}")),
        Err(why) => view.tell(&format!("no sandbox, so the demo's commands run as you: {why}")),
    }
    let rustfmt = repository.rustfmt.then(|| programs.find("rustfmt").ok()).flatten();
    let formatters = rustfmt.map(|program| FormatterConfig {
        extensions: vec![String::from("rs")],
        program,
        arguments: vec![String::from("--edition"), String::from("2021")],
        input: FormatterInput::Stdin,
        settings: Vec::new(),
        new_files: true,
        timeout_ms: 20_000,
    });
    Settings {
        directory: repository.path.clone(),
        permissions: Permissions { mode: PermissionMode::Bypass, ..Permissions::default() },
        sandbox: sandbox.ok(),
        programs,
        auto_commit: true,
        formatters: formatters.into_iter().collect(),
        ..Settings::default()
    }
}

/// The agent's commits, and what they changed together.
fn show_changes(repository: &DemoRepository) -> Result<(), Failure> {
    let path = &repository.path;
    let git = search_path::of(path, &UserConfig::default()).find("git").map_err(Failure::internal)?;
    let range = format!("{}..HEAD", repository.base_commit);
    for arguments in
        [["log", "--stat", "--format=%n%h %an: %s", &range], ["diff", "--no-color", &repository.base_commit, "HEAD"]]
    {
        let shown = Command::new(&git).args(arguments).current_dir(path).output().map_err(Failure::internal)?;
        print(&format!("{}\n", String::from_utf8_lossy(&shown.stdout))).map_err(unwritten)?;
    }
    Ok(())
}

/// Looks at what is there now, whatever the model claims.
fn judge(repository: &DemoRepository, view: &mut View) -> Result<bool, Failure> {
    let verdict = demo::verify(repository).map_err(Failure::internal)?;
    let mark = |holds: bool| if holds { "ok " } else { "NOT" };
    let mut lines = vec![
        format!("{} the tests pass when run again", mark(verdict.tests_pass)),
        format!("{} the fix is committed, and nothing else", mark(verdict.fix_committed)),
        format!("{} your own unfinished files are untouched and uncommitted", mark(verdict.user_files_untouched)),
    ];
    if let Some(formatted) = verdict.formatted {
        lines.push(format!("{} the changed file is formatted", mark(formatted)));
    }
    lines.extend(verdict.problems().into_iter().map(|problem| format!("NOT {problem}")));
    lines.push(format!("the repository stays at {}", repository.path.display()));
    print(&format!("{}\n", lines.join("\n"))).map_err(unwritten)?;
    view.end_line();
    Ok(verdict.is_fixed() && verdict.formatted != Some(false))
}

#[expect(clippy::needless_pass_by_value, reason = "errors are handed over as `map_err` gives them")]
fn unwritten(error: std::io::Error) -> Failure {
    Failure::internal(format!("cannot write the result: {error}"))
}

const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;
