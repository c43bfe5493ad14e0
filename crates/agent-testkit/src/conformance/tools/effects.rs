//! Whether a tool does what it says it does.

use super::ToolCheck;
use super::stage::{Stage, differences, shown};
use agent_core::tool::{Effect, ToolStatus};

pub(super) fn all() -> Vec<ToolCheck> {
    vec![
        ToolCheck {
            name: "inspecting",
            demands: "looking at a call does nothing",
            run: |stage| Box::pin(inspecting(stage)),
        },
        ToolCheck {
            name: "reading",
            demands: "a call that says it only reads changes nothing",
            run: |stage| Box::pin(reading(stage)),
        },
        ToolCheck {
            name: "changed paths",
            demands: "a call about paths names every file that it has changed, and has said so before",
            run: |stage| Box::pin(changed_paths(stage)),
        },
        ToolCheck {
            name: "side by side",
            demands: "reading calls at the same time give what each gives alone",
            run: |stage| Box::pin(side_by_side(stage)),
        },
    ]
}

async fn inspecting(stage: &Stage<'_>) -> Result<(), String> {
    let calls = stage.case.works(&stage.workspace());
    let before = stage.snapshot();
    for arguments in calls {
        stage.inspect(&arguments).map_err(|error| format!("{} is refused: {error}", shown(&arguments)))?;
    }
    match differences(&before, &stage.snapshot()).first() {
        None => Ok(()),
        Some(path) => Err(format!("`{}` has changed", path.display())),
    }
}

async fn reading(stage: &Stage<'_>) -> Result<(), String> {
    for arguments in stage.case.works(&stage.workspace()) {
        let effect = stage.inspect(&arguments)?.effect;
        let before = stage.snapshot();
        let outcome = stage.call(&arguments).await?;
        if outcome.status != ToolStatus::Ok {
            return Err(format!("{} gives {outcome:?}", shown(&arguments)));
        }
        let changed = differences(&before, &stage.snapshot());
        if effect == Effect::Reads && !(changed.is_empty() && outcome.changed_paths.is_empty()) {
            return Err(format!("{} has changed {changed:?}", shown(&arguments)));
        }
    }
    Ok(())
}

async fn changed_paths(stage: &Stage<'_>) -> Result<(), String> {
    let workspace = stage.workspace();
    for arguments in stage.case.works(&workspace) {
        let subject = stage.inspect(&arguments)?.subject;
        let Some(said) = subject.paths() else { continue };
        let before = stage.snapshot();
        let outcome = stage.call(&arguments).await?;
        let after = stage.snapshot();
        for path in differences(&before, &after) {
            // Directories come with the files in them.
            if path.is_dir() {
                continue;
            }
            let name = path.strip_prefix(&workspace).unwrap_or(&path).display().to_string();
            if !outcome.changed_paths.contains(&name) {
                return Err(format!("{} has changed `{name}` and says {:?}", shown(&arguments), outcome.changed_paths));
            }
            if !said.contains(&name) {
                return Err(format!("{} has changed `{name}`; before, it was about {said:?}", shown(&arguments)));
            }
        }
    }
    Ok(())
}

async fn side_by_side(stage: &Stage<'_>) -> Result<(), String> {
    let mut reading = Vec::new();
    for arguments in stage.case.works(&stage.workspace()) {
        if stage.inspect(&arguments)?.effect == Effect::Reads {
            let alone = stage.call(&arguments).await?;
            reading.push((arguments, alone));
        }
    }
    let twice = reading.iter().chain(&reading).map(|(arguments, alone)| async move {
        let together = stage.call(arguments).await?;
        if together == *alone {
            return Ok(());
        }
        Err(format!("{} gives {together:?} beside others, and alone {alone:?}", shown(arguments)))
    });
    futures_util::future::join_all(twice).await.into_iter().collect()
}
