//! Which skill a job needs, and which class of model: rules over the words of its description.
//!
//! Nothing here depends on chance or on the order of a hash: the same description and the same rules give the same agent.
//!
//! 1. A *word* is a run of letters and digits, compared without regard to case: "prefix" does not contain the word "fix", "bug-fix" does.
//!    A keyword of several words matches those words in a row.
//! 2. The skill with the most matching keywords wins; of several, the one that was declared first. Without a match there is no skill.
//! 3. The tier is the skill's own, if it has one. Otherwise `Opus` when a word of [`DEMANDING`] occurs or the description is longer than
//!    [`LONG_WORDS`] words; otherwise `Haiku` when a word of [`SIMPLE`] occurs and it has at most [`SHORT_WORDS`] words; otherwise
//!    `Sonnet`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Words that ask for the most capable model.
pub const DEMANDING: &[&str] = &[
    "architecture",
    "concurrency",
    "deadlock",
    "design",
    "migrate",
    "migration",
    "race",
    "redesign",
    "rewrite",
    "security",
];
/// Words that a small model does well.
pub const SIMPLE: &[&str] = &["comment", "format", "list", "rename", "spelling", "summarise", "summarize", "typo"];
/// A description with more words than these is demanding.
pub const LONG_WORDS: usize = 400;
/// A description with more words than these is not simple.
pub const SHORT_WORDS: usize = 40;

/// The class of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelTier {
    /// Fast and cheap.
    Haiku,
    /// Balanced.
    Sonnet,
    /// The most capable.
    Opus,
}

/// The provider's id of each tier's model; empty for a tier without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TierModels {
    /// For `Haiku`.
    pub haiku: String,
    /// For `Sonnet`.
    pub sonnet: String,
    /// For `Opus`.
    pub opus: String,
}

impl TierModels {
    /// One model for every tier.
    #[must_use]
    pub fn all(model: &str) -> Self {
        Self { haiku: model.to_string(), sonnet: model.to_string(), opus: model.to_string() }
    }

    /// The model of a tier.
    #[must_use]
    pub fn model(&self, tier: ModelTier) -> &str {
        match tier {
            ModelTier::Haiku => &self.haiku,
            ModelTier::Sonnet => &self.sonnet,
            ModelTier::Opus => &self.opus,
        }
    }
}

/// Something that jobs can be about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What descriptions of such jobs say.
    pub keywords: Vec<String>,
    /// The class of model it always needs, if it does.
    #[serde(default)]
    pub tier: Option<ModelTier>,
    /// Extra instructions for an agent with this skill; may be empty.
    #[serde(default)]
    pub guidance: String,
}

/// The agent that works on a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    /// The skill's name; `None` if no skill fits.
    pub skill: Option<String>,
    /// The class of the model.
    pub tier: ModelTier,
    /// The model, as the provider knows it.
    pub model: String,
}

/// The agent for a description.
#[must_use]
pub fn route(description: &str, skills: &[Skill], tiers: &TierModels) -> AgentConfig {
    let words = words(description);
    let skill = best_skill(&words, skills);
    let tier = skill.and_then(|skill| skill.tier).unwrap_or_else(|| tier(&words));
    AgentConfig { skill: skill.map(|skill| skill.name.clone()), tier, model: tiers.model(tier).to_string() }
}

/// Skills for a coding agent.
#[must_use]
pub fn default_skills() -> Vec<Skill> {
    let skill = |name: &str, keywords: &[&str], tier, guidance: &str| Skill {
        name: name.to_string(),
        keywords: keywords.iter().map(ToString::to_string).collect(),
        tier,
        guidance: guidance.to_string(),
    };
    Vec::from([
        skill(
            "debugging",
            &["bug", "bugs", "crash", "crashes", "debug", "error", "fails", "failing", "fix", "panic", "regression"],
            None,
            "Reproduce the fault before you change anything, and show that it is gone afterwards.",
        ),
        skill(
            "testing",
            &["coverage", "test", "tests", "unit test"],
            None,
            "Test what the code promises, edge cases first; do not change the code to suit a test.",
        ),
        skill(
            "refactoring",
            &["clean up", "extract", "move", "refactor", "rename", "simplify", "split"],
            None,
            "Keep the behaviour exactly as it is, and show it by the tests.",
        ),
        skill(
            "documentation",
            &["changelog", "comment", "comments", "document", "documentation", "docs", "readme"],
            None,
            "Describe what the code does, not what it should do; read it first.",
        ),
        skill(
            "review",
            &["audit", "review", "vulnerability", "vulnerabilities"],
            Some(ModelTier::Opus),
            "Report what you find with file and line; change nothing unless you are asked to.",
        ),
    ])
}

