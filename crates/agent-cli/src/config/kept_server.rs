//! A server on this machine that a person wants to keep in the configuration, so that `agent` alone asks it. It is offered once.

use crate::config::file::{UserConfig, read_capped, state_home, user_config_path};
use crate::config::kept_rules::replace;
use crate::config::options::Options;
use crate::model::effort::Reach;
use crate::model::provider::shown_url;
use std::fs::File;
use std::path::PathBuf;
use toml_edit::{DocumentMut, value};

/// A server that can be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) url: String,
    model: Option<String>,
}

impl Server {
    /// The server of these options, where it was named by nothing but its URL, and the configuration names no provider.
    pub(crate) fn of(options: &Options, user: &UserConfig, reach: Reach) -> Option<Self> {
        let url = options.base_url.clone().filter(|url| reach.is_local && shown_url(url) == *url)?;
        let is_configured = user.base_url.is_some() || user.provider.is_some() || !user.providers.is_empty();
        let is_plain = options.provider.is_none() && options.api_key_env.is_none();
        (is_plain && !is_configured).then(|| Self { url, model: options.model.clone() })
    }

    /// Puts it into the user's configuration.
    ///
    /// # Errors
    /// What was attempted and found. The file is then as it was.
    pub(crate) fn keep(&self) -> Result<PathBuf, String> {
        let path = user_config_path().ok_or("there is no home directory; set AGENT_CONFIG_HOME")?;
        let failed = |error: String| format!("cannot save the server in {}: {error}", path.display());
        let text = read_capped(&path).map_err(|error| failed(error.to_string()))?.unwrap_or_default();
        let text = self.added(&text).map_err(failed)?;
        replace(&path, &text).map_err(|error| failed(error.to_string()))?;
        Ok(path)
    }

    fn added(&self, text: &str) -> Result<String, String> {
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        document.insert("base_url", value(&self.url));
        if let Some(model) = self.model.as_ref().filter(|_| !document.contains_key("model")) {
            document.insert("model", value(model));
        }
        Ok(document.to_string())
    }
}

/// Whether the person was not asked before.
pub(crate) fn is_news() -> bool {
    asked_before().is_some_and(|path| !path.exists())
}

/// Notes that the person was asked. Where that fails, the question comes again.
pub(crate) fn note_asked() {
    let _ = asked_before().map(File::create);
}

fn asked_before() -> Option<PathBuf> {
    state_home().map(|home| home.join("server-offered"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_offered_where_only_its_url_was_said() {
        let local = Reach { is_local: true, ..Reach::default() };
        let options = Options {
            base_url: Some("http://127.0.0.1:1/v1".to_owned()),
            model: Some("m".to_owned()),
            ..Options::default()
        };
        let empty = UserConfig::default();
        let server = Server::of(&options, &empty, local).unwrap();
        assert_eq!(Server::of(&options, &empty, Reach::default()), None);
        let named = Options { api_key_env: Some("-".to_owned()), ..options.clone() };
        assert_eq!(Server::of(&named, &empty, local), None);
        let secret = Options { base_url: Some("http://me:secret@127.0.0.1:1/v1".to_owned()), ..options.clone() };
        assert_eq!(Server::of(&secret, &empty, local), None);
        for text in ["base_url = \"x\"", "provider = \"openai\"", "[providers.w]\nprotocol = \"openai\""] {
            let user: UserConfig = toml::from_str(text).unwrap();
            assert_eq!(Server::of(&options, &user, local), None, "{text}");
        }
        let before = "# mine\neffort = \"low\"\n[limits]\nmax_turns = 3\n";
        let after =
            "# mine\neffort = \"low\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n[limits]\nmax_turns = 3\n";
        assert_eq!(server.added(before).as_deref(), Ok(after));
        let kept = server.added("model = \"mine\"\n").unwrap();
        assert_eq!(toml::from_str::<UserConfig>(&kept).unwrap().model.as_deref(), Some("mine"));
        assert!(server.added("model = [").is_err());
    }
}
