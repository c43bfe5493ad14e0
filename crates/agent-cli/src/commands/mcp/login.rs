//! `agent mcp login` and `logout`: the person logs in at a server in a browser, wherever that runs, and the tokens are kept.

use super::{Here, is_agreed};
use crate::commands::mcp::args::{Login, Logout};
use crate::failure::Failure;
use crate::mcp::launch::{account, reach};
use crate::mcp::{logins, place_of};
use crate::model::secrets;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, say};
use agent_mcp::{Account, Begun, Identity, LoginError, Reach, Record, Redirect, ServerConfig, Servers, plain};
use std::io::{IsTerminal as _, stdin};
use std::time::Duration;
use tokio::sync::mpsc;

pub(super) async fn login(arguments: Login) -> Result<u8, Failure> {
    let here = Here::find(arguments.directory).await?;
    let server = here.server(&arguments.name)?;
    let name = inline(&server.name);
    let (account, port) = account_of(&here, server)?;
    let redirect = Redirect::bind(port).await.map_err(|error| {
        Failure::input(format!("cannot listen on this machine for the answer to the login: {error}"))
    })?;
    let begun = account.begin(redirect.address(), &arguments.scope).await.map_err(|error| failed(&name, &error))?;
    let issuer = plain(&begun.issuer);
    let known = Servers::known(server, &here.root, &here.store);
    if let Some(before) =
        known.as_ref().and_then(|known| issuer_of(&known.identity)).filter(|before| *before != begun.issuer)
    {
        let before = inline(&plain(&before));
        say(&format!(
            "agent: the tokens for {name} came from {before} before, and would come from {}",
            inline(&issuer)
        ));
        if !arguments.yes && !is_agreed("agent: log in there?")? {
            say("agent: not logged in");
            return Ok(1);
        }
    }
    let scopes = if begun.scopes.is_empty() { String::new() } else { format!(" for {}", begun.scopes.join(" ")) };
    say(&format!("agent: log in at {}{}: open this address in your browser", inline(&issuer), inline(&scopes)));
    say(&inline(&begun.address));
    let answer = answer(redirect, &begun).await?;
    let login = begun.finish(&account, &answer).await.map_err(|error| failed(&name, &error))?;
    secrets::learn(&login.secrets());
    say(&format!("agent: logged in to {name}"));
    take_in(&here, server, known.as_ref()).await
}

/// The answer of the authorization server, from the browser or pasted by the person.
async fn answer(redirect: Redirect, begun: &Begun) -> Result<String, Failure> {
    let awaited = redirect.address().to_owned();
    let mut pasted = lines();
    match stdin().is_terminal() {
        true => say(&format!(
            "agent: waiting for the answer at {awaited}; if your browser runs on another machine, paste the address here at which it ends"
        )),
        false => say(&format!("agent: waiting for the answer at {awaited}")),
    }
    let from_browser = redirect.answer(begun.state());
    tokio::pin!(from_browser);
    let late = tokio::time::sleep(PATIENCE);
    tokio::pin!(late);
    loop {
        tokio::select! {
            answer = &mut from_browser => {
                return answer.map_err(|error| Failure { code: 1, message: format!("cannot take the answer to the login: {error}") });
            }
            Some(line) = pasted.recv() => {
                if begun.is_answer(&line) {
                    return Ok(line);
                }
                say("agent: this is not the address at which the login ends");
            }
            () = &mut late => {
                let message = format!("no answer to the login came within {} minutes", PATIENCE.as_secs() / 60);
                return Err(Failure { code: 1, message });
            }
        }
    }
}

/// What the person types, line by line. The thread ends with the program.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    if stdin().is_terminal() {
        std::thread::spawn(move || {
            for line in stdin().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    lines
}

/// Tries the server with the login, and records what it has, where nothing but the login is new.
async fn take_in(here: &Here, server: &ServerConfig, known: Option<&Record>) -> Result<u8, Failure> {
    let tried = here.tried(server).await?;
    let name = inline(&server.name);
    let tools = counted(tried.record.tools.len() as u64, "tool");
    let is_as_known = known.is_none_or(|known| {
        let issuer = issuer_of(&tried.record.identity);
        known.tools == tried.record.tools && known.identity.clone().with_issuer(issuer) == tried.record.identity
    });
    if !is_as_known {
        say(&format!("agent: {name} is not as it was trusted: `agent mcp review {name}` shows what changed"));
        return Ok(0);
    }
    Servers::trust(server, &here.root, &here.store, &tried.record)
        .map_err(|error| Failure::internal(format!("cannot keep what is trusted of the server: {error}")))?;
    say(&format!("agent: {name} has {tools}"));
    Ok(0)
}

pub(super) async fn logout(arguments: Logout) -> Result<u8, Failure> {
    let here = Here::find(arguments.directory).await?;
    let server = here.server(&arguments.name)?;
    let name = inline(&server.name);
    let logins = logins().ok_or_else(no_home)?;
    let had = logins.forget(&place_of(server, &here.root), &server.name);
    match had.map_err(|error| Failure::internal(format!("cannot remove the login: {error}")))? {
        true => say(&format!(
            "agent: the login at {name} is removed here; the server may let its tokens live until they run out"
        )),
        false => say(&format!("agent: there was no login at {name}")),
    }
    Ok(0)
}

fn account_of(here: &Here, server: &ServerConfig) -> Result<(Account, Option<u16>), Failure> {
    let name = inline(&server.name);
    let reach =
        reach(server).map_err(|found| Failure::input(format!("cannot log in to {name}: {}", inline(&found))))?;
    let Reach::Url(endpoint) = reach else {
        return Err(Failure::input(format!("the MCP server {name} is a program: one logs in to servers at a URL")));
    };
    logins().ok_or_else(no_home)?;
    let account = account(server, &endpoint, &here.root).ok_or_else(|| {
        Failure::input(format!(
            "cannot log in to {name}: its entry says already who asks (a user in its `url`, or an `Authorization` header), or a token \
             would go unencrypted to another machine"
        ))
    })?;
    Ok((account, endpoint.login.callback_port))
}

fn issuer_of(identity: &Identity) -> Option<String> {
    identity.url.as_ref().and_then(|url| url.issuer.clone())
}

fn failed(name: &str, error: &LoginError) -> Failure {
    Failure { code: 1, message: format!("cannot log in to {name}: {}", inline(&plain(&error.to_string()))) }
}

fn no_home() -> Failure {
    Failure::config("cannot keep logins: there is no home directory; set AGENT_STATE_HOME")
}

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);
