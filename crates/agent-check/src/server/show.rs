//! What a server's machine asks for, in few words.

use agent_core::server::{Action, CallEnd, Server};

/// An action.
pub fn action(action: &Action) -> String {
    match action {
        Action::ConsiderServer => "look up what stands in the way".into(),
        Action::AskReview { found } => format!("ask for a review: {found}"),
        Action::StartServer { run } => format!("start run {run}"),
        Action::ArmTimer { timer, delay_ms } => format!("timer {timer} in {delay_ms} ms"),
        Action::OfferTools { run } => format!("offer the tools of run {run}"),
        Action::SendHeld { calls } => {
            let each = calls.iter().map(|(ticket, delay_ms)| format!("call {ticket}, {delay_ms} ms left"));
            format!("send what waited: {}", each.collect::<Vec<_>>().join("; "))
        }
        Action::SendCall { ticket } => format!("send call {ticket}"),
        Action::ArmCall { ticket, delay_ms } => format!("call {ticket} has {delay_ms} ms"),
        Action::DeliverAnswer { ticket } => format!("deliver the answer to call {ticket}"),
        Action::WithdrawCall { ticket } => format!("withdraw call {ticket}"),
        Action::AnswerCall { ticket, end: by } => format!("answer call {ticket}: {}", end(by)),
        Action::AnswerOpen { calls } | Action::AnswerLost { calls } => {
            let each = calls.iter().map(|(ticket, by)| format!("call {ticket}: {}", end(by)));
            format!("answer {}", each.collect::<Vec<_>>().join("; "))
        }
        Action::AskPerson { input, ticket } => format!("ask a person, input {input} of call {ticket}"),
        Action::SendInput { input, ticket } => format!("send input {input} of call {ticket}"),
        Action::RefuseInput { input } => format!("refuse input {input}"),
        Action::WithdrawInputs { inputs } => {
            let each = inputs.iter().map(|input| format!("input {input}"));
            format!("take back {}", each.collect::<Vec<_>>().join(", "))
        }
        Action::ListTools { run } => format!("ask run {run} for the tools"),
        Action::EndServer { run } => format!("end run {run}"),
    }
}

fn end(end: &CallEnd) -> String {
    match end {
        CallEnd::NotRun { why } => format!("not run, {why}"),
        CallEnd::Unknown { why } => format!("outcome unknown, {why}"),
        CallEnd::TimedOut { after_ms } => format!("no answer within {after_ms} ms"),
        CallEnd::Cancelled { was_sent } => {
            format!("cancelled, {}", if *was_sent { "outcome unknown" } else { "not run" })
        }
    }
}

/// What there is to say of a server at rest.
pub fn standing(server: &Server) -> String {
    let mut out = format!("{:?}", server.state());
    let open: Vec<String> = server
        .open()
        .map(|(ticket, is_sent)| format!("call {ticket} {}", if is_sent { "sent" } else { "waits" }))
        .collect();
    if !open.is_empty() {
        out.push_str(&format!(", {}", open.join(", ")));
    }
    let asked: Vec<String> =
        server.inputs().map(|(input, ticket)| format!("input {input} of call {ticket} asked")).collect();
    if !asked.is_empty() {
        out.push_str(&format!(", {}", asked.join(", ")));
    }
    if let Some(found) = server.found() {
        out.push_str(&format!(" ({found})"));
    }
    out
}
