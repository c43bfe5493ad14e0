//! What the program gives to the connection: the way to open sessions, and what is known of calls and messages.

use crate::content::Prompt;
use crate::wire::RpcError;
use agent_core::conversation::{Item, ToolCall, UserMessage};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, PermissionMode, Rule};
use agent_core::ports::Approver;
use agent_core::session::SessionConfig;
use agent_runner::{Handle, Notices, Runner};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Takes the lines for the client, whole and in order. It must not wait: who makes much waits elsewhere for room.
pub trait Output: Send + Sync {
    /// Takes a line with its end.
    fn line(&self, line: &str);

    /// Whether the client keeps up. What can be left out, or told later together with more, waits until it does.
    fn has_room(&self) -> bool;
}

/// The program around the connection.
#[async_trait]
pub trait Host: Send + Sync {
    /// Name, title and version, for the client.
    fn about(&self) -> [&str; 3];

    /// What the person does to give the agent a key, in a sentence.
    fn how_to_authenticate(&self) -> String;

    /// Whether there is a key now, and everything else that a session needs to begin.
    ///
    /// # Errors
    /// [`RpcError::authentication`] with what to do.
    async fn authenticate(&self) -> Result<(), RpcError>;

    /// Opens a new session, or one that was kept.
    ///
    /// # Errors
    /// Why it cannot be had: it is not there, another program has it, the configuration is wrong, there is no key.
    async fn open(&self, wanted: Wanted, approver: Arc<dyn Approver>) -> Result<Opened, RpcError>;

    /// Sessions that were kept, the last written first: those of a directory, or all; so many at most, after so many others.
    ///
    /// # Errors
    /// When they cannot be looked for.
    async fn list(&self, directory: Option<PathBuf>, after: usize, most: usize) -> Result<Vec<Listed>, RpcError>;

    /// Removes a session that was kept. One that is not there is removed already.
    ///
    /// # Errors
    /// When another program has it, or it cannot be removed.
    async fn delete(&self, id: String) -> Result<(), RpcError>;
}

/// The session that a client wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where it works; absolute, and a directory.
    pub directory: PathBuf,
    /// The session that goes on, or a new one.
    pub id: Option<String>,
    /// Whether what was said in it is told again.
    pub has_history: bool,
    /// Servers of tools that the client names.
    pub servers: Vec<McpServer>,
}

/// A server of the Model Context Protocol that a client names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// What is started or asked.
    pub reach: McpReach,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpReach {
    /// A program, on its standard input and output.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        env: Vec<(String, String)>,
    },
    /// Over HTTP.
    Url {
        /// Where it is.
        url: String,
        /// What goes with each request.
        headers: Vec<(String, String)>,
    },
}

/// A session that is ready to run.
pub struct Opened {
    /// Its id.
    pub id: String,
    /// Drives it.
    pub runner: Runner,
    /// The end for sending.
    pub handle: Handle,
    /// The end for listening.
    pub notices: Notices,
    /// What was said in it, where that was wanted.
    pub history: Vec<Arc<Item>>,
    /// What is known of its calls.
    pub insight: Arc<dyn Insight>,
    /// What else belongs to it.
    pub live: Box<dyn Live>,
}

/// What is known of the calls of a session. It may look at files, and must not wait for anyone.
pub trait Insight: Send + Sync {
    /// What a call is about, from its arguments alone.
    fn about(&self, call: &ToolCall) -> About;

    /// What the call would make of the files as they are; empty where that cannot be shown.
    fn changes(&self, call: &ToolCall) -> Vec<Change>;

    /// The list of what is to be done that a call writes down, if it does.
    fn plan(&self, call: &ToolCall) -> Option<Vec<PlanEntry>>;

    /// The rules that a person is offered for a question; none where no rule can name the call.
    fn offered(&self, question: &ApprovalQuestion) -> Vec<Rule>;

    /// Keeps rules for sessions to come, and gives the answer that holds then: where they cannot be kept, one for this session.
    /// What the person has to know of it comes with it.
    fn keeping(&self, rules: Vec<Rule>) -> (ApprovalAnswer, Option<String>);
}

