//! Where a session can stand: every waiting state, with every difference in its data that a guard looks at. Each place is reached by
//! events; the words beside it say what is so there, and the rules are written in these words:
//!
//! * `cancelled`: a stop was asked for and is not complete. `queued`: the user typed ahead. `waits`: for the end of the turn. `stopped`:
//!   only a limit holds back what is unsent.
//! * `history`: something lies before the cut. `shortens`: an overflow can be mended, `summarises`: by a summary.
//! * `summary`: the model is asked for one, `requested`: by the user. `due`: the next call has to be one.
//! * `results`: tool results wait to be sent. `spent`: no model call is left. `last-try`: no repetition is left. `fallback`: another model
//!   is.
//! * `deadline-near`: less than half a minute is left of the turn. `ninth-pause`: the answer was paused eight times.
//! * `batch`: calls are open. `single`: one. `unusable`: none of them can run. `asks`: one needs a person. `tool-limit`: none may run.
//! * `asked`: a person is asked, `two-asked`: about two calls. `cleared`: another call may run already. `forbidden`: not by now.
//! * `running`, `two-running`: so many calls run. `group-left`: another group is to follow. `changing`: something may have been changed,
//!   `changed`: before.
//! * `hooking`: the user's hooks run: `on-prompt`, `on-calls` (`changed`: they may have changed something), `stopping` (`held-often`: once
//!   more is too often), `leaving`, `summing` (before a summary), or else before the first request; `prompt-next`: then on the message.
//! * `start-hooks`, `prompt-hooks`, `call-hooks`, `stop-hooks`, `sum-hooks`, `end-hooks`: they are configured for what these words say.
//! * `raised`: the limit that stopped work was raised, and the work goes on behind what is under way.
//! * `left`: the host left, and those of the end were asked for.
//! * `failure-limit`: one more failing call is too much. `loops`: one more call is a repetition.

use agent_core::session::State::{self, *};

/// State, words, events that lead there.
pub(super) type Place = (State, &'static str, &'static str);

