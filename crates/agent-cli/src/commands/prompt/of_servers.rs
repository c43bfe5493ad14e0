//! What servers offer to a person: resources, named in a message with `@server:uri`, and prompts, `/server:prompt`.
//!
//! Both are read from the server before anything is sent. What a server gives is its own words: a resource goes along as an attached file
//! does, and a prompt is shown whole and sent once the person agrees.

use super::Screen;
use super::back::Looked;
use super::desk::Desk;
use crate::mcp::session::Mcp;
use crate::screen::attached::{MOST_BYTES_OF_ONE, MOST_BYTES_TOGETHER};
use crate::screen::counted::counted;
use crate::screen::terminal::inline;
use crate::session::pictured::mentions;
use agent_core::conversation::Attachment;
use agent_mcp::{Offer, Servers};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A line that waits for what it names.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    line: String,
    /// As it stays on the screen once it is sent.
    shown: String,
    when: When,
    what: String,
}

/// When a line goes out that is sent while the agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    WithTheNextResults,
    AfterTheTurn,
}

/// What a server gave, or why it gave nothing.
pub(super) enum Given {
    Resources(Result<Vec<Attachment>, String>),
    Prompt(Result<String, String>),
}

impl Mcp {
    /// The prompts of all servers, as they are typed, with what they are for.
    pub(super) fn prompt_lines(&self) -> Vec<String> {
        let line = |server: &str, offer: &Offer| {
            let word = |(name, is_needed): &(String, bool)| {
                if *is_needed { name.to_uppercase() } else { format!("[{}]", name.to_uppercase()) }
            };
            let arguments: Vec<String> = offer.arguments.iter().map(word).collect();
            let usage = format!("/{server}:{} {}", offer.name, arguments.join(" "));
            inline(&format!("{}  {} (of the server)", usage.trim_end(), offer.description))
        };
        let all = self.offers.values().flat_map(|offers| offers.prompts.iter().map(|offer| (&offers.server, offer)));
        let typed = all.filter(|(_, offer)| is_typed(offer));
        typed.map(|(server, offer)| line(server, offer)).take(MOST_LISTED).collect()
    }

    /// A server and the rest of a name that begins with its own: `files:docs://intro`.
    fn named<'a>(&self, name: &'a str) -> Option<(String, &'a str)> {
        let (server, rest) = name.split_once(':')?;
        let is_known = self.servers.statuses().iter().any(|(config, _)| config.name == server && config.is_enabled);
        (is_known && !rest.is_empty()).then(|| (server.to_owned(), rest))
    }
}

/// The server, the prompt and the rest of a line `/server:prompt …`.
pub(super) fn prompt_named<'a>(mcp: Option<&Mcp>, line: &'a str) -> Option<(String, &'a str, &'a str)> {
    let text = line.strip_prefix('/')?;
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (server, prompt) = mcp?.named(name)?;
    Some((server, prompt, argument.trim()))
}

impl Screen {
    /// Reads the resources that a line names, if it names any, and sends the line then. Returns whether it does.
    pub(super) fn reads_first(&mut self, line: &str, shown: &str, is_for_later: bool) -> bool {
        let Some(mcp) = self.mcp.as_ref().filter(|_| self.desk.is_some()) else { return false };
        let named: Vec<(String, String, String)> = mentions(line)
            .into_iter()
            .filter_map(|name| mcp.named(&name).map(|(server, uri)| (server, uri.to_owned(), name.clone())))
            .take(MOST_RESOURCES)
            .collect();
        if named.is_empty() {
            return false;
        }
        let when = if is_for_later { When::AfterTheTurn } else { When::WithTheNextResults };
        let servers = mcp.servers.clone();
        let what = named.iter().map(|(_, _, name)| format!("@{}", inline(name))).collect::<Vec<_>>().join(", ");
        let pending = Pending { line: line.to_owned(), shown: shown.to_owned(), when, what };
        self.wait_for(pending, async move { Given::Resources(read(&servers, named).await) });
        true
    }

