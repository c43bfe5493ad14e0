//! `activate_skill`: gives the model the text of a skill, or a file of it.

use super::Skill;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::Deserialize;
use serde_json::json;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};
use std::sync::Arc;

/// The tool, where there are skills.
pub(crate) fn activate_skill(skills: &[Skill]) -> Option<Arc<dyn Tool>> {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": names, "description": "The skill."},
            "file": {
                "type": "string",
                "description": "A file of a skill of the user's instead of its instructions, relative to the skill's folder."
            }
        },
        "required": ["name"],
        "additionalProperties": false
    });
    let spec = ToolSpec {
        name: Arc::from("activate_skill"),
        description: Arc::from(DESCRIPTION),
        input_schema: Arc::new(schema),
    };
    Some(Arc::new(ActivateSkill { spec, skills: skills.to_vec() }))
}

struct ActivateSkill {
    spec: ToolSpec,
    skills: Vec<Skill>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    #[serde(default)]
    file: Option<String>,
}

impl ActivateSkill {
    fn wanted(&self, arguments: &Arguments) -> Result<(&Skill, Option<String>), String> {
        let Wanted { name, file } = serde_json::from_str(arguments.as_str()).map_err(|error| error.to_string())?;
        let skill = self.skills.iter().find(|skill| skill.name == name);
        let names = || self.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>().join(", ");
        let skill = skill.ok_or_else(|| format!("there is no skill `{name}`; the skills are {}", names()))?;
        Ok((skill, file))
    }
}

#[async_trait]
impl Tool for ActivateSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let (skill, _) = self.wanted(arguments)?;
        Ok(Inspection { effect: Effect::Reads, subject: Subject::Paths(vec![skill.name.clone()]) })
    }

    async fn run(&self, call: &ToolCall, _context: &ToolContext) -> ToolOutcome {
        let told = self.wanted(&call.arguments).and_then(|(skill, file)| match file {
            Some(file) => file_of(skill, &file),
            None => Ok(activated(skill)),
        });
        told.map_or_else(ToolOutcome::failed, ToolOutcome::ok)
    }
}

fn activated(skill: &Skill) -> String {
    let mut text = format!("<skill_content name=\"{}\">\n{}\n\n", skill.name, skill.body);
    text.push_str(&format!(
        "The skill's folder is {}. Paths in the skill are relative to it.\n",
        skill.folder().display()
    ));
    if let Some(tools) = &skill.allowed_tools {
        text.push_str(&format!("Its author suggests these tools: {tools}. That allows nothing.\n"));
    }
    let (files, by) = (files(skill.folder()), if skill.is_of_project { "`read_file`" } else { "`file`" });
    if !files.is_empty() {
        text.push_str(&format!("Its files, which {by} reads:\n{}\n", files.join("\n")));
    }
    text.push_str("</skill_content>\n");
    text
}

/// The files of a skill besides its instructions, relative to its folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let walk = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .max_depth(Some(MAX_DEPTH))
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
        let Ok(path) = entry.path().strip_prefix(folder) else { continue };
        if path == Path::new(super::FILE) {
            continue;
        }
        if found.len() == MAX_FILES {
            found.push(String::from("…"));
            break;
        }
        found.push(format!("- {}", path.display()));
    }
    found
}

/// A file in the folder of a skill of the user's, opened once and on a way without links. What is the project's is read by `read_file`, for
/// which the rules about files hold.
fn file_of(skill: &Skill, file: &str) -> Result<String, String> {
    let failed = |why: &str| format!("cannot read `{file}` of the skill `{}`: {why}", skill.name);
    if skill.is_of_project {
        let path = skill.folder().join(file);
        return Err(failed(&format!("it is a file of the project, which `read_file` reads: {}", path.display())));
    }
    let is_below = Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_below {
        return Err(failed("the path has to lie in the skill's folder"));
    }
    let folder = rustix::fs::open(skill.folder(), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let folder = folder.map_err(|error| failed(&error.to_string()))?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = rustix::fs::openat2(&folder, file, flags, Mode::empty(), way);
    let opened = File::from(opened.map_err(|error| failed(&error.to_string()))?);
    let found = opened.metadata().map_err(|error| failed(&error.to_string()))?;
    if !found.is_file() || found.len() > super::MAX_BYTES {
        return Err(failed(&format!("it is no file of at most {} bytes", super::MAX_BYTES)));
    }
    let mut text = String::new();
    opened.take(super::MAX_BYTES).read_to_string(&mut text).map_err(|error| failed(&error.to_string()))?;
    Ok(text)
}

const MAX_DEPTH: usize = 3;
const MAX_FILES: usize = 100;
const DESCRIPTION: &str = "Returns the instructions of a skill. Call it before work that a skill of the system prompt describes, and \
                           follow what it returns. It runs nothing.";
