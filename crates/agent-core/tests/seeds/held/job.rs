//! Sentences of seed 004 about a job, where the job's own tests do not hold them.

use agent_core::job::{
    Action, AgentConfig, Event, FailureKind, Job, JobConfig, JobStatus, ModelTier, RetryConfig, Spent, State, Step,
    TierModels, Trigger, Verdict,
};
use agent_core::session::Ticket;
use serde_json::{Value, json};

fn tiers() -> TierModels {
    TierModels { haiku: "small".into(), sonnet: "middle".into(), opus: "large".into() }
}

fn agent() -> AgentConfig {
    AgentConfig { skill: Some("debugging".into()), tier: ModelTier::Sonnet, model: "middle".into() }
}

fn failed() -> Verdict {
    Verdict::Failure(FailureKind::System("rate limit".into()))
}

fn ended(ticket: Ticket, verdict: Verdict) -> Event {
    Event::AttemptEnded { ticket, verdict, spent: Spent::default(), session_id: "s1".into() }
}

/// A job and the ticket of what it asked last.
struct Told(Job, Ticket);

impl Told {
    fn new() -> Self {
        Self(Job::new(JobConfig::new("job-1", "fix the crash"), 1_000), Ticket(0))
    }

    fn tell(&mut self, at_ms: u64, event: impl FnOnce(Ticket) -> Event) -> Step {
        let step = self.0.step(at_ms, event(self.1)).unwrap();
        if let Some(
            Action::ValidateJob { ticket }
            | Action::DefineAgent { ticket, .. }
            | Action::RunAgent { ticket, .. }
            | Action::ScheduleRetry { ticket, .. }
            | Action::WriteAuditRecord { ticket, .. },
        ) = step.actions.last()
        {
            self.1 = *ticket;
        }
        step
    }

    fn until_process() -> Self {
        let mut told = Self::new();
        let _ = told.tell(1_000, |_| Event::Started);
        let _ = told.tell(1_010, |ticket| Event::ValidationPassed { ticket, tiers: tiers() });
        let _ = told.tell(1_020, |ticket| Event::AgentDefined { ticket, agent: agent(), spent: Spent::default() });
        told
    }

    fn field(&self, name: &str) -> Value {
        serde_json::to_value(&self.0).unwrap()[name].clone()
    }
}

