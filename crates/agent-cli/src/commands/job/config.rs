//! What a user may configure about jobs.

use crate::commands::job::args::JobRun;
use crate::config::units;
use crate::failure::Failure;
use agent_core::job::{RetryConfig, TierModels};
use serde::Deserialize;

/// The `[jobs]` table of the user's file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JobsConfig {
    pub(crate) max_retries: Option<u32>,
    pub(crate) base_delay: Option<String>,
    pub(crate) tiers: Tiers,
}

/// The model of each tier.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tiers {
    pub(crate) haiku: Option<String>,
    pub(crate) sonnet: Option<String>,
    pub(crate) opus: Option<String>,
}

impl JobsConfig {
    /// The retries: flags, configuration, defaults.
    pub(crate) fn retry(&self, arguments: &JobRun) -> Result<RetryConfig, Failure> {
        let wrong = |what: String| Failure::config(format!("cannot read `jobs.base_delay`: {what}"));
        let configured = self.base_delay.as_deref().map(units::parse_duration).transpose().map_err(wrong)?;
        let default = RetryConfig::default();
        Ok(RetryConfig {
            max_retries: arguments.job_max_retries.or(self.max_retries).unwrap_or(default.max_retries),
            base_delay_ms: arguments.job_base_delay.or(configured).map_or(default.base_delay_ms, |delay| delay.0),
        })
    }
}

impl Tiers {
    /// The model to ask a provider for when a run names none: any of them will do to see whether it can be asked.
    pub(crate) fn any(&self) -> Option<&String> {
        self.sonnet.as_ref().or(self.haiku.as_ref()).or(self.opus.as_ref())
    }

    /// The model of each tier; `model` where none is configured.
    pub(crate) fn models(&self, model: &str) -> TierModels {
        let or_model = |tier: &Option<String>| tier.clone().unwrap_or_else(|| model.to_owned());
        TierModels { haiku: or_model(&self.haiku), sonnet: or_model(&self.sonnet), opus: or_model(&self.opus) }
    }
}

#[cfg(test)]
mod tests {
    use super::{JobsConfig, Tiers};
    use agent_core::job::TierModels;

    #[test]
    fn tiers_without_a_model_of_their_own_use_the_runs() {
        let tiers = Tiers { opus: Some("big".into()), ..Tiers::default() };
        let expected = TierModels { opus: "big".into(), ..TierModels::all("m") };
        assert_eq!((tiers.models("m"), tiers.any().map(String::as_str)), (expected, Some("big")));
    }

    #[test]
    fn the_table_is_read_and_unknown_keys_are_errors() {
        let text = "max_retries = 1\nbase_delay = \"2s\"\n[tiers]\nhaiku = \"small\"";
        let config: JobsConfig = toml::from_str(text).unwrap();
        assert_eq!((config.max_retries, config.tiers.haiku.as_deref()), (Some(1), Some("small")));
        assert!(toml::from_str::<JobsConfig>("[tiers]\nhaiko = \"small\"").is_err());
    }
}
