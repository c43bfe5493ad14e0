//! Tools as the session sees them: what they offer, what a call would do, and its result.

mod walls;

pub use walls::{DOORS, Door, Opening, PlaceMark, Walls};

use crate::conversation::{CallId, ToolCall};
use crate::hook::HookReport;
use crate::instructions::Instructions;
use crate::picture::Picture;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A tool as it is offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name by which the model calls it.
    pub name: Arc<str>,
    /// What it does and when to use it, for the model.
    pub description: Arc<str>,
    /// JSON schema of its arguments, an object schema. One that is nested deeper than [`MAX_SCHEMA_DEPTH`](Self::MAX_SCHEMA_DEPTH) cannot
    /// be written, because it could not be read back.
    #[serde(serialize_with = "readable")]
    pub input_schema: Arc<Value>,
}

impl ToolSpec {
    /// How deep objects and arrays of a schema may lie in each other. Readers of JSON bound that, and a record lies around the schema.
    pub const MAX_SCHEMA_DEPTH: usize = 100;
}

fn readable<S: Serializer>(schema: &Arc<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    if is_nested_within(schema, ToolSpec::MAX_SCHEMA_DEPTH) {
        return schema.serialize(serializer);
    }
    let most = ToolSpec::MAX_SCHEMA_DEPTH;
    Err(S::Error::custom(format!(
        "write the schema of a tool: it is nested deeper than {most} levels and could not be read back"
    )))
}

/// Goes no deeper than it has to.
fn is_nested_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => depth > 0 && fields.values().all(|field| is_nested_within(field, depth - 1)),
        Value::Array(values) => depth > 0 && values.iter().all(|value| is_nested_within(value, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Whether a call may change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// It only reads; it may run beside other reading calls and be repeated after a crash.
    Reads,
    /// It may change something; it runs alone and is never repeated by itself.
    Changes,
}

/// What a tool says about a call before it runs: facts, from which the session's policy decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// Whether it may change anything.
    pub effect: Effect,
    /// What it is about, for rules and for the person who is asked.
    pub subject: Subject,
}

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Subject {
    /// Nothing that rules could name.
    None,
    /// Files or directories, relative to the workspace, of a tool that belongs to no family.
    Paths(Vec<String>),
    /// Files or directories, and what rules may call the tool that is about them.
    Files {
        /// Relative to the workspace. A tool that goes through what is below a directory names the directory, and leaves out what its
        /// [exclusions](crate::ports::ToolContext::exclusions) cover.
        paths: Vec<String>,
        /// The families to which the tool belongs, such as `read`: a rule for one of them is a rule for this tool.
        families: Vec<String>,
        /// Other tools and families that do with a file what this one does, or part of it: a deny rule that names one of them and files
        /// holds for this tool, too.
        akin: Vec<String>,
    },
    /// A shell command.
    Command {
        /// The command as the model wrote it.
        text: String,
        /// The plain commands it consists of, or `None` if it is not known to consist of plain commands only.
        plain: Option<Vec<String>>,
        /// Whether one of them changes where or how later ones run, as `cd` does: rules that name them one by one do not cover that.
        #[serde(default, skip_serializing_if = "is_false")]
        carries_over: bool,
        /// What makes it more than a command that reads, as a sentence for the person who is asked, where the tool can name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beyond_reading: Option<String>,
        /// How it stands to the sandbox.
        #[serde(default, skip_serializing_if = "Walls::is_usual")]
        walls: Walls,
    },
}

impl Subject {
    /// A shell command in which each plain command means the same as on its own.
    #[must_use]
    pub const fn command(text: String, plain: Option<Vec<String>>) -> Self {
        Self::Command { text, plain, carries_over: false, beyond_reading: None, walls: Walls::Usual }
    }

    /// What of the sandbox it asks to have opened.
    #[must_use]
    pub fn opening(&self) -> Option<&Opening> {
        match self {
            Self::Command { walls: Walls::Opened(opening), .. } => Some(opening),
            Self::Command { .. } | Self::None | Self::Paths(_) | Self::Files { .. } => None,
        }
    }

    /// The files or directories that the call is about.
    #[must_use]
    pub fn paths(&self) -> Option<&[String]> {
        match self {
            Self::Paths(paths) | Self::Files { paths, .. } => Some(paths),
            Self::None | Self::Command { .. } => None,
        }
    }

    /// Its parts as subjects of their own: each path, or each plain command. `None` if it cannot be taken apart.
    #[must_use]
    pub fn parts(&self) -> Option<Vec<Self>> {
        match self {
            Self::Paths(paths) => Some(paths.iter().map(|path| Self::Paths(vec![path.clone()])).collect()),
            Self::Files { paths, families, akin } => {
                let alone = |path: &String| Self::Files {
                    paths: vec![path.clone()],
                    families: families.clone(),
                    akin: akin.clone(),
                };
                Some(paths.iter().map(alone).collect())
            }
            Self::Command { text, plain: Some(plain), carries_over: false, beyond_reading, walls } => {
                let alone = |command: &String| Self::Command {
                    text: text.clone(),
                    plain: Some(vec![command.clone()]),
                    carries_over: false,
                    beyond_reading: beyond_reading.clone(),
                    walls: walls.clone(),
                };
                Some(plain.iter().map(alone).collect())
            }
            Self::None | Self::Command { .. } => None,
        }
    }

