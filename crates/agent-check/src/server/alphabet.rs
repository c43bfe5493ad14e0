//! What may happen to a server, in the words of the scenarios.

/// Everything that is tried, each with a name to show. What does not fit where the server stands is refused.
pub const WAYS: &[(&str, &str)] = &[
    ("considered", "consider"),
    ("considered, disabled", "consider disabled"),
    ("considered, changed", "consider changed"),
    ("came", "came"),
    ("start failed", "not-started no such program"),
    ("ended", "ended it exited with 1"),
    ("time is over", "timer"),
    ("call asked", "call"),
    ("call asked that may be repeated", "call repeatable"),
    ("call answered", "answered"),
    ("call makes progress", "progress"),
    ("time of a call is over", "timed-out"),
    ("call cancelled", "cancel"),
    ("input asked", "asks"),
    ("input asked for a call", "asks #1"),
    ("input answered", "replied"),
    ("input not asked any more", "asks-no-more"),
    ("tools changed", "changed"),
    ("tools known anew", "listed"),
    ("tools not known anew", "not-listed it answered with an error"),
    ("restart requested", "restart"),
    ("stop requested", "stop"),
];
