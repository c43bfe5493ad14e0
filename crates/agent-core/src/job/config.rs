//! The configuration of a job, and what can be wrong with it.

use super::retry::RetryConfig;
use super::routing::{Skill, default_skills};
use super::verdict::FailureKind;
use crate::budget::Limits;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Everything that shapes a job's decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobConfig {
    /// The job's id: any text that distinguishes it from others.
    pub id: String,
    /// The task.
    pub description: String,
    /// How failed attempts are repeated.
    pub retry: RetryConfig,
    /// What all attempts together may spend.
    pub limits: Limits,
    /// What jobs can be about.
    pub skills: Vec<Skill>,
}

impl JobConfig {
    /// Longest description, in bytes.
    pub const MAX_DESCRIPTION_BYTES: usize = 256 * 1024;

    /// A job with the default retries and skills, and no limits.
    #[must_use]
    pub fn new(id: &str, description: &str) -> Self {
        Self {
            id: id.to_string(),
            description: description.to_string(),
            retry: RetryConfig::default(),
            limits: Limits::default(),
            skills: default_skills(),
        }
    }

    /// Whether the job is valid, as far as the configuration shows.
    ///
    /// # Errors
    /// [`Invalid`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), Invalid> {
        let bytes = self.description.len();
        let max_retries = self.retry.max_retries;
        if self.description.trim().is_empty() {
            Err(Invalid::NoDescription)
        } else if bytes > Self::MAX_DESCRIPTION_BYTES {
            Err(Invalid::LongDescription { bytes })
        } else if max_retries > RetryConfig::MAX_RETRIES {
            Err(Invalid::TooManyRetries { max_retries })
        } else {
            Ok(())
        }
    }
}

/// What is wrong with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The description is empty.
    #[error("validate the job: its description is empty")]
    NoDescription,
    /// It says too much.
    #[error("validate the job: its description has {bytes} bytes, more than {}", JobConfig::MAX_DESCRIPTION_BYTES)]
    LongDescription {
        /// Length of the description.
        bytes: usize,
    },
    /// It would be repeated forever.
    #[error("validate the job: it asks for {max_retries} retries, more than {}", RetryConfig::MAX_RETRIES)]
    TooManyRetries {
        /// What it asks for.
        max_retries: u32,
    },
}

impl Invalid {
    /// As the failure of a job.
    #[must_use]
    pub fn failure(&self) -> FailureKind {
        FailureKind::Business(self.to_string())
    }
}
