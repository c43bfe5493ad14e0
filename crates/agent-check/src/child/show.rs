//! What a child's machine asks for, in few words.

use agent_core::child::{Action, Child, Left};

/// An action.
pub fn action(action: &Action) -> String {
    match action {
        Action::BeginChild { run, lease } => {
            format!(
                "begin run {run} with {} model calls",
                lease.model_calls.map_or("any".into(), |calls| calls.to_string())
            )
        }
        Action::WithdrawBegin { run } => format!("withdraw the begin of run {run}"),
        Action::SendMessage { run, number, text } => format!("send message {number} of run {run}: {text}"),
        Action::StopChild { run } => format!("stop run {run}"),
        Action::InheritChildren { run } => format!("stop what is below run {run}"),
        Action::ClearWorkspace { run } => format!("clear the workspace of run {run}"),
        Action::HandOver { run } => format!("hand run {run} over"),
    }
}

/// What there is to say of a child at rest: its outcome, its question, what it costs.
pub fn standing(child: &Child) -> String {
    let mut out = format!("{:?}", child.state());
    if let Some(question) = child.question() {
        out.push_str(&format!(", asks: {question}"));
    }
    if let Some(outcome) = child.outcome() {
        out.push_str(&format!(", {}", outcome.word));
        for said in outcome.reason.iter().chain((!outcome.text.is_empty()).then_some(&outcome.text)) {
            out.push_str(&format!(": {said}"));
        }
    }
    if let Some(Left::Unknown { found }) = child.outcome().and_then(|outcome| outcome.left.as_deref()) {
        out.push_str(&format!(", left: {found}"));
    }
    if let Some(lease) = child.lease() {
        out.push_str(&format!(", {} model calls leased", lease.model_calls.unwrap_or_default()));
    }
    if child.spent().model_calls > 0 {
        out.push_str(&format!(", {} spent", child.spent().model_calls));
    }
    out
}
