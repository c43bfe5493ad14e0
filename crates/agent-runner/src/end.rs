//! How a runner ends.

use agent_core::ports::JournalError;

/// Why a runner ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The session was ended for good.
    ShutDown,
    /// The host left; the session can be resumed.
    Detached,
    /// A record could not be written or made durable. What runs was stopped, and everything acknowledged is in the journal. The session
    /// that comes with it may be one event ahead of the journal.
    JournalFailed(JournalError),
}
