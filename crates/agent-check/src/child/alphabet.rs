//! What may happen to a child, in the words of the scenarios.

/// Everything that is tried, each with a name to show. What does not fit where the child stands is refused.
pub const WAYS: &[(&str, &str)] = &[
    ("assigned", "assign"),
    ("assigned under a stop", "assign stop"),
    ("assigned beyond a limit", "assign limit"),
    ("assigned without money", "assign poor"),
    ("begun", "begun"),
    ("begin failed", "not-begun no worktree"),
    ("message sent", "say go on"),
    ("message taken", "took"),
    ("question asked", "asks which one?"),
    ("went on", "went-on"),
    ("stop requested", "stop parent"),
    ("rested", "rest done all pass"),
    ("failed, may be repeated", "repeatable the provider gave up"),
    ("lost", "lost torn"),
    ("cleared", "cleared"),
    ("taken over", "taken-over"),
    ("outcome told", "told"),
];
