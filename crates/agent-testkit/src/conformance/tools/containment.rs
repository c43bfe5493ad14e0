//! The ways out of a workspace.

use super::ToolCheck;
use super::stage::{SECRET, Stage, differences, shown, snapshot};
use agent_core::tool::ToolStatus;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

pub(super) fn all() -> Vec<ToolCheck> {
    vec![
        ToolCheck {
            name: "inside",
            demands: "a path inside of the workspace is taken, or the checks of paths would prove nothing",
            run: |stage| Box::pin(inside(stage)),
        },
        ToolCheck {
            name: "paths that lead out",
            demands: "no path, however written, reaches what is outside",
            run: |stage| Box::pin(paths(stage)),
        },
        ToolCheck {
            name: "links that lead out",
            demands: "no link reaches what is outside",
            run: |stage| Box::pin(links(stage)),
        },
        ToolCheck {
            name: "files that block",
            demands: "a pipe or an endless device does not hold it up",
            run: |stage| Box::pin(blocking(stage)),
        },
    ]
}

async fn inside(stage: &Stage<'_>) -> Result<(), String> {
    fs::write(stage.workspace().join("inside.txt"), "text").map_err(|error| error.to_string())?;
    let Some(arguments) = stage.case.about_path("inside.txt") else {
        return Ok(());
    };
    let outcome = stage.call(&arguments).await?;
    if outcome.status == ToolStatus::Ok { Ok(()) } else { Err(format!("{} gives {outcome:?}", shown(&arguments))) }
}

async fn paths(stage: &Stage<'_>) -> Result<(), String> {
    let outside = stage.outside();
    let neighbour = outside.join("workspace-neighbour");
    let made = fs::create_dir(&neighbour).and_then(|()| fs::write(neighbour.join("outside.txt"), SECRET));
    made.map_err(|error| error.to_string())?;
    let absolute = |name: &str| outside.join(name).display().to_string();
    let ways = [
        String::from("../outside.txt"),
        String::from("./a/../../outside.txt"),
        String::from(".//..//outside.txt"),
        absolute("outside.txt"),
        absolute("workspace-neighbour/outside.txt"),
        absolute("workspace/../outside.txt"),
        format!("file://{}", absolute("outside.txt")),
        String::from("/proc/self/environ"),
        String::from("/proc/self/cwd/Cargo.toml"),
    ];
    for path in ways {
        refuses(stage, &path).await?;
    }
    Ok(())
}

async fn links(stage: &Stage<'_>) -> Result<(), String> {
    let (workspace, outside) = (stage.workspace(), stage.outside());
    let links = [("file", outside.join("outside.txt")), ("directory", outside.clone()), ("up", "..".into())];
    for (name, target) in links {
        symlink(target, workspace.join(name)).map_err(|error| error.to_string())?;
    }
    for path in ["file", "directory/outside.txt", "up/outside.txt", "directory/new.txt"] {
        refuses(stage, path).await?;
    }
    Ok(())
}

async fn blocking(stage: &Stage<'_>) -> Result<(), String> {
    let workspace = stage.workspace();
    let pipe = std::process::Command::new("mkfifo").arg(workspace.join("pipe")).status();
    if !pipe.is_ok_and(|status| status.success()) {
        return Err(String::from("a pipe could not be made: is there no `mkfifo`?"));
    }
    symlink("/dev/zero", workspace.join("zero")).map_err(|error| error.to_string())?;
    for path in ["pipe", "zero"] {
        let Some(arguments) = stage.case.about_path(path) else {
            return Ok(());
        };
        stage.call_aside(&arguments, PATIENCE).await?;
    }
    Ok(())
}

async fn refuses(stage: &Stage<'_>, path: &str) -> Result<(), String> {
    let Some(arguments) = stage.case.about_path(path) else {
        return Ok(());
    };
    let outside = stage.outside();
    let before = snapshot(&outside);
    let outcome = stage.call(&arguments).await?;
    if outcome.content.contains(SECRET) || outcome.content.contains("PATH=") {
        return Err(format!("{} tells what is outside", shown(&arguments)));
    }
    let workspace = stage.workspace();
    let changed = differences(&before, &snapshot(&outside));
    if let Some(path) = changed.iter().find(|path| !path.starts_with(&workspace)) {
        return Err(format!("{} has changed `{}`", shown(&arguments), path.display()));
    }
    Ok(())
}

/// In which also a slow machine reads an ordinary file.
const PATIENCE: Duration = Duration::from_secs(10);