/// What else belongs to a session.
#[async_trait]
pub trait Live: Send {
    /// The message of a prompt.
    ///
    /// # Errors
    /// Why it is not sent: a picture that the model does not take, for instance.
    fn message(&mut self, prompt: Prompt, config: &SessionConfig) -> Result<UserMessage, RpcError>;

    /// The commands that a message may begin with.
    fn commands(&self) -> Vec<Command>;

    /// The permission modes that the person may choose.
    fn modes(&self) -> Vec<PermissionMode>;

    /// The models that the person may choose, the present one included; each an id.
    fn models(&self, config: &SessionConfig) -> Vec<String>;

    /// The efforts that the present model knows, and which of them holds.
    fn efforts(&self, config: &SessionConfig) -> (Vec<String>, String);

    /// The configuration with another model.
    ///
    /// # Errors
    /// Why it cannot be.
    fn with_model(&mut self, config: &SessionConfig, model: &str) -> Result<SessionConfig, RpcError>;

    /// The configuration with another effort.
    ///
    /// # Errors
    /// Why it cannot be.
    fn with_effort(&mut self, config: &SessionConfig, effort: &str) -> Result<SessionConfig, RpcError>;

    /// A turn begins.
    fn turn_began(&mut self);

    /// The agent rests.
    fn at_rest(&mut self, handle: &Handle);

    /// Waits for something that the person has to know which does not come from the session. Dropping the wait loses nothing.
    async fn told(&mut self, handle: &Handle, rests: bool) -> Told;

    /// The runner has ended: so does everything else that belongs to the session.
    async fn end(&mut self);
}

/// What does not come from the session.
#[derive(Debug)]
pub enum Told {
    /// A line that the person has to know.
    Said(String),
    /// Somebody else asks the person.
    Asked(Elicitation),
}

/// A question of somebody else to the person, such as a server of tools.
#[derive(Debug)]
pub struct Elicitation {
    /// Who asks what: text of others is in it.
    pub message: String,
    /// What is wanted.
    pub wants: Wants,
    /// Where the answer goes. Whoever asks waits no longer where this is closed.
    pub answer: oneshot::Sender<Elicited>,
}

/// What is wanted of the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Wants {
    /// Values that fit this JSON schema of an object.
    Form(Value),
    /// That the person goes to this address.
    Visit(String),
}

/// What the person said.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicited {
    /// These values; none where an address was shown.
    Accepted(Map<String, Value>),
    /// No.
    Declined,
    /// Nothing: it was dismissed, or the client has no way to ask.
    Cancelled,
}

/// What a call is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// For people, in one line.
    pub title: String,
    /// What kind of thing it does.
    pub kind: Kind,
    /// The files that it is about: absolute, with the line where it has one.
    pub locations: Vec<(String, Option<u32>)>,
}

/// What kind of thing a call does, in the protocol's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// It reads.
    Read,
    /// It changes files.
    Edit,
    /// It searches.
    Search,
    /// It runs a command.
    Execute,
    /// It notes what is thought.
    Think,
    /// Anything else.
    #[default]
    Other,
}

impl Kind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Other => "other",
        }
    }
}

/// A file as it is and as a call makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Absolute.
    pub path: String,
    /// Its text; nothing where it is new.
    pub old: Option<String>,
    /// Its text afterwards; empty where it is removed.
    pub new: String,
}

/// Something that is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// What.
    pub content: String,
    /// How far it is: `pending`, `in_progress` or `completed`.
    pub status: &'static str,
}

/// A command that a message may begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Behind the `/`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow; empty where nothing is.
    pub hint: String,
}

/// A session that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Where it works.
    pub directory: PathBuf,
    /// Its name, or how it begins.
    pub title: Option<String>,
    /// When it was last written, as RFC 3339 has it.
    pub updated: String,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Output;
    use std::sync::Mutex;

    /// Keeps what is written.
    #[derive(Default)]
    pub(crate) struct Written(Mutex<Vec<String>>);

    impl Written {
        pub(crate) fn all(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Output for Written {
        fn line(&self, line: &str) {
            assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
            self.0.lock().unwrap().push(line.to_owned());
        }

        fn has_room(&self) -> bool {
            true
        }
    }
}
