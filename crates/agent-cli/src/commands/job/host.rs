//! What a job needs of this program: settings, a provider, sessions, a file for its record, and a screen.

use crate::config::options::Options;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::endpoint::Endpoint;
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::terminal::inline;
use crate::screen::view::View;
use crate::session::apart::apart;
use crate::session::setup;
use agent_core::job::routing::default_skills;
use agent_core::job::{Attempt, AuditRecord, FailureKind, TierModels};
use agent_core::lifecycle::Commitment;
use agent_core::session::Outcome;
use agent_runner::job::{AuditLog, JobHost, JobNotice};
use agent_runner::{Builder, Notice};
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The host of one job.
pub(crate) struct Host {
    inputs: tokio::sync::Mutex<Inputs>,
    log: Result<AuditLog, String>,
    shown: Mutex<Shown>,
}

/// What sessions are made of.
struct Inputs {
    options: Options,
    /// What has to hold before an attempt counts as done.
    commitments: Vec<Commitment>,
    /// What the user wants behind the system prompt, before a skill adds to it.
    append_system_prompt: Option<String>,
    settings: Result<Settings, Failure>,
}

/// What has been seen of the job so far.
pub(crate) struct Shown {
    pub(crate) view: View,
    /// How the session of the last attempt ended.
    pub(crate) outcome: Option<Outcome>,
    /// What kept the job from being run, as this program's failure.
    pub(crate) failure: Option<Failure>,
    /// Whether the record is kept. Where it is not, the job says why.
    pub(crate) is_recorded: bool,
    /// What the job failed for, but for its record.
    pub(crate) why: Option<FailureKind>,
    pub(crate) session_id: String,
    pub(crate) has_attempts: bool,
    /// An error that ends an attempt is told with the retry or the result; until the next notice nobody knows whether this one does.
    held_error: Option<Notice>,
}

impl Host {
    pub(crate) fn new(
        options: Options,
        commitments: Vec<Commitment>,
        settings: Result<Settings, Failure>,
        log: Result<AuditLog, Failure>,
        view: View,
    ) -> Self {
        let append_system_prompt = options.append_system_prompt.clone();
        Self {
            inputs: tokio::sync::Mutex::new(Inputs { options, commitments, append_system_prompt, settings }),
            log: log.map_err(|failure| failure.message),
            shown: Mutex::new(Shown::new(view)),
        }
    }

    pub(crate) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the failure for the exit code and says it as the job's.
    fn failed(&self, failure: Failure) -> FailureKind {
        let message = failure.message.clone();
        let kind = match failure.code {
            1 | 41 | 62 => FailureKind::System(message),
            _ => FailureKind::Business(message),
        };
        self.shown().failure = Some(failure);
        kind
    }
}

#[async_trait]
impl JobHost for Host {
    async fn validate(&self) -> Result<TierModels, FailureKind> {
        let mut inputs = self.inputs.lock().await;
        inputs.models().await.map_err(|failure| self.failed(failure))
    }

    async fn session(&self, attempt: &Attempt) -> Result<(Builder, String), FailureKind> {
        let mut inputs = self.inputs.lock().await;
        let (builder, id) = inputs.session(attempt).await.map_err(|failure| self.failed(failure))?;
        self.shown().session_id.clone_from(&id);
        Ok((builder, id))
    }

    async fn record(&self, record: &AuditRecord) -> Result<(), String> {
        self.shown().why.clone_from(&record.failure);
        let written = match &self.log {
            Ok(log) => log.append(record).map_err(|error| error.to_string()),
            Err(message) => Err(message.clone()),
        };
        self.shown().is_recorded = written.is_ok();
        written
    }

    fn notice(&self, notice: JobNotice<'_>) {
        self.shown().notice(notice);
    }
}

impl Inputs {
    fn settings(&mut self) -> Result<&mut Settings, Failure> {
        self.settings.as_mut().map_err(|failure| Failure { code: failure.code, message: failure.message.clone() })
    }

    /// The models of the tiers, once a provider was found that can be asked.
    async fn models(&mut self) -> Result<TierModels, Failure> {
        let flag = self.options.model.clone();
        let settings = self.settings()?;
        if Endpoint::of(settings).is_ok_and(|endpoint| endpoint.model(settings).is_none()) {
            settings.model = settings.user.jobs.tiers.any().map(|name| settings.user.meant(name).model);
        }
        let chosen = provider::choose(settings).await?;
        let model = chosen.models.first().map(|model| model.id.to_string()).unwrap_or_default();
        // A flag stands above all configuration.
        Ok(match flag {
            Some(name) => TierModels::all(&settings.user.meant(&name).model),
            None => {
                let TierModels { haiku, sonnet, opus } = settings.user.jobs.tiers.models(&model);
                let [haiku, sonnet, opus] = [haiku, sonnet, opus].map(|name| settings.user.meant(&name).model);
                TierModels { haiku, sonnet, opus }
            }
        })
    }

    async fn session(&mut self, attempt: &Attempt) -> Result<(Builder, String), Failure> {
        let skill = default_skills().into_iter().find(|skill| Some(&skill.name) == attempt.agent.skill.as_ref());
        let texts = self.append_system_prompt.iter().cloned().chain(skill.map(|skill| skill.guidance));
        let appended: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        self.options.append_system_prompt = Some(appended.join("\n\n")).filter(|text| !text.is_empty());
        let settings = self.settings()?;
        settings.model = Some(attempt.agent.model.clone());
        let chosen = provider::choose(settings).await?.paced(Unread::GoesOn);
        let taken = Err(Failure::internal("cannot set up the session: it is already being set up"));
        let settings = std::mem::replace(&mut self.settings, taken)?;
        let (options, bound) = (self.options.clone(), self.commitments.clone());
        let (made, settings) = apart(move || (setup::builder(&settings, &options, chosen, bound), settings)).await?;
        self.settings = Ok(settings);
        made
    }
}

impl Shown {
    pub(super) const fn new(view: View) -> Self {
        Self {
            view,
            outcome: None,
            failure: None,
            is_recorded: false,
            why: None,
            session_id: String::new(),
            has_attempts: false,
            held_error: None,
        }
    }

    fn notice(&mut self, notice: JobNotice<'_>) {
        match notice {
            JobNotice::AttemptStarted(attempt) => {
                (self.outcome, self.has_attempts) = (None, true);
                let skill = attempt.agent.skill.as_deref().unwrap_or("none");
                let model = inline(&attempt.agent.model);
                let tier = attempt.agent.tier;
                self.view.tell(&format!("attempt {}: skill {skill}, tier {tier:?}, model {model}", attempt.number));
            }
            JobNotice::Session(notice) => self.session(notice),
            JobNotice::RetryScheduled { delay_ms, retry, reason } => {
                let reason = inline(&reason.to_string());
                self.view.tell(&format!("attempt {retry} failed: {reason}; retrying in {delay_ms} ms"));
            }
            _ => {}
        }
    }

    fn session(&mut self, notice: &Notice) {
        let held = self.held_error.take();
        match notice {
            Notice::Prompt { outcome, .. } => self.outcome.clone_from(outcome),
            _ => {
                if let Some(error) = held {
                    self.view.notice(&error);
                }
            }
        }
        match notice {
            Notice::Error { .. } => self.held_error = Some(notice.clone()),
            _ => self.view.notice(notice),
        }
    }
}
