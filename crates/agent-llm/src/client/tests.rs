//! Tests of the client.

use super::base::is_local;
use super::*;

const SPEC: ApiSpec = ApiSpec {
    dialect: "example",
    default_base_url: "https://api.example.com/v1",
    superfluous: &["/chat/completions"],
    key_variable: "EXAMPLE_API_KEY",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};

fn base(text: &str) -> String {
    base_url(text, &SPEC).unwrap().to_string()
}

#[test]
fn base_urls_are_taken_as_people_write_them() {
    assert_eq!(base(""), "https://api.example.com/v1");
    assert_eq!(base(" http://h:8080/v1/ "), "http://h:8080/v1");
    assert_eq!(base("http://h/v1/v1/v1"), "http://h/v1");
    assert_eq!(base("http://h/v1/chat/completions"), "http://h/v1");
    assert_eq!(base("http://h"), "http://h/");
}

#[test]
fn what_is_no_web_address_is_refused() {
    for text in ["h:8080", "ftp://h/", "/v1", "http://"] {
        assert!(base_url(text, &SPEC).is_err(), "{text}");
    }
}

#[test]
fn neither_debug_output_nor_errors_show_a_key() {
    let config = ProviderConfig {
        base_url: "http://user:hunter2@127.0.0.1:9/v1?key=sk-query".to_owned(),
        api_key: Some("sk-secret\n".to_owned()),
        headers: vec![("x-other".to_owned(), "sk-header".to_owned())],
        ..ProviderConfig::default()
    };
    let client = Client::new(config.clone(), &SPEC).unwrap();
    let shown = format!("{config:?} {client:?} {:?}", client.headers);
    for secret in ["sk-secret", "sk-header", "sk-query", "hunter2"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let error =
        Client::new(ProviderConfig { api_key: Some("sk-\u{1}".to_owned()), ..ProviderConfig::default() }, &SPEC);
    assert_eq!(
        error.unwrap_err().to_string(),
        "use the API key: it has characters that a header cannot carry; check EXAMPLE_API_KEY"
    );
}

#[test]
fn paths_are_appended_and_the_query_stays() {
    let config = ProviderConfig { base_url: "http://h/v1?api-version=1".to_owned(), ..ProviderConfig::default() };
    let client = Client::new(config, &SPEC).unwrap();
    assert_eq!(client.url("/x").as_str(), "http://h/v1/x?api-version=1");
}

#[test]
fn only_this_machine_is_local() {
    let local = |url: &str| is_local(url).unwrap();
    for url in ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", " http://[::1]:1/v1", "http://127.9.9.9"] {
        assert!(local(url), "{url}");
    }
    for url in [
        "",
        "https://api.openai.com/v1",
        "http://127.0.0.1.example.com/",
        "http://127.0.0.1@example.com/",
        "http://localhost.example.com",
        "http://example.com?@localhost",
        "http://example.com#@localhost",
        "http://example.com\\@localhost",
    ] {
        assert!(!local(url), "{url}");
    }
    for url in ["notaurl", "localhost:8080", "ftp://localhost", "http://", "127.0.0.1:80"] {
        assert!(matches!(is_local(url), Err(ConfigError::BaseUrl { .. })), "{url}");
    }
}
