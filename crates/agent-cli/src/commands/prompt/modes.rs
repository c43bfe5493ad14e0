//! Model, permission mode and commitments of the session that goes on: the person changes them, and the session says what holds.

use super::Screen;
use super::back::Looked;
use crate::commands::models::offered_here;
use crate::config::options::Mode;
use crate::config::providers::Alias;
use crate::failure::Failure;
use crate::model::asked::Models;
use crate::model::effort::{self, Wish};
use crate::screen::choose::Chooser;
use crate::screen::terminal::inline;
use agent_core::lifecycle::{Commitment, LifecycleConfig};
use agent_core::llm::Effort;
use agent_core::permission::{PermissionMode, Permissions, Rule};
use agent_core::session::SessionConfig;
use clap::ValueEnum as _;
use std::sync::Arc;

impl Screen {
    /// The session says what holds from now on.
    pub(super) fn configured(&mut self, config: &SessionConfig) {
        let before = self.config.replace(Box::new(config.clone()));
        let (Some(model), mode) = (config.models.first(), config.permissions.mode) else { return };
        self.attaching.model = model.id.to_string();
        self.desk.iter_mut().for_each(|desk| desk.status.configured(model, mode));
        let Some(before) = before else { return };
        let old = before.models.first();
        if old.is_some_and(|old| old.id != model.id) {
            self.view.tell(&format!("model: {}", inline(&model.id)));
        }
        if old.is_some_and(|old| old.effort != model.effort) {
            self.view.tell(&format!("effort: {}", Wish::of(model.effort).name()));
        }
        if before.permissions.mode != mode {
            self.view.tell(&format!("permission mode: {mode}"));
        }
    }

    /// The first model of the session.
    pub(super) fn model(&self) -> Option<String> {
        self.config.as_ref()?.models.first().map(|model| model.id.to_string())
    }

    pub(super) fn mode(&self) -> Option<PermissionMode> {
        self.config.as_ref().map(|config| config.permissions.mode)
    }

    /// Shift-Tab: the next permission mode; `bypass` is not among them.
    pub(super) fn next_mode(&mut self) {
        let Some(mode) = self.mode().filter(|_| !self.is_asked()) else { return };
        let is_allowed = |mode: &PermissionMode| mode.stricter(self.settings.loosest) == *mode;
        let all = [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan];
        let at = all.iter().position(|other| *other == mode).map_or(0, |at| at + 1);
        let mut next = all.iter().cycle().skip(at).take(all.len()).filter(|mode| is_allowed(mode));
        if let Some(next) = next.next().copied() {
            self.set_mode(next);
        }
    }

    fn set_mode(&mut self, mode: PermissionMode) {
        let loosest = self.settings.loosest;
        if mode.stricter(loosest) != mode {
            return self
                .view
                .tell(&format!("the repository's configuration allows no looser permission mode than {loosest}"));
        }
        if let Some(config) = &self.config {
            let permissions = Permissions { mode, ..config.permissions.clone() };
            self.handle.reconfigure(SessionConfig { permissions, ..(**config).clone() });
        }
    }

    /// Another model; what was said of the effort holds as far as it knows it.
    fn set_model(&mut self, name: &str) {
        let meant = self.settings.user.meant(name);
        let elsewhere = meant.provider.map(|choice| choice.name()).filter(|name| *name != self.provider);
        if let Some(provider) = elsewhere {
            let told =
                format!("`{name}` is a model of the provider {provider}, and this session asks {}", self.provider);
            return self.view.tell(&inline(&told));
        }
        if self.set_models(&meant.model, meant.effort.or(self.wish), false) {
            self.wish = meant.effort.or(self.wish);
        }
    }

    /// Another effort of this model; one that it does not know is refused.
    fn set_effort(&mut self, wish: Wish) {
        let Some(id) = self.model() else { return };
        if self.set_models(&id, Some(wish), true) {
            self.wish = Some(wish);
        }
    }

    /// Returns whether that can be.
    fn set_models(&mut self, id: &str, wish: Option<Wish>, is_strict: bool) -> bool {
        let Some(config) = &self.config else { return false };
        let others: Vec<String> = config.models.iter().map(|model| model.id.to_string()).skip(1).collect();
        let models = Models { settings: &self.settings, reach: self.reach, wish, is_strict };
        match models.all(id, others.iter().filter(|other| *other != id)) {
            Ok(models) => self.handle.reconfigure(SessionConfig { models, ..(**config).clone() }),
            Err(failure) => {
                self.view.error(&failure.to_string());
                return false;
            }
        }
        true
    }
}

pub(super) fn change_effort(screen: &mut Screen, argument: &str) -> bool {
    let Some(model) = screen.model() else { return false };
    let known = effort::efforts(&model, screen.reach);
    if !argument.is_empty() {
        match Wish::from_str(argument, true) {
            Ok(wish) => screen.set_effort(wish),
            Err(_) => {
                let known = effort::names(known.unwrap_or(&Effort::ALL));
                screen.view.tell(&format!("the efforts are {known}, and default"));
            }
        }
        return false;
    }
    let now = screen.config.as_ref().and_then(|config| config.models.first()).and_then(|model| model.effort);
    let now = Wish::of(now);
    let known = known.unwrap_or(&Effort::ALL).iter().map(|effort| Wish::of(Some(*effort)));
    let wishes: Vec<Wish> = std::iter::once(Wish::Default).chain(known).collect();
    let at = wishes.iter().position(|wish| *wish == now).unwrap_or(0);
    let chooser = Chooser::new("Effort (default: the server decides)", wishes.iter().map(|wish| wish.name()), at);
    let is_open = screen.choose(chooser, move |screen, at| {
        wishes.get(at).into_iter().for_each(|wish| screen.set_effort(*wish));
        false
    });
    if !is_open {
        screen.view.tell(&format!("effort: {}; `/effort LEVEL` changes it", now.name()));
    }
    false
}

