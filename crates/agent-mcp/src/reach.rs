//! How a server is reached: as a program that is started, or at a URL.

use agent_core::redact::Redactor;
use base64::Engine as _;
use reqwest::Url;
use std::collections::BTreeMap;

/// How a server is reached. Variables in it (`${NAME}`, `${NAME:-otherwise}`) may not be put in yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started, and speaks over its standard input and output.
    Program(Program),
    /// A server that runs elsewhere, and speaks HTTP.
    Url(Endpoint),
}

/// A program with what it is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program, by path or by name.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, besides what is harmless in the agent's.
    pub env: BTreeMap<String, String>,
    /// Where it runs, if not in the workspace.
    pub cwd: Option<String>,
}

/// A URL with what is sent to it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL. It may have secrets in it: see [`shown`](Self::shown).
    pub url: String,
    /// Headers of every request. Their values are secrets.
    pub headers: BTreeMap<String, String>,
    /// How one logs in there, where the server asks for that.
    pub login: LoginSettings,
}

/// How one logs in at a server, where what the server says of it does not suffice.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LoginSettings {
    /// By what name the authorization server knows this program, if it was registered there.
    pub client_id: Option<String>,
    /// What was given with it. A secret.
    pub client_secret: Option<String>,
    /// Where a document about this program is published, if the authorization server takes its address for a name: `https://…`.
    pub client_metadata_url: Option<String>,
    /// The port on this machine to which the answer comes, if one is registered.
    pub callback_port: Option<u16>,
    /// What is asked for, in place of what the server wants.
    pub scopes: Vec<String>,
}

impl Reach {
    /// The same with the variables put in, each as `value` gives it.
    pub(crate) fn filled(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let put = |text: &String| put_in(text, value);
        let all = |fields: &BTreeMap<String, String>| {
            fields.iter().map(|(name, text)| Ok((name.clone(), put(text)?))).collect::<Result<_, String>>()
        };
        Ok(match self {
            Self::Program(program) => Self::Program(Program {
                command: put(&program.command)?,
                args: program.args.iter().map(put).collect::<Result<_, _>>()?,
                env: all(&program.env)?,
                cwd: program.cwd.as_ref().map(put).transpose()?,
            }),
            Self::Url(endpoint) => {
                let secret = endpoint.login.client_secret.as_ref().map(put).transpose()?;
                let login = LoginSettings { client_secret: secret, ..endpoint.login.clone() };
                let endpoint = Endpoint { url: put(&endpoint.url)?, headers: all(&endpoint.headers)?, login };
                endpoint.check()?;
                Self::Url(endpoint)
            }
        })
    }

    /// What is reached, as one line for a person: without what may be secret.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Program(program) => program.shown(),
            Self::Url(endpoint) => endpoint.headers.iter().fold(endpoint.shown(), |out, header| out + &named(header)),
        }
    }
}

impl Program {
    /// The command with its arguments, and the names of its variables.
    fn shown(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args).map(|word| quoted(word));
        let mut out = words.collect::<Vec<_>>().join(" ");
        self.env.iter().for_each(|variable| out.push_str(&named(variable)));
        if let Some(cwd) = &self.cwd {
            out.push_str(&format!(" (in {cwd})"));
        }
        out
    }
}

impl Endpoint {
    /// The URL for people: without user, password and parameters, because each may be secret.
    #[must_use]
    pub fn shown(&self) -> String {
        let parsed = Url::parse(&self.url).ok().filter(|url| url.has_host() && !has_variables(&self.url));
        let Some(mut url) = parsed else { return shown_as_written(&self.url) };
        // Refused only by URLs that cannot have a user at all.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        let shown = url.as_str();
        (if url.path() == "/" { shown.trim_end_matches('/') } else { shown }).to_owned()
    }

    /// Refuses what cannot be asked as it is written, once its variables are put in; before, what is wrong whatever they are.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.url.split_once("://").is_some_and(|(_, rest)| rest.starts_with(['/', '\\'])) {
            return Err("its `url` has no host behind `://`".to_owned());
        }
        if has_variables(&self.url) {
            return Ok(());
        }
        if self.url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
            return Err("its `url` has a blank, a control character or a backslash in it".to_owned());
        }
        let url = Url::parse(&self.url).map_err(|error| format!("its `url` cannot be read: {error}"))?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        match has_user && self.has_authorization() {
            true => Err("it has a user in its `url` and an `Authorization` header: one alone can be sent".to_owned()),
            false => Ok(()),
        }
    }

    fn has_authorization(&self) -> bool {
        self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
    }

    /// Whether requests say already who asks.
    pub(crate) fn says_who_asks(&self) -> bool {
        let has_user = |url: Url| !url.username().is_empty() || url.password().is_some();
        self.has_authorization() || Url::parse(&self.url).is_ok_and(has_user)
    }

    /// Whether what is sent there is encrypted, or stays on this machine.
    pub(crate) fn is_safe_for_tokens(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| url.scheme() == "https" || is_here(&url))
    }

    /// The text without what of this may be secret, for errors that repeat what was sent.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.replace(&self.url, &self.shown());
        if let Some(query) = Url::parse(&self.url).ok().as_ref().and_then(Url::query).filter(|query| !query.is_empty())
        {
            text = text.replace(&format!("?{query}"), "?…");
        }
        Redactor::new(self.secrets()).redacted(&text)
    }

    /// What may be secret: user and password, alone and as they are sent; values of parameters; headers, and what stands in them behind a
    /// scheme such as `Bearer`.
    fn secrets(&self) -> Vec<String> {
        let words = |value: &String| value.split(' ').map(str::to_owned).chain([value.clone()]).collect::<Vec<_>>();
        let mut secrets: Vec<String> = self.headers.values().flat_map(words).collect();
        secrets.extend(self.login.client_secret.clone());
        let Ok(url) = Url::parse(&self.url) else { return secrets };
        let (user, password) = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
        if !user.is_empty() || !password.is_empty() {
            let both = format!("{user}:{password}");
            secrets.extend([base64::engine::general_purpose::STANDARD.encode(&both), both, user, password]);
        }
        secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
        // A parameter without a name may be a key.
        let bare = url.query().unwrap_or_default().split('&').filter(|part| !part.contains('='));
        secrets.extend(bare.map(decoded));
        secrets
    }
}

