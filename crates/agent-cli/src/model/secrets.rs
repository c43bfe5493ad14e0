//! What is secret in this process's environment: keys of providers, variables whose names say so, and passwords in URLs.
//!
//! A variable's name alone would take too much: `POSTGRES_PASSWORD=postgres` would take a word out of every text. So a value counts only if
//! it looks like one that a machine made.

use crate::config::options::ProviderName;
use crate::model::keys::key_variable;
use crate::screen::terminal;
use agent_core::redact::{MIN_SECRET_BYTES, Redactor};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Every secret that the environment holds.
pub(crate) fn of_environment() -> Vec<String> {
    // Values of any other bytes are found as what they look like as text.
    let variables = std::env::vars_os().map(|(name, value)| (text(&name), text(&value)));
    of_variables(&variables.collect::<Vec<_>>())
}

/// What the program takes out of everything that it writes: what the environment holds, and what was learned since.
pub(crate) fn redactor() -> Redactor {
    let learned = LEARNED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Redactor::new(of_environment().into_iter().chain(learned))
}

/// Keys from files and programs, and what is secret in the configuration, are known from now on.
pub(crate) fn learn(secrets: &[String]) {
    let mut learned = LEARNED.lock().unwrap_or_else(PoisonError::into_inner);
    learned.extend(secrets.iter().cloned());
    learned.sort();
    learned.dedup();
    terminal::keep_secret(&Redactor::new(secrets.iter().cloned()));
}

/// What is secret in the headers of providers: values in headers whose names say so, and any that looks made by a machine. A scheme before
/// a key (`Bearer …`) is none.
pub(crate) fn of_headers<'a>(headers: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in headers {
        let last = value.rsplit(' ').next().unwrap_or_default();
        if is_of_a_secret(name) || looks_made(value) {
            found.extend([value.clone(), last.to_owned()]);
        }
    }
    found.retain(|value| value.len() >= MIN_SECRET_BYTES);
    found
}

fn is_of_a_secret(header: &str) -> bool {
    names_a_secret(&header.replace('-', "_")) || header.eq_ignore_ascii_case("authorization")
}

/// What is secret in the environment that a program is given: what this process's own would hold, and what looks like a key whatever its
/// variable is called.
pub(crate) fn of_given(variables: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    let mut found = of_variables(&variables);
    found.extend(variables.into_iter().map(|(_, value)| value).filter(|value| looks_like_a_key(value)));
    found
}

/// What is secret in the arguments that a program is given: what looks like a key, what stands behind an option whose name says so
/// (`--token=…`, `--token …`), headers, and what is secret in URLs.
pub(crate) fn of_arguments(arguments: &[String]) -> Vec<String> {
    let (mut found, mut before) = (Vec::new(), None);
    for argument in arguments {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if !name.contains(['/', ' ', ':']) => (Some(name), value),
            _ => (before, argument.as_str()),
        };
        let name = name.unwrap_or_default().trim_start_matches('-').replace('-', "_");
        found.extend(of_given([(name, value.to_owned())]));
        if let Some((name, value)) = value.split_once(':').filter(|(name, _)| is_of_a_secret(name)) {
            found.extend(of_headers([(&name.to_owned(), &value.trim().to_owned())]));
        }
        found.extend(of_parameters(value));
        found.extend(of_settings(argument));
        before = argument.starts_with('-').then_some(argument.as_str());
    }
    found
}

/// What is secret in a text of settings, `Server=h;Password=…`, and behind the scheme of a header, `Bearer …`.
fn of_settings(text: &str) -> Vec<String> {
    let named = text.split(';').filter_map(|part| part.split_once('='));
    let named = named.filter(|(name, _)| names_a_secret(&name.trim().replace([' ', '-'], "_")));
    let values = named.map(|(_, value)| value.trim().trim_matches(['"', '\'']));
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_scheme = |word: &str| SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let behind = words.windows(2).filter(|pair| is_scheme(pair[0].trim_end_matches(':'))).map(|pair| pair[1]);
    let values = values.chain(behind).filter(|value| value.len() >= MIN_SECRET_BYTES);
    values.map(str::to_owned).collect()
}

/// What is secret in the parameters of a URL.
pub(crate) fn of_parameters(url: &str) -> Vec<String> {
    let query = url.split('#').next().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    let mut found = Vec::new();
    for part in query.split('&') {
        let (name, value) = part.split_once('=').unwrap_or_default();
        let value = if part.contains('=') { value } else { part };
        if value.len() >= MIN_SECRET_BYTES && (names_a_secret(&name.replace('-', "_")) || looks_made(value)) {
            found.extend([value.to_owned(), decoded(value)]);
        }
    }
    found
}

