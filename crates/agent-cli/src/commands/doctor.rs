//! `agent doctor`: what is there, what is missing, and what that means.

use crate::commands::args::Doctor;
use crate::commands::sessions::gc_outlook;
use crate::config::file::{self, UserConfig, state_home};
use crate::config::options::{Options, ProviderName, Seat};
use crate::config::project::working_directory;
use crate::config::repository::RepositoryConfig;
use crate::config::rule_patterns;
use crate::config::settings::{self, Settings, users_config};
use crate::failure::Failure;
use crate::hooks::formatters;
use crate::hooks::places;
use crate::hooks::trust;
use crate::mcp::files;
use crate::model::endpoint::{Endpoint, base_url_variable};
use crate::model::keys::{self, key_variable, variable};
use crate::model::provider::{self, connect, is_on_this_machine, shown_url};
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, one_line, print, shown_path};
use crate::session::apart;
use crate::walls::own_programs::{self, Answer};
use crate::walls::sandbox;
use crate::walls::search_path;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::permission::{Permissions, Rule, RuleSource};
use agent_exec::SearchPath;
use agent_llm::Timeouts;
use agent_mcp::Source;
use std::path::Path;
use std::time::{Duration, Instant};

/// Prints a line a check; exit code 0 when nothing that every run needs is missing.
pub(crate) async fn run(options: &Doctor) -> Result<u8, Failure> {
    let directory = working_directory(options.server.directory.as_deref());
    let place = directory.as_deref().unwrap_or(Path::new("/"));
    let programs = search_path::of(place, &users_config().unwrap_or_default());
    let mut report = Report { lines: Vec::new(), is_bad: false, programs };
    report.program("git", true, "without it the agent neither sees nor makes commits");
    report.program("bash", true, "the bash tool needs it");
    report.program("rustc", false, "the demo alone needs it");
    report.program("rustfmt", false, "only the demo, and formatters that are configured to use it, need it");
    report.keys();
    if let Err(failure) = file::check_places() {
        report.bad(&failure.message);
    }
    report.configuration();
    report.left_out();
    match directory {
        Ok(directory) => {
            report.directory(&directory);
            report.servers(&directory);
            report.sandbox(&directory);
        }
        Err(failure) => report.bad(&failure.message),
    }
    report.state();
    report.leftovers();
    match options.online || options.server.base_url.is_some() {
        true => report.server(&options.server.options()).await,
        false => report.note("key and server were not tried: `agent doctor --online` asks the provider for its models"),
    }
    let text = format!("{}\n", report.lines.join("\n"));
    print(&text).map_err(|error| Failure::internal(format!("cannot write the report: {error}")))?;
    Ok(u8::from(report.is_bad))
}

/// The list of models of a provider; what went wrong before it was asked stands outside.
async fn listed(settings: &Settings, endpoint: &Endpoint<'_>) -> Result<Listed, Failure> {
    let timeouts = Timeouts { connect: PATIENCE, first_byte: PATIENCE, idle: PATIENCE, total: PATIENCE };
    let connected = connect(settings, endpoint, timeouts).await?;
    // A program that writes the key may take longer than the server.
    let begin = Instant::now();
    let models = connected.client.list_models().await;
    Ok(Listed { models, took_ms: begin.elapsed().as_millis(), has_key: connected.has_key })
}

/// What a provider answered.
struct Listed {
    models: Result<Vec<String>, LlmError>,
    took_ms: u128,
    has_key: bool,
}

/// For a server's answer.
const PATIENCE: Duration = Duration::from_secs(5);

struct Report {
    lines: Vec<String>,
    is_bad: bool,
    programs: SearchPath,
}

impl Report {
    fn good(&mut self, line: &str) {
        self.lines.push(format!("ok    {}", inline(line)));
    }

    fn note(&mut self, line: &str) {
        self.lines.push(format!("note  {}", inline(line)));
    }

    fn bad(&mut self, line: &str) {
        self.is_bad = true;
        let said = line.lines().map(str::trim).filter(|row| !row.is_empty() && !row.chars().all(|c| "|^ ".contains(c)));
        let said = format!("NOT   {}", inline(&said.collect::<Vec<_>>().join("; ")));
        // Several checks may fail for one reason.
        if !self.lines.contains(&said) {
            self.lines.push(said);
        }
    }

