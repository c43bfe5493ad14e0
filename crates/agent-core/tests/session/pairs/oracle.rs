//! What an event is, said once more and independent of the machine: rules over the words of a place, from what the machine is meant to do.
//! The first rule that fits holds. `|` separates lines, `*` stands for anything, `!` in front of a word is its absence.

use agent_check::session::alphabet::{COMMANDS, all_answers};
use agent_core::session::Objection::*;
use agent_core::session::Reason;
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::{self, *};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What an event is: a trigger, refused before it is one, or nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Said {
    On(Trigger),
    Refused(Reason),
    /// A timer that nothing waits for any more: nothing happens.
    Late,
}

use Said::{Late, On, Refused};

type Rule = (&'static str, &'static str, Said);
/// In a passing state, after an event, where these words are so: the automatic row that fires.
type AutomaticRule = (State, &'static str, &'static str, Trigger);

/// The trigger of an event, or its refusal, with the place of the rule.
pub(super) fn said(line: &str, words: &[&str]) -> (usize, Said) {
    let found = FITTING[line].0.iter().copied().find(|at| holds(RULES[*at].1, words));
    let at = found.unwrap_or_else(|| panic!("no rule for `{line}` where {words:?}"));
    (at, RULES[at].2)
}

/// The automatic trigger, with the place of the rule.
pub(super) fn automatic(state: State, line: &str, words: &[&str]) -> (usize, Trigger) {
    let holds = |at: &usize| AUTOMATIC[*at].0 == state && holds(AUTOMATIC[*at].2, words);
    let found = FITTING[line].1.iter().copied().find(holds);
    let at = found.unwrap_or_else(|| panic!("no rule for {state:?} after `{line}` where {words:?}"));
    (at, AUTOMATIC[at].3)
}

/// Places of rules, of both kinds.
type Places = (Vec<usize>, Vec<usize>);

/// The rules of both kinds that speak of a line: looked for once, there are many places.
static FITTING: LazyLock<BTreeMap<&str, Places>> = LazyLock::new(|| {
    let fitting = |line: &'static str| {
        let rules = (0..RULES.len()).filter(|at| fits(RULES[*at].0, line)).collect();
        let automatic = (0..AUTOMATIC.len()).filter(|at| fits(AUTOMATIC[*at].1, line)).collect();
        (line, (rules, automatic))
    };
    COMMANDS.iter().copied().chain(all_answers()).map(fitting).collect()
});

/// How many rules there are, of both kinds.
pub(super) const COUNTS: (usize, usize) = (RULES.len(), AUTOMATIC.len());

fn fits(lines: &str, line: &str) -> bool {
    lines.split('|').any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => line.len() >= start.len() + end.len() && line.starts_with(start) && line.ends_with(end),
        None => pattern == line,
    })
}

fn holds(when: &str, words: &[&str]) -> bool {
    when.split_whitespace().all(|word| match word.strip_prefix('!') {
        Some(absent) => !words.contains(&absent),
        None => words.contains(&word),
    })
}

/// Whether a rule speaks of the word.
pub(super) fn speaks_of(word: &str) -> bool {
    let named = |when: &str| when.split_whitespace().any(|named| named.trim_start_matches('!') == word);
    RULES.iter().any(|rule| named(rule.1)) || AUTOMATIC.iter().any(|rule| named(rule.2))
}

