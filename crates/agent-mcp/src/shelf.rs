//! Tools of servers that have many: not declared, but found by searching, and declared then.
//!
//! Which are declared is decided once for each batch that comes, and what is declared stays so, in its order: what providers have cached of
//! the request holds.

use crate::Exposure;
use crate::servers::Change;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// The tools of all servers of a session, by how they are offered.
pub(crate) struct Shelf {
    kept: Mutex<Kept>,
    changes: mpsc::UnboundedSender<Change>,
}

#[derive(Default)]
struct Kept {
    /// How many tools are declared because they fit, and how much they take.
    declared: usize,
    declared_bytes: usize,
    /// Those that are found by searching, in the order in which they came.
    shelved: Vec<Shelved>,
    is_searchable: bool,
}

struct Shelved {
    tool: Arc<dyn Tool>,
    is_declared: bool,
    /// What is searched, in small letters.
    name: String,
    text: String,
}

impl Shelf {
    pub(crate) fn new(changes: mpsc::UnboundedSender<Change>) -> Arc<Self> {
        Arc::new(Self { kept: Mutex::default(), changes })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a batch of one server. Those to be declared now, and how many are found by searching.
    pub(crate) fn place(&self, exposure: Exposure, tools: Vec<Arc<dyn Tool>>) -> (Vec<Arc<dyn Tool>>, usize) {
        let mut kept = self.kept();
        let bytes: usize = tools.iter().map(|tool| size(tool.spec())).sum();
        let (count, total) = (kept.declared + tools.len(), kept.declared_bytes + bytes);
        let fits = count <= MAX_DECLARED && total <= MAX_DECLARED_BYTES;
        match exposure {
            Exposure::Hidden => (Vec::new(), 0),
            Exposure::Auto if fits => {
                (kept.declared, kept.declared_bytes) = (count, total);
                (tools, 0)
            }
            Exposure::Direct => {
                (kept.declared, kept.declared_bytes) = (count, total);
                (tools, 0)
            }
            Exposure::Auto | Exposure::Deferred => {
                let count = tools.len();
                kept.shelved.extend(tools.into_iter().map(Shelved::new));
                (Vec::new(), count)
            }
        }
    }

    /// The tool that searches, as soon as there is something to find, once.
    pub(crate) fn searching(self: &Arc<Self>) -> Option<Arc<dyn Tool>> {
        let mut kept = self.kept();
        if kept.is_searchable || kept.shelved.is_empty() {
            return None;
        }
        kept.is_searchable = true;
        drop(kept);
        Some(Arc::new(ToolSearch { spec: spec(), shelf: self.clone() }))
    }

    /// What fits a query best, and the tools of it that are not declared yet.
    fn find(&self, query: &str, limit: usize) -> (Vec<ToolSpec>, Vec<Arc<dyn Tool>>) {
        let mut kept = self.kept();
        let words: Vec<String> = words(query).collect();
        let mut found: Vec<(usize, usize)> = kept
            .shelved
            .iter()
            .enumerate()
            .map(|(index, shelved)| (shelved.fits(&words), index))
            .filter(|(score, _)| *score > 0)
            .collect();
        // The best first, and of those that are as good the first.
        found.sort_by_key(|(score, index)| (usize::MAX - score, *index));
        found.truncate(limit);
        let (mut specs, mut new) = (Vec::new(), Vec::new());
        for (_, index) in found {
            let Some(shelved) = kept.shelved.get_mut(index) else { continue };
            specs.push(shelved.tool.spec().clone());
            if !shelved.is_declared {
                shelved.is_declared = true;
                new.push(shelved.tool.clone());
            }
        }
        (specs, new)
    }

    /// Those of these names that are not declared yet, in this order: they were found before the session was resumed.
    pub(crate) fn declare(&self, names: &[&str]) -> Vec<Arc<dyn Tool>> {
        let mut kept = self.kept();
        let mut again = Vec::new();
        for name in names {
            let found = kept.shelved.iter_mut().find(|shelved| &*shelved.tool.spec().name == *name);
            if let Some(shelved) = found.filter(|shelved| !shelved.is_declared) {
                shelved.is_declared = true;
                again.push(shelved.tool.clone());
            }
        }
        again
    }

    /// All names, for a query that fits nothing.
    fn names(&self) -> String {
        let kept = self.kept();
        let names = kept.shelved.iter().map(|shelved| &*shelved.tool.spec().name);
        let shown: Vec<&str> = names.take(MAX_NAMES).collect();
        let more = kept.shelved.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        format!("{}{more}", shown.join(", "))
    }
}

impl Shelved {
    fn new(tool: Arc<dyn Tool>) -> Self {
        let (name, text) = (tool.spec().name.to_lowercase(), tool.spec().description.to_lowercase());
        Self { tool, is_declared: false, name, text }
    }