    /// Whether the tool says that it belongs to a family.
    #[must_use]
    pub fn is_of(&self, family: &str) -> bool {
        matches!(self, Self::Files { families, .. } if families.iter().any(|known| known == family))
    }

    /// Whether the tool says that it does what this tool or family does.
    #[must_use]
    pub fn is_akin(&self, name: &str) -> bool {
        matches!(self, Self::Files { akin, .. } if akin.iter().any(|known| known == name))
    }

    /// Whether it may show files that it does not name, as this tool or family shows files.
    #[must_use]
    pub fn may_show_like(&self, name: &str) -> bool {
        matches!(self, Self::Command { walls: Walls::Reading { akin }, .. } if akin.iter().any(|known| known == name))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The driver's report about one call of an answer, in `ToolsPrepared`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFacts {
    /// The call.
    pub call: CallId,
    /// What is known about it.
    pub finding: Finding,
    /// What the user's hooks say about it.
    pub verdict: HookVerdict,
    /// What else those hooks produced, if any ran: their runs, text for the model, changed arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<HookReport>>,
    /// Why the call would fail as things are, for the model, where the tool can foresee that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreseen: Option<String>,
}

impl CallFacts {
    /// Facts about a call for which no hook ran.
    #[must_use]
    pub const fn new(call: CallId, finding: Finding) -> Self {
        Self { call, finding, verdict: HookVerdict::None, hooks: None, foreseen: None }
    }
}

/// What the driver found out about a call before running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// The tool exists and takes these arguments.
    Runnable(Inspection),
    /// There is no such tool. The message tells the model which there are.
    UnknownTool {
        /// For the model.
        message: String,
    },
    /// The tool does not take these arguments. The message tells the model how to correct the call.
    InvalidArguments {
        /// For the model.
        message: String,
    },
}

/// What the user's hooks say about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookVerdict {
    /// Nothing: the permission policy decides.
    #[default]
    None,
    /// It may run without asking. This answers a question of the policy; what a deny rule or the mode forbids stays forbidden.
    Allow {
        /// Why, for the trace.
        reason: String,
    },
    /// The user must be asked.
    Ask {
        /// Why, for that person.
        reason: String,
    },
    /// It must not run.
    Deny {
        /// Why, for the model.
        reason: String,
    },
}

impl HookVerdict {
    /// Whether it says nothing.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Of two verdicts the one that counts: a denial before a question, that before a permission. Of two alike the first.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    const fn strictness(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Allow { .. } => 1,
            Self::Ask { .. } => 2,
            Self::Deny { .. } => 3,
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// How it ended.
    pub status: ToolStatus,
    /// What the model reads; may be empty.
    pub content: String,
    /// Files it changed or may have changed, relative to the workspace. A command that could have changed anything names none.
    pub changed_paths: Vec<String>,
    /// What the model sees with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Files that instruct agents, found where the call read, changed or listed something. The session decides whether the model is given
    /// their texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<Instructions>,
}

impl ToolOutcome {
    /// A call that did what it should.
    pub fn ok(content: impl Into<String>) -> Self {
        Self::new(ToolStatus::Ok, content.into())
    }

    /// A call that failed; the content says why.
    pub fn failed(content: impl Into<String>) -> Self {
        Self::new(ToolStatus::Failed, content.into())
    }

    /// A call that was stopped, or whose end is unknown.
    pub fn interrupted(content: impl Into<String>) -> Self {
        Self::new(ToolStatus::Interrupted, content.into())
    }

    /// A call that never began.
    pub fn not_run(why: impl Into<String>) -> Self {
        Self::new(ToolStatus::NotRun, why.into())
    }

    fn new(status: ToolStatus, content: String) -> Self {
        Self { status, content, changed_paths: Vec::new(), pictures: Vec::new(), instructions: Vec::new() }
    }

    /// The same outcome with pictures for the model.
    #[must_use]
    pub fn with_pictures(mut self, pictures: Vec<Picture>) -> Self {
        self.pictures = pictures;
        self
    }

    /// The same outcome with instructions that were found.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Vec<Instructions>) -> Self {
        self.instructions = instructions;
        self
    }

    /// The same outcome with the files that were changed.
    #[must_use]
    pub fn with_changed_paths(mut self, paths: Vec<String>) -> Self {
        self.changed_paths = paths;
        self
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolStatus {
    /// It did what it should.
    Ok,
    /// It failed, perhaps after having changed something.
    Failed,
    /// It was stopped, or the program ended while it ran: its effect is unknown.
    Interrupted,
    /// It never started, and the content says why. Hooks that run after calls do not see it.
    NotRun,
}

/// A tool that ran, as the hooks after it see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RanTool {
    /// The call.
    pub call: CallId,
    /// Name of the tool.
    pub name: Arc<str>,
    /// Whether it may have changed something.
    pub effect: Effect,
    /// How it ended.
    pub status: ToolStatus,
}