/// Whether a URL leads to this machine.
pub(crate) fn is_here(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

fn has_variables(text: &str) -> bool {
    text.contains("${")
}

/// What of a URL that cannot be read, or whose variables are not put in, is no secret wherever its parts end.
fn shown_as_written(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// `%41` is `A`.
fn decoded(text: &str) -> String {
    let text = text.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    let Ok(mut url) = Url::parse("http://x") else { return text };
    url.set_query(Some(&text));
    url.query_pairs().next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.headers.keys().collect();
        f.debug_struct("Endpoint").field("url", &self.shown()).field("headers", &names).finish()
    }
}

/// What stands in the file is shown where it is the name of a variable; what may be a secret is not.
fn named((name, value): (&String, &String)) -> String {
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let is_name = inner.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    format!(" {name}={}", if is_name { value.as_str() } else { "…" })
}

fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@,+${}".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

pub(crate) fn put_in(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, after) = after.split_once('}').ok_or("a `${` in it is not closed")?;
        let (name, otherwise) = inner.split_once(":-").map_or((inner, None), |(name, text)| (name, Some(text)));
        out.push_str(before);
        match (value(name), otherwise) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(otherwise)) => out.push_str(otherwise),
            (None, None) => {
                return Err(format!("the variable `{name}` is not set (`${{{name}:-…}}` says what holds then)"));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, put_in};

    #[test]
    fn variables_are_put_in_or_named() {
        let put = |text| put_in(text, &|name| (name == "A").then(|| "1".to_owned()));
        assert_eq!(put("x${A}y${B:-2}${A:-3}").unwrap(), "x1y21");
        assert_eq!(put("a $A b").unwrap(), "a $A b");
        assert!(put("${B}").unwrap_err().contains("`B` is not set"));
        assert!(put("${A").unwrap_err().contains("not closed"));
    }

    fn endpoint(url: &str, headers: &[(&str, &str)]) -> Endpoint {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Endpoint { url: url.into(), headers, ..Endpoint::default() }
    }

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("https://user:pass@example.com/mcp?key=1#x", "https://example.com/mcp"),
            ("https://example.com", "https://example.com"),
            ("http://a@b@[::1]:81/x@y", "http://[::1]:81/x@y"),
            ("http:///user:pass@example.com/a", "http://example.com/a"),
            ("http:\\\\user:pass@example.com/a", "http://example.com/a"),
            ("${URL}?a", "${URL}"),
            ("https:///user:pass@${HOST}/a", "https://${HOST}/a"),
            ("${SCHEME}///user:pass@x", "x"),
        ] {
            let endpoint = endpoint(url, &[("Authorization", "Bearer secret-token")]);
            assert_eq!(endpoint.shown(), shown);
            assert_eq!(endpoint.hide(&format!("at {url}: secret-token")), format!("at {shown}: [redacted]"));
            assert!(!format!("{endpoint:?}").contains("secret-token"));
        }
    }

    /// Whatever of the request a server repeats, and in whatever spelling.
    #[test]
    fn what_was_sent_is_hidden_in_what_comes_back() {
        let url = "https://some-user:pass%21word@example.com/mcp?key=param%2Fsecret&bare-secret&k=v";
        let endpoint = endpoint(url, &[("X-Key", "header-secret"), ("X-Other", "Token other-secret")]);
        for secret in [
            "some-user",
            "pass!word",
            "pass%21word",
            "param/secret",
            "param%2Fsecret",
            "bare-secret",
            "header-secret",
            "other-secret",
            "c29tZS11c2VyOnBhc3Mhd29yZA==",
            "/mcp?key=param%2Fsecret&bare-secret&k=v",
        ] {
            let hidden = endpoint.hide(&format!("you sent {secret}, which is bad"));
            assert!(!hidden.contains(secret) && hidden.ends_with("which is bad"), "{secret}: {hidden}");
        }
        assert_eq!(endpoint.hide("HTTP 401 of example.com/mcp"), "HTTP 401 of example.com/mcp");
    }

    #[test]
    fn what_cannot_be_asked_as_it_is_written_is_refused() {
        let (none, token): (&[_], &[_]) = (&[], &[("authorization", "Bearer x")]);
        for (url, headers, said) in [
            ("http:///user:pw@host/", none, "no host"),
            ("http:///user:pw@${HOST}/", none, "no host"),
            ("http://ho\tst/", none, "control character"),
            ("http://a\\b/", none, "backslash"),
            ("http://", none, "cannot be read"),
            ("http://user:pw@host/", token, "one alone"),
            ("http://user@host/", token, "one alone"),
        ] {
            let found = endpoint(url, headers).check().unwrap_err();
            assert!(found.contains(said) && !found.contains("pw"), "{url}: {found}");
        }
        for (url, headers) in [("http://user:pw@host/", none), ("http://host/?k=v", token), ("${URL}", token)] {
            endpoint(url, headers).check().unwrap();
        }
    }
}