    /// How well it fits: a word in the name counts more than one in the description, a whole word more than a part of one, and the whole
    /// name more than everything.
    fn fits(&self, words: &[String]) -> usize {
        let has = |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|own| own == word);
        let is_part = |text: &str, word: &str| word.len() >= SHORTEST_PART_BYTES && text.contains(word);
        let of_word = |word: &String| match () {
            () if self.name == *word => 1_000,
            () if has(&self.name, word) => 6,
            () if is_part(&self.name, word) => 3,
            () if has(&self.text, word) => 2,
            () if is_part(&self.text, word) => 1,
            () => 0,
        };
        words.iter().map(of_word).sum()
    }
}

fn words(query: &str) -> impl Iterator<Item = String> + '_ {
    let parts = query.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    parts.filter(|word| !word.is_empty()).take(MAX_WORDS).map(str::to_lowercase)
}

fn size(spec: &ToolSpec) -> usize {
    spec.name.len() + spec.description.len() + spec.input_schema.to_string().len()
}

fn spec() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words of what the tool should do, or names of tools."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "description": "How many tools at most. Default: 5."}
        },
        "required": ["query"],
        "additionalProperties": false
    });
    ToolSpec { name: NAME.into(), description: DESCRIPTION.into(), input_schema: Arc::new(schema) }
}

struct ToolSearch {
    spec: ToolSpec,
    shelf: Arc<Shelf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    query: String,
    limit: Option<usize>,
}

fn wanted(arguments: &Arguments) -> Result<(String, usize), String> {
    let Wanted { query, limit } = arguments.read().map_err(|error| error.to_string())?;
    let limit = limit.unwrap_or(5);
    if words(&query).next().is_none() {
        return Err("`query` has no word".to_owned());
    }
    match (1..=MAX_FOUND).contains(&limit) {
        true => Ok((query, limit)),
        false => Err(format!("`limit` is not between 1 and {MAX_FOUND}")),
    }
}

#[async_trait]
impl Tool for ToolSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        wanted(arguments)?;
        Ok(Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, call: &ToolCall, _context: &ToolContext) -> ToolOutcome {
        let (query, limit) = match wanted(&call.arguments) {
            Ok(wanted) => wanted,
            Err(why) => return ToolOutcome::not_run(format!("not run: {why}")),
        };
        let (found, new) = self.shelf.find(&query, limit);
        if found.is_empty() {
            return ToolOutcome::ok(format!("no tool fits; the tools are {}", self.shelf.names()));
        }
        if !new.is_empty() {
            let (sender, declared) = oneshot::channel();
            let _ = self.shelf.changes.send(Change::Found(new, sender));
            // They are declared before this call has its result: the next request has them.
            if declared.await.is_err() {
                return ToolOutcome::failed("the tools that were found cannot be declared: the session ends");
            }
        }
        let rows: Vec<String> = found.iter().map(row).collect();
        ToolOutcome::ok(format!("These tools can be called from now on:\n{}", rows.join("\n")))
    }
}

fn row(spec: &ToolSpec) -> String {
    let line = spec.description.lines().next().unwrap_or_default();
    format!("{}: {}", spec.name, crate::text::beginning(line, MAX_ROW_BYTES))
}