    /// Has a server make a text of a prompt.
    pub(super) fn use_prompt(&mut self, line: &str, (server, name, typed): (String, String, String)) {
        let Some(mcp) = self.mcp.as_ref().filter(|_| self.desk.is_some()) else {
            return self.not_done(line, "not sent: a server's prompt is agreed to with a key, in the line editor");
        };
        let offers = mcp.offers.get(&server).map(|offers| offers.prompts.as_slice()).unwrap_or_default();
        let arguments = match offers.iter().find(|offer| offer.name == name) {
            Some(offer) => given(offer, &typed),
            // It is not known yet what it is to be given, or the server has no such prompt, which it says.
            None => Ok(Map::new()),
        };
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(why) => return self.not_done(line, &inline(&why)),
        };
        let servers = mcp.servers.clone();
        let what = format!("/{}", inline(&format!("{server}:{name}")));
        let pending = Pending { line: line.to_owned(), shown: String::new(), when: When::WithTheNextResults, what };
        self.wait_for(pending, async move { Given::Prompt(servers.prompt(&server, &name, arguments).await) });
    }

    fn wait_for(&mut self, pending: Pending, work: impl Future<Output = Given> + Send + 'static) {
        if self.desk.as_ref().is_some_and(|desk| desk.looking.is_some()) {
            return self.not_done(&pending.line, "not sent: another one is still being read");
        }
        self.look(tokio::spawn(async move { Looked::OfServer(work.await) }));
        if let Some(desk) = &mut self.desk {
            desk.pending = Some(pending);
        }
    }

    /// The server has given what a line waited for, or will not.
    pub(super) fn given(&mut self, given: Given) {
        let Some(pending) = self.desk.as_mut().and_then(|desk| desk.pending.take()) else { return };
        match given {
            Given::Resources(Ok(resources)) => {
                self.read_resources = resources;
                let Pending { line, shown, when, .. } = pending;
                self.sent_read(&line, shown, when == When::AfterTheTurn);
                self.read_resources.clear();
            }
            Given::Prompt(Ok(text)) if text.len() > MOST_BYTES_OF_ONE => {
                let told = format!("not sent: {} is longer than {MOST_BYTES_OF_ONE} bytes", pending.what);
                self.not_done(&pending.line, &told);
            }
            Given::Prompt(Ok(text)) => {
                // It is of the server's words: it is seen before it is sent.
                self.offer_text(&format!("{} is a prompt of the server", pending.what), text);
            }
            Given::Resources(Err(why)) | Given::Prompt(Err(why)) => {
                self.not_done(&pending.line, &inline(&format!("not sent: {}: {why}", pending.what)));
            }
        }
    }

    /// Nothing is waited for any more: the line stands there again. Returns whether something was.
    pub(super) fn stop_reading(&mut self) -> bool {
        let pending = self.desk.as_mut().and_then(Desk::stop_reading);
        let Some(pending) = pending else { return false };
        self.not_done(&pending.line, &format!("not sent: {} was not waited for", pending.what));
        true
    }

    /// What the servers offer can be completed.
    pub(super) fn know_offers(&mut self) {
        let (Some(mcp), Some(desk)) = (&self.mcp, &mut self.desk) else { return };
        let of = |sign: char, server: &str, offers: &[Offer]| {
            offers
                .iter()
                .filter(|offer| is_typed(offer))
                .map(|offer| format!("{sign}{server}:{}", offer.name))
                .collect::<Vec<_>>()
        };
        let all = mcp.offers.values().flat_map(|offers| {
            [of('@', &offers.server, &offers.resources), of('/', &offers.server, &offers.prompts)].concat()
        });
        desk.editor.know_offers(all.collect());
    }

    /// The row about what is waited for.
    pub(super) fn pending_row(&self) -> Option<String> {
        let pending = self.desk.as_ref()?.pending.as_ref()?;
        Some(format!("reading {} before the message is sent · Esc stops", pending.what))
    }
}

impl Desk {
    fn stop_reading(&mut self) -> Option<Pending> {
        let pending = self.pending.take()?;
        self.looking.take().iter().for_each(tokio::task::JoinHandle::abort);
        Some(pending)
    }
}

