//! What may happen to a job, in the words of the scenarios.

use agent_core::job::State;

/// What may be answered where a job stands, each with a name to show.
pub fn ways(state: State) -> &'static [(&'static str, &'static str)] {
    match state {
        State::Pending => &[("start", "start")],
        State::Init => &[("valid", "valid some-model"), ("invalid", "unavailable no")],
        State::DefineAgent => &[("agent chosen", "chosen some-model"), ("routing failed", "not-routed no")],
        State::Process => &[
            ("attempt succeeded", "done done"),
            ("attempt failed", "failed no"),
            ("attempt failed for good", "failed-for-good no"),
            ("attempt stopped", "stopped"),
        ],
        State::RetryWait => &[("wait over", "timer")],
        State::End | State::Recording => {
            &[("record written", "written"), ("record not written", "not-written disk full")]
        }
        _ => &[],
    }
}

/// What may happen anywhere.
pub const CANCEL: (&str, &str) = ("cancel", "cancel");