impl RanTool {
    /// A call that ran.
    #[must_use]
    pub fn new(call: &ToolCall, effect: Effect, status: ToolStatus) -> Self {
        Self { call: call.id.clone(), name: call.name.clone(), effect, status }
    }
}

#[cfg(test)]
mod tests {
    use super::{HookVerdict, ToolSpec};
    use alloc::boxed::Box;
    use alloc::string::{String, ToString};
    use alloc::sync::Arc;
    use alloc::vec;
    use serde_json::{Value, json};

    fn spec(input_schema: Value) -> ToolSpec {
        ToolSpec { name: "t".into(), description: "d".into(), input_schema: Arc::new(input_schema) }
    }

    #[test]
    fn numbers_of_a_schema_come_back_as_they_were() {
        for number in [1_002.000_000_000_000_2, 0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX, 9_007_199_254_740_993.0] {
            let spec = spec(json!({ "minimum": number }));
            let kept = serde_json::to_string(&spec).unwrap();
            assert_eq!(serde_json::from_str::<ToolSpec>(&kept).unwrap(), spec, "{kept}");
        }
    }

    #[test]
    fn a_schema_that_could_not_be_read_back_is_not_written() {
        let around = |inner| Value::Object([("not".to_string(), inner)].into_iter().collect());
        let nested = |depth| (0..depth).fold(Value::Bool(true), |inner, _| around(inner));
        let deepest = serde_json::to_string(&spec(nested(ToolSpec::MAX_SCHEMA_DEPTH))).unwrap();
        assert!(serde_json::from_str::<ToolSpec>(&deepest).is_ok());
        for depth in [ToolSpec::MAX_SCHEMA_DEPTH + 1, 500] {
            let schema = nested(depth);
            let told = serde_json::to_string(&spec(schema)).unwrap_err().to_string();
            assert!(told.contains("nested deeper than 100 levels"), "{told}");
        }
        let lists = (0..101).fold(Value::Null, |inner, _| Value::Array([inner].into()));
        assert!(serde_json::to_string(&spec(lists)).is_err());
    }

    /// What journals of other versions hold.
    #[test]
    fn a_command_is_kept_with_its_walls_and_read_without() {
        use super::{Door, Opening, PlaceMark, Subject, Walls};
        let command = |walls| Subject::Command {
            text: "ls".into(),
            plain: None,
            carries_over: false,
            beyond_reading: None,
            walls,
        };
        for (walls, expected) in [
            (Walls::Usual, r#"{"Command":{"text":"ls","plain":null}}"#),
            (
                Walls::Reading { akin: vec!["read".into()] },
                r#"{"Command":{"text":"ls","plain":null,"walls":{"Reading":{"akin":["read"]}}}}"#,
            ),
            (
                Walls::Opened(Box::new(Opening {
                    doors: vec![Door::Network, Door::Git, Door::Write("/x".into()), Door::Outside],
                    reason: "r".into(),
                    places: vec![],
                })),
                r#"{"Command":{"text":"ls","plain":null,"walls":{"Opened":{"doors":["Network","Git",{"Write":"/x"},"Outside"],"reason":"r"}}}}"#,
            ),
            (
                Walls::Opened(Box::new(Opening {
                    doors: vec![Door::Write("/x".into())],
                    reason: "r".into(),
                    places: vec![PlaceMark { device: 1, number: u64::MAX }],
                })),
                r#"{"Command":{"text":"ls","plain":null,"walls":{"Opened":{"doors":[{"Write":"/x"}],"reason":"r","places":[{"device":1,"number":18446744073709551615}]}}}}"#,
            ),
        ] {
            let subject = command(walls);
            assert_eq!(serde_json::to_string(&subject).unwrap(), expected);
            assert_eq!(serde_json::from_str::<Subject>(expected).unwrap(), subject);
        }
    }

    fn each(reason: &str) -> [HookVerdict; 4] {
        let reason = || String::from(reason);
        [
            HookVerdict::None,
            HookVerdict::Allow { reason: reason() },
            HookVerdict::Ask { reason: reason() },
            HookVerdict::Deny { reason: reason() },
        ]
    }

    #[test]
    fn of_two_verdicts_the_stricter_counts_and_of_two_alike_the_first() {
        for (strictness, first) in each("first").iter().enumerate() {
            for (other, second) in each("second").iter().enumerate() {
                let expected = if other > strictness { second } else { first };
                assert_eq!(&first.clone().and(second.clone()), expected, "{first:?} and {second:?}");
            }
        }
    }

    #[test]
    fn only_the_verdict_of_nobody_is_none() {
        assert_eq!(each("").map(|verdict| verdict.is_none()), [true, false, false, false]);
    }
}
