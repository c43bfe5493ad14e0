//! How a server is reached: as a program that is started, or at a URL.

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
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL. It may have secrets in it: see [`shown`](Self::shown).
    pub url: String,
    /// Headers of every request. Their values are secrets.
    pub headers: BTreeMap<String, String>,
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
            Self::Url(endpoint) => Self::Url(Endpoint { url: put(&endpoint.url)?, headers: all(&endpoint.headers)? }),
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
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        match path {
            Some(path) => format!("{scheme}://{host}/{path}"),
            None => format!("{scheme}://{host}"),
        }
    }

    /// The text without what of this may be secret, for errors that repeat what was sent.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.replace(&self.url, &self.shown());
        let values = self.headers.values().flat_map(|value| std::iter::once(value.as_str()).chain(value.split(' ')));
        for secret in values.filter(|value| value.len() >= SHORTEST_SECRET_BYTES) {
            text = text.replace(secret, "…");
        }
        text
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.headers.keys().collect();
        f.debug_struct("Endpoint").field("url", &self.shown()).field("headers", &names).finish()
    }
}

/// What stands in the file is shown where it is the name of a variable; what may be a secret is not.
fn named((name, value): (&String, &String)) -> String {
    let is_name = value.starts_with("${") && value.ends_with('}') && !value.contains(":-");
    format!(" {name}={}", if is_name { value.as_str() } else { "…" })
}

fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@,+${}".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

pub(crate) fn put_in(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, after) = after.split_once('}').ok_or_else(|| format!("`${{` is not closed in `{text}`"))?;
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

/// What is shorter is found in every text, and guessed at once.
const SHORTEST_SECRET_BYTES: usize = 6;

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

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("https://user:pass@example.com/mcp?key=1#x", "https://example.com/mcp"),
            ("https://example.com", "https://example.com"),
            ("http://a@b@[::1]:80/x@y", "http://[::1]:80/x@y"),
            ("${URL}?a", "${URL}"),
        ] {
            let headers = [("Authorization".to_owned(), "Bearer secret-token".to_owned())].into();
            let endpoint = Endpoint { url: url.into(), headers };
            assert_eq!(endpoint.shown(), shown);
            assert_eq!(endpoint.hide(&format!("at {url}: secret-token")), format!("at {shown}: …"));
            assert!(!format!("{endpoint:?}").contains("secret-token"));
        }
    }
}
