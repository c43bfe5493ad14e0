//! `activate_skill`: gives the model the text of a skill, or a file of it.

use super::{ForModel, Skill};
use crate::config::beneath::read_beneath;
use crate::screen::counted::counted;
use crate::screen::terminal::shown_path;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// The tool, where there are skills. Of their files it names and gives what is for the model.
pub(crate) fn activate_skill(skills: &[Skill], for_model: ForModel) -> Option<Arc<dyn Tool>> {
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
    Some(Arc::new(ActivateSkill { spec, skills: skills.to_vec(), for_model }))
}

struct ActivateSkill {
    spec: ToolSpec,
    skills: Vec<Skill>,
    for_model: ForModel,
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
            Some(file) => file_of(skill, &file, &self.for_model),
            None => Ok(activated(skill, &self.for_model)),
        });
        told.map_or_else(ToolOutcome::failed, ToolOutcome::ok)
    }
}

fn activated(skill: &Skill, for_model: &ForModel) -> String {
    let mut text = format!("<skill_content name=\"{}\">\n{}\n\n", skill.name, skill.body);
    text.push_str(&format!(
        "The skill's folder is {}. Paths in the skill are relative to it.\n",
        shown_path(skill.folder())
    ));
    if let Some(tools) = &skill.allowed_tools {
        text.push_str(&format!("Its author suggests these tools: {tools}. That allows nothing.\n"));
    }
    let (files, by) = (files(skill.folder(), for_model), if skill.is_of_project { "`read_file`" } else { "`file`" });
    if !files.is_empty() {
        text.push_str(&format!("Its files, which {by} reads:\n{}\n", files.join("\n")));
    }
    text.push_str("</skill_content>\n");
    text
}

/// The files of a skill besides its instructions, relative to its folder, but for those that deny rules keep from the model.
fn files(folder: &Path, for_model: &ForModel) -> Vec<String> {
    let (mut found, mut kept) = (Vec::new(), 0_u32);
    let walk = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .max_depth(Some(MAX_DEPTH))
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
        let Ok(path) = entry.path().strip_prefix(folder) else { continue };
        if super::FILES.iter().any(|own| path == Path::new(own)) {
            continue;
        }
        if found.len() == MAX_FILES {
            found.push(String::from("…"));
            break;
        }
        if for_model.kept(entry.path()).is_some() {
            kept += 1;
            continue;
        }
        found.push(format!("- {}", shown_path(path)));
    }
    if kept > 0 {
        found.push(format!("[{} left out, which a deny rule keeps from you]", counted(kept, "file")));
    }
    found
}

/// A file in the folder of a skill of the user's, opened once and on a way without links. What is the project's is read by `read_file`, for
/// which the rules about files hold.
fn file_of(skill: &Skill, file: &str, for_model: &ForModel) -> Result<String, String> {
    let failed = |why: &str| format!("cannot read `{file}` of the skill `{}`: {why}", skill.name);
    if skill.is_of_project {
        let path = skill.folder().join(file);
        return Err(failed(&format!("it is a file of the project, which `read_file` reads: {}", shown_path(&path))));
    }
    if let Some(why) = for_model.kept(&skill.folder().join(file)) {
        return Err(failed(&why));
    }
    let read = read_beneath(skill.folder(), Path::new(file), super::MAX_BYTES);
    let read = read.map_err(|error| failed(&error.to_string()))?;
    read.map(|(_, text)| text).ok_or_else(|| failed("there is no such file"))
}

const MAX_DEPTH: usize = 3;
const MAX_FILES: usize = 100;
const DESCRIPTION: &str = "Returns the instructions of a skill. Call it before work that a skill of the system prompt describes, and \
                           follow what it returns. It runs nothing.";