/// Whether a person can type its name.
fn is_typed(offer: &Offer) -> bool {
    !offer.name.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// All of them, or why one cannot be had: half of what a message is about would be another message.
async fn read(servers: &Arc<Servers>, named: Vec<(String, String, String)>) -> Result<Vec<Attachment>, String> {
    let (mut read, mut left) = (Vec::new(), MOST_BYTES_TOGETHER);
    for (server, uri, name) in named {
        let text = servers.resource(&server, &uri).await.map_err(|why| format!("{name}: {why}"))?;
        let (text, part) = cut(text, left.min(MOST_BYTES_OF_ONE));
        if text.is_empty() {
            return Err(format!("{name}: there is no room for it in a message, or it is one line that is too long"));
        }
        left = left.saturating_sub(text.len());
        read.push(Attachment { name: inline(&name).into(), part: part.into(), text });
    }
    Ok(read)
}

/// The lines that there is room for, and that they are not all.
fn cut(mut text: String, most: usize) -> (String, String) {
    if text.len() <= most {
        return (text, String::new());
    }
    // Whole lines only: a secret of which a part is cut off would not be known for one any more.
    let end = text.get(..text.floor_char_boundary(most)).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    text.truncate(end);
    let part = format!("the first {}", counted(text.lines().count() as u64, "line"));
    (text, part)
}

/// What was typed behind a prompt's name, by the names that the server gave: `name=value`, or in their order; the last one takes the rest.
fn given(offer: &Offer, typed: &str) -> Result<Map<String, Value>, String> {
    let (mut given, mut words) = (Map::new(), typed);
    while let Some((name, rest)) = words.split_once('=')
        && offer.arguments.iter().any(|(known, _)| known == name)
    {
        let ends = |at: &usize| {
            offer.arguments.iter().any(|(known, _)| rest[*at..].trim_start().starts_with(&format!("{known}=")))
        };
        let end = rest.match_indices(' ').map(|(at, _)| at).find(ends).unwrap_or(rest.len());
        given.insert(name.to_owned(), rest[..end].trim().into());
        words = rest[end..].trim_start();
    }
    let mut open = offer.arguments.iter().filter(|(name, _)| !given.contains_key(name)).peekable();
    let mut more = Map::new();
    while let (Some((name, _)), false) = (open.next(), words.is_empty()) {
        let (word, rest) = match open.peek() {
            Some(_) => words.split_once(char::is_whitespace).unwrap_or((words, "")),
            None => (words, ""),
        };
        more.insert(name.clone(), word.into());
        words = rest.trim_start();
    }
    given.extend(more);
    if !words.is_empty() {
        return Err(format!(
            "not sent: {} takes no more than {}",
            offer.name,
            counted(offer.arguments.len() as u64, "argument")
        ));
    }
    let missing = offer.arguments.iter().filter(|(name, is_needed)| *is_needed && !given.contains_key(name));
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    if missing.is_empty() { Ok(given) } else { Err(format!("not sent: {} needs {}", offer.name, missing.join(", "))) }
}

const MOST_RESOURCES: usize = 20;
/// Of prompts in the help.
const MOST_LISTED: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_typed_behind_a_prompt_is_what_it_is_given() {
        let arguments = vec![("code".to_owned(), true), ("style".to_owned(), false)];
        let offer = Offer { name: "review".to_owned(), arguments, ..Offer::default() };
        let of = |typed: &str| given(&offer, typed).map(Value::Object);
        assert_eq!(of("a.rs").unwrap(), json!({"code": "a.rs"}));
        assert_eq!(of("a.rs short and kind").unwrap(), json!({"code": "a.rs", "style": "short and kind"}));
        assert_eq!(of("style=short and kind code=a b").unwrap(), json!({"code": "a b", "style": "short and kind"}));
        assert_eq!(of("style=short a.rs"), Err("not sent: review needs code".to_owned()));
        assert_eq!(of("x=1").unwrap(), json!({"code": "x=1"}));
        assert_eq!(of(""), Err("not sent: review needs code".to_owned()));
        let none = Offer { name: "hello".to_owned(), ..Offer::default() };
        assert_eq!(given(&none, "you"), Err("not sent: hello takes no more than 0 arguments".to_owned()));
    }

    #[test]
    fn a_long_resource_is_cut_at_a_line() {
        assert_eq!(cut("a\nb".to_owned(), 10), ("a\nb".to_owned(), String::new()));
        assert_eq!(cut("aaaa\nbbbb\ncccc".to_owned(), 11), ("aaaa\nbbbb\n".to_owned(), "the first 2 lines".to_owned()));
        assert_eq!(cut("aaaaaaaaaaaaaa".to_owned(), 11).0, "");
    }
}
