//! The login at a server of tests: it is its own authorization server, and takes no token but what it gave.

use super::http::{McpRequest, Sent, send, whole};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};

/// What the authorization server gave, and what of it holds.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    given: u32,
    /// Tokens that are taken, each with its scopes.
    valid: Vec<(String, String)>,
    /// What was asked for with a code, by the code.
    codes: BTreeMap<String, String>,
    refresh: Option<(String, String)>,
}

impl Tokens {
    /// Has no token taken any more. Refresh tokens stay.
    pub(super) fn run_out(&mut self) {
        self.valid.clear();
    }

    /// Has nothing taken any more.
    pub(super) fn revoke(&mut self) {
        self.valid.clear();
        self.refresh = None;
    }

    fn give(&mut self, scopes: &str, lasts_secs: u64) -> Value {
        self.given += 1;
        let (access, refresh) = (format!("access-token-{}", self.given), format!("refresh-token-{}", self.given));
        self.valid.push((access.clone(), scopes.to_owned()));
        // Each is taken once.
        self.refresh = Some((refresh.clone(), scopes.to_owned()));
        json!({"access_token": access, "token_type": "Bearer", "expires_in": lasts_secs, "refresh_token": refresh, "scope": scopes})
    }
}

/// How the authorization server behaves.
pub(super) struct Manners<'a> {
    /// `http://127.0.0.1:PORT`.
    pub(super) base: String,
    /// Its issuer, if it says another one than it is.
    pub(super) issuer: Option<&'a str>,
    /// How long tokens last.
    pub(super) lasts_secs: u64,
    /// Whether it sends the person back with another `state`.
    pub(super) is_forger: bool,
    /// Where it has codes exchanged, if elsewhere.
    pub(super) token_endpoint: Option<&'a str>,
}

/// Answers what belongs to the login: nothing where the request is one for the server itself, with a token that holds.
pub(super) fn answer(
    stream: &TcpStream,
    request: &McpRequest,
    tokens: &Mutex<Tokens>,
    manners: &Manners<'_>,
) -> Option<Sent> {
    let base = &manners.base;
    let mut tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let json = |value: Value| Some(whole(stream, "200 OK", "application/json", &value.to_string()));
    let refused =
        |error: &str| Some(whole(stream, "400 Bad Request", "application/json", &json!({"error": error}).to_string()));
    match path {
        "/.well-known/oauth-protected-resource/mcp" => json(json!({
            "resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read"]
        })),
        "/.well-known/oauth-authorization-server" => json(json!({
            "issuer": manners.issuer.unwrap_or(base), "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": manners.token_endpoint.map_or_else(|| format!("{base}/token"), str::to_owned),
            "registration_endpoint": format!("{base}/register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true
        })),
        "/register" => json(json!({"client_id": "registered", "redirect_uris": request.message["redirect_uris"]})),
        "/authorize" => {
            let asked = fields(query);
            let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
            let code = format!("code-{}", tokens.codes.len());
            tokens.codes.insert(code.clone(), of("scope"));
            let state = if manners.is_forger { "forged".to_owned() } else { of("state") };
            let to = format!("{}?code={code}&state={state}&iss={}", of("redirect_uri"), coded(base));
            Some(send(
                stream,
                &format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
            ))
        }
        "/token" => {
            let asked = fields(&request.body);
            let of = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
            let found = match of("grant_type") {
                "authorization_code" if !of("code_verifier").is_empty() => tokens.codes.remove(of("code")),
                "refresh_token" => {
                    let known = tokens.refresh.take();
                    known.filter(|(token, _)| token == of("refresh_token")).map(|(_, scopes)| scopes)
                }
                _ => None,
            };
            match found {
                Some(scopes) => json(tokens.give(&scopes, manners.lasts_secs)),
                None => refused("invalid_grant"),
            }
        }
        _ => {
            let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
            let Some((_, scopes)) = tokens.valid.iter().find(|(own, _)| Some(own.as_str()) == token) else {
                let says = format!(
                    "Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\", scope=\"read\""
                );
                return Some(no(stream, "401 Unauthorized", &says));
            };
            let wants_more = request.message["params"]["name"] == "guarded" && !scopes.contains("admin");
            wants_more.then(|| no(stream, "403 Forbidden", "Bearer error=\"insufficient_scope\", scope=\"admin\""))
        }
    }
}

fn no(stream: &TcpStream, status: &str, says: &str) -> Sent {
    send(
        stream,
        &format!("HTTP/1.1 {status}\r\nwww-authenticate: {says}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    )
}

/// The fields of a form, or of the parameters of a URL.
fn fields(text: &str) -> BTreeMap<String, String> {
    text.split('&')
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (name.to_owned(), plain(value)))
        .collect()
}

fn plain(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, more @ ..] = rest {
        let digits = more.get(..2).filter(|_| *first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if byte.is_some() { more.get(2..).unwrap_or_default() } else { more };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn coded(text: &str) -> String {
    text.replace(':', "%3A").replace('/', "%2F")
}
