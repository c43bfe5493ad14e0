//! Sentences of seed 004 about a job, where the job's own tests do not hold them.

use agent_check::job::Script;
use agent_core::job::table::TABLE;
use agent_core::job::{
    Action, AgentConfig, FailureKind, JobConfig, JobStatus, ModelTier, RetryConfig, State, Step, TierModels, Trigger,
};
use serde_json::{Value, json};

const VALID: &str = "valid small,middle,large";

fn agent() -> AgentConfig {
    AgentConfig { skill: Some("debugging".into()), tier: ModelTier::Sonnet, model: "middle".into() }
}

/// A job that is told something at a time.
struct Told(Script);

impl Told {
    fn new() -> Self {
        Self(Script::on(JobConfig::new("job-1", "fix the crash"), 1_000, &TABLE))
    }

    fn tell(&mut self, at_ms: u64, line: &str) -> Step {
        self.0.now_ms = at_ms;
        self.0.tell(line)
    }

    fn until_process() -> Self {
        let mut told = Self::new();
        for (at_ms, line) in [(1_000, "start"), (1_010, VALID), (1_020, "as-suggested")] {
            let _ = told.tell(at_ms, line);
        }
        told
    }

    fn field(&self, name: &str) -> Value {
        serde_json::to_value(&self.0.job).unwrap()[name].clone()
    }
}

/// States: "Validate the job", "Route skill + select model", "Execute the LLM call", "Produce audit record".
#[test]
fn each_state_asks_for_what_the_seed_says_it_does() {
    let mut told = Told::new();
    let step = told.tell(1_000, "start");
    assert!(told.0.job.state() == State::Init && matches!(step.actions[..], [Action::ValidateJob { .. }]));
    let step = told.tell(1_010, VALID);
    let [Action::DefineAgent { suggestion, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(
        (told.0.job.state(), suggestion),
        (State::DefineAgent, &agent()),
        "the skill is routed and the model chosen"
    );
    let step = told.tell(1_020, "as-suggested");
    let [Action::RunAgent { attempt, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!((told.0.job.state(), attempt.task.as_str()), (State::Process, "fix the crash"));
    assert_eq!((attempt.agent.model.as_str(), attempt.retry.max_retries), ("middle", 0));
    let step = told.tell(1_030, "done done");
    assert!(told.0.job.state() == State::End && matches!(step.actions[..], [Action::WriteAuditRecord { .. }]));
}

/// Transitions: `Retry` has the state and the reason.
#[test]
fn a_retry_says_why() {
    let mut told = Told::until_process();
    let step = told.tell(1_030, "failed rate limit");
    let [Action::ScheduleRetry { reason, retry: 1, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(reason, &FailureKind::System("rate limit".into()));
    assert_eq!(told.tell(2_030, "timer").transitions[0].to, State::Process);
}

/// Transitions: `StateMachine::next` "Records the current state", "Evaluates the outcome", "Mutates the job", "Returns the appropriate
/// `Transition`".
#[test]
fn a_step_records_judges_changes_and_returns() {
    let mut told = Told::until_process();
    assert_eq!(told.0.job.state_history(), [State::Init, State::DefineAgent, State::Process]);
    let step = told.tell(1_030, "failed rate limit");
    let transition = step.transitions[0];
    assert_eq!(
        (transition.from, transition.on, transition.to),
        (State::Process, Trigger::AttemptFailedRetryable, State::RetryWait)
    );
    let step = told.tell(2_030, "timer");
    assert_eq!(
        (step.transitions[0].to, told.0.job.retry_count(), told.0.job.status()),
        (State::Process, 1, JobStatus::InProgress)
    );
    assert_eq!(told.0.job.state_history().last(), Some(&State::Process));
}

/// Job structure: the twelve fields of `Job`.
#[test]
fn a_job_has_the_fields_of_the_seed() {
    let mut told = Told::until_process();
    let _ = told.tell(1_500, "done done");
    let job = &told.0.job;
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
    assert_eq!(told.0.job.status(), JobStatus::Pending);
    let _ = told.tell(1_000, "start");
    assert_eq!(told.0.job.status(), JobStatus::InProgress);
    let _ = told.tell(1_000, "invalid no");
    assert_eq!(told.0.job.status(), JobStatus::Failed);
    let mut told = Told::until_process();
    let _ = told.tell(1_030, "done");
    let _ = told.tell(1_040, "written");
    assert_eq!((told.0.job.status(), told.0.job.is_finished()), (JobStatus::Completed, true));
}

/// Job structure: the agent is "Assigned in DEFINE_AGENT", the response is "LLM output from PROCESS".
#[test]
fn the_agent_is_assigned_in_define_agent_and_the_response_comes_from_process() {
    let mut told = Told::new();
    let _ = told.tell(1_000, "start");
    let _ = told.tell(1_010, VALID);
    assert_eq!((told.field("agent"), told.field("response")), (Value::Null, Value::Null));
    let mut told = Told::until_process();
    assert_eq!((told.field("agent")["model"].clone(), told.field("response")), (json!("middle"), Value::Null));
    let _ = told.tell(1_030, "done done");
    assert_eq!(told.field("response"), "done");
}

/// Model tiers: `Haiku`, `Sonnet`, `Opus`, from "Fast, low cost" to "Most capable".
#[test]
fn three_tiers_from_cheap_to_capable() {
    assert!(ModelTier::Haiku < ModelTier::Sonnet && ModelTier::Sonnet < ModelTier::Opus);
    let tiers = TierModels { haiku: "small".into(), sonnet: "middle".into(), opus: "large".into() };
    let model = |tier| tiers.model(tier).to_owned();
    assert_eq!([ModelTier::Haiku, ModelTier::Sonnet, ModelTier::Opus].map(model), ["small", "middle", "large"]);
}

/// Audit record: the twelve fields of `AuditRecord`, by their names.
#[test]
fn the_audit_record_has_every_field_of_the_seed() {
    let mut told = Told::until_process();
    let step = told.tell(1_530, "done done");
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
    let _ = told.tell(4_000, "start");
    assert_eq!((told.field("created_at_ms"), told.field("started_at_ms")), (json!(1_000), json!(4_000)));
    let step = told.tell(4_250, "unavailable no model");
    let [Action::WriteAuditRecord { record, .. }] = &step.actions[..] else { panic!("{step:?}") };
    let record = serde_json::to_value(record).unwrap();
    let times = ["started_at", "completed_at"].map(|name| record[name].as_str().unwrap().to_owned());
    assert_eq!(times, ["1970-01-01T00:00:04.000Z", "1970-01-01T00:00:04.250Z"]);
    assert_eq!(record["duration_ms"], json!(250), "the wait before the start is none of it");

    let mut never = Told::new();
    let step = never.tell(4_000, "cancel");
    let [Action::WriteAuditRecord { record, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!(serde_json::to_value(record).unwrap()["started_at"], json!("1970-01-01T00:00:01.000Z"));
}
