//! What an attempt came to, and how the outcome of a session is read as one.

use crate::session::{Outcome, OutcomeKind};
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case")]
pub enum FailureKind {
    /// Wrong output, a validation that failed: the work is at fault.
    #[error("{0}")]
    Business(String),
    /// A time-out, a rate limit, the network: the world is at fault.
    #[error("{0}")]
    System(String),
}

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The work is done.
    Success {
        /// What the model said at the end.
        response: String,
    },
    /// It is not, and another attempt may do it.
    Failure(FailureKind),
    /// It is not, and another attempt is no use: a refused key, a limit that holds for the whole job.
    FailureForGood(FailureKind),
    /// It was stopped.
    Stopped,
}

impl Verdict {
    /// Reads the outcome of a session; nothing for one that ended without, as when its journal could not be written.
    ///
    /// | The session's run | is |
    /// |---|---|
    /// | success | success |
    /// | the provider gave up, or its answer was cut, refused or empty; no outcome | a `System` failure |
    /// | a hook stopped the turn, a commitment was not kept, or another fault of the work | a `Business` failure |
    /// | the key was refused | a `System` failure for good |
    /// | a budget or a limit on calls, which the attempts share | a `Business` failure for good |
    /// | nobody could be asked, or it waits for an answer: nobody will be there the next time either | a `Business` failure for good |
    /// | cancelled | stopped |
    #[must_use]
    pub fn of_session(outcome: Option<&Outcome>) -> Self {
        let Some(outcome) = outcome else {
            return Self::Failure(FailureKind::System("the session ended without an outcome".to_string()));
        };
        let message = || outcome.error.clone().unwrap_or_else(|| outcome.kind.subtype().to_string());
        match outcome.kind {
            OutcomeKind::Success => Self::Success { response: outcome.text.clone() },
            OutcomeKind::Failed | OutcomeKind::VerificationFailed => Self::Failure(FailureKind::Business(message())),
            OutcomeKind::Provider => Self::Failure(FailureKind::System(message())),
            OutcomeKind::Authentication => Self::FailureForGood(FailureKind::System(message())),
            OutcomeKind::CallLimit | OutcomeKind::Budget | OutcomeKind::Waiting => {
                Self::FailureForGood(FailureKind::Business(message()))
            }
            OutcomeKind::Permission => {
                let message = outcome.error.clone().unwrap_or_else(|| "nobody could be asked about a call".to_string());
                Self::FailureForGood(FailureKind::Business(message))
            }
            OutcomeKind::Cancelled => Self::Stopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FailureKind, Verdict};
    use crate::session::{Outcome, OutcomeKind};
    use alloc::string::String;
    use alloc::vec::Vec;

    fn read(kind: OutcomeKind) -> Verdict {
        let error = (kind != OutcomeKind::Success).then(|| String::from("why"));
        Verdict::of_session(Some(&Outcome { kind, text: String::from("done"), error, denials: Vec::new() }))
    }

    #[test]
    fn every_outcome_of_a_session_is_a_verdict() {
        let business = || FailureKind::Business(String::from("why"));
        let system = || FailureKind::System(String::from("why"));
        assert_eq!(read(OutcomeKind::Success), Verdict::Success { response: String::from("done") });
        assert_eq!(read(OutcomeKind::Failed), Verdict::Failure(business()));
        assert_eq!(read(OutcomeKind::Provider), Verdict::Failure(system()));
        assert_eq!(read(OutcomeKind::Authentication), Verdict::FailureForGood(system()));
        assert_eq!(read(OutcomeKind::VerificationFailed), Verdict::Failure(business()));
        for kind in [OutcomeKind::CallLimit, OutcomeKind::Budget, OutcomeKind::Permission, OutcomeKind::Waiting] {
            assert_eq!(read(kind), Verdict::FailureForGood(business()), "{kind:?}");
        }
        assert_eq!(read(OutcomeKind::Cancelled), Verdict::Stopped);
        assert!(matches!(Verdict::of_session(None), Verdict::Failure(FailureKind::System(_))));
    }
}