/// Of one word, with letters and digits in it, and longer than what people write.
fn looks_like_a_key(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+=.".contains(&byte));
    let has = |signs: fn(&u8) -> bool| value.as_bytes().iter().any(signs);
    let letters = [has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase)].into_iter().filter(|has| *has).count();
    let is_mixed = letters == 2 || letters == 1 && value.len() >= KEY_BYTES && !value.contains(['-', '_', '.']);
    is_word && is_mixed && has(u8::is_ascii_digit) && value.len() >= LONG_BYTES
}

fn text(value: &std::ffi::OsStr) -> String {
    value.to_string_lossy().into_owned()
}

fn of_variables(variables: &[(String, String)]) -> Vec<String> {
    let keys = [ProviderName::Anthropic, ProviderName::OpenAi].map(key_variable);
    let own: Vec<&String> =
        variables.iter().filter(|(name, _)| OWN.contains(&name.as_str())).map(|(_, value)| value).collect();
    let mut found = Vec::new();
    for (name, value) in variables {
        let value = value.trim();
        let is_named = names_a_secret(name) && looks_made(value) && !own.iter().any(|own| *own == value);
        if keys.contains(&name.as_str()) || is_named {
            found.push(value.to_owned());
        }
        found.extend(of_url(value));
    }
    found
}

/// The secret parts of a URL: its password, or a user's name that is none.
pub(crate) fn of_url(url: &str) -> Vec<String> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return Vec::new() };
    let secret = match user.split_once(':') {
        Some((_, password)) => Some(password).filter(|password| password.len() >= MIN_SECRET_BYTES),
        None => Some(user).filter(|token| looks_made(token)),
    };
    secret.into_iter().flat_map(|secret| [secret.to_owned(), decoded(secret)]).collect()
}

/// `%41` is `A`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let code = text_of(more.get(..2)).and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%');
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { more.get(2..).unwrap_or_default() } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text_of(bytes: Option<&[u8]>) -> Option<&str> {
    bytes.and_then(|bytes| str::from_utf8(bytes).ok())
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ENDS.iter().any(|end| name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('_')))
        || PARTS.iter().any(|part| name.contains(part))
}

/// Whether a value is none that people write elsewhere, too: a word, a number, a path.
fn looks_made(value: &str) -> bool {
    let is_word = |value: &str| {
        let is_plain = |signs: fn(&u8) -> bool| value.bytes().all(|byte| signs(&byte) || b"-_. ".contains(&byte));
        is_plain(u8::is_ascii_lowercase) || is_plain(u8::is_ascii_uppercase) || is_plain(u8::is_ascii_digit)
    };
    let is_path = || {
        let path = Path::new(value);
        let is_there =
            path.is_absolute() && path.parent().is_some_and(|folder| folder != Path::new("/") && folder.exists());
        is_there || ["~/", "./", "../"].iter().any(|start| value.starts_with(start))
    };
    value.len() >= MADE_BYTES && !(value.len() < LONG_BYTES && is_word(value)) && !is_path()
}

/// Whole names, or behind a `_`.
const ENDS: &[&str] =
    &["TOKEN", "KEY", "APIKEY", "PAT", "PASS", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PWD", "COOKIE", "AUTH"];
const PARTS: &[&str] = &["SECRET", "PASSWORD", "PASSWD", "ACCESS_KEY", "PRIVATE_KEY", "API_KEY", "AUTH_TOKEN"];
/// What people are called, and where they are, is in every text.
const OWN: &[&str] = &["USER", "LOGNAME", "HOME", "SHELL", "HOSTNAME", "PWD", "OLDPWD"];
static LEARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());
const MADE_BYTES: usize = 8;
const LONG_BYTES: usize = 16;
/// A digest of 96 bits, and what is as long.
const KEY_BYTES: usize = 24;

