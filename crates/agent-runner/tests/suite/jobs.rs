//! Jobs over whole sessions: scripted models, and time that moves only when nothing else can.

use crate::support::elapsed_ms;
use agent_core::budget::{Limits, Price};
use agent_core::job::{
    AgentConfig, Attempt, AuditRecord, FailureKind, Job, JobConfig, JobStatus, RetryConfig, Spent, State, TierModels,
};
use agent_core::journal::Record;
use agent_core::llm::{LlmError, LlmErrorKind, Usage};
use agent_core::ports::{Journal, JournalError};
use agent_core::session::{ModelConfig, SessionConfig};
use agent_runner::Builder;
use agent_runner::job::{AuditLog, JobHandle, JobHost, JobNotice, JobRunner};
use agent_testkit::{Reply, Script, ScriptedProvider, TokioClock};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A host without an outside.
struct Bench {
    provider: ScriptedProvider,
    tiers: Result<TierModels, FailureKind>,
    /// What its router's own model call costs.
    routing: Spent,
    keeps_records: bool,
    /// What the disk does behind so many records of a session's journal.
    disk: Option<(usize, Disk)>,
    /// What its sessions must not keep.
    secret: &'static str,
    /// The function that panics.
    panics: &'static str,
    records: Mutex<Vec<AuditRecord>>,
    seen: Mutex<Vec<String>>,
}