const NAME: &str = "tool_search";
const DESCRIPTION: &str = "Finds further tools, of MCP servers, that are not declared yet: by words of what they do, or by their names. \
Those that are found can be called from then on. Search before you say that something cannot be done.";
/// How many tools of all servers that say nothing about it are declared, and how many bytes of names, descriptions and schemas: about
/// 12,000 tokens.
const MAX_DECLARED: usize = 40;
const MAX_DECLARED_BYTES: usize = 48 * 1024;
const MAX_FOUND: usize = 20;
/// What is shorter is a part of too many words.
const SHORTEST_PART_BYTES: usize = 3;
const MAX_NAMES: usize = 200;
const MAX_WORDS: usize = 50;
const MAX_ROW_BYTES: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(ToolSpec);

    #[async_trait]
    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn inspect(&self, _: &Arguments) -> Result<Inspection, String> {
            Err(String::new())
        }

        async fn run(&self, _: &ToolCall, _: &ToolContext) -> ToolOutcome {
            ToolOutcome::ok("")
        }
    }

    fn tools(family: &str, count: usize, description: &str) -> Vec<Arc<dyn Tool>> {
        let spec = |number| ToolSpec {
            name: format!("{family}__tool{number}").into(),
            description: description.into(),
            input_schema: Arc::new(json!({"type": "object"})),
        };
        (0..count).map(|number| Arc::new(Named(spec(number))) as Arc<dyn Tool>).collect()
    }

    fn shelf() -> Arc<Shelf> {
        Shelf::new(mpsc::unbounded_channel().0)
    }

    #[test]
    fn what_fits_is_declared_and_the_rest_is_found() {
        let shelf = shelf();
        let placed = |exposure, count, text: &str| {
            let (declared, found) = shelf.place(exposure, tools("mcp__s", count, text));
            (declared.len(), found)
        };
        assert_eq!(placed(Exposure::Auto, 30, "a"), (30, 0));
        assert!(shelf.searching().is_none(), "there is nothing to find");
        assert_eq!(placed(Exposure::Auto, 11, "a"), (0, 11), "all of a server, or none");
        assert_eq!(placed(Exposure::Auto, 10, "a"), (10, 0));
        assert_eq!(placed(Exposure::Direct, 500, "a"), (500, 0));
        assert_eq!(placed(Exposure::Auto, 1, "a"), (0, 1));
        assert_eq!(placed(Exposure::Deferred, 1, "a"), (0, 1));
        assert_eq!(placed(Exposure::Hidden, 1, "a"), (0, 0));
        assert!(shelf.searching().is_some() && shelf.searching().is_none(), "once");
        let long = "x".repeat(MAX_DECLARED_BYTES);
        assert_eq!(self::shelf().place(Exposure::Auto, tools("mcp__s", 1, &long)).1, 1);
    }

    #[test]
    fn the_best_is_found_first_and_declared_once() {
        let shelf = shelf();
        shelf.place(Exposure::Deferred, tools("mcp__mail", 3, "Sends letters."));
        shelf.place(Exposure::Deferred, tools("mcp__git", 2, "Looks at commits, sends nothing."));
        let found = |query: &str, limit| {
            let (found, new) = shelf.find(query, limit);
            (found.iter().map(|spec| spec.name.to_string()).collect::<Vec<_>>(), new.len())
        };
        assert_eq!(found("GIT commits", 5), (vec!["mcp__git__tool0".to_owned(), "mcp__git__tool1".to_owned()], 2));
        assert_eq!(
            found("mcp__mail__tool2, mcp__git__tool0", 2),
            (vec!["mcp__mail__tool2".into(), "mcp__git__tool0".into()], 1)
        );
        assert_eq!(found("sends", 9).0.len(), 5);
        assert_eq!(found("nothing-like-it", 5), (vec![], 0));
        assert_eq!(shelf.names().matches("mcp__").count(), 5);
        for bad in ["{}", r#"{"query": " .,"}"#, r#"{"query": "a", "limit": 0}"#, r#"{"query": "a", "limit": 21}"#] {
            assert!(wanted(&Arguments::parse(bad).unwrap()).is_err(), "{bad}");
        }
    }
}