/// Of the header `Authorization`.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, value: &str) -> Vec<String> {
        let own = [("USER", "somebody1X"), ("HOME", "/home/somebody")];
        let all = own.into_iter().chain([(name, value)]);
        of_variables(&all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn what_looks_secret_is_and_what_people_write_is_not() {
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "shorty"),
            ("GITHUB_TOKEN", "ghp_0123456789abcdef"),
            ("npm_token", "0123abcd"),
            ("AWS_SECRET_ACCESS_KEY", "/ab/0123456789+ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            ("AWS_ACCESS_KEY_ID", "AKIA0123456789ABCDEF"),
            ("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjE"),
            ("DB_PASSWORD", "Correct-horse-7"),
            ("MY_CLIENT_SECRET_VALUE", "abcdefghijklmnopq"),
            ("TOKEN", "0123abcd"),
        ] {
            assert_eq!(found(name, value), [value], "{name}");
        }
        for (name, value) in [
            ("USE_TOKEN", "true"),
            ("POSTGRES_PASSWORD", "postgres"),
            ("CACHE_KEY", "production"),
            ("TTL_KEY", "86400000"),
            ("SSH_KEY", "/usr/bin/key.pem"),
            ("SSH_KEY", "~/.ssh/id_ed25519"),
            ("LOGIN_PASSWORD", "somebody1X"),
            ("PWD", "/home/somebody/A1"),
            ("AWS_REGION", "eu-central-1"),
            ("MONKEY", "Abcdef0123"),
            ("EDITOR", "Abcdef0123"),
        ] {
            assert_eq!(found(name, value), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn headers_are_secret_by_their_names_or_by_what_they_look_like() {
        let found = |name: &str, value: &str| of_headers([(&name.to_owned(), &value.to_owned())]);
        assert_eq!(found("Authorization", "Bearer abcdefgh"), ["Bearer abcdefgh", "abcdefgh"]);
        assert_eq!(found("X-Api-Key", "plainword")[0], "plainword");
        assert_eq!(found("X-Anything", "0123-abcd-XYZ")[0], "0123-abcd-XYZ");
        assert_eq!(found("X-Team", "search"), [""; 0]);
        assert_eq!(found("X-Title", "my agent"), [""; 0]);
    }

    #[test]
    fn what_a_program_is_given_is_secret_by_its_look_too() {
        let found = |name: &str, value: &str| of_given([(name.to_owned(), value.to_owned())]);
        for (name, value) in [
            ("ISSUES", "sk-SECRETKEY-abcdef0123456789"),
            ("AUTHOR", "0123456789abcdef01234567"),
            ("DB_PASSWORD", "Correct-horse-7"),
        ] {
            assert!(found(name, value).iter().any(|found| found == value), "{name}");
        }
        for (name, value) in [
            ("AWS_REGION", "eu-central-1"),
            ("MODE", "production"),
            ("PACKAGE", "@scope/server-filesystem@2025.1.1"),
            ("PLACE", "/srv/Data/2025/notes-of-the-team"),
            ("DATABASE", "team-notes-2025-archive-1"),
        ] {
            assert_eq!(found(name, value), [""; 0], "{name}");
        }
    }

    #[test]
    fn arguments_are_secret_by_their_options_or_their_look() {
        let found = |arguments: &[&str]| of_arguments(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        for (arguments, secret) in [
            (&["--token=Correct-horse-7"][..], "Correct-horse-7"),
            (&["--api-key", "Correct-horse-7"], "Correct-horse-7"),
            (&["TOKEN=Correct-horse-7"], "Correct-horse-7"),
            (&["-k", "sk-SECRETKEY-abcdef0123456789"], "sk-SECRETKEY-abcdef0123456789"),
            (&["--header", "Authorization: Bearer Correct-horse-7"], "Correct-horse-7"),
            (&["--header=X-Key:Correct-horse-7"], "Correct-horse-7"),
            (&["postgres://me:hunter2secret@host/db"], "hunter2secret"),
            (&["--url=https://host/mcp?key=Correct-horse-7"], "Correct-horse-7"),
        ] {
            assert!(found(arguments).iter().any(|found| found == secret), "{arguments:?}");
        }
        let plain: [&[&str]; 4] = [
            &["-y", "@modelcontextprotocol/server-filesystem@2025.1.1", "/srv/Data/2025/notes"],
            &["--key-file", "~/.ssh/id_ed25519", "--mode=production", "--port", "8080"],
            &["https://host/mcp?profile=search", "C:\\Data-2025", "node:20-Alpine"],
            &["--token", "--verbose"],
        ];
        for arguments in plain {
            assert_eq!(found(arguments), [""; 0], "{arguments:?}");
        }
    }

    #[test]
    fn parameters_of_urls_are_secret_by_their_names_or_their_look() {
        assert_eq!(of_parameters("https://x/a?api-key=plainword&q=search#y?z=0123-abcd-XYZ")[0], "plainword");
        assert_eq!(of_parameters("https://x/?k=0123%2Fabcd-XYZ"), ["0123%2Fabcd-XYZ", "0123/abcd-XYZ"]);
        assert_eq!(of_parameters("https://x/?0123-abcd-XYZ")[0], "0123-abcd-XYZ");
        assert_eq!(of_parameters("https://x/?profile=search&n=5"), [""; 0]);
    }

    #[test]
    fn passwords_of_urls_are_secret_wherever_they_stand() {
        assert_eq!(
            found("https_proxy", "http://me:hunter2%21secret@proxy:3128"),
            ["hunter2%21secret", "hunter2!secret"]
        );
        assert_eq!(found("DATABASE_URL", "postgres://me:hunter2secret@host/db?x=1@2")[0], "hunter2secret");
        assert_eq!(found("REMOTE", "https://ghp_0123456789@host/x")[0], "ghp_0123456789");
        for plain in ["https://host/x", "https://git@host/x", "http://me:x@host", "http://host/a@b"] {
            assert_eq!(found("REMOTE", plain), Vec::<String>::new(), "{plain}");
        }
    }
}