pub(super) fn change_mode(screen: &mut Screen, argument: &str) -> bool {
    if !argument.is_empty() {
        match Mode::from_str(argument, true) {
            Ok(mode) => screen.set_mode(mode.into()),
            Err(_) => screen.view.tell("the permission modes are default, accept-edits, plan and bypass"),
        }
        return false;
    }
    let Some(now) = screen.mode() else { return false };
    let modes = Mode::value_variants().iter().map(|mode| PermissionMode::from(*mode)).collect::<Vec<_>>();
    let at = modes.iter().position(|mode| *mode == now).unwrap_or(0);
    let chooser = Chooser::new("Permission mode", modes.iter().map(ToString::to_string), at);
    let is_open = screen.choose(chooser, move |screen, at| {
        modes.get(at).into_iter().for_each(|mode| screen.set_mode(*mode));
        false
    });
    if !is_open {
        screen.view.tell(&format!("permission mode: {now}; `/mode plan` changes it"));
    }
    false
}

pub(super) fn change_model(screen: &mut Screen, argument: &str) -> bool {
    if !argument.is_empty() {
        screen.set_model(argument);
        return false;
    }
    let Some(now) = screen.model() else { return false };
    let config = screen.config.iter().flat_map(|config| &config.models).map(|model| model.id.to_string());
    let user = &screen.settings.user;
    let listed =
        user.providers.get(&screen.provider).into_iter().flat_map(|entry| entry.model.iter().chain(&entry.models));
    let is_here = |alias: &&Alias| alias.provider.as_ref().is_none_or(|choice| choice.name() == screen.provider);
    let aliases = user.aliases.values().filter(is_here).map(|alias| alias.model.clone());
    let configured = user.models.keys().chain(listed).map(|name| user.meant(name).model);
    let mut models: Vec<String> = config.chain(configured).chain(aliases).collect();
    if screen.desk.is_none() {
        screen.view.tell(&format!("model: {}; `/model ID` changes it", inline(&now)));
        return false;
    }
    let settings = Arc::clone(&screen.settings);
    screen.look(tokio::spawn(async move {
        let offered = offered_here(&settings).await;
        models.extend(offered.iter().flatten().cloned());
        models.sort();
        models.dedup();
        Looked::Models(models, offered.err())
    }));
    false
}

impl Screen {
    /// Those of the configuration and those that the server offers are known.
    pub(super) fn choose_model(&mut self, models: Vec<String>, failure: Option<&Failure>) {
        if let Some(failure) = failure {
            self.view.tell(&inline(&format!("the server's own list is missing: {failure}")));
        }
        let now = self.model();
        let at = models.iter().position(|model| now.as_ref() == Some(model)).unwrap_or(0);
        let chooser = Chooser::new("Model (another: /model ID)", &models, at);
        let choose = move |screen: &mut Self, at: usize| {
            models.get(at).into_iter().for_each(|model| screen.set_model(model));
            false
        };
        // The server took its time: keys may be meant for a message by now.
        if self.desk.as_ref().is_some_and(|desk| desk.editor.is_blank()) {
            self.choose(chooser, choose);
        } else {
            self.choose_later(chooser, choose);
        }
    }
}

pub(super) fn permissions(screen: &mut Screen, _: &str) -> bool {
    let Some(Permissions { mode, allow, deny, .. }) = screen.config.as_ref().map(|config| config.permissions.clone())
    else {
        return false;
    };
    screen.view.tell(&format!("permission mode: {mode}"));
    match &screen.settings.sandbox {
        Some(sandbox) => screen.view.tell(&inline(&format!("sandbox: {sandbox}"))),
        None => screen.view.tell("no sandbox: commands run as you"),
    }
    let mut told = |word: &str, rules: &[Rule]| {
        for rule in rules {
            screen.view.tell(&format!("{word}  {} (a rule{})", inline(&rule.to_string()), rule.source().phrase()));
        }
    };
    told("allowed", &allow);
    told("denied ", &deny);
    if allow.is_empty() && deny.is_empty() {
        screen.view.tell("there are no rules");
    }
    false
}

pub(super) fn verify(screen: &mut Screen, argument: &str) -> bool {
    if argument == "off" {
        screen.commitments.clear();
        screen.handle.bind(LifecycleConfig { is_renewed: true, ..LifecycleConfig::headless(Vec::new()) });
    } else if !argument.is_empty() {
        screen.commitments.push(Commitment::of_command(argument, PATIENCE_MS));
        let all = screen.commitments.clone();
        screen.handle.bind(LifecycleConfig { is_renewed: true, ..LifecycleConfig::headless(all) });
    }
    for commitment in &screen.commitments {
        screen.view.tell(&format!("after each message: {}", inline(&commitment.assertion.command)));
    }
    if screen.commitments.is_empty() {
        screen.view.tell("nothing is checked after a message: `/verify CMD` has a command checked");
    }
    false
}

/// Of a check, as with `--verify`.
const PATIENCE_MS: u64 = 10 * 60 * 1_000;
