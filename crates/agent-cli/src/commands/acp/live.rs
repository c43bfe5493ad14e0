//! What belongs to a session of an editor besides its runner: messages, choices, servers of tools.

use crate::commands::prompt::custom::{self, Custom};
use crate::config::options::Mode;
use crate::config::providers::Alias;
use crate::config::settings::Settings;
use crate::mcp::session::{Mcp, told};
use crate::model::asked::Models;
use crate::model::effort::{self, Reach, Wish};
use crate::model::endpoint::Endpoint;
use crate::screen::attached::{MOST_BYTES_OF_ONE, MOST_BYTES_TOGETHER};
use crate::screen::form;
use crate::screen::terminal::inline;
use crate::session::pictured::Attaching;
use crate::skills::Skill;
use agent_acp::{Command, Elicitation, Elicited, Live, Prompt, RpcError, Told, Wants};
use agent_core::conversation::{Attachment, UserMessage};
use agent_core::llm::Effort;
use agent_core::permission::PermissionMode;
use agent_core::session::SessionConfig;
use agent_git::RepositoryHooks;
use agent_mcp::{Change, Question, Reply};
use agent_runner::Handle;
use agent_tools::BackgroundCommands;
use async_trait::async_trait;
use clap::ValueEnum as _;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A session that an editor has open.
pub(super) struct LiveSession {
    settings: Settings,
    reach: Reach,
    /// What was said of the effort, in this session.
    wish: Option<Wish>,
    provider: String,
    attaching: Attaching,
    repository: Arc<RepositoryHooks>,
    /// Ends with the session what its tools run in the background.
    _background: BackgroundCommands,
    mcp: Option<Mcp>,
    customs: Vec<Custom>,
}

impl LiveSession {
    pub(super) fn new(
        settings: Settings,
        reach: Reach,
        attaching: Attaching,
        repository: Arc<RepositoryHooks>,
        background: BackgroundCommands,
        mcp: Option<Mcp>,
        skills: &[Skill],
    ) -> Self {
        let (mut customs, _) = custom::found(&settings.directory);
        // What a repository wrote is shown whole before it is sent, and an editor shows nothing of it.
        customs.retain(|custom| !custom.is_of_repository);
        customs.extend(skills.iter().map(custom::of_skill));
        let provider = Endpoint::of(&settings).map(|endpoint| endpoint.name).unwrap_or_default();
        let wish = settings.effort;
        Self { settings, reach, wish, provider, attaching, repository, _background: background, mcp, customs }
    }

    fn custom(&self, text: &str) -> Option<String> {
        let (name, rest) = text.strip_prefix('/')?.split_once(char::is_whitespace).unwrap_or((text.get(1..)?, ""));
        self.customs.iter().find(|custom| custom.name == name).map(|custom| custom.message(rest.trim()))
    }

    fn configured(
        &self,
        config: &SessionConfig,
        id: &str,
        wish: Option<Wish>,
        is_strict: bool,
    ) -> Result<SessionConfig, RpcError> {
        let others: Vec<String> = config.models.iter().map(|model| model.id.to_string()).skip(1).collect();
        let models = Models { settings: &self.settings, reach: self.reach, wish, is_strict };
        let models = models.all(id, others.iter().filter(|other| *other != id));
        let models = models.map_err(|failure| RpcError::params(failure.message))?;
        Ok(SessionConfig { models, ..config.clone() })
    }
}

#[async_trait]
impl Live for LiveSession {
    fn message(&mut self, prompt: Prompt, config: &SessionConfig) -> Result<UserMessage, RpcError> {
        self.attaching.model = config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
        let Prompt { text, files, pictures } = prompt;
        let text = match self.custom(text.trim()) {
            Some(message) => message,
            // A message has words.
            None if text.trim().is_empty() => String::from("(picture)"),
            None => text,
        };
        let refused = |why: &dyn std::fmt::Display| RpcError::params(format!("the message is not sent: {why}"));
        let message = self.attaching.to(&text, &[]).map_err(|why| refused(&why))?.message;
        let message = self.attaching.with_bytes(message, &pictures).map_err(|why| refused(&why))?;
        let mut room = MOST_BYTES_TOGETHER;
        let attached = files.iter().map(|(name, text)| {
            let cut = text.floor_char_boundary(room.min(MOST_BYTES_OF_ONE));
            room -= cut.min(room);
            let part = if cut < text.len() { format!("the first {cut} bytes") } else { String::new() };
            Attachment { name: inline(name).into(), part: part.into(), text: text[..cut].to_owned() }
        });
        Ok(UserMessage { attached: attached.collect(), ..message })
    }

    fn commands(&self) -> Vec<Command> {
        let compact = Command {
            name: String::from("compact"),
            description: String::from("Summarise the conversation to make room"),
            hint: String::from("[WHAT TO KEEP]"),
        };
        let custom = |custom: &Custom| Command {
            name: custom.name.clone(),
            description: custom.description.clone(),
            hint: custom.hint.clone(),
        };
        std::iter::once(compact).chain(self.customs.iter().map(custom)).collect()
    }

