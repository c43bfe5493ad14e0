//! Logins at servers, with an authorization server on loopback: what is asked for, what is kept, and where tokens go.

use crate::support::{Place, client};
use agent_core::server::State;
use agent_core::tool::ToolStatus;
use agent_mcp::{Account, Begun, Login, LoginError, Redirect};
use agent_testkit::mcp::{McpHttp, McpRequest};
use base64::Engine as _;
use sha2::Digest as _;

/// Where the authorization server sends the person who opens the address.
async fn opened(begun: &Begun) -> String {
    let answer = client().unwrap().get(&begun.address).send().await.unwrap();
    answer.headers()["location"].to_str().unwrap().to_owned()
}

async fn log_in(account: &Account) -> Result<Login, LoginError> {
    log_in_for(account, &[]).await
}

async fn log_in_for(account: &Account, scopes: &[String]) -> Result<Login, LoginError> {
    let begun = account.begin("http://127.0.0.1:1/callback", scopes).await?;
    let answer = opened(&begun).await;
    begun.finish(account, &answer).await
}

fn of_form(request: &McpRequest, name: &str) -> String {
    let url = reqwest::Url::parse(&format!("http://x/?{}", request.body)).unwrap();
    url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn tokens_asked(server: &McpHttp) -> Vec<McpRequest> {
    server.asked().into_iter().filter(|asked| asked.path == "/token").collect()
}

#[tokio::test]
async fn a_person_logs_in_once_and_the_server_comes() {
    for words in ["login", "login modern stream"] {
        let (place, server) = (Place::new(), McpHttp::start(words));
        let mut session = place.open_all(vec![place.far(&server.url())]);
        let status = session.decided().await;
        let found = status.found.unwrap_or_default();
        assert!(status.state == State::Failed && found.contains("`agent mcp login s`"), "{found}");
        session.servers.stop().await;

        let account = place.account(&server.url());
        let redirect = Redirect::bind(None).await.unwrap();
        let begun = account.begin(redirect.address(), &[]).await.unwrap();
        assert_eq!(begun.scopes, ["read"], "what the server wants, and no more");
        let address = reqwest::Url::parse(&begun.address).unwrap();
        let asked = |name: &str| address.query_pairs().find(|(own, _)| own == name).unwrap().1.into_owned();
        assert_eq!((asked("resource"), asked("code_challenge_method")), (server.url(), "S256".to_owned()));
        let (state, answer) = (begun.state().to_owned(), opened(&begun).await);
        let waiting = tokio::spawn(async move { redirect.answer(&state).await });
        client().unwrap().get(&answer).send().await.unwrap();
        let login = begun.finish(&account, &waiting.await.unwrap().unwrap()).await.unwrap();
        assert_eq!(
            (login.issuer.as_str(), login.granted.as_slice()),
            (server.url().trim_end_matches("/mcp"), &["read".to_owned()][..])
        );
        let exchange = tokens_asked(&server).pop().unwrap();
        let digest = sha2::Sha256::digest(of_form(&exchange, "code_verifier").as_bytes());
        let challenge = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest);
        assert_eq!((challenge, of_form(&exchange, "resource")), (asked("code_challenge"), server.url()));

        let mut session = place.open_all(vec![place.far(&server.url())]);
        assert_eq!(session.decided().await.state, State::Ready);
        assert_eq!(session.call("echo", r#"{"text": "in"}"#).await.content, "in");
        session.servers.stop().await;
    }
}

/// In the middle of a session: the call that is refused is made once with the new token.
#[tokio::test]
async fn a_token_that_runs_out_is_renewed_once() {
    let (place, server) = (Place::new(), McpHttp::start("login"));
    let account = place.account(&server.url());
    log_in(&account).await.unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    let before = server.asked().len();
    server.run_out();
    assert_eq!(session.call("echo", r#"{"text": "again"}"#).await.content, "again");
    let calls: Vec<McpRequest> = server.asked().drain(before..).filter(|asked| asked.asks() == "tools/call").collect();
    assert_eq!(calls.len(), 2, "refused, and made with the new token");
    assert_eq!(tokens_asked(&server).len(), 2);
    assert_eq!(of_form(&tokens_asked(&server)[1], "resource"), server.url());
    // What is kept is what holds.
    assert_eq!(account.login().unwrap().secrets()[0], "access-token-2");

    server.revoke();
    let outcome = session.call("echo", r#"{"text": "no"}"#).await;
    assert!(outcome.status == ToolStatus::Failed && outcome.content.contains("`agent mcp login s`"), "{outcome:?}");
    // The person logs in elsewhere, and the session goes on.
    log_in(&account).await.unwrap();
    assert_eq!(session.call("echo", r#"{"text": "back"}"#).await.content, "back");
    session.servers.stop().await;
}

#[tokio::test]
async fn a_token_is_renewed_before_it_runs_out_by_one_of_many() {
    let (place, server) = (Place::new(), McpHttp::start("login lasts=0"));
    log_in(&place.account(&server.url())).await.unwrap();
    // A refresh token is taken once: of eight that want to renew at once, each takes what the one before it got.
    let accounts = (0..8).map(|_| place.account(&server.url()));
    let sessions: Vec<_> = accounts.map(|_| place.open_all(vec![place.far(&server.url())])).collect();
    for mut session in sessions {
        assert_eq!(session.decided().await.state, State::Ready);
        assert_eq!(session.call("echo", r#"{"text": "on"}"#).await.content, "on");
        session.servers.stop().await;
    }
    let mut used: Vec<String> = tokens_asked(&server).iter().map(|asked| of_form(asked, "refresh_token")).collect();
    let count = used.len();
    used.sort();
    used.dedup();
    assert!(count > 8 && used.len() == count, "{used:?}");
}

#[tokio::test]
async fn what_a_login_lacks_is_asked_for_three_times_at_most() {
    let (place, server) = (Place::new(), McpHttp::start("login"));
    let account = place.account(&server.url());
    log_in(&account).await.unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    let outcome = session.call("guarded", "{}").await;
    assert!(outcome.status == ToolStatus::Failed && outcome.content.contains("lacks `admin`"), "{outcome:?}");
    let login = log_in(&account).await.unwrap();
    assert_eq!(login.granted, ["read", "admin"], "what it had, and what it lacked");
    assert_eq!(session.call("guarded", r#"{"text": "done"}"#).await.content, "done");
    session.servers.stop().await;

    // A server that gives what is asked for and still wants it.
    let (place, server) = (Place::new(), McpHttp::start("login"));
    let account = place.account(&server.url());
    let read = ["read".to_owned()];
    log_in_for(&account, &read).await.unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    for tries in 0..2 {
        session.call("guarded", "{}").await;
        log_in_for(&account, &read).await.unwrap_or_else(|error| panic!("{tries}: {error}"));
    }
    session.call("guarded", "{}").await;
    let refused = log_in_for(&account, &read).await.unwrap_err();
    assert!(matches!(refused, LoginError::StepUps { tries: 3, .. }), "{refused}");
    session.servers.stop().await;
}

#[tokio::test]
async fn what_does_not_belong_together_is_no_login() {
    let elsewhere = McpHttp::start("");
    for (words, said) in [
        ("", "does not say where one logs in"),
        ("login issuer=http://127.0.0.1:1", "cannot be used"),
        ("login gives=http://example.com/token", "`http://`"),
        ("login forger", "another `state`"),
    ] {
        let (place, server) = (Place::new(), McpHttp::start(words));
        let account = place.account(&server.url());
        let error = log_in(&account).await.unwrap_err();
        assert!(error.to_string().contains(said), "{words}: {error}");
        assert!(account.login().is_none() && tokens_asked(&server).is_empty(), "{words}");
    }
    assert!(elsewhere.asked().is_empty());

    // The answer says who it comes from, and a person may say no.
    let (place, server) = (Place::new(), McpHttp::start("login"));
    let account = place.account(&server.url());
    for (change, said) in [
        (["iss=http", "iss=https"], "does not belong to this login"),
        (["&iss=", "&not="], "does not belong to this login"),
        (["code=", "error=access_denied&x="], "refused: access_denied"),
        (["code=", "x="], "no `code`"),
    ] {
        let begun = account.begin("http://127.0.0.1:1/callback", &[]).await.unwrap();
        let answer = opened(&begun).await.replace(change[0], change[1]);
        let error = begun.finish(&account, &answer).await.unwrap_err();
        assert!(error.to_string().contains(said), "{change:?}: {error}");
    }
    assert!(account.login().is_none() && tokens_asked(&server).is_empty());
}

/// The tokens are for one URL; another one of the same name gets none, nor does what that leads to.
#[tokio::test]
async fn a_token_goes_to_its_own_url_and_into_no_text() {
    let (place, server) = (Place::new(), McpHttp::start("login frank"));
    log_in(&place.account(&server.url())).await.unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    // It repeats what it was sent.
    let told = session.call("echo", "{}").await.content;
    assert!(told.contains("authorization") && !told.contains("access-token"), "{told}");
    server.run_out();
    let told = session.call("echo", "{}").await.content;
    assert!(told.contains("authorization") && !told.contains("access-token"), "{told}");
    session.servers.stop().await;

    let other = McpHttp::start("");
    assert!(place.account(&other.url()).login().is_none());
    let record = place.store();
    record.forget(std::path::Path::new(""), "s").unwrap();
    let mut session = place.open_all(vec![place.far(&other.url())]);
    session.decided().await;
    assert!(other.asked().iter().all(|asked| asked.header("authorization").is_none()));
    session.servers.stop().await;
}

#[tokio::test]
async fn tokens_of_another_issuer_are_another_server() {
    let (place, server) = (Place::new(), McpHttp::start("login"));
    log_in(&place.account(&server.url())).await.unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    assert_eq!(session.decided().await.state, State::Ready);
    session.servers.stop().await;
    // Without a login nothing is sent, and who gave the tokens is remembered.
    let folder = place.root.path().join("logins");
    let file = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
    let kept = std::fs::read_to_string(&file).unwrap();
    place.logins().forget(std::path::Path::new(""), "s").unwrap();
    let mut session = place.open_all(vec![place.far(&server.url())]);
    assert_eq!(session.decided().await.state, State::Failed);
    session.servers.stop().await;
    let issuer = server.url().replace("/mcp", "");
    let other = kept.replace(&format!(r#""issuer":"{issuer}""#), r#""issuer":"http://127.0.0.1:1""#);
    assert_ne!(other, kept);
    for (text, state) in [(other, State::Trusting), (kept, State::Ready)] {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let mut session = place.open_all(vec![place.far(&server.url())]);
        let status = session.decided().await;
        let found = status.found.unwrap_or_default();
        assert!(status.state == state && (state == State::Ready || found.contains("(before: http")), "{found}");
        session.servers.stop().await;
    }
}
