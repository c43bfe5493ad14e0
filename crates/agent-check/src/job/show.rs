//! What a job does, in few words.

use agent_core::job::{Action, AgentConfig};

/// An action.
pub fn action(action: &Action) -> String {
    match action {
        Action::ValidateJob { ticket } => format!("validate {ticket}"),
        Action::DefineAgent { ticket, description, suggestion } => {
            format!("choose an agent {ticket} for \"{description}\", suggested: {}", named(suggestion))
        }
        Action::RunAgent { ticket, attempt } => {
            format!("run {ticket}, attempt {}: {} on \"{}\"", attempt.number, named(&attempt.agent), attempt.task)
        }
        Action::StopWork { ticket } => format!("stop {ticket}"),
        Action::ScheduleRetry { ticket, delay_ms, retry, reason } => {
            format!("retry {ticket} in {delay_ms} ms (number {retry}, because of: {reason})")
        }
        Action::CancelRetry { ticket } => format!("cancel the retry {ticket}"),
        Action::WriteAuditRecord { ticket, record } => {
            let failure = record.failure.as_ref().map(|failure| format!(", {failure}")).unwrap_or_default();
            let answer = record.llm_response.as_ref().map(|text| format!(", \"{text}\"")).unwrap_or_default();
            let states: Vec<String> = record.state_transitions.iter().map(|state| format!("{state:?}")).collect();
            format!(
                "record {ticket}: {:?}{failure}{answer}; {} retries of {}, {} ms, {} nano-dollars, sessions {:?}\n  {}",
                record.status,
                record.retry_count,
                record.max_retries,
                record.duration_ms,
                record.cost_nano_usd.map_or("unknown".into(), |cost| cost.to_string()),
                record.session_ids,
                states.join(" ")
            )
        }
    }
}

fn named(agent: &AgentConfig) -> String {
    format!("{} as {:?}, {}", agent.model, agent.tier, agent.skill.as_deref().unwrap_or("no skill"))
}
