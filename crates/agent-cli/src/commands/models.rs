//! `agent models`: what is configured, and what the servers offer.

use crate::commands::args::Models as Arguments;
use crate::config::options::Seat;
use crate::config::providers::{BUILT_IN, ProviderChoice};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::asked::Models;
use crate::model::endpoint::{Endpoint, base_url_variable};
use crate::model::keys::{key_variable, variable};
use crate::model::provider::{connect, reach, shown_url};
use crate::screen::terminal::{inline, print, print_json};
use crate::session::apart;
use agent_llm::Timeouts;
use futures_util::future::join_all;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Duration;

/// A provider and its models.
#[derive(Debug, Serialize)]
struct Listed {
    provider: String,
    protocol: &'static str,
    /// Null for the protocol's own address.
    base_url: Option<String>,
    /// Whether a run with these options would ask it.
    is_chosen: bool,
    /// Why the server's own list is missing.
    error: Option<String>,
    models: Vec<Model>,
}

/// A model, and what is known about it.
#[derive(Debug, Serialize)]
struct Model {
    id: String,
    aliases: Vec<String>,
    is_configured: bool,
    /// Null where the server's list is missing.
    is_offered: Option<bool>,
    /// Whether a run with these options would ask for it.
    is_chosen: bool,
    max_output_tokens: Option<u32>,
    context_window_tokens: Option<u64>,
    effort: Option<&'static str>,
}

/// Lists the models; it fails where no provider has any.
pub(crate) async fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let options = arguments.server.options();
    let settings = apart::settings(&options, Seat::Looking).await?;
    let chosen = Endpoint::of(&settings);
    let is_named = options.provider.is_some() || options.base_url.is_some();
    let mut endpoints = Vec::new();
    match chosen {
        Ok(endpoint) => endpoints.push((endpoint, true)),
        Err(failure) if is_named => return Err(failure),
        // Which one a run would ask is not clear, but each has its models.
        Err(_) => {}
    }
    for choice in others(&settings).into_iter().filter(|_| !is_named) {
        if endpoints.iter().all(|(endpoint, _)| endpoint.name != choice.name()) {
            endpoints.push((Endpoint::of_choice(&settings, &choice, "")?, false));
        }
    }
    if endpoints.is_empty() {
        return Endpoint::of(&settings).map(|_| 0);
    }
    let asked = endpoints.iter().map(|(endpoint, is_chosen)| listed(&settings, endpoint, *is_chosen));
    let listed = join_all(asked).await;
    let (lists, failures): (Vec<Listed>, Vec<Option<Failure>>) = listed.into_iter().unzip();
    let written = if arguments.json {
        let text = serde_json::to_string(&serde_json::json!({ "providers": lists })).map_err(Failure::internal)?;
        print_json(&format!("{text}\n"))
    } else {
        print(&told(&lists))
    };
    written.map_err(|error| Failure::internal(format!("cannot write the models: {error}")))?;
    let is_empty = lists.iter().all(|list| list.models.is_empty());
    match failures.into_iter().flatten().next().filter(|_| is_empty) {
        Some(failure) => Err(failure),
        None => Ok(0),
    }
}

/// All providers that could be asked: those of the configuration, and those that are built in and have a key or a server.
fn others(settings: &Settings) -> Vec<ProviderChoice> {
    let own = settings.user.providers.keys().cloned().map(ProviderChoice::Named);
    let is_set = |name: &str| variable(name).is_some();
    let mut built_in = BUILT_IN.to_vec();
    // Both formats of OpenAI have the same list.
    built_in.retain(|name| name.name() != "openai-responses");
    built_in.retain(|name| is_set(key_variable(*name)) || is_set(base_url_variable(*name)));
    own.chain(built_in.into_iter().map(ProviderChoice::BuiltIn)).collect()
}

/// What a provider has by the configuration and by its own word. Why its word is missing is no reason to leave out the rest.
async fn listed(settings: &Settings, endpoint: &Endpoint<'_>, is_chosen: bool) -> (Listed, Option<Failure>) {
    let offered = offered(settings, endpoint).await;
    let (offered, failure) = match offered {
        Ok(ids) => (Some(ids), None),
        Err(failure) => (None, Some(failure)),
    };
    let first = endpoint.model(settings).filter(|_| is_chosen).map(|meant| meant.model);
    let models = models(settings, endpoint, first.as_deref(), offered.as_deref());
    let listed = Listed {
        provider: endpoint.name.clone(),
        protocol: endpoint.protocol.name(),
        base_url: Some(shown_url(&endpoint.base_url)).filter(|url| !url.is_empty()),
        is_chosen,
        error: failure.as_ref().map(|failure| failure.message.clone()),
        models,
    };
    (listed, failure)
}