/// States: "Validate the job", "Route skill + select model", "Execute the LLM call", "Produce audit record".
#[test]
fn each_state_asks_for_what_the_seed_says_it_does() {
    let mut told = Told::new();
    let step = told.tell(1_000, |_| Event::Started);
    assert!(told.0.state() == State::Init && matches!(step.actions[..], [Action::ValidateJob { .. }]));
    let step = told.tell(1_010, |ticket| Event::ValidationPassed { ticket, tiers: tiers() });
    let [Action::DefineAgent { suggestion, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(
        (told.0.state(), suggestion),
        (State::DefineAgent, &agent()),
        "the skill is routed and the model chosen"
    );
    let step = told.tell(1_020, |ticket| Event::AgentDefined { ticket, agent: agent(), spent: Spent::default() });
    let [Action::RunAgent { attempt, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!((told.0.state(), attempt.task.as_str()), (State::Process, "fix the crash"));
    assert_eq!((attempt.agent.model.as_str(), attempt.retry.max_retries), ("middle", 0));
    let step = told.tell(1_030, |ticket| ended(ticket, Verdict::Success { response: "done".into() }));
    assert!(told.0.state() == State::End && matches!(step.actions[..], [Action::WriteAuditRecord { .. }]));
}

/// Transitions: `Retry` has the state and the reason.
#[test]
fn a_retry_says_why() {
    let mut told = Told::until_process();
    let step = told.tell(1_030, |ticket| ended(ticket, failed()));
    let [Action::ScheduleRetry { reason, retry: 1, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(reason, &FailureKind::System("rate limit".into()));
    assert_eq!(told.tell(2_030, |ticket| Event::RetryTimeout { ticket }).transition.unwrap().to, State::Process);
}

/// Transitions: `StateMachine::next` "Records the current state", "Evaluates the outcome", "Mutates the job", "Returns the appropriate
/// `Transition`".
#[test]
fn a_step_records_judges_changes_and_returns() {
    let mut told = Told::until_process();
    assert_eq!(told.0.state_history(), [State::Init, State::DefineAgent, State::Process]);
    let step = told.tell(1_030, |ticket| ended(ticket, failed()));
    let transition = step.transition.unwrap();
    assert_eq!(
        (transition.from, transition.on, transition.to),
        (State::Process, Trigger::AttemptFailedRetryable, State::RetryWait)
    );
    let step = told.tell(2_030, |ticket| Event::RetryTimeout { ticket });
    let entered = step.transition.unwrap().to;
    assert_eq!((entered, told.0.retry_count(), told.0.status()), (State::Process, 1, JobStatus::InProgress));
    assert_eq!(told.0.state_history().last(), Some(&State::Process));
}

/// Job structure: the twelve fields of `Job`.
#[test]
fn a_job_has_the_fields_of_the_seed() {
    let mut told = Told::until_process();
    let _ = told.tell(1_500, |ticket| ended(ticket, Verdict::Success { response: "done".into() }));
    let job = &told.0;
    assert_eq!((job.config().id.as_str(), job.config().description.as_str()), ("job-1", "fix the crash"));
    assert_eq!((job.status(), job.state()), (JobStatus::Completed, State::End));
    assert_eq!(job.state_history(), [State::Init, State::DefineAgent, State::Process, State::End]);
    assert_eq!((job.retry_count(), job.config().retry), (0, RetryConfig { max_retries: 3, base_delay_ms: 1_000 }));
    assert_eq!(told.field("agent"), serde_json::to_value(agent()).unwrap());
    assert_eq!(told.field("response"), "done");
    assert_eq!(
        (told.field("created_at_ms"), told.field("now_ms")),
        (json!(1_000), json!(1_500)),
        "made, and last changed"
    );
}

/// Job structure: the status is "Pending | InProgress | Completed | Failed".
#[test]
fn the_status_goes_with_the_state() {
    let mut told = Told::new();
    assert_eq!(told.0.status(), JobStatus::Pending);
    let _ = told.tell(1_000, |_| Event::Started);
    assert_eq!(told.0.status(), JobStatus::InProgress);
    let failure = FailureKind::Business("no".into());
    let _ = told.tell(1_000, |ticket| Event::ValidationFailed { ticket, failure });
    assert_eq!(told.0.status(), JobStatus::Failed);
    let mut told = Told::until_process();
    let _ = told.tell(1_030, |ticket| ended(ticket, Verdict::Success { response: String::new() }));
    let _ = told.tell(1_040, |ticket| Event::RecordWritten { ticket });
    assert_eq!((told.0.status(), told.0.is_finished()), (JobStatus::Completed, true));
}

/// Job structure: the agent is "Assigned in DEFINE_AGENT", the response is "LLM output from PROCESS".
#[test]
fn the_agent_is_assigned_in_define_agent_and_the_response_comes_from_process() {
    let mut told = Told::new();
    let _ = told.tell(1_000, |_| Event::Started);
    let _ = told.tell(1_010, |ticket| Event::ValidationPassed { ticket, tiers: tiers() });
    assert_eq!((told.field("agent"), told.field("response")), (Value::Null, Value::Null));
    let mut told = Told::until_process();
    assert_eq!((told.field("agent")["model"].clone(), told.field("response")), (json!("middle"), Value::Null));
    let _ = told.tell(1_030, |ticket| ended(ticket, Verdict::Success { response: "done".into() }));
    assert_eq!(told.field("response"), "done");
}

/// Model tiers: `Haiku`, `Sonnet`, `Opus`, from "Fast, low cost" to "Most capable".
#[test]
fn three_tiers_from_cheap_to_capable() {
    assert!(ModelTier::Haiku < ModelTier::Sonnet && ModelTier::Sonnet < ModelTier::Opus);
    let model = |tier| tiers().model(tier).to_owned();
    assert_eq!([ModelTier::Haiku, ModelTier::Sonnet, ModelTier::Opus].map(model), ["small", "middle", "large"]);
}

/// Audit record: the twelve fields of `AuditRecord`, by their names.
#[test]
fn the_audit_record_has_every_field_of_the_seed() {
    let mut told = Told::until_process();
    let step = told.tell(1_530, |ticket| ended(ticket, Verdict::Success { response: "done".into() }));
    let [Action::WriteAuditRecord { record, .. }] = &step.actions[..] else { panic!("{step:?}") };
    let record = serde_json::to_value(record).unwrap();
    let fields = [
        "job_id",
        "description",
        "status",
        "state_transitions",
        "agent",
        "retry_count",
        "max_retries",
        "cost_usd",
        "llm_response",
        "started_at",
        "completed_at",
        "duration_ms",
    ];
    assert!(fields.iter().all(|field| record.get(field).is_some()), "{record}");
    assert_eq!((&record["duration_ms"], &record["completed_at"]), (&json!(530), &json!("1970-01-01T00:00:01.530Z")));
}

/// Audit record: "started_at" is when it was started, and not when it was made; a job that never was started has nothing but that.
#[test]
fn a_job_that_is_started_later_than_it_is_made_says_both() {
    let mut told = Told::new();
    assert_eq!((told.field("created_at_ms"), told.field("started_at_ms")), (json!(1_000), Value::Null));
    let _ = told.tell(4_000, |_| Event::Started);
    assert_eq!((told.field("created_at_ms"), told.field("started_at_ms")), (json!(1_000), json!(4_000)));
    let step =
        told.tell(4_250, |ticket| Event::ValidationFailed { ticket, failure: FailureKind::System("no model".into()) });
    let [Action::WriteAuditRecord { record, .. }] = &step.actions[..] else { panic!("{step:?}") };
    let record = serde_json::to_value(record).unwrap();
    let times = ["started_at", "completed_at"].map(|name| record[name].as_str().unwrap().to_owned());
    assert_eq!(times, ["1970-01-01T00:00:04.000Z", "1970-01-01T00:00:04.250Z"]);
    assert_eq!(record["duration_ms"], json!(250), "the wait before the start is none of it");

    let mut never = Told::new();
    let step = never.tell(4_000, |_| Event::CancelRequested);
    let [Action::WriteAuditRecord { record, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(serde_json::to_value(record).unwrap()["started_at"], json!("1970-01-01T00:00:01.000Z"));
}