fn best_skill<'a>(words: &[String], skills: &'a [Skill]) -> Option<&'a Skill> {
    let mut best: Option<(usize, &Skill)> = None;
    for skill in skills {
        let score = skill.keywords.iter().filter(|keyword| contains(words, keyword)).count();
        if score > best.map_or(0, |(most, _)| most) {
            best = Some((score, skill));
        }
    }
    best.map(|(_, skill)| skill)
}

fn tier(description: &[String]) -> ModelTier {
    let has = |list: &[&str]| list.iter().any(|word| contains(description, word));
    if description.len() > LONG_WORDS || has(DEMANDING) {
        ModelTier::Opus
    } else if description.len() <= SHORT_WORDS && has(SIMPLE) {
        ModelTier::Haiku
    } else {
        ModelTier::Sonnet
    }
}

/// Whether the words of a keyword are in the text in a row. A keyword without words stands nowhere.
fn contains(text: &[String], keyword: &str) -> bool {
    let keyword = words(keyword);
    !keyword.is_empty() && text.windows(keyword.len()).any(|window| window == keyword.as_slice())
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(list: &[(&str, &[&str])]) -> Vec<Skill> {
        let skill = |(name, keywords): &(&str, &[&str])| Skill {
            name: (*name).to_string(),
            keywords: keywords.iter().map(ToString::to_string).collect(),
            tier: None,
            guidance: String::new(),
        };
        list.iter().map(skill).collect()
    }

    fn skill_of(description: &str, skills: &[Skill]) -> Option<String> {
        route(description, skills, &TierModels::all("m")).skill
    }

    #[test]
    fn one_model_may_serve_every_tier() {
        let models = TierModels::all("m");
        assert_eq!([ModelTier::Haiku, ModelTier::Sonnet, ModelTier::Opus].map(|tier| models.model(tier)), ["m"; 3]);
    }

    #[test]
    fn only_whole_words_count_and_case_does_not() {
        let skills = skills(&[("repair", &["fix", "clean up", "Straße"])]);
        for yes in ["fix it", "FIX it", "a bug-fix", "fix", "(fix)", "please clean  up!", "die STRASSE, die Straße"] {
            assert_eq!(skill_of(yes, &skills).as_deref(), Some("repair"), "{yes}");
        }
        for no in ["prefix", "fixed", "suffix_fix1", "cleanup", "up clean", "clean it up", ""] {
            assert_eq!(skill_of(no, &skills), None, "{no}");
        }
    }

    #[test]
    fn most_keywords_win_and_ties_go_to_the_first_declared() {
        let two = [("a", &["x", "y"] as &[&str]), ("b", &["y", "z"])];
        assert_eq!(skill_of("z y", &skills(&two)).as_deref(), Some("b"));
        assert_eq!(skill_of("y", &skills(&two)).as_deref(), Some("a"));
        let turned = [two[1], two[0]];
        assert_eq!(skill_of("y", &skills(&turned)).as_deref(), Some("b"));
        assert_eq!(skill_of("x x x y z", &skills(&two)).as_deref(), Some("a"), "each keyword counts once");
        assert_eq!(skill_of("y", &skills(&[("none", &["", "-"])])), None);
    }

    #[test]
    fn the_tier_follows_its_rules_in_their_order() {
        let tier = |description: &str| route(description, &[], &TierModels::default()).tier;
        assert_eq!(tier("add a flag"), ModelTier::Sonnet);
        assert_eq!(tier("correct a typo"), ModelTier::Haiku);
        assert_eq!(tier("correct a typo in the architecture"), ModelTier::Opus, "demanding stands before simple");
        assert_eq!(tier(&"typo ".repeat(SHORT_WORDS)), ModelTier::Haiku);
        assert_eq!(tier(&"typo ".repeat(SHORT_WORDS + 1)), ModelTier::Sonnet);
        assert_eq!(tier(&"w ".repeat(LONG_WORDS)), ModelTier::Sonnet);
        assert_eq!(tier(&"w ".repeat(LONG_WORDS + 1)), ModelTier::Opus);
        assert_eq!(tier("designated"), ModelTier::Sonnet);
    }

    #[test]
    fn a_skill_may_insist_on_its_tier_and_the_tier_names_the_model() {
        let tiers = TierModels { haiku: "h".into(), sonnet: "s".into(), opus: "o".into() };
        let agent = route("review the typo", &default_skills(), &tiers);
        assert_eq!(agent, AgentConfig { skill: Some("review".into()), tier: ModelTier::Opus, model: "o".into() });
        assert_eq!(route("a typo", &default_skills(), &tiers).model, "h");
        assert_eq!(route("fix the crash", &default_skills(), &tiers).model, "s");
    }
}
