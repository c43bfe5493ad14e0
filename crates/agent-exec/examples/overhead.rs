//! What a command costs beyond `sh -c true` itself: run by this library, and in each sandbox that works here. Also how a host becomes its
//! own helper.
//!
//! ```text
//! cargo run --release -p agent-exec --example overhead
//! ```

use agent_exec::{Access, Environment, Helper, Mechanism, Policy, Processes, Sandbox, Streams};
use agent_types::ports::{Command, NeverCancelled};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

/// One way to run it.
enum Way {
    Alone,
    By(Processes),
}

#[expect(clippy::print_stdout, reason = "it prints what it measured")]
fn main() -> ExitCode {
    if let Some(code) = agent_exec::help() {
        return code;
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let mut ways = vec![("sh -c true, started and waited for", Way::Alone), ("Processes", Way::By(Processes::new()))];
    ways.push(("Processes, watched", Way::By(Processes::new().watched_by(Helper::own_program()))));
    let policy = Policy {
        access: Access::WorkspaceWrite,
        workspace: std::env::current_dir().unwrap_or_default(),
        protected: Vec::new(),
        kept: Vec::new(),
        placeholders: Vec::new(),
        writable: Vec::new(),
        hidden: Vec::new(),
        readable: Vec::new(),
    };
    for (name, mechanism) in [("bubblewrap", Mechanism::Bubblewrap), ("Landlock", Mechanism::Landlock)] {
        match Sandbox::with(mechanism, policy.clone(), Helper::own_program(), &Environment::inherited()) {
            Ok(sandbox) => ways.push((name, Way::By(Processes::new().in_sandbox(sandbox)))),
            Err(why) => println!("without {name}: {why}"),
        }
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); ways.len()];
    // In turns, so that a busy machine is busy for all of them.
    for _ in 0..ROUNDS {
        for ((_, way), times) in ways.iter().zip(&mut times) {
            let begun = Instant::now();
            let done = runtime.block_on(once(way));
            times.push(begun.elapsed());
            if !done {
                return ExitCode::FAILURE;
            }
        }
    }
    let mut base = Duration::ZERO;
    for ((name, way), times) in ways.iter().zip(&mut times) {
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        if matches!(way, Way::Alone) {
            base = median;
        }
        let more = median.saturating_sub(base).as_secs_f64() * 1e3;
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        println!("{name:<40} {:>7.2} ms  +{more:.2} ms  x{ratio:.2}", median.as_secs_f64() * 1e3);
    }
    ExitCode::SUCCESS
}

/// Whether it ended well.
async fn once(way: &Way) -> bool {
    match way {
        Way::Alone => {
            let mut command = std::process::Command::new("/bin/sh");
            command.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        }
        Way::By(processes) => {
            let command = Command {
                program: "/bin/sh".into(),
                arguments: vec!["-c".into(), "true".into()],
                directory: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
                environment: Vec::new(),
                stdin: Vec::new(),
                timeout_ms: 10_000,
                output_limit_bytes: 1_000,
            };
            processes.run_streaming(&command, Streams::Merged, &NeverCancelled, &|_| {}).await.is_ok()
        }
    }
}

const ROUNDS: usize = 200;
