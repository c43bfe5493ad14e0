//! Tests of classifying failures.

use super::*;

fn reporter() -> Reporter {
    let mut secrets = Secrets::default();
    secrets.add("sk-secret-key");
    Reporter {
        wait_settings: WaitSettings::default(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key_variable: "SOME_API_KEY".to_owned(),
        has_key: true,
        secrets,
    }
}

fn status(status: u16, body: &str) -> LlmError {
    reporter().status("POST http://x/v1", status, &HeaderMap::new(), body.as_bytes())
}

fn kind(code: u16, body: &str) -> LlmErrorKind {
    status(code, body).kind
}

#[test]
fn a_refused_key_names_the_variable_and_not_the_key() {
    let error = status(401, r#"{"error":{"message":"bad key sk-secret-key"}}"#);
    assert_eq!(error.message, "POST http://x/v1: HTTP 401: bad key [redacted]; check the key in SOME_API_KEY");
}

#[test]
fn nothing_is_said_of_a_key_that_was_not_sent() {
    let without = Reporter { has_key: false, ..reporter() };
    let advice = |reporter: &Reporter, code| {
        let error = reporter.status("POST x", code, &HeaderMap::new(), br#"{"error":{"message":"no"}}"#);
        error.message.split_once("; ").unwrap().1.to_owned()
    };
    assert_eq!(advice(&reporter(), 403), "check the permissions of the key in SOME_API_KEY");
    assert_eq!(advice(&without, 403), "no key was sent: set SOME_API_KEY if the server needs one");
    assert_eq!(advice(&without, 401), "no key was given: set SOME_API_KEY");
}

#[test]
fn a_key_is_found_behind_control_characters_and_at_the_cut() {
    let padding = "x".repeat(SHOWN_CHARS - 20);
    let error = status(500, &format!("{padding}sk-\u{7}secret-key and more {padding}"));
    assert!(!error.message.contains("secret"), "{}", error.message);
    assert!(error.message.chars().count() < SHOWN_CHARS + 60);
}

#[test]
fn a_page_is_shown_by_its_title() {
    let page = format!("<html><title> 502 Bad\nGateway </title>{}", "é".repeat(9999));
    assert_eq!(status(502, &page).message, "POST http://x/v1: HTTP 502: an HTML page: 502 Bad Gateway");
}

#[test]
fn full_context_windows_in_every_wording() {
    let cases = [
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}"#,
        ),
        (500, r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}"#,
        ),
        (
            400,
            r#"{"error":{"message":"You passed 5000 input tokens and requested 1 output tokens. However, the model's context length is only 4096 tokens","type":"BadRequestError","code":400}}"#,
        ),
        (413, r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
        (413, "<html><title>413 Request Entity Too Large</title></html>"),
        (
            429,
            r#"{"error":{"message":"Request too large for gpt-4: Limit 10000, Requested 20000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        ),
    ];
    for (code, body) in cases {
        assert_eq!(kind(code, body), LlmErrorKind::ContextOverflow, "{body}");
    }
    assert_eq!(kind(413, r#"{"error":{"message":"image too large"}}"#), LlmErrorKind::InvalidRequest);
}

#[test]
fn empty_accounts_are_told_from_rate_limits() {
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_eq!(kind(429, quota), LlmErrorKind::Billing);
    let credit = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
    assert_eq!(kind(400, credit), LlmErrorKind::Billing);
    assert_eq!(kind(402, ""), LlmErrorKind::Billing);
    let rate = r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute"}}"#;
    assert_eq!(kind(429, rate), LlmErrorKind::RateLimited);
}

#[test]
fn statuses_without_words() {
    let cases = [
        (302, LlmErrorKind::InvalidRequest),
        (401, LlmErrorKind::Authentication),
        (403, LlmErrorKind::Permission),
        (404, LlmErrorKind::NotFound),
        (408, LlmErrorKind::Timeout),
        (422, LlmErrorKind::InvalidRequest),
        (500, LlmErrorKind::Server),
        (502, LlmErrorKind::Server),
        (503, LlmErrorKind::Overloaded),
        (524, LlmErrorKind::Server),
        (529, LlmErrorKind::Overloaded),
    ];
    for (code, expected) in cases {
        assert_eq!(kind(code, ""), expected, "{code}");
    }
}

#[test]
fn a_wait_that_was_too_long_names_what_sets_it_where_the_host_says_so() {
    let said = |reporter: &Reporter, wait| reporter.timeout("POST x", wait, Duration::from_millis(7), false).message;
    for wait in [Wait::FirstByte, Wait::Idle, Wait::Total] {
        assert!(said(&reporter(), wait).ends_with(" 7 ms"), "the library names no setting");
    }
    let wait_settings = WaitSettings { first_byte: "`--begin`".to_owned(), idle: "`--idle`".to_owned() };
    let named = Reporter { wait_settings, ..reporter() };
    assert_eq!(
        said(&named, Wait::FirstByte),
        "POST x: the server sent nothing for 7 ms; to wait longer, use `--begin`"
    );
    assert_eq!(said(&named, Wait::Idle), "POST x: the server sent nothing for 7 ms; to wait longer, use `--idle`");
    assert_eq!(said(&named, Wait::Total), "POST x: the answer was not complete after 7 ms");
}

#[test]
fn errors_inside_an_answer() {
    let of = |json: &str| {
        let detail = Detail::of_json(&serde_json::from_str(json).unwrap());
        reporter().in_answer("POST x", &detail).kind
    };
    assert_eq!(of(r#"{"type":"overloaded_error","message":"Overloaded"}"#), LlmErrorKind::Overloaded);
    assert_eq!(of(r#"{"type":"api_error"}"#), LlmErrorKind::Server);
    assert_eq!(of(r#"{"code":502,"message":"x"}"#), LlmErrorKind::Server);
    assert_eq!(of(r#"{"code":"429","message":"x"}"#), LlmErrorKind::Server);
    assert_eq!(of(r#"{"type":"tokens","code":"rate_limit_exceeded","message":"x"}"#), LlmErrorKind::RateLimited);
    assert_eq!(of(r#""who knows""#), LlmErrorKind::Server);
    assert_eq!(of("7"), LlmErrorKind::Server);
}

#[test]
fn every_shape_of_body_gives_its_message() {
    let cases = [
        (r#"{"error":{"message":"m"}}"#, "m"),
        (r#"{"error":"m"}"#, "m"),
        (r#"{"detail":"m"}"#, "m"),
        (r#"{"object":"error","message":"m"}"#, "m"),
        (r#"[{"error":{"message":"m"}}]"#, "m"),
        (r#"{"detail":[{"msg":"m"}]}"#, r#"[{"msg":"m"}]"#),
        ("m", "m"),
        ("", ""),
        ("{}", ""),
        ("null", ""),
    ];
    for (body, message) in cases {
        assert_eq!(Detail::of_body(body.as_bytes()).message, message, "{body}");
    }
}