    fn program(&mut self, name: &str, is_needed: bool, why: &str) {
        if self.programs.find(name).is_err() {
            return self.missing(is_needed, &format!("{name} was not found: {why}"));
        }
        // In the root directory, which names no version to run: a shim of rustup, asdf or mise runs what the directory says.
        match own_programs::ask(&self.programs, name, &["--version"], Path::new("/")) {
            Ok(Answer::Said(said)) => {
                let version = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
                self.good(&format!("{name}: {version}"));
            }
            Ok(Answer::Refused(said)) => {
                let said = one_line(&String::from_utf8_lossy(&said), 200);
                self.missing(is_needed, &format!("{name} does not work ({said}): {why}"));
            }
            Err(error) => self.missing(is_needed, &format!("{name} does not work ({}): {why}", one_line(&error, 200))),
        }
    }

    /// What of `PATH` lies where the repository or commands could put programs.
    fn left_out(&mut self) {
        for path in self.programs.left_out().to_vec() {
            let path = shown_path(&path);
            self.note(&format!(
                "`{path}` is in PATH, but commands can write to it: the agent starts none of its own programs from there"
            ));
        }
    }

    fn missing(&mut self, is_needed: bool, line: &str) {
        if is_needed { self.bad(line) } else { self.note(line) }
    }

    fn keys(&mut self) {
        let mut any = false;
        for name in [ProviderName::Anthropic, ProviderName::OpenAi] {
            if variable(key_variable(name)).is_some() {
                any = true;
                self.good(&format!("{} is set", key_variable(name)));
            }
            if let Some(url) = variable(base_url_variable(name)) {
                let is_near = is_on_this_machine(&url);
                any |= is_near;
                let needs = if is_near { ", on this machine, so it needs no key" } else { "" };
                self.note(&format!("{} is {}{needs}", base_url_variable(name), shown_url(&url)));
            }
        }
        for name in [ProviderName::Anthropic, ProviderName::OpenAi] {
            let url = variable(base_url_variable(name)).unwrap_or_default();
            if let Some(proxy) = provider::proxy(name, &url) {
                self.note(&format!(
                    "requests to {} go through the proxy {proxy}, which is set in the environment",
                    keys::own_host(name)
                ));
            }
        }
        for (name, entry) in users_config().unwrap_or_default().providers {
            any = true;
            let url = entry.base_url.as_deref().map_or("its protocol's own address".to_owned(), shown_url);
            self.note(&format!("the provider {name} of the configuration speaks {} at {url}", entry.protocol.name()));
        }
        if !any {
            self.note("no key is set: use a local server with `--base-url`, or try `agent demo`");
        }
    }

    /// Asks the provider of a run for its models.
    async fn server(&mut self, options: &Options) {
        let settings = match apart::settings(options, Seat::Looking).await {
            Ok(settings) => settings,
            Err(failure) => return self.bad(&failure.message),
        };
        let endpoint = match Endpoint::of(&settings) {
            Ok(endpoint) => endpoint,
            Err(failure) => return self.bad(&failure.message),
        };
        let Listed { models, took_ms, has_key } = match listed(&settings, &endpoint).await {
            Ok(listed) => listed,
            Err(failure) => return self.bad(&failure.message),
        };
        let name = &endpoint.name;
        match models {
            Ok(ids) => {
                let (key, offered) =
                    (if has_key { "took the key" } else { "wants no key" }, counted(ids.len() as u64, "model"));
                self.good(&format!("{name} answered in {took_ms} ms, {key}, and offers {offered}"));
                self.model(&settings, &endpoint, &ids);
            }
            // It was reached, and let the request in.
            Err(error) if error.kind == LlmErrorKind::NotFound => {
                self.note(&format!(
                    "{name} answered in {took_ms} ms, but has no list of models: key and model were not tried"
                ));
            }
            Err(error) => self.bad(&format!("{name}: {error}")),
        }
    }

    fn model(&mut self, settings: &Settings, endpoint: &Endpoint<'_>, ids: &[String]) {
        let Some(model) = endpoint.model(settings).map(|meant| meant.model) else {
            match ids {
                [only] => self.good(&format!("without `-m` the model {only} is asked")),
                _ => self.note(
                    "no model is named: use `-m`, or set `model` in the configuration; `agent models` lists them",
                ),
            }
            return;
        };
        // Some lists have the models only with their dates.
        let is_dated = |id: &String| id.strip_prefix(&*model).is_some_and(|end| end.starts_with("-2"));
        if ids.contains(&model) || ids.iter().any(is_dated) {
            self.good(&format!("the model {model} is offered"));
        } else {
            self.bad(&format!("the model {model} is not among those that are offered: `agent models` lists them"));
        }
    }