    fn modes(&self) -> Vec<PermissionMode> {
        let all = Mode::value_variants().iter().map(|mode| PermissionMode::from(*mode));
        all.filter(|mode| mode.stricter(self.settings.loosest) == *mode).collect()
    }

    fn models(&self, config: &SessionConfig) -> Vec<String> {
        let used = config.models.iter().map(|model| model.id.to_string());
        let user = &self.settings.user;
        let entries = user.providers.get(&self.provider).into_iter();
        let listed = entries.flat_map(|entry| entry.model.iter().chain(&entry.models));
        let is_here = |alias: &&Alias| alias.provider.as_ref().is_none_or(|choice| choice.name() == self.provider);
        let aliases = user.aliases.values().filter(is_here).map(|alias| alias.model.clone());
        let configured = user.models.keys().chain(listed).map(|name| user.meant(name).model);
        let mut models: Vec<String> = used.chain(configured).chain(aliases).collect();
        models.sort();
        models.dedup();
        models
    }

    fn efforts(&self, config: &SessionConfig) -> (Vec<String>, String) {
        let model = config.models.first();
        let known = model.and_then(|model| effort::efforts(&model.id, self.reach)).unwrap_or(&Effort::ALL);
        let now = Wish::of(model.and_then(|model| model.effort)).name().to_owned();
        let known = known.iter().map(|effort| Wish::of(Some(*effort)).name().to_owned());
        let mut all: Vec<String> = std::iter::once(Wish::Default.name().to_owned()).chain(known).collect();
        if !all.contains(&now) {
            all.push(now.clone());
        }
        (all, now)
    }

    fn with_model(&mut self, config: &SessionConfig, model: &str) -> Result<SessionConfig, RpcError> {
        let meant = self.settings.user.meant(model);
        if let Some(elsewhere) = meant.provider.map(|choice| choice.name()).filter(|name| *name != self.provider) {
            let (model, provider) = (inline(model), &self.provider);
            return Err(RpcError::params(format!(
                "`{model}` is a model of the provider {elsewhere}, and this session asks {provider}"
            )));
        }
        let wish = meant.effort.or(self.wish);
        let config = self.configured(config, &meant.model, wish, false)?;
        self.wish = wish;
        Ok(config)
    }

    fn with_effort(&mut self, config: &SessionConfig, effort: &str) -> Result<SessionConfig, RpcError> {
        let wish = Wish::from_str(effort, true);
        let wish = wish.map_err(|_| RpcError::params(format!("there is no effort `{}`", inline(effort))))?;
        let id = config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
        let config = self.configured(config, &id, Some(wish), true)?;
        self.wish = Some(wish);
        Ok(config)
    }

    fn turn_began(&mut self) {
        self.repository.turn_started();
    }

    fn at_rest(&mut self, handle: &Handle) {
        self.repository.turn_ended();
        self.mcp.iter_mut().for_each(|mcp| mcp.offer(handle));
    }

    async fn told(&mut self, handle: &Handle, rests: bool) -> Told {
        loop {
            let change = match told(self.mcp.as_mut()).await {
                Change::Asked(question) => return Told::Asked(elicitation(question)),
                change => change,
            };
            if let Some(text) = self.mcp.as_mut().and_then(|mcp| mcp.take(change, rests, handle)) {
                return Told::Said(text);
            }
        }
    }

    async fn end(&mut self) {
        self.repository.turn_ended();
        if let Some(mcp) = &self.mcp {
            mcp.stop().await;
        }
    }
}

/// The question of a server as the editor puts it. It is withdrawn there when its call ends.
fn elicitation(mut question: Question) -> Elicitation {
    let secrets = match question.seems_to_want_secrets() {
        true => " (it seems to want a password, a key or a token, which servers must not ask for like this)",
        false => "",
    };
    let message = inline(&format!("{}{secrets}", form::told(&question)));
    let wants = match (&question.wants, question.schema()) {
        (agent_mcp::Wants::Visit(address), _) => Wants::Visit(address.clone()),
        (agent_mcp::Wants::Form(_), schema) => Wants::Form(schema.unwrap_or_default()),
    };
    let (answer, answered) = oneshot::channel();
    tokio::spawn(async move {
        let said = tokio::select! {
            biased;
            () = question.withdrawn() => return,
            said = answered => said,
        };
        let reply = match said {
            // What does not fit is not sent.
            Ok(Elicited::Accepted(values)) => question.checked(values).map_or(Reply::Cancel, Reply::Accept),
            Ok(Elicited::Declined) => Reply::Decline,
            Ok(Elicited::Cancelled) | Err(_) => Reply::Cancel,
        };
        question.answer(reply);
    });
    Elicitation { message, wants, answer }
}
