//! What a session's outcome means to the job whose attempt it was.

use super::{FailureKind, Verdict};
use crate::session::{Outcome, OutcomeKind};
use alloc::string::ToString;

/// Translates a session's outcome into the result of a job's attempt; `None` for a session without an outcome, for example because its
/// journal could not be written.
///
/// | The session's run | is |
/// |---|---|
/// | success | success |
/// | the provider gave up, or its answer was cut, refused or empty; no outcome | a `System` failure |
/// | a hook stopped the turn, a commitment was not kept, or another fault of the work | a `Business` failure |
/// | the key was refused | a `System` failure for good |
/// | a budget or a limit on calls, which the attempts share | a `Business` failure for good |
/// | no one could be asked, or it waits for an answer: no one will be there next time either | a `Business` failure for good |
/// | cancelled | stopped |
#[must_use]
pub fn verdict(outcome: Option<&Outcome>) -> Verdict {
    let Some(outcome) = outcome else {
        return Verdict::Failure(FailureKind::System("the session ended without an outcome".to_string()));
    };
    let message = || outcome.error.clone().unwrap_or_else(|| outcome.kind.subtype().to_string());
    match outcome.kind {
        OutcomeKind::Success => Verdict::Success { response: outcome.text.clone() },
        OutcomeKind::Failed | OutcomeKind::VerificationFailed => Verdict::Failure(FailureKind::Business(message())),
        OutcomeKind::Provider => Verdict::Failure(FailureKind::System(message())),
        OutcomeKind::Authentication => Verdict::FailureForGood(FailureKind::System(message())),
        OutcomeKind::CallLimit | OutcomeKind::Budget | OutcomeKind::Waiting => {
            Verdict::FailureForGood(FailureKind::Business(message()))
        }
        OutcomeKind::Permission => {
            let message = outcome.error.clone().unwrap_or_else(|| "no one could be asked about a call".to_string());
            Verdict::FailureForGood(FailureKind::Business(message))
        }
        OutcomeKind::Cancelled => Verdict::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::{FailureKind, Verdict, verdict};
    use crate::session::{Outcome, OutcomeKind};
    use alloc::string::String;

    fn read(kind: OutcomeKind) -> Verdict {
        let error = (kind != OutcomeKind::Success).then(|| String::from("why"));
        verdict(Some(&Outcome { text: String::from("done"), error, ..Outcome::new(kind) }))
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
        assert!(matches!(verdict(None), Verdict::Failure(FailureKind::System(_))));
    }
}
