//! What may happen to a lifecycle, in the words of the scenarios.

/// The events that are enough to find a way to every row, each with a name to show. `NEXT` stands for the commitment whose check is open.
pub const WAYS: &[(&str, &str)] = &[
    ("message", "input go on"),
    ("commitment", "commit false"),
    ("mode", "plan"),
    ("signal done", "done done"),
    ("signal waiting", "waiting which?"),
    ("turn completed", "turn completed"),
    ("turn completed, time left", "turn completed left 60000"),
    ("turn failed", "turn failed"),
    ("turn out of budget", "turn out-of-budget"),
    ("work resumed", "work-resumed"),
    ("check kept", "check NEXT kept"),
    ("check stale", "check NEXT stale"),
    ("check not kept", "check NEXT exit 1"),
    ("check not started", "check NEXT not found"),
    ("cancel", "cancel"),
    ("time is up", "timeout"),
    ("budget spent", "budget"),
    ("session ended", "session-ended"),
    ("dismiss", "dismiss"),
    ("cleaned up", "cleaned-up"),
];