impl Bench {
    fn new(script: Script) -> Self {
        Self {
            provider: ScriptedProvider::new(script),
            tiers: Ok(TierModels::all("m")),
            routing: Spent::default(),
            keeps_records: true,
            disk: None,
            secret: "",
            panics: "",
            records: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    fn reached(&self, function: &str) {
        assert!(self.panics != function, "planted: {function}");
    }

    fn record(&self) -> AuditRecord {
        let records = self.records.lock().unwrap();
        assert_eq!(records.len(), 1);
        records[0].clone()
    }

    fn saw(&self, what: &str) -> bool {
        self.seen.lock().unwrap().iter().any(|seen| seen.contains(what))
    }
}

#[async_trait]
impl JobHost for Bench {
    async fn validate(&self) -> Result<TierModels, FailureKind> {
        self.reached("validate");
        self.tiers.clone()
    }

    async fn define_agent(
        &self,
        _: &str,
        suggestion: AgentConfig,
        _: &CancellationToken,
    ) -> (Result<AgentConfig, FailureKind>, Spent) {
        self.reached("define_agent");
        (Ok(suggestion), self.routing)
    }

    async fn session(&self, attempt: &Attempt) -> Result<(Builder, String), FailureKind> {
        self.reached("session");
        let model = ModelConfig { price: Some(PRICE), ..ModelConfig::new(&attempt.agent.model) };
        let builder = Builder::new(SessionConfig::new(model))
            .provider(Arc::new(self.provider.clone()))
            .clock(Arc::new(TokioClock::new(0)))
            .secret(self.secret)
            .journal(Box::new(BadJournal { disk: self.disk, records: 0 }));
        Ok((builder, format!("s{}", attempt.number)))
    }

    async fn record(&self, record: &AuditRecord) -> Result<(), String> {
        self.records.lock().unwrap().push(record.clone());
        self.reached("record");
        if self.keeps_records { Ok(()) } else { Err(String::from("disk full")) }
    }

    fn notice(&self, notice: JobNotice<'_>) {
        self.seen.lock().unwrap().push(format!("{notice:?}"));
        let function = if matches!(notice, JobNotice::Session(_)) { "notice of a session" } else { "notice" };
        self.reached(function);
    }
}

/// What is wrong with a disk.
#[derive(Clone, Copy)]
enum Disk {
    /// Nothing more can be written.
    IsFull,
    /// Nothing that is written from then on gets there.
    LosesWrites,
    /// Writing panics.
    Panics,
}

struct BadJournal {
    disk: Option<(usize, Disk)>,
    records: usize,
}

impl BadJournal {
    fn found(&self) -> Option<Disk> {
        self.disk.filter(|(good, _)| self.records > *good).map(|(_, disk)| disk)
    }
}

#[async_trait]
impl Journal for BadJournal {
    async fn append(&mut self, _: &Record) -> Result<(), JournalError> {
        self.records += 1;
        match self.found() {
            Some(Disk::IsFull) => Err(JournalError { place: "test".into(), found: "disk full".into() }),
            Some(Disk::Panics) => panic!("planted: journal"),
            Some(Disk::LosesWrites) | None => Ok(()),
        }
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        match self.found() {
            Some(Disk::LosesWrites) => Err(JournalError { place: "test".into(), found: "disk gone".into() }),
            _ => Ok(()),
        }
    }
}

const PRICE: Price = Price { input_nano_usd: 3, output_nano_usd: 15, cache_read_nano_usd: 0, cache_write_nano_usd: 0 };

fn job(bench: &Arc<Bench>, config: JobConfig) -> (JobRunner, JobHandle) {
    JobRunner::new(config, bench.clone(), Arc::new(TokioClock::new(1_000)))
}

async fn run(bench: &Arc<Bench>, config: JobConfig) -> Job {
    job(bench, config).0.run().await
}

fn fix() -> JobConfig {
    JobConfig::new("job-1", "fix the crash")
}

fn overloaded() -> LlmError {
    LlmError::new(LlmErrorKind::Overloaded, "overloaded")
}

fn answer(output_tokens: u64) -> Reply {
    Reply::new().text("done").usage(Usage { output_tokens, ..Usage::default() })
}

#[tokio::test(start_paused = true)]
async fn a_job_is_one_session_and_one_record() {
    let bench = Arc::new(Bench::new(Script::new().answer(answer(10))));
    let job = run(&bench, fix()).await;
    assert_eq!((job.state(), job.status()), (State::Completed, JobStatus::Completed));
    let record = bench.record();
    assert_eq!((record.llm_response.as_deref(), record.cost_nano_usd), (Some("done"), Some(150)));
    assert_eq!(
        (record.session_ids, record.agent.unwrap().skill.unwrap()),
        (vec![String::from("s1")], String::from("debugging"))
    );
    assert_eq!(crate::support::last_input(&bench.provider.requests().last().unwrap()), ["fix the crash"]);
}

#[tokio::test(start_paused = true)]
async fn failed_attempts_are_repeated_after_one_two_and_four_seconds_and_by_nobody_else() {
    let script = (0..3).fold(Script::new(), |script, _| script.error(overloaded())).answer(answer(10));
    let bench = Arc::new(Bench::new(script));
    let start = Instant::now();
    let job = run(&bench, fix()).await;
    assert_eq!((job.status(), elapsed_ms(start)), (JobStatus::Completed, 7_000));
    assert_eq!(bench.provider.requests().len(), 4, "each session asks once");
    for delay in ["delay_ms: 1000, retry: 1", "delay_ms: 2000, retry: 2", "delay_ms: 4000, retry: 3"] {
        assert!(bench.saw(delay), "{delay}");
    }
    let record = bench.record();
    assert_eq!((record.retry_count, record.duration_ms, record.session_ids.len()), (3, 7_000, 4));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_panics_fails_the_job_which_is_not_repeated_and_leaves_its_record() {
    let broken = [
        ("validate", "validating the job panicked", Some(0)),
        ("define_agent", "choosing the agent panicked", None),
        ("session", "running the attempt panicked", None),
        ("notice of a session", "running the attempt panicked", None),
    ];
    for (panics, why, cost) in broken {
        let bench = Arc::new(Bench { panics, ..Bench::new(Script::new().answer(answer(10))) });
        let job = run(&bench, fix()).await;
        let record = bench.record();
        assert_eq!(
            (job.status(), record.status, record.retry_count),
            (JobStatus::Failed, JobStatus::Failed, 0),
            "{panics}"
        );
        assert_eq!(
            (record.failure, record.cost_nano_usd),
            (Some(FailureKind::System(why.to_owned())), cost),
            "{panics}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_panics_over_what_it_is_shown_or_keeps_loses_no_job() {
    for panics in ["notice", "record"] {
        let bench = Arc::new(Bench { panics, ..Bench::new(Script::new().answer(answer(10))) });
        let job = run(&bench, fix()).await;
        assert!(job.is_finished(), "{panics}");
        assert_eq!(bench.record().status, JobStatus::Completed, "{panics}");
        assert_eq!(bench.saw("RecordNotWritten"), panics == "record");
    }
}

/// A session with one answer: its header, its start, the message, the call that begins, the answer.
const RECORDS: usize = 5;

#[tokio::test(start_paused = true)]
async fn a_session_whose_journal_is_not_whole_fails_the_job_which_is_not_repeated() {
    for (disk, found) in [(Disk::IsFull, "disk full"), (Disk::LosesWrites, "disk gone")] {
        for good in 0..=RECORDS {
            let script = Script::new().answer(answer(10)).answer(answer(10));
            let bench = Arc::new(Bench { disk: Some((good, disk)), ..Bench::new(script) });
            let job = run(&bench, fix()).await;
            let record = bench.record();
            let (status, failure) = match good {
                RECORDS => (JobStatus::Completed, None),
                _ => (JobStatus::Failed, Some(FailureKind::System(format!("append to the journal test: {found}")))),
            };
            let found = (job.status(), record.status, record.failure, record.retry_count);
            assert_eq!(found, (status, status, failure, 0), "{good}");
            assert_eq!(record.llm_response.is_some(), good == RECORDS, "{good}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_panics_fails_the_job_at_a_cost_that_nobody_knows() {
    for good in 0..RECORDS {
        let script = Script::new().answer(answer(10)).answer(answer(10));
        let bench = Arc::new(Bench { disk: Some((good, Disk::Panics)), ..Bench::new(script) });
        assert_eq!(run(&bench, fix()).await.status(), JobStatus::Failed, "{good}");
        let record = bench.record();
        let why = FailureKind::System(String::from("running the attempt panicked"));
        assert_eq!((record.failure, record.retry_count, record.cost_nano_usd), (Some(why), 0, None), "{good}");
        assert_eq!(record.session_ids, ["s1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn exhausted_retries_fail_the_job_and_leave_its_record() {
    let script = (0..9).fold(Script::new(), |script, _| script.error(overloaded()));
    let bench = Arc::new(Bench::new(script));
    let retry = RetryConfig { max_retries: 2, base_delay_ms: 100 };
    let job = run(&bench, JobConfig { retry, ..fix() }).await;
    assert_eq!((job.status(), bench.provider.requests().len()), (JobStatus::Failed, 3));
    let record = bench.record();
    assert!(matches!(record.failure, Some(FailureKind::System(_))));
    assert_eq!((record.status, record.retry_count, record.duration_ms), (JobStatus::Failed, 2, 300));
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_not_repeated() {
    let error = LlmError::new(LlmErrorKind::Authentication, "no");
    let bench = Arc::new(Bench::new(Script::new().error(error)));
    assert_eq!(run(&bench, fix()).await.status(), JobStatus::Failed);
    assert_eq!((bench.provider.requests().len(), bench.record().retry_count), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn the_cost_is_that_of_all_attempts_and_of_the_router() {
    let lost = Reply::new().text("half").usage(Usage { output_tokens: 100, ..Usage::default() });
    let refused = lost.stop(agent_core::llm::StopReason::Refusal);
    let script = Script::new().answer(refused).answer(answer(10));
    let routing = Spent::of_call(Usage { output_tokens: 1, ..Usage::default() }, Some(&PRICE));
    let bench = Arc::new(Bench { routing, ..Bench::new(script) });
    assert_eq!(run(&bench, fix()).await.status(), JobStatus::Completed);
    let record = bench.record();
    assert_eq!((record.cost_nano_usd, record.usage.output_tokens, record.model_calls), (Some(111 * 15), 111, 3));
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_the_job_stands_above_its_attempts() {
    let script = (0..9).fold(Script::new(), |script, _| script.error(overloaded()));
    let bench = Arc::new(Bench::new(script));
    let limits = Limits { max_model_calls: Some(2), ..Limits::default() };
    let job = run(&bench, JobConfig { limits, ..fix() }).await;
    assert_eq!((job.status(), bench.provider.requests().len()), (JobStatus::Failed, 2));
    assert!(matches!(bench.record().failure, Some(FailureKind::Business(_))));
}

#[tokio::test(start_paused = true)]
async fn a_record_holds_no_secret_of_a_session_or_the_host() {
    let task = JobConfig::new("job-1", "use the key sk-live-0123456789");
    // The model is told what the session's redaction lets it be told.
    let bench = Arc::new(Bench { secret: "sk-live-0123456789", ..Bench::new(Script::new().text("done")) });
    assert_eq!(run(&bench, task.clone()).await.status(), JobStatus::Completed);
    assert_eq!(bench.record().description, "use the key [redacted]");
    assert_eq!(crate::support::last_input(&bench.provider.requests().last().unwrap()), ["use the key [redacted]"]);
    // Before there is a session, only the host knows.
    let tiers = Err(FailureKind::Business(String::from("sk-live-0123456789 is no model")));
    let bench = Arc::new(Bench { tiers, ..Bench::new(Script::new()) });
    job(&bench, task).0.secret("sk-live-0123456789").run().await;
    let failure = FailureKind::Business(String::from("[redacted] is no model"));
    assert_eq!(
        (bench.record().description, bench.record().failure),
        (String::from("use the key [redacted]"), Some(failure))
    );
}

#[tokio::test(start_paused = true)]
async fn what_does_not_validate_is_not_run() {
    let tiers = Err(FailureKind::Business(String::from("no key")));
    let bench = Arc::new(Bench { tiers, ..Bench::new(Script::new()) });
    assert_eq!(run(&bench, fix()).await.status(), JobStatus::Failed);
    assert_eq!((bench.record().state_transitions, bench.provider.requests().len()), (vec![State::Init], 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_the_session_and_leaves_a_record() {
    for leaves in [false, true] {
        let bench = Arc::new(Bench::new(Script::new().stall_after(Reply::new().text("half").pieces_of(2), 1)));
        let (runner, handle) = job(&bench, fix());
        let running = tokio::spawn(runner.run());
        bench.provider.requests().wait_for(1).await;
        if leaves {
            handle.leave();
        } else {
            handle.cancel();
        }
        let job = running.await.unwrap();
        assert_eq!((job.state(), job.status()), (State::Failed, JobStatus::Cancelled));
        assert_eq!((bench.record().status, bench.provider.open_streams()), (JobStatus::Cancelled, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_wait_before_a_retry() {
    let script = (0..9).fold(Script::new(), |script, _| script.error(overloaded()));
    let bench = Arc::new(Bench::new(script));
    let retry = RetryConfig { max_retries: 3, base_delay_ms: u64::MAX };
    let (runner, handle) = job(&bench, JobConfig { retry, ..fix() });
    let running = tokio::spawn(runner.run());
    while !bench.saw("RetryScheduled") {
        tokio::task::yield_now().await;
    }
    handle.cancel();
    assert_eq!(running.await.unwrap().status(), JobStatus::Cancelled);
    assert_eq!(bench.record().retry_count, 0);
}

#[tokio::test(start_paused = true)]
async fn work_whose_record_is_lost_has_failed() {
    let bench = Arc::new(Bench { keeps_records: false, ..Bench::new(Script::new().text("done")) });
    let job = run(&bench, fix()).await;
    assert_eq!((job.state(), job.failure().unwrap().to_string()), (State::Failed, String::from("disk full")));
}

#[test]
fn records_are_appended_behind_whatever_a_crash_left() {
    let folder = tempfile::tempdir().unwrap();
    let log = AuditLog::new(folder.path().join("audit").join("p.jsonl"));
    assert_eq!(log.read().unwrap().records, []);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = Arc::new(Bench::new(Script::new().text("done")));
    runtime.block_on(run(&bench, fix()));
    let record = bench.record();
    log.append(&record).unwrap();
    let whole = std::fs::read(log.path()).unwrap();
    std::fs::write(log.path(), [&whole[..], b"{\"format_ver"].concat()).unwrap();
    log.append(&record).unwrap();
    let audited = log.read().unwrap();
    assert_eq!((audited.records, audited.unreadable_lines), (vec![record.clone(), record], vec![2]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(log.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