#[rustfmt::skip]
pub(super) const PLACES: &[Place] = &[
    (Ready, "", "not-started"),

    (WaitingForUserInput, "", "wait 1"),
    (WaitingForUserInput, "history", "input go; answer hi"),
    (WaitingForUserInput, "history", "config wall-ms=100000; input go; answer hi"),
    (WaitingForUserInput, "history stopped spent results", "config model-calls=1; input go; answer calls read{}; prepared; tool 1 ok x"),
    (WaitingForUserInput, "history stopped spent", "config model-calls=1; input go; answer hi; input more"),
    (WaitingForUserInput, "history stopped results", "config tool-calls=0; input go; answer calls read{}; prepared"),
    (WaitingForUserInput, "history results", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; hook-stop enough"),
    (WaitingForUserInput, "", "config retries=0; input go; fail network"),
    (WaitingForUserInput, "", "config wall-ms=10000; input go; deadline; aborted"),
    (WaitingForUserInput, "history", "input go; answer part stop=paused; cancel; aborted"),
    (WaitingForUserInput, "history due", "input go; answer long=100; input more; fail overflow; fail network; cancel"),
    (WaitingForUserInput, "history due", "config window=60; input go; answer long=100"),
    (WaitingForUserInput, "prompt-hooks", "config hooks=UserPromptSubmit"),
    (WaitingForUserInput, "start-hooks", "config hooks=SessionStart"),
    (WaitingForUserInput, "history sum-hooks", "config hooks=PreCompact; input go; answer long=100"),
    (WaitingForUserInput, "history due sum-hooks", "config hooks=PreCompact window=60; input go; answer long=100"),
    (WaitingForUserInput, "history end-hooks", "config hooks=SessionEnd; input go; answer hi"),
    (WaitingForUserInput, "history end-hooks left", "config hooks=SessionEnd; input go; answer hi; leave; hooks"),
    (WaitingForUserInput, "waits", "input go; later more; fail authentication"),

    (CallingLlm, "", "input go"),
    (CallingLlm, "", "config wall-ms=100000; input go"),
    (CallingLlm, "deadline-near", "config wall-ms=10000; input go"),
    (CallingLlm, "queued", "input go; input more"),
    (CallingLlm, "queued", "config wall-ms=100000; input go; input more"),
    (CallingLlm, "stop-hooks", "config hooks=Stop; input go"),
    (CallingLlm, "queued prompt-hooks", "config hooks=UserPromptSubmit; input go; hooks; input more"),
    (CallingLlm, "waits", "input go; later more"),
    (CallingLlm, "waits stop-hooks", "config hooks=Stop; input go; later more"),
    (CallingLlm, "waits prompt-hooks", "config hooks=UserPromptSubmit; input go; hooks; later more"),
    (CallingLlm, "last-try", "config retries=0; input go"),
    (CallingLlm, "last-try", "config retries=1; input go; fail network; timer"),
    (CallingLlm, "fallback", "config fallback=second; input go"),
    (CallingLlm, "last-try fallback", "config retries=0 fallback=second; input go"),
    (CallingLlm, "deadline-near fallback", "config wall-ms=10000 fallback=second; input go"),
    (CallingLlm, "", "config fallback=second; input go; fail overloaded"),
    (CallingLlm, "spent", "config model-calls=1; input go"),
    (CallingLlm, "history shortens summarises", "input go; answer long=100; input more"),
    (CallingLlm, "history shortens summarises sum-hooks", "config hooks=PreCompact; input go; answer long=100; input more"),
    (CallingLlm, "history", "input go; answer long=100; input more; fail overflow; answer hi"),
    (CallingLlm, "", "input go; answer part stop=paused"),
    (CallingLlm, "queued", "input go; answer part stop=paused; input more"),
    (CallingLlm, "ninth-pause", "input go; answer a stop=paused; answer b stop=paused; answer c stop=paused; answer d stop=paused; \
        answer e stop=paused; answer f stop=paused; answer g stop=paused; answer h stop=paused"),
    (CallingLlm, "cancelled", "input go; cancel"),
    (CallingLlm, "cancelled", "config wall-ms=10000; input go; deadline"),
    (CallingLlm, "cancelled", "config wall-ms=10000; input go; cancel"),
    (CallingLlm, "cancelled queued", "input go; input more; cancel"),

    (SendingToolResults, "history results", "input go; answer calls read{}; prepared; tool 1 ok x"),
    (SendingToolResults, "history results queued", "input go; answer calls read{}; prepared; tool 1 ok x; input more"),
    (SendingToolResults, "history results last-try", "config retries=0; input go; answer calls read{}; prepared; tool 1 ok x"),
    (SendingToolResults, "history results fallback", "config fallback=second; input go; answer calls read{}; prepared; tool 1 ok x"),
    (SendingToolResults, "history results spent", "config model-calls=2; input go; answer calls read{}; prepared; tool 1 ok x"),
    (SendingToolResults, "history results shortens summarises", "input go; answer long=100; input more; answer calls read{}; prepared; tool 1 ok x"),
    (SendingToolResults, "history results shortens", "input go; answer calls read{}; prepared; tool 1 ok long=5000"),
    (SendingToolResults, "history results shortens", "input go; answer calls read{}; prepared; tool 1 ok long=5000; fail overflow"),
    (SendingToolResults, "history results", "input go; answer calls read{}; prepared; tool 1 ok long=5000; fail overflow; fail overflow"),
    (SendingToolResults, "history results cancelled", "input go; answer calls read{}; prepared; tool 1 ok x; cancel"),
    (SendingToolResults, "history results cancelled queued", "input go; answer calls read{}; prepared; tool 1 ok x; input more; cancel"),

    (PreparingTools, "history shortens summarises batch single", "input go; answer calls read{}"),
    (PreparingTools, "history shortens summarises batch single queued", "input go; answer calls read{}; input more"),
    (PreparingTools, "history shortens summarises batch single spent", "config model-calls=1; input go; answer calls read{}"),
    (PreparingTools, "history shortens summarises batch", "input go; answer calls read{} change{}"),
    (PreparingTools, "history shortens summarises batch asks", "config mode=default; input go; answer calls read{} change{}"),
    (PreparingTools, "history shortens summarises batch unusable", "input go; answer calls read[1]"),
    (PreparingTools, "history shortens summarises batch single tool-limit", "config tool-calls=0; input go; answer calls read{}"),
    (PreparingTools, "history shortens summarises batch tool-limit", "config tool-calls=0; input go; answer calls read{} read{}"),
    (PreparingTools, "history shortens summarises batch unusable failure-limit", "config failures=1; input go; answer calls read[1]"),
    (PreparingTools, "history shortens summarises batch single failure-limit", "config failures=1; input go; answer calls read{}"),
    (PreparingTools, "history shortens summarises batch single loops", "config repetitions=1; input go; answer calls read{}"),
    (PreparingTools, "history shortens summarises batch single cancelled", "input go; answer calls read{}; cancel"),
    (PreparingTools, "history shortens summarises batch cancelled queued", "input go; answer calls read{} change{}; input more; cancel"),

    (AwaitingApproval, "history shortens summarises batch asked", "config mode=default; input go; answer calls change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked queued", "config mode=default; input go; answer calls change{}; prepared; input more"),
    (AwaitingApproval, "history shortens summarises batch asked spent", "config mode=default model-calls=1; input go; answer calls change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked failure-limit", "config mode=default failures=1; input go; answer calls change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked", "config mode=default wall-ms=10000; input go; answer calls change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked cleared", "config mode=default; input go; answer calls read{} change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked two-asked", "config mode=default; input go; answer calls change{} change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked cleared", "config mode=default; input go; answer calls change{} change{}; prepared; allow 1"),
    (AwaitingApproval, "history shortens summarises batch asked", "config mode=default; input go; answer calls change{} change{}; prepared; deny 1 no"),
    (AwaitingApproval, "history shortens summarises batch asked", "config mode=default deny=change(secret/**); input go; answer calls change{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked forbidden", "config mode=default; input go; answer calls change{}; prepared; reconfigure mode=bypass deny=change(a.rs)"),
    (AwaitingApproval, "history shortens summarises batch asked forbidden", "config mode=default; input go; answer calls change{}; prepared; reconfigure mode=plan"),
    (AwaitingApproval, "history shortens summarises batch asked forbidden cleared", "config mode=default; input go; answer calls read{} change{}; prepared; reconfigure mode=plan"),

    (ExecutingTools, "history shortens summarises batch running", "input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running call-hooks", "config hooks=PostToolUse; input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running deadline-near", "config wall-ms=10000; input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running queued", "input go; answer calls read{}; prepared; input more"),
    (ExecutingTools, "history shortens summarises batch running waits", "input go; answer calls read{}; prepared; later more"),
    (ExecutingTools, "history shortens summarises batch running spent", "config model-calls=1; input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running failure-limit", "config failures=1; input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running loops", "config repetitions=1; input go; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running loops group-left", "config repetitions=1; input go; answer calls read{} change{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running loops two-running", "config repetitions=1; input go; answer calls read{} read{}; prepared"),
    (AwaitingApproval, "history shortens summarises batch asked denied loops", "config mode=default repetitions=1; input go; \
        answer calls change{} change{}; prepared; deny 1 no"),
    (PreparingTools, "history shortens summarises batch loops", "config repetitions=1; input go; answer calls read{} change{}"),
    (ExecutingTools, "history shortens summarises batch running two-running", "input go; answer calls read{} read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running two-running failure-limit", "config failures=1; input go; answer calls read{} read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running two-running failure-limit cancelled", "config failures=1; input go; \
        answer calls read{} read{}; prepared; cancel"),
    (ExecutingTools, "history shortens summarises batch running group-left", "input go; answer calls read{} change{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running failure-limit group-left", "config failures=1; input go; answer calls read{} change{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running changing failure-limit group-left", "config failures=1; input go; answer calls change{} read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running call-hooks failure-limit group-left", "config failures=1 hooks=PostToolUse; input go; answer calls read{} change{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running changing", "input go; answer calls change{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running changing", "input go; answer calls change{} change{}; prepared; reconfigure deny=change(a.rs)"),
    (ExecutingTools, "history shortens summarises batch running changing group-left", "input go; answer calls change{} read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running changing changed", "input go; answer calls change{} read{}; prepared; tool 1 ok x"),
    (ExecutingTools, "history shortens summarises batch running changing changed", "input go; answer calls change{}; prepared; cancel; \
        tool 1 ok done changed=a.rs; input again; answer calls read{}; prepared"),
    (ExecutingTools, "history shortens summarises batch running cancelled", "input go; answer calls read{}; prepared; cancel"),
    (ExecutingTools, "history shortens summarises batch running cancelled", "config wall-ms=10000; input go; answer calls read{}; prepared; deadline"),
    (ExecutingTools, "history shortens summarises batch running two-running cancelled", "input go; answer calls read{} read{}; prepared; cancel"),
    (ExecutingTools, "history shortens summarises batch running group-left cancelled", "input go; answer calls read{} change{}; prepared; cancel"),
    (ExecutingTools, "history shortens summarises batch running changing cancelled queued", "input go; answer calls change{}; prepared; input more; cancel"),

    (CheckingGitCommits, "history", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs"),
    (CheckingGitCommits, "history queued", "input go; answer calls change{}; prepared; input more; tool 1 ok x changed=a.rs"),
    (CheckingGitCommits, "history spent", "config model-calls=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs"),
    (CheckingGitCommits, "history spent", "config failures=1; input go; answer calls change{}; prepared; tool 1 failed x changed=a.rs"),
    (CheckingGitCommits, "history loops", "config repetitions=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs"),
    (CheckingGitCommits, "history cancelled", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; cancel"),

    (RunningAutoformatters, "history", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting"),
    (RunningAutoformatters, "history queued", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting; input more"),
    (RunningAutoformatters, "history spent", "config model-calls=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting"),
    (RunningAutoformatters, "history loops", "config repetitions=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting"),
    (RunningAutoformatters, "history cancelled", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting; cancel"),

    (CommittingChanges, "history", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git commit"),
    (CommittingChanges, "history", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git formatting; formatted a.rs commit"),
    (CommittingChanges, "history queued", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git commit; input more"),
    (CommittingChanges, "history spent", "config model-calls=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git commit"),
    (CommittingChanges, "history loops", "config repetitions=1; input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git commit"),
    (CommittingChanges, "history cancelled", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs; git commit; cancel"),

    (RunningHooks, "hooking on-prompt prompt-hooks", "config hooks=UserPromptSubmit; input go"),
    (RunningHooks, "hooking on-prompt prompt-hooks queued", "config hooks=UserPromptSubmit; input go; input more"),
    (RunningHooks, "hooking on-prompt prompt-hooks waits", "config hooks=UserPromptSubmit; input go; later more"),
    (RunningHooks, "hooking on-prompt prompt-hooks cancelled", "config hooks=UserPromptSubmit; input go; cancel"),
    (RunningHooks, "history hooking on-prompt prompt-hooks results", "config hooks=UserPromptSubmit; input go; hooks; answer calls read{}; \
        prepared; input more; tool 1 ok x"),
    (RunningHooks, "hooking start-hooks", "config hooks=SessionStart; input go"),
    (RunningHooks, "hooking start-hooks prompt-hooks prompt-next", "config hooks=SessionStart,UserPromptSubmit; input go"),
    (RunningHooks, "hooking start-hooks cancelled queued", "config hooks=SessionStart; input go; input more; cancel"),
    (RunningHooks, "history hooking on-calls call-hooks", "config hooks=PostToolUse; input go; answer calls read{}; prepared; tool 1 ok x"),
    (RunningHooks, "history hooking on-calls call-hooks spent", "config hooks=PostToolUse model-calls=1; input go; answer calls read{}; \
        prepared; tool 1 ok x"),
    (RunningHooks, "history hooking on-calls call-hooks changed", "config hooks=PostToolUse; input go; answer calls change{}; prepared; \
        tool 1 ok x changed=a.rs"),
    (RunningHooks, "history hooking on-calls call-hooks changed cancelled", "config hooks=PostToolUse; input go; answer calls change{}; \
        prepared; tool 1 ok x; cancel"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks", "config hooks=Stop; input go; answer hi"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks queued", "config hooks=Stop; input go; answer hi; input more"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks waits", "config hooks=Stop; input go; answer hi; later more"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks queued", "config hooks=Stop wall-ms=100000; input go; answer hi; input more"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks cancelled", "config hooks=Stop; input go; answer hi; cancel"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks held-often", "config hooks=Stop; input go; answer hi; hooks block=1; answer hi; \
        hooks block=2; answer hi; hooks block=3; answer hi; hooks block=4; answer hi; hooks block=5; answer hi; hooks block=6; answer hi; \
        hooks block=7; answer hi; hooks block=8; answer hi"),
    (RunningHooks, "history summary requested hooking summing due sum-hooks", "config hooks=PreCompact; input go; answer long=100; compact"),
    (RunningHooks, "history summary requested hooking summing due sum-hooks queued", "config hooks=PreCompact; input go; answer long=100; compact; input more"),
    (RunningHooks, "history summary requested hooking summing due sum-hooks waits", "config hooks=PreCompact; input go; answer long=100; compact; later more"),
    (RunningHooks, "history shortens summarises hooking summing sum-hooks", "config hooks=PreCompact window=60; input go; answer long=100; input more"),
    (RunningHooks, "history hooking on-calls call-hooks prompt-hooks queued", "config hooks=UserPromptSubmit,PostToolUse; input go; hooks; \
        answer calls read{}; prepared; input more; tool 1 ok x"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks prompt-hooks waits", "config hooks=UserPromptSubmit,Stop; input go; hooks; \
        answer hi; later more"),
    (RunningHooks, "history shortens summarises hooking stopping stop-hooks prompt-hooks queued", "config hooks=UserPromptSubmit,Stop; input go; hooks; \
        answer hi; input more"),
    (RunningHooks, "history shortens summarises hooking summing sum-hooks prompt-hooks", "config hooks=UserPromptSubmit,PreCompact window=60; input go; \
        hooks; answer long=100; input more"),
    (RunningHooks, "hooking leaving end-hooks left prompt-hooks queued", "config hooks=UserPromptSubmit,SessionEnd; leave; input more"),
    (RunningHooks, "hooking leaving end-hooks left start-hooks queued", "config hooks=SessionStart,SessionEnd; leave; input more"),
    (RunningHooks, "hooking leaving end-hooks left start-hooks waits", "config hooks=SessionStart,SessionEnd; leave; later more"),
    (RunningHooks, "hooking leaving end-hooks left", "config hooks=SessionEnd; leave"),
    (RunningHooks, "hooking leaving end-hooks left raised", "config hooks=SessionEnd model-calls=0; input go; leave; raise model-calls=9"),
    (RunningHooks, "hooking leaving end-hooks left raised queued", "config hooks=SessionEnd model-calls=0; input go; leave; \
        raise model-calls=9; input more"),
    (RunningHooks, "history summary requested hooking summing due sum-hooks results raised", "config hooks=PreCompact tool-calls=0; input go; \
        answer long=100; input more; answer calls read{}; prepared; compact; raise tool-calls=9"),
    (RunningHooks, "history shortens summarises hooking leaving end-hooks left queued", "config hooks=SessionEnd; input go; answer hi; leave; input more"),
    (RunningHooks, "history shortens summarises hooking leaving end-hooks left cancelled", "config hooks=SessionEnd; input go; answer hi; leave; cancel"),

    (Compacting, "history summary requested", "input go; answer long=100; compact"),
    (Compacting, "history summary requested queued", "input go; answer long=100; compact; input more"),
    (Compacting, "history summary requested waits", "input go; answer long=100; compact; later more"),
    (Compacting, "history summary requested last-try", "config retries=0; input go; answer long=100; compact"),
    (Compacting, "history summary requested fallback", "config fallback=second; input go; answer long=100; compact"),
    (Compacting, "history summary requested last-try fallback", "config retries=0 fallback=second; input go; answer long=100; compact"),
    (Compacting, "history summary requested fallback spent", "config fallback=second model-calls=2; input go; answer long=100; compact"),
    (Compacting, "history summary requested deadline-near", "config wall-ms=10000; input go; answer long=100; compact"),
    (Compacting, "history summary requested results stopped", "config tool-calls=0; input go; answer long=100; input more; answer calls read{}; \
        prepared; compact"),
    (Compacting, "history summary requested results raised", "config tool-calls=0; input go; answer long=100; input more; answer calls read{}; \
        prepared; compact; raise tool-calls=9"),
    (Compacting, "history summary requested results raised last-try queued", "config tool-calls=0 retries=0; input go; answer long=100; \
        input more; answer calls read{}; prepared; compact; raise tool-calls=9; input more"),
    (Compacting, "history summary requested results raised cancelled", "config tool-calls=0; input go; answer long=100; input more; \
        answer calls read{}; prepared; compact; raise tool-calls=9; cancel"),
    (Compacting, "history summary requested cancelled", "input go; answer long=100; compact; cancel"),
    (Compacting, "history summary requested cancelled queued", "input go; answer long=100; compact; input more; cancel"),
    (Compacting, "history summary", "input go; answer long=100; input more; fail overflow"),
    (Compacting, "history summary queued", "input go; answer long=100; input more; fail overflow; input more"),
    (Compacting, "history summary spent", "config model-calls=3; input go; answer long=100; input more; fail overflow"),
    (Compacting, "history summary results", "input go; answer long=100; input more; answer calls read{}; prepared; tool 1 ok x; fail overflow"),
    (Compacting, "history summary cancelled", "input go; answer long=100; input more; fail overflow; cancel"),

    (Error, "", "input go; fail network"),
    (Error, "", "input go; answer"),
    (Error, "", "config wall-ms=100000; input go; fail network"),
    (Error, "deadline-near", "config wall-ms=10000; input go; fail network"),
    (Error, "queued", "input go; fail network; input more"),
    (Error, "last-try", "config retries=1; input go; fail network"),
    (Error, "fallback", "config fallback=second; input go; fail network"),
    (Error, "spent", "config model-calls=1; input go; fail network"),
    (Error, "history shortens summarises", "input go; answer long=100; input more; fail network"),
    (Error, "history results", "input go; answer calls read{}; prepared; tool 1 ok x; fail network"),
    (Error, "history summary requested", "input go; answer long=100; compact; fail network"),
    (Error, "history summary requested queued", "input go; answer long=100; compact; input more; fail network"),
    (Error, "history summary", "input go; answer long=100; input more; fail overflow; fail network"),

    (ShuttingDown, "over", "shutdown"),
    (ShuttingDown, "over", "input go; shutdown"),
    (ShuttingDown, "over", "input go; fail network; shutdown"),
    (ShuttingDown, "over deadline-near", "config wall-ms=10000; input go; shutdown"),
    (ShuttingDown, "over history stopped spent", "config model-calls=1; input go; answer hi; input more; shutdown"),
];
