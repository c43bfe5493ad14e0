//! Which skills, and which of their files, are for the model: what deny rules keep from it is neither given nor named.

use super::Skill;
use crate::session::above::Above;
use crate::session::project_instructions::kept_from_model;
use agent_core::permission::Permissions;
use agent_tools::{Look, Workspace};
use std::path::Path;
use std::sync::Arc;

/// What deny rules keep from the model of the files of skills. Rules with a pattern are about files; others are about tools.
#[derive(Clone)]
pub(crate) struct ForModel {
    workspace: Arc<Workspace>,
    permissions: Permissions,
    /// What folders above the working directory forbid.
    above: Above,
}

impl ForModel {
    pub(crate) fn new(workspace: &Arc<Workspace>, permissions: &Permissions, above: &Above) -> Self {
        Self { workspace: workspace.clone(), permissions: permissions.clone(), above: above.clone() }
    }

    /// The skills whose `SKILL.md` the model may read. Those that it may not are told with the reason.
    pub(crate) fn skills(&self, skills: &[Skill], mut tell: impl FnMut(&str)) -> Vec<Skill> {
        let look = self.has_rules().then(|| self.workspace.look());
        let is_open = |skill: &&Skill| {
            let kept = self.kept_by(look.as_ref(), &skill.file);
            kept.iter().for_each(|why| tell(&format!("the skill `{}` is left out: {why}", skill.name)));
            kept.is_none()
        };
        skills.iter().filter(is_open).cloned().collect()
    }

    /// Why the model must not read a file, if it must not.
    pub(super) fn kept(&self, path: &Path) -> Option<String> {
        let look = self.has_rules().then(|| self.workspace.look());
        self.kept_by(look.as_ref(), path)
    }

    fn kept_by(&self, look: Option<&Look<'_>>, path: &Path) -> Option<String> {
        look.and_then(|look| kept_from_model(look, &self.permissions, path))
            .or_else(|| self.above.keep_from_model(path))
    }

    /// Most sessions forbid nothing, and then no file is opened.
    fn has_rules(&self) -> bool {
        let policies = std::iter::once(&self.permissions).chain(&self.permissions.above);
        policies.flat_map(|policy| &policy.deny).any(|rule| rule.has_pattern())
    }
}