/// The models that the server of these settings offers.
pub(crate) async fn offered_here(settings: &Settings) -> Result<Vec<String>, Failure> {
    offered(settings, &Endpoint::of(settings)?).await
}

async fn offered(settings: &Settings, endpoint: &Endpoint<'_>) -> Result<Vec<String>, Failure> {
    let timeouts = Timeouts { connect: PATIENCE, first_byte: PATIENCE, idle: PATIENCE, total: PATIENCE };
    let connected = connect(settings, endpoint, timeouts).await?;
    connected.client.list_models().await.map_err(|error| Failure::of_llm(&error))
}

/// Those of the configuration first, each once.
fn models(settings: &Settings, endpoint: &Endpoint<'_>, first: Option<&str>, offered: Option<&[String]>) -> Vec<Model> {
    let user = &settings.user;
    let named: Vec<String> =
        endpoint.entry.into_iter().flat_map(|entry| entry.model.iter().chain(&entry.models)).cloned().collect();
    let is_here = |choice: &ProviderChoice| choice.name() == endpoint.name;
    let by_alias = user.aliases.values().filter(|alias| alias.provider.as_ref().is_some_and(is_here));
    let by_alias = by_alias.map(|alias| alias.model.clone());
    let configured =
        first.map(str::to_owned).into_iter().chain(named.iter().map(|name| user.meant(name).model)).chain(by_alias);
    let mut ids: Vec<(String, bool)> = Vec::new();
    let all = configured.map(|id| (id, true)).chain(offered.into_iter().flatten().map(|id| (id.clone(), false)));
    for (id, is_configured) in all {
        if ids.iter().all(|(known, _)| *known != id) {
            ids.push((id, is_configured));
        }
    }
    let reach = reach(endpoint).unwrap_or_default();
    let of = |(id, is_configured): (String, bool)| {
        // Without what was said of the effort of the one that is chosen: it may not be for others.
        let asked = Models { settings, reach, wish: None, is_strict: false }.all(&id, [].iter()).ok();
        let asked = asked.and_then(|models| models.into_iter().next());
        let is_alias = |provider: &Option<ProviderChoice>| provider.as_ref().is_none_or(is_here);
        let aliases = user.aliases.iter().filter(|(_, alias)| alias.model == id && is_alias(&alias.provider));
        Model {
            aliases: aliases.map(|(name, _)| name.clone()).collect(),
            is_configured,
            is_offered: offered.map(|offered| offered.contains(&id)),
            is_chosen: first == Some(&id),
            max_output_tokens: asked.as_ref().map(|model| model.max_output_tokens),
            context_window_tokens: asked.as_ref().and_then(|model| model.context_window_tokens),
            effort: asked.and_then(|model| model.effort).map(|effort| effort.name()),
            id,
        }
    };
    ids.into_iter().map(of).collect()
}

/// For people: a line for a provider, and one for each of its models.
fn told(lists: &[Listed]) -> String {
    let mut out = String::new();
    for list in lists {
        let at = list.base_url.as_deref().map(|url| format!(" at {}", inline(url))).unwrap_or_default();
        let chosen = if list.is_chosen && lists.len() > 1 { ", asked without `--provider`" } else { "" };
        let protocol = if list.provider == list.protocol { String::new() } else { format!(" ({})", list.protocol) };
        let _ = writeln!(out, "{}{protocol}{at}{chosen}", inline(&list.provider));
        for model in &list.models {
            let _ = writeln!(out, "  {}", row(model));
        }
        if let Some(error) = &list.error {
            let _ = writeln!(out, "  not listed by the server: {}", inline(error));
        }
    }
    out
}

fn row(model: &Model) -> String {
    let mut notes = Vec::new();
    notes.extend(model.is_chosen.then(|| "asked without `-m`".to_owned()));
    notes.extend((!model.aliases.is_empty()).then(|| format!("alias {}", model.aliases.join(", "))));
    notes.extend(
        (model.is_configured && model.is_offered == Some(false)).then(|| "NOT offered by the server".to_owned()),
    );
    notes.extend(model.effort.map(|effort| format!("effort {effort}")));
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    format!("{}{}", inline(&model.id), inline(&notes))
}

/// For a server's list.
const PATIENCE: Duration = Duration::from_secs(5);