/// `open`: the ticket is that of what the state waits for. `clock`: it is that of the turn's deadline. `late`: it was given, and is open no
/// more. `idle`: nothing is waited for.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    ("start",       "",             On(Started)),
    ("input \" \"", "",             Refused(Reason::Objection(Blank))),
    ("input *",     "",             On(UserInput)),
    ("follow-up 700 \" \"", "",      Refused(Reason::Objection(Blank))),
    ("follow-up *", "",             On(UserInput)),
    ("later \" \"", "",             Refused(Reason::Objection(Blank))),
    ("later *",     "",             On(InputAfterTurn)),
    ("withdraw more", "queued",     On(InputWithdrawn)),
    ("withdraw more", "waits",      On(InputWithdrawn)),
    ("withdraw *",  "",             Refused(Reason::Objection(NotWaiting))),
    ("raise*",      "stopped idle", On(BudgetRaisedWorkDue)),
    ("raise*",      "",             On(BudgetRaised)),
    ("reconfigure*", "",            On(Reconfigured)),
    ("compact",     "history",      On(CompactionRequested)),
    ("compact",     "",             Refused(Reason::Objection(NothingToCompact))),
    ("cancel",      "",             On(CancelRequested)),
    ("leave",       "end-hooks !left", On(LeaveRequested)),
    ("leave",       "",             Refused(Reason::Objection(NoHook))),
    ("shutdown",    "",             On(ShutdownRequested)),

    // Another program goes on: under a stop nothing begins again; what cannot be repeated ends here, and the rest is still waited for.
    ("resumed*",       "cancelled !over",          On(ResumedStopped)),
    ("resumed begun*", "model",                    On(LlmInterrupted)),
    ("resumed begun*", "hooking on-calls",         On(HookFailed)),
    ("resumed begun*", "hooking leaving",          On(HookFailed)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running two-running !failure-limit !loops", On(SessionResumed)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running group-left !loops",  On(ToolGroupCompleted)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running two-running !loops", On(ToolGroupCompleted)),
    ("resumed unbegun=RUNNING", "running !changed",      On(ToolsAllCompleted)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running call-hooks", On(ToolsAllCompletedHooksDue)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running changing",   On(ToolsAllCompletedMutating)),
    ("resumed begun lost=RUNNING|resumed unbegun=RUNNING", "running",            On(ToolsAllCompleted)),
    ("resumed*",       "",                         On(SessionResumed)),

    // Timers: one whose ticket was given, and is open no more, comes late, and so does every one after the end.
    ("timer|deadline", "late",          Late),
    ("timer|deadline", "over !unknown", Late),

    // Answers: first of all the ticket has to be open, and the deadline's is for the deadline only.
    ("deadline", "clock", On(CancelRequested)),
    ("*",        "!open", Refused(Reason::StaleTicket)),
    ("deadline", "",      Refused(Reason::StaleTicket)),

    ("delta hi", "", On(LlmDelta)),
    ("aborted*", "", On(LlmAborted)),
    ("interrupted", "cancelled", On(LlmAborted)),
    ("interrupted", "",          On(LlmInterrupted)),
    ("timer",    "", On(RetryTimeout)),

    // A summary helps when it ended well and is short; under a cancel it is kept, and one that does not help counts as aborted.
    ("answer*",                           "!summary",                  On(LlmCompleted)),
    ("answer hi|answer hi stop=sequence", "cancelled",                 On(CompactionCompletedWorkDue)),
    ("answer hi|answer hi stop=sequence", "requested !queued !waits !raised", On(CompactionCompleted)),
    ("answer hi|answer hi stop=sequence", "",                          On(CompactionCompletedWorkDue)),
    ("answer*",                           "cancelled",                 On(LlmAborted)),
    ("answer*",                           "raised",                    On(CompactionFailedWorkDue)),
    // A turn goes on without one that it made by itself, where the work may fit all the same.
    ("answer*",                           "!requested",                On(CompactionFailedWorkDue)),
    ("answer*",                           "",                          On(CompactionFailedForGood)),

    ("fail *", "cancelled", On(LlmAborted)),
    ("fail overflow", "!summary shortens", On(ContextOverflowed)),
    ("fail overflow", "summary !requested", On(CompactionFailedWorkDue)),
    ("fail authentication|fail permission|fail billing|fail not-found|fail invalid|fail overflow", "summary", On(CompactionFailedForGood)),
    ("fail authentication|fail permission|fail billing|fail not-found|fail invalid|fail overflow", "",        On(LlmFailedForGood)),
    ("fail overloaded*",                  "fallback",               On(LlmFailedFallback)),
    ("fail *",                            "last-try fallback",      On(LlmFailedFallback)),
    ("fail *",                            "last-try summary raised", On(CompactionFailedWorkDue)),
    ("fail *",                            "last-try summary",       On(CompactionFailedForGood)),
    ("fail *",                            "last-try",               On(LlmFailedForGood)),
    ("fail *retry-after=999999999",       "fallback",               On(LlmFailedFallback)),
    ("fail *retry-after=999999999",       "summary raised",         On(CompactionFailedWorkDue)),
    ("fail *retry-after=999999999",       "summary",                On(CompactionFailedForGood)),
    ("fail *retry-after=999999999",       "",                       On(LlmFailedForGood)),
    ("fail *retry-after=30000",           "deadline-near fallback", On(LlmFailedFallback)),
    ("fail *retry-after=30000",           "deadline-near summary",  On(CompactionFailedForGood)),
    ("fail *retry-after=30000",           "deadline-near",          On(LlmFailedForGood)),
    ("fail *",                            "",                       On(LlmFailedRetryable)),

    ("prepared missing|prepared twice|prepared foreign", "",      Refused(Reason::Objection(IncompleteFacts))),
    ("prepared *stop=enough",                            "batch !cancelled", On(HooksStoppedTurn)),
    ("prepared*",                                        "batch", On(ToolsPrepared)),
    ("prepared*",                                        "",      Refused(Reason::Objection(IncompleteFacts))),

    ("allow id:nobody|deny id:nobody no",                    "",                   Refused(Reason::Objection(UnknownCall))),
    ("allow ASKED*|deny ASKED no|nobody ASKED",              "!asked",             Refused(Reason::Objection(UnknownCall))),
    ("allow ASKED*|deny ASKED no|nobody ASKED",              "two-asked",          On(ApprovalPartial)),
    // The call that was denied before is one repetition too many: the one behind it does not run, whatever the answer.
    ("allow ASKED*|deny ASKED no|nobody ASKED",              "denied loops",       On(ApprovalsAllDenied)),
    ("allow ASKED edit=*looks=change",                       "!forbidden",         On(ApprovalsGranted)),
    ("allow ASKED edit=*",                                   "!cleared",           On(ApprovalsAllDenied)),
    ("allow ASKED*",                                         "forbidden !cleared", On(ApprovalsAllDenied)),
    ("allow ASKED*",                                         "",                   On(ApprovalsGranted)),
    ("deny ASKED no|nobody ASKED",                           "cleared",            On(ApprovalsGranted)),
    ("deny ASKED no|nobody ASKED",                           "",                   On(ApprovalsAllDenied)),

    ("progress RUNNING half", "running", On(ToolProgress)),
    ("progress *",            "",        Refused(Reason::Objection(UnknownCall))),
    // Where one more failure or repetition is too much, no two run beside each other.
    ("tool RUNNING *", "running two-running !failure-limit !loops", On(ToolCompletedMoreLeft)),
    ("tool RUNNING *", "running cancelled group-left", On(ToolsStopped)),
    ("tool RUNNING *", "running cancelled two-running", On(ToolsStopped)),
    ("tool RUNNING *", "running cancelled",            On(ToolsAllCompleted)),
    // With one failure or repetition too many the calls behind it do not run.
    ("tool RUNNING failed*", "running failure-limit call-hooks", On(ToolsAllCompletedHooksDue)),
    ("tool RUNNING failed*", "running failure-limit changing",   On(ToolsAllCompletedMutating)),
    ("tool RUNNING failed*", "running failure-limit",            On(ToolsAllCompleted)),
    ("tool RUNNING *", "running group-left !loops",    On(ToolGroupCompleted)),
    ("tool RUNNING *", "running two-running !loops",   On(ToolGroupCompleted)),
    // Nothing happened that anybody could look at.
    ("tool RUNNING not-run*", "running !changed",      On(ToolsAllCompleted)),
    ("tool RUNNING *", "running call-hooks",           On(ToolsAllCompletedHooksDue)),
    ("tool RUNNING *", "running changing",             On(ToolsAllCompletedMutating)),
    ("tool RUNNING *changed=a.rs", "running",          On(ToolsAllCompletedMutating)),
    ("tool RUNNING *", "running",                      On(ToolsAllCompleted)),
    ("tool *",         "",                             Refused(Reason::Objection(UnknownCall))),

    ("git*",            "cancelled", On(GitChecked)),
    ("git formatting*", "",          On(GitCheckedFormattingDue)),
    ("git commit",      "",          On(GitCheckedCommitDue)),
    ("git",             "",          On(GitChecked)),
    ("formatted*",       "cancelled", On(FormattersFinished)),
    ("formatted*commit", "",          On(FormattersFinishedCommitDue)),
    ("formatted*",       "",          On(FormattersFinished)),
    ("committed",        "",          On(ChangesCommitted)),
    // A hook of the session's end has no turn to stop; elsewhere only the user's hooks answer so.
    ("hooks stop=enough", "hooking !leaving !cancelled", On(HooksStoppedTurn)),
    ("hooks*",            "",          On(HooksFinished)),
    ("hook-failed broke", "",          On(HookFailed)),
    ("hook-stop enough",  "cancelled", On(HookFailed)),
    ("hook-stop enough",  "leaving",   On(HookFailed)),
    ("hook-stop enough",  "",          On(HooksStoppedTurn)),
];

