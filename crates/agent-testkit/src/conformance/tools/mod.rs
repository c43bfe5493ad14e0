//! What every tool must hold, as checks that anybody can run over one of their own.
//!
//! A tool is judged by what comes out of its port and by what it does to a workspace: a directory that is made for each check and has a
//! neighbour with a secret. What the checks call it with, a [`ToolCase`] says.
//!
//! ```no_run
//! # use agent_core::ports::Tool;
//! # use agent_testkit::conformance::tools::{ToolCase, assert_tool_conforms};
//! # use serde_json::{Value, json};
//! # use std::{path::Path, sync::Arc};
//! # fn my_tool(workspace: &Path) -> Arc<dyn Tool> { unimplemented!() }
//! struct Mine;
//!
//! impl ToolCase for Mine {
//!     fn tool(&self, workspace: &Path) -> Result<Arc<dyn Tool>, String> {
//!         Ok(my_tool(workspace))
//!     }
//!
//!     fn works(&self, workspace: &Path) -> Vec<Value> {
//!         std::fs::write(workspace.join("note"), "text").unwrap();
//!         vec![json!({"path": "note"})]
//!     }
//!
//!     fn misfits(&self) -> Vec<Value> {
//!         vec![json!({}), json!({"path": 3})]
//!     }
//!
//!     fn about_path(&self, path: &str) -> Option<Value> {
//!         Some(json!({"path": path}))
//!     }
//! }
//!
//! # async fn test() {
//! assert_tool_conforms(&Mine).await;
//! # }
//! ```

mod arguments;
mod containment;
mod effects;
mod limits;
mod stage;

use agent_core::ports::Tool;
use futures_util::future::BoxFuture;
use serde_json::Value;
use stage::Stage;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A tool, and what it can be called with.
pub trait ToolCase: Send + Sync {
    /// Makes the tool over an empty workspace.
    ///
    /// # Errors
    /// Why it could not be made.
    fn tool(&self, workspace: &Path) -> Result<Arc<dyn Tool>, String>;

    /// Calls that succeed, in this order. What they need in the workspace is made here.
    fn works(&self, workspace: &Path) -> Vec<Value>;

    /// Calls whose arguments do not fit.
    fn misfits(&self) -> Vec<Value>;

    /// A call about a path, if the tool takes paths. About a file that is there and has the text `text`, the call succeeds.
    fn about_path(&self, _path: &str) -> Option<Value> {
        None
    }

    /// A call with far more to tell than anybody would read, if there can be one.
    fn much(&self, _workspace: &Path) -> Option<Value> {
        None
    }

    /// A call that takes at least a minute unless it is stopped, if there can be one.
    fn long(&self, _workspace: &Path) -> Option<Value> {
        None
    }

    /// The most bytes that an answer may have.
    fn most_bytes(&self) -> usize {
        128 * 1024
    }
}

/// One thing that a tool must hold.
pub struct ToolCheck {
    /// Its name.
    pub name: &'static str,
    /// What it demands, in one sentence.
    pub demands: &'static str,
    run: for<'a> fn(&'a Stage<'a>) -> BoxFuture<'a, Result<(), String>>,
}

impl ToolCheck {
    /// Holds a tool to it. Ends within a minute whatever the tool does, unless it blocks the thread.
    ///
    /// # Errors
    /// What was expected and what happened instead.
    pub async fn run(&self, case: &dyn ToolCase) -> Result<(), String> {
        let stage = Stage::open(case)?;
        let ended = tokio::time::timeout(PATIENCE, (self.run)(&stage)).await;
        ended.unwrap_or_else(|_| Err(format!("no end within {} s", PATIENCE.as_secs())))
    }
}

/// All of them.
#[must_use]
pub fn tool_checks() -> Vec<ToolCheck> {
    arguments::all().into_iter().chain(effects::all()).chain(limits::all()).chain(containment::all()).collect()
}

/// Holds a tool to all of them. Needs a runtime with time.
///
/// # Panics
/// When it does not hold one, with all that it does not hold.
pub async fn assert_tool_conforms(case: &dyn ToolCase) {
    let mut broken = Vec::new();
    for check in tool_checks() {
        if let Err(found) = check.run(case).await {
            broken.push(format!("{}: {}\n    but {found}", check.name, check.demands));
        }
    }
    assert!(broken.is_empty(), "the tool does not hold:\n{}", broken.join("\n"));
}

const PATIENCE: Duration = Duration::from_secs(60);
