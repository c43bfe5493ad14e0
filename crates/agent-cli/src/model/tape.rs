//! `--record` and `--replay`: model calls kept in a file, or played from one.

use crate::config::options::{Options, ProviderName, ReplayMatch};
use crate::config::providers::ProviderChoice;
use crate::failure::Failure;
use agent_llm::{Asked, Cassette, CassetteError, Matching, Recorder, ReplayProvider};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What is to be done with the model calls. A job asks for its provider once an attempt: all of them share one tape.
#[derive(Clone, Debug, Default)]
pub(crate) enum Tape {
    /// They are made.
    #[default]
    No,
    /// They are made and recorded.
    Record(PathBuf, OnceLock<Recorder>),
    /// They are played; the models that were asked, and how, and the system prompt that was recorded.
    Replay(Arc<ReplayProvider>, Vec<(String, Option<Asked>)>, Option<String>),
}

impl Tape {
    /// What the options say. A recording is read at once; a new one is begun when there is a provider to record.
    pub(crate) fn of(options: &Options) -> Result<Self, Failure> {
        if let Some(path) = &options.replay {
            if !matches!(options.provider, None | Some(ProviderChoice::BuiltIn(ProviderName::Replay))) {
                return Err(Failure::config(
                    "cannot use `--provider` with `--replay`, which takes the provider's place",
                ));
            }
            let cassette = Cassette::read(path).map_err(failed)?;
            let models = cassette.models().into_iter();
            let models = models.map(|model| (model.to_owned(), cassette.asked(model))).collect();
            let matching = match options.replay_match {
                ReplayMatch::Exact => Matching::Exact,
                ReplayMatch::Lenient => Matching::Lenient,
            };
            let system = cassette.system();
            return Ok(Self::Replay(Arc::new(ReplayProvider::new(cassette, matching)), models, system));
        }
        Ok(options.record.clone().map_or(Self::No, |path| Self::Record(path, OnceLock::new())))
    }

    /// Whether the calls come from a recording.
    pub(crate) const fn is_played(&self) -> bool {
        matches!(self, Self::Replay(..))
    }

    /// The system prompt that was recorded, where calls are played.
    pub(crate) fn system(&self) -> Option<&str> {
        match self {
            Self::Replay(_, _, system) => system.as_deref(),
            Self::No | Self::Record(..) => None,
        }
    }

    /// The recorder for a provider that is about to be made.
    pub(crate) fn recorder(&self, secrets: &[String]) -> Result<Option<Recorder>, Failure> {
        let Self::Record(path, made) = self else { return Ok(None) };
        if let Some(recorder) = made.get() {
            return Ok(Some(recorder.clone()));
        }
        let recorder = Recorder::create(path, secrets).map_err(failed)?;
        Ok(Some(made.get_or_init(|| recorder).clone()))
    }
}

fn failed(error: CassetteError) -> Failure {
    Failure::input(error)
}
