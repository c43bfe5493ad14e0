//! `agent send` and `agent stop`: an order to one agent of a session that another program runs.

use super::args::{One, Send};
use super::tree::{Tree, place_in};
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::terminal::{inline, say};
use crate::session::door::{self, MOST_BYTES, Request, Unheard};
use crate::session::kept::{failed, newest, store};
use agent_runner::journal::{SessionStore, descendant_id};
use std::io::Read as _;

/// An agent that was named.
pub(super) struct Named {
    pub(super) tree: Tree,
    pub(super) place: Vec<u32>,
}

impl Named {
    pub(super) fn id(&self) -> String {
        descendant_id(&self.tree.root, &self.place)
    }
}

/// The agent that is meant.
pub(super) fn find(one: &One) -> Result<Named, Failure> {
    let directory = working_directory(one.place.directory.as_deref())?;
    let store = store(&directory)?;
    let (start, _) = one.agent.split_once('.').unwrap_or((&one.agent, ""));
    match store.id_of(start) {
        Ok(root) => {
            // A model may name an agent like the beginning of an id, and so have what is meant for the one reach the other.
            if root != one.agent
                && let Ok(newest) = newest(&store, &directory)
                && let Some(named) = by_name(Tree::open(store.clone(), newest)?, &one.agent)?
            {
                let (name, id, root) = (inline(&one.agent), inline(&named.id()), inline(&root));
                return Err(Failure::input(format!(
                    "`{name}` is the name of the agent {id} and the beginning of the session {root}; give the whole id"
                )));
            }
            known(Tree::open(store, root)?, one)
        }
        // It may be a name. What an abbreviation means is said where it means several.
        Err(error) => match newest(&store, &directory) {
            Ok(root) => by_name(Tree::open(store, root)?, &one.agent)?.ok_or_else(|| failed(&error)),
            Err(_) => Err(failed(&error)),
        },
    }
}

fn known(tree: Tree, one: &One) -> Result<Named, Failure> {
    let place = place_in(&one.agent);
    let is_number = one.agent.split('.').skip(1).count() == place.len();
    if is_number && (tree.followed(&place).is_some() || tree.kin(&place).is_some()) {
        return Ok(Named { tree, place });
    }
    let (root, asked) = (inline(&tree.root), inline(&one.agent));
    Err(Failure::input(format!("there is no agent `{asked}`; `agent ps {root}` lists those of its session")))
}

fn by_name(tree: Tree, name: &str) -> Result<Option<Named>, Failure> {
    let places = tree.named(name);
    match places.as_slice() {
        [] => Ok(None),
        [place] => Ok(Some(Named { place: place.clone(), tree })),
        several => {
            let ids: Vec<String> = several.iter().map(|place| descendant_id(&tree.root, place)).collect();
            Err(Failure::input(format!(
                "several agents are called `{}`: {}; give the id",
                inline(name),
                ids.join(", ")
            )))
        }
    }
}

/// Sends a message to an agent; one that waits for an answer has it with that.
pub(crate) fn send(arguments: &Send) -> Result<u8, Failure> {
    let named = find(&arguments.one)?;
    let text = match arguments.words.as_slice() {
        [word] if word == "-" => typed()?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::input("the message is blank"));
    }
    tell(&named.tree.store, &named.tree.root, &Request::Say { place: named.place.clone(), text })?;
    say(&format!("sent to {}", inline(&named.id())));
    Ok(0)
}

/// Stops an agent with all that work for it.
pub(crate) fn stop(arguments: &One) -> Result<u8, Failure> {
    let named = find(arguments)?;
    tell(&named.tree.store, &named.tree.root, &Request::Stop { place: named.place.clone() })?;
    say(&format!("stopping {}", inline(&named.id())));
    Ok(0)
}

/// Asks it of the program that runs the session.
pub(super) fn tell(store: &SessionStore, root: &str, request: &Request) -> Result<(), Failure> {
    door::ask(store, root, request).map_err(|unheard| match unheard {
        Unheard::Nobody if store.is_in_use(root).unwrap_or(false) => Failure::input(format!(
            "the program that runs {0} listens to no other: it was started without `--agents`, or could not make its socket",
            inline(root)
        )),
        Unheard::Nobody => {
            let root = inline(root);
            Failure::input(format!("no program runs {root}; `agent resume {root}` continues it, with the agents below it"))
        }
        Unheard::Refused(why) => Failure::input(format!("not taken: {}", inline(&why))),
        Unheard::Failed(error) => {
            Failure::internal(format!("no answer came, so it may have been taken or not: {error}; `agent ps` shows it"))
        }
    })
}

fn typed() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| Failure::input(format!("cannot read the message from standard input: {error}")))?;
    Ok(text)
}