    fn configuration(&mut self) {
        let Some(path) = file::user_config_path() else {
            self.note("there is no home directory: no configuration is read");
            return;
        };
        match users_config() {
            Ok(user) if path.exists() => {
                self.good(&format!("configuration {}", shown_path(&path)));
                self.entries(&user);
            }
            Ok(_) => self.note(&format!("no configuration at {}", shown_path(&path))),
            Err(failure) => self.bad(&failure.message),
        }
    }

    /// What of the user's configuration can be read and cannot be used.
    fn entries(&mut self, user: &UserConfig) {
        for failure in [
            settings::limits_of_user(user).map(drop),
            formatters::of_user(user).map(drop),
            places::check_of_user(user),
            provider::check_entries(user),
        ] {
            failure.unwrap_or_else(|failure| self.bad(&failure.message));
        }
    }

    /// Rules that cover nothing, from any source.
    fn rules(&mut self, directory: &Path, repository: &RepositoryConfig) {
        let (Ok(user), Ok(tool_names)) = (users_config(), rule_patterns::tool_names(directory)) else { return };
        let said = |rules: &[Rule], source| rules.iter().cloned().map(|rule| rule.said_by(source)).collect::<Vec<_>>();
        let deny = [said(&user.deny, RuleSource::User), said(&repository.deny, RuleSource::Repository)].concat();
        let permissions =
            Permissions { deny, allow: said(&user.allowed_in(directory), RuleSource::User), ..Permissions::default() };
        for fault in rule_patterns::faults(&permissions, &user, &tool_names) {
            self.bad(&fault);
        }
    }

    fn directory(&mut self, directory: &Path) {
        self.good(&format!("works in {}", shown_path(directory)));
        let config = RepositoryConfig::find(directory);
        for path in &config.paths {
            self.good(&format!("repository configuration {} (may only tighten)", shown_path(path)));
        }
        config.broken.iter().chain(&config.refused).for_each(|wrong| self.bad(wrong));
        self.rules(directory, &config);
        match trust::of(directory, &config) {
            Ok(trust) if trust.is_given => {
                self.note("the workspace is trusted: its repository's hooks and formatters may run");
            }
            Ok(trust) => trust.told.iter().for_each(|told| self.note(&format!("ignored: {told}"))),
            Err(failure) => self.bad(&failure.message),
        }
        if !directory.ancestors().any(|folder| folder.join(".git").exists()) {
            self.note("the directory is not in a git repository, so nothing is committed");
        }
    }

    /// The servers that are configured; `agent mcp list` starts them.
    fn servers(&mut self, directory: &Path) {
        let found = match files::of_user() {
            Ok(found) => found.and(files::of_repository(directory)),
            Err(failure) => return self.bad(&failure.message),
        };
        for server in &found.servers {
            let of = if server.source == Source::Repository { " of the repository" } else { "" };
            let word = if server.is_enabled { "" } else { ", disabled" };
            self.note(&format!(
                "the MCP server {}{of}{word}: {} (`agent mcp list` tries it)",
                server.name,
                server.shown()
            ));
        }
        found.faults.iter().for_each(|fault| self.bad(fault));
    }

    fn sandbox(&mut self, directory: &Path) {
        match sandbox::strongest(directory, Vec::new(), &self.programs) {
            Ok(found) if found.weaknesses().is_empty() => self.good(&format!("sandbox: {found}")),
            Ok(found) => self.note(&format!("sandbox: {found}")),
            Err(why) => self.note(&format!(
                "sandbox: {why}; `agent run` fails without `--sandbox off`, and at the prompt commands run as you"
            )),
        }
    }

    /// Removes what killed agents have left.
    fn leftovers(&mut self) {
        let Some(home) = state_home() else { return };
        let cleared = agent_exec::leftovers::clear(&home.join(crate::LEFTOVERS));
        for path in &cleared.removed {
            self.note(&format!("removed {}, left by an agent that was killed", shown_path(path)));
        }
        for (path, why) in &cleared.left {
            self.note(&format!("{} may be left from an agent that was killed: {why}", shown_path(path)));
        }
    }

    fn state(&mut self) {
        let Some(home) = state_home() else {
            self.bad("there is no directory for sessions: set AGENT_STATE_HOME");
            return;
        };
        match file::make_state_home().and_then(|()| tempfile::NamedTempFile::new_in(&home)) {
            Ok(_) => {
                self.good(&format!("sessions are kept in {}", shown_path(&home)));
                match gc_outlook() {
                    Ok(line) => self.good(&line),
                    Err(failure) => self.bad(&failure.message),
                }
            }
            Err(error) => self.bad(&format!("sessions cannot be kept in {}: {error}", shown_path(&home))),
        }
    }
}