#[rustfmt::skip]
const AUTOMATIC: &[AutomaticRule] = &[
    (PreparingRequest, "*",                         "cancelled",          AutoCancelled),
    (PreparingRequest, "raise model-calls=*",       "results",            AutoResultsDue),
    (PreparingRequest, "raise model-calls=*",       "",                   AutoMessageDue),
    (PreparingRequest, "*",                         "spent",              AutoBudgetSpent),
    (PreparingRequest, "hooks*|hook-failed *|resumed*",      "prompt-next",        AutoHooksDue),
    (PreparingRequest, "*",                         "start-hooks !hooking", AutoHooksDue),
    (PreparingRequest, "interrupted",               "summary",            AutoCompactionDue),
    (PreparingRequest, "interrupted",               "results",            AutoResultsDue),
    (PreparingRequest, "interrupted",               "",                   AutoMessageDue),
    (PreparingRequest, "resumed*",                  "model summary",      AutoCompactionDue),
    (PreparingRequest, "resumed*",                  "model results",      AutoResultsDue),
    (PreparingRequest, "resumed*",                  "model",              AutoMessageDue),
    // After some hooks others are due: on what was typed ahead and is taken now, or waits behind a summary that was not made.
    (PreparingRequest, "hooks*|hook-failed *|hook-stop *|resumed*", "leaving start-hooks", AutoHooksDue),
    (PreparingRequest, "hooks*|hook-failed *|hook-stop *|resumed*", "leaving prompt-hooks", AutoHooksDue),
    (PreparingRequest, "hooks*|hook-failed *|resumed*",      "on-calls prompt-hooks queued", AutoHooksDue),
    (PreparingRequest, "hooks|hooks context*|hook-failed *|resumed*", "stopping prompt-hooks queued", AutoHooksDue),
    (PreparingRequest, "hooks|hooks context*|hook-failed *|resumed*", "stopping prompt-hooks waits", AutoHooksDue),
    (PreparingRequest, "hooks block=no",            "summing prompt-hooks", AutoHooksDue),
    (PreparingRequest, "hooks block=no",            "on-prompt queued",   AutoHooksDue),
    (PreparingRequest, "hooks block=no",            "on-prompt waits",    AutoHooksDue),
    (PreparingRequest, "hooks block=no",            "summing raised",     AutoResultsDue),
    (PreparingRequest, "hooks block=no",            "summing",            AutoMessageDue),
    (PreparingRequest, "*",                         "summing",            AutoCompactionDue),
    (PreparingRequest, "*",                         "sum-hooks due",      AutoHooksDue),
    (PreparingRequest, "compact",                   "sum-hooks",          AutoHooksDue),
    (PreparingRequest, "*",                         "due",                AutoCompactionDue),
    (PreparingRequest, "input more|later more|follow-up 700 more", "prompt-hooks",       AutoHooksDue),
    (PreparingRequest, "answer part stop=paused",   "prompt-hooks !summary", AutoMessageDue),
    // What was typed ahead is taken at the end of the work, not when a request is repeated.
    (PreparingRequest, "fail overflow",             "!summary summarises sum-hooks", AutoHooksDue),
    (PreparingRequest, "fail overflow",             "!summary summarises", AutoCompactionDue),
    (PreparingRequest, "fail overflow",             "summary !requested results", AutoResultsDue),
    (PreparingRequest, "fail overflow",             "summary !requested", AutoMessageDue),
    (PreparingRequest, "fail *",                    "raised",             AutoResultsDue),
    (PreparingRequest, "fail *|timer",              "summary",            AutoCompactionDue),
    (PreparingRequest, "fail *|timer",              "results",            AutoResultsDue),
    (PreparingRequest, "fail *|timer",              "",                   AutoMessageDue),
    (PreparingRequest, "answer*",                   "summary !requested results", AutoResultsDue),
    (PreparingRequest, "answer*",                   "summary !requested", AutoMessageDue),
    (PreparingRequest, "*",                         "prompt-hooks queued !hooking", AutoHooksDue),
    (PreparingRequest, "answer*",                   "prompt-hooks waits", AutoHooksDue),
    (PreparingRequest, "compact",                   "",                   AutoCompactionDue),
    (PreparingRequest, "answer*",                   "!summary",           AutoMessageDue),
    (PreparingRequest, "*",                         "results",            AutoResultsDue),
    (PreparingRequest, "hooks*|hook-failed *|resumed*",      "hooking on-calls",   AutoResultsDue),
    (PreparingRequest, "hooks*|hook-failed *|resumed*",      "hooking",            AutoMessageDue),
    (PreparingRequest, "prepared*|deny *|nobody *|allow *|tool *|resumed*|git*|formatted*|committed|hook-failed *", "", AutoResultsDue),
    (PreparingRequest, "*",                         "",                   AutoMessageDue),

    (ProcessingLlmResponse, "*",                    "cancelled",          AutoCancelled),
    (ProcessingLlmResponse, "answer*stop=refusal",  "",                   AutoResponseUnusableForGood),
    (ProcessingLlmResponse, "answer look calls read{}|answer calls read{}*", "", AutoToolCalls),
    (ProcessingLlmResponse, "answer*stop=max-tokens|answer*stop=context|answer well stop=odd", "", AutoResponseUnusableForGood),
    (ProcessingLlmResponse, "answer part stop=paused", "ninth-pause",     AutoResponseUnusableForGood),
    (ProcessingLlmResponse, "answer part stop=paused", "",                AutoResponsePaused),
    (ProcessingLlmResponse, "answer|answer thinking|answer stop=paused|answer stop=odd", "last-try", AutoResponseUnusableForGood),
    (ProcessingLlmResponse, "answer|answer thinking|answer stop=paused|answer stop=odd", "", AutoResponseUnusable),
    (ProcessingLlmResponse, "answer*",              "",                   AutoNoToolCalls),

    (EndOfTurn, "*", "queued", AutoQueuedInput),
    (EndOfTurn, "*", "stop-hooks", AutoStopHooksDue),
    (EndOfTurn, "*", "waits",  AutoWaitingInput),
    (EndOfTurn, "*", "",       AutoQueueEmpty),
    (ToolUseRequested, "*", "", AutoAlways),

    (CheckingForCancellation, "*",               "cancelled",   AutoCancelled),
    (CheckingForCancellation, "hook-failed *",   "",            AutoNothingToRun),
    // One that cannot run is one failure, or one repetition, too many: those behind it do not run either.
    (CheckingForCancellation, "prepared 1=deny|prepared 1=invalid|prepared 1=unknown", "failure-limit", AutoNothingToRun),
    (CheckingForCancellation, "prepared 1=deny|prepared 1=invalid|prepared 1=unknown", "loops", AutoNothingToRun),
    (CheckingForCancellation, "*",               "tool-limit",  AutoNothingToRun),
    (CheckingForCancellation, "*",               "unusable",    AutoNothingToRun),
    (CheckingForCancellation, "prepared 1=allow", "single",     AutoClear),
    (CheckingForCancellation, "*",               "asks",        AutoNeedsApproval),
    (CheckingForCancellation, "prepared 1=ask",  "",            AutoNeedsApproval),
    (CheckingForCancellation, "prepared 1=deny|prepared 1=invalid|prepared 1=unknown", "single", AutoNothingToRun),
    (CheckingForCancellation, "*",               "",            AutoClear),

    (SettlingHooks, "*",              "cancelled",        AutoCancelled),
    (SettlingHooks, "*",              "on-calls changed", AutoGitCheckDue),
    (SettlingHooks, "*",              "on-calls",         AutoToolsAnswered),
    (SettlingHooks, "hooks block=no", "summing raised",   AutoRaisedWorkDue),
    (SettlingHooks, "hooks block=no", "summing due queued",   AutoQueuedInput),
    (SettlingHooks, "hooks block=no", "summing due waits",   AutoWaitingInput),
    (SettlingHooks, "hooks block=no", "summing due",      AutoQueueEmpty),
    (SettlingHooks, "hooks block=no", "on-prompt results", AutoWorkDue),
    (SettlingHooks, "hooks block=no", "on-prompt queued", AutoQueuedInput),
    (SettlingHooks, "hooks block=no", "on-prompt waits", AutoWaitingInput),
    (SettlingHooks, "hooks block=no", "on-prompt",        AutoQueueEmpty),
    (SettlingHooks, "hooks block=no", "stopping !held-often", AutoWorkDue),
    (SettlingHooks, "*",              "stopping queued",  AutoQueuedInput),
    (SettlingHooks, "*",              "stopping waits",  AutoWaitingInput),
    (SettlingHooks, "*",              "stopping",         AutoQueueEmpty),
    (SettlingHooks, "*",              "leaving raised",   AutoRaisedWorkDue),
    (SettlingHooks, "*",              "leaving queued",   AutoQueuedInput),
    (SettlingHooks, "*",              "leaving waits",   AutoWaitingInput),
    (SettlingHooks, "*",              "leaving",          AutoQueueEmpty),
    (SettlingHooks, "*",              "",                 AutoWorkDue),

    (CheckingBudget, "*",                                   "cancelled",     AutoCancelled),
    (CheckingBudget, "*",                                   "spent",         AutoBudgetSpent),
    (CheckingBudget, "prepared|prepared 1=ask|prepared 1=allow|prepared 1=change,*", "tool-limit !unusable", AutoBudgetSpent),
    (CheckingBudget, "prepared 1=deny|prepared 1=invalid|prepared 1=unknown", "tool-limit !single !unusable !loops", AutoBudgetSpent),
    (CheckingBudget, "*",                                   "denied loops",  AutoLoopDetected),
    (CheckingBudget, "tool RUNNING failed out|prepared 1=*", "failure-limit", AutoBudgetSpent),
    (CheckingBudget, "prepared*",                           "unusable failure-limit", AutoBudgetSpent),
    (CheckingBudget, "hook-failed *",                       "batch failure-limit", AutoBudgetSpent),
    // Nothing of the batch ran: the policy said no, or nobody. What a person says, and what they make of a call, is no failure.
    (CheckingBudget, "nobody *|allow ASKED|allow ASKED always=change", "failure-limit", AutoBudgetSpent),
    (CheckingBudget, "allow ASKED edit=*looks=deny|allow ASKED edit=*looks=change", "failure-limit", AutoBudgetSpent),
    (CheckingBudget, "*",                                   "loops",         AutoLoopDetected),
    (CheckingBudget, "*",                                   "",              AutoBudgetLeft),

    (GatheringAdditionalMessages, "*", "", AutoInputGathered),
    (Cancelled,                   "*", "", AutoCancelSettled),
    (BudgetExceeded,              "*", "", AutoAlways),
];
