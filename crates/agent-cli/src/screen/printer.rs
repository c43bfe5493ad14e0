//! What a headless run writes, in the chosen format: data to standard output, the rest to standard error.

use crate::config::options::{Options, OutputFormat};
use crate::config::project::working_directory;
use crate::model::effort::Wish;
use crate::screen::hint::resume_command;
use crate::screen::terminal::{is_watched, put, put_json};
use crate::screen::unread;
use crate::screen::view::{Level, View, lost};
use crate::screen::wire::{AgentReport, DenialReport, Line, RunResult, SandboxReport};
use crate::session::limits::Raise;
use agent_core::budget::Limits;
use agent_core::llm::Effort;
use agent_core::permission::PermissionMode;
use agent_core::session::OutcomeKind;
use agent_runner::Notice;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Shows notices and the result in the chosen format: data to standard output, the rest to standard error.
pub(crate) struct Printer {
    format: OutputFormat,
    with_partial: bool,
    session_id: String,
    view: View,
    has_begun: bool,
    /// An error that ends the run is told once, with the result; until the next notice nobody knows whether this one does.
    held_error: Option<Notice>,
    /// The agents below that have an outcome.
    agents: Vec<AgentReport>,
    /// The denied calls of agents below, by the ids of their sessions: of each what it said last.
    denials: BTreeMap<String, Vec<DenialReport>>,
    /// How long the run may take.
    max_wall_time_ms: Option<u64>,
}

/// What the first line of `stream-json` tells.
pub(crate) struct Init {
    pub(crate) session_id: String,
    pub(crate) model: String,
    pub(crate) effort: Option<Effort>,
    pub(crate) tools: Vec<String>,
    pub(crate) directory: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) mode: PermissionMode,
    pub(crate) sandbox: Option<SandboxReport>,
}

impl Printer {
    pub(crate) fn new(options: &Options) -> Self {
        let format = options.output_format.unwrap_or_default();
        let is_live = format == OutputFormat::Text && is_watched();
        Self {
            format,
            with_partial: options.include_partial_messages,
            session_id: String::new(),
            view: View::new(is_live, Level::of(options.quiet, options.verbose)),
            has_begun: false,
            held_error: None,
            agents: Vec::new(),
            denials: BTreeMap::new(),
            max_wall_time_ms: None,
        }
    }

    pub(crate) fn init(&mut self, init: Init) {
        self.has_begun = true;
        self.max_wall_time_ms = init.limits.max_wall_time_ms;
        self.view.watch(init.limits);
        self.session_id.clone_from(&init.session_id);
        if self.format == OutputFormat::StreamJson {
            let line = Line::System {
                subtype: "init",
                session_id: init.session_id,
                model: init.model,
                effort: init.effort.map(Effort::name),
                tools: init.tools,
                cwd: init.directory.display().to_string(),
                permission_mode: init.mode,
                sandbox: init.sandbox,
            };
            // That it is lost is seen where the run is watched.
            let _ = put_json(&line.text());
        }
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        if self.format == OutputFormat::StreamJson
            && let Some(line) = Line::of(notice, &self.session_id, self.with_partial)
        {
            let _ = put_json(&line.text());
        }
        if let Notice::AgentEnded { agent, outcome, spent } = notice {
            self.agents.push(AgentReport::of(agent, outcome, spent));
        }
        if let Notice::OfAgent { agent, notice } = notice
            && let Notice::Prompt { outcome: Some(outcome), is_new: true, .. } = &**notice
        {
            let denied = outcome.denials.iter().map(|denial| DenialReport::of(denial, Some(&agent.id)));
            self.denials.insert(agent.id.clone(), denied.collect());
        }
        let held = self.held_error.take();
        if let Some(error) = held.filter(|_| !matches!(notice, Notice::Prompt { .. })) {
            self.view.notice(&error);
        }
        match notice {
            Notice::Error { .. } => self.held_error = Some(notice.clone()),
            _ => self.view.notice(notice),
        }
    }

    /// Something about the run itself.
    pub(crate) fn say(&mut self, text: &str) {
        self.view.tell(&format!("agent: {text}"));
    }

    /// Writes a line of a conversation.
    pub(crate) fn line(&mut self, line: &Line) {
        // That it is lost is seen where the run is watched.
        let _ = put_json(&line.text());
    }

    /// Writes the result of a turn of a conversation.
    pub(crate) fn turn(&mut self, result: RunResult) {
        let result = self.with_agents(result);
        self.held_error = None;
        if let Some(error) = &result.error {
            self.view.last_error(error);
        }
        result.permission_denials.iter().for_each(|denial| self.view.error(&denial.line()));
        self.view.end_line();
        self.line(&Line::Result(result));
    }

    /// The result with the agents below that have an outcome since the last one, and their denied calls.
    fn with_agents(&mut self, result: RunResult) -> RunResult {
        let mut result = RunResult { agents: std::mem::take(&mut self.agents), ..result };
        result.permission_denials.extend(std::mem::take(&mut self.denials).into_values().flatten());
        result
    }

    /// Writes the result and returns the exit code.
    pub(crate) async fn finish(mut self, result: RunResult, options: &Options) -> u8 {
        if !self.has_begun {
            // It ended before there was a session: the first line tells what was known.
            self.init(Init {
                session_id: String::new(),
                model: options.model.clone().unwrap_or_default(),
                effort: options.effort.and_then(Wish::effort),
                tools: Vec::new(),
                directory: working_directory(options.directory.as_deref()).unwrap_or_default(),
                limits: Limits::default(),
                mode: options.permission_mode.map(PermissionMode::from).unwrap_or_default(),
                sandbox: None,
            });
        }
        let result = self.with_agents(result);
        self.tell(&result, options);
        let is_out_of_time = result.is_out_of_time(self.max_wall_time_ms);
        let (code, told) = (result.exit_code, result.error.clone());
        let _ = match self.format {
            OutputFormat::Json | OutputFormat::StreamJson => put_json(&result.text()),
            OutputFormat::Text if self.view.is_live() || result.result.is_empty() => Ok(()),
            OutputFormat::Text => put(&format!("{}\n", result.result.trim_end())),
        };
        self.leave(code, told, is_out_of_time).await
    }

    /// Waits for what is still to be read, and returns the exit code. `told` is the error that was told last.
    pub(crate) async fn leave(mut self, code: u8, told: Option<String>, is_out_of_time: bool) -> u8 {
        let code = unread::wait(code, is_out_of_time).await;
        match lost() {
            Some(why) => {
                if told.as_ref() != Some(&why) {
                    self.view.error(&why);
                }
                // An answer that nobody has is a failure.
                if code == 0 { OutcomeKind::Failed.exit_code() } else { code }
            }
            None => code,
        }
    }

    /// What a person has to know of the result besides the answer.
    fn tell(&mut self, result: &RunResult, options: &Options) {
        if let Some(error) = &result.error {
            self.view.last_error(error);
        }
        for denial in &result.permission_denials {
            self.view.error(&denial.line());
        }
        if result.exit_code == 61 {
            self.view
                .error("no one could be asked: allow such calls with `--allow RULE` or choose a `--permission-mode`");
        }
        if !result.session_id.is_empty() && result.is_error {
            let command = resume_command(&result.session_id, options, result.raise.as_ref());
            self.view.tell(&match &result.raise {
                Some(Raise::Flag(name, _)) => {
                    format!("to resume this session with a higher limit (`{name}`): {command}")
                }
                Some(Raise::Otherwise(what, _)) => format!("to resume this session, {what}: {command}"),
                None => format!("to resume this session: {command}"),
            });
        }
        self.view.end_line();
    }
}
