//! Limits, and stopping.

use super::ToolCheck;
use super::stage::{Stage, differences, shown};
use agent_core::tool::{Effect, ToolStatus};
use std::time::{Duration, Instant};

pub(super) fn all() -> Vec<ToolCheck> {
    vec![
        ToolCheck {
            name: "limits",
            demands: "however much there is to tell, an answer is bounded, and so is each report on the way",
            run: |stage| Box::pin(limits(stage)),
        },
        ToolCheck {
            name: "stopped before it begins",
            demands: "a call that is stopped already changes nothing and ends at once",
            run: |stage| Box::pin(stopped_before(stage)),
        },
        ToolCheck {
            name: "stopped in the middle",
            demands: "a call that is stopped says so, soon, and leaves no process and no work behind",
            run: |stage| Box::pin(stopped_in_the_middle(stage)),
        },
        ToolCheck {
            name: "dropped in the middle",
            demands: "a call that is dropped leaves no process and no work behind",
            run: |stage| Box::pin(dropped_in_the_middle(stage)),
        },
    ]
}

async fn limits(stage: &Stage<'_>) -> Result<(), String> {
    let Some(arguments) = stage.case.much(&stage.workspace()) else {
        return Ok(());
    };
    let (context, _cancel, progress) = Stage::context();
    let outcome = stage.call_with(&arguments, &context).await?;
    let most = stage.case.most_bytes();
    if outcome.content.len() > most {
        return Err(format!("an answer has {} bytes, more than {most}", outcome.content.len()));
    }
    match progress.reports().iter().find(|report| report.len() > most) {
        None => Ok(()),
        Some(report) => Err(format!("a report has {} bytes, more than {most}", report.len())),
    }
}

async fn stopped_before(stage: &Stage<'_>) -> Result<(), String> {
    for arguments in stage.case.works(&stage.workspace()) {
        let (context, cancel, _progress) = Stage::context();
        cancel.cancel();
        let (before, begun) = (stage.snapshot(), Instant::now());
        let outcome = stage.call_with(&arguments, &context).await?;
        if begun.elapsed() > SOON {
            return Err(format!("{} took {} ms", shown(&arguments), begun.elapsed().as_millis()));
        }
        let changed = differences(&before, &stage.snapshot());
        let may_change = stage.inspect(&arguments)?.effect == Effect::Changes;
        if !changed.is_empty() || (may_change && outcome.status == ToolStatus::Ok) {
            return Err(format!("{} gives {outcome:?}, and has changed {changed:?}", shown(&arguments)));
        }
    }
    Ok(())
}

async fn stopped_in_the_middle(stage: &Stage<'_>) -> Result<(), String> {
    let Some(arguments) = stage.case.long(&stage.workspace()) else {
        return Ok(());
    };
    let (context, cancel, _progress) = Stage::context();
    let mut stopped = None;
    let stop = async {
        tokio::time::sleep(A_WHILE).await;
        cancel.cancel();
        stopped = Some(Instant::now());
    };
    let (outcome, ()) = futures_util::future::join(stage.call_with(&arguments, &context), stop).await;
    let outcome = outcome?;
    let took = stopped.map(|stopped| stopped.elapsed()).unwrap_or_default();
    if outcome.status != ToolStatus::Interrupted {
        return Err(format!("it gives {outcome:?}"));
    }
    if took > SOON {
        return Err(format!("it took {} ms to stop", took.as_millis()));
    }
    is_quiet(stage).await
}

async fn dropped_in_the_middle(stage: &Stage<'_>) -> Result<(), String> {
    let Some(arguments) = stage.case.long(&stage.workspace()) else {
        return Ok(());
    };
    let (context, _cancel, _progress) = Stage::context();
    if let Ok(outcome) = tokio::time::timeout(A_WHILE, stage.call_with(&arguments, &context)).await {
        return Err(format!("it ended by itself with {outcome:?}: it is no long call"));
    }
    is_quiet(stage).await
}

/// Nothing changes in the workspace any more.
async fn is_quiet(stage: &Stage<'_>) -> Result<(), String> {
    let deadline = Instant::now() + SOON;
    while !stage.processes().is_empty() {
        if Instant::now() > deadline {
            return Err(format!("the processes {:?} are left", stage.processes()));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let before = stage.snapshot();
    tokio::time::sleep(A_WHILE).await;
    match differences(&before, &stage.snapshot()).first() {
        None => Ok(()),
        Some(path) => Err(format!("`{}` still changes", path.display())),
    }
}

/// How long a call may take to stop.
const SOON: Duration = Duration::from_secs(2);
/// How long a call runs before it is stopped.
const A_WHILE: Duration = Duration::from_millis(300);
