//! A copy of the workspace whose `agent-core` and `agent-types` have their mutants woven in, and the test programs built from it.

use super::list::Mutant;
use super::weave::{CHOSEN, weave};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The woven tests.
pub(super) struct Tests {
    /// Name and program of each.
    pub(super) programs: Vec<(String, PathBuf)>,
    /// Where they are to be run.
    pub(super) package: PathBuf,
    /// Numbers of the mutants that are in.
    pub(super) woven: BTreeSet<usize>,
    /// Numbers of those that do not compile.
    pub(super) unviable: BTreeSet<usize>,
}

/// Weaves all mutants, which are numbered from 1, into a copy of the workspace, takes out again what does not compile, and builds the
/// tests. The numbers are of those that are known not to.
///
/// # Errors
/// When the copy cannot be made, or does not compile for a reason that is no mutant's.
pub(super) fn build(root: &Path, mutants: &[Mutant], mut unviable: BTreeSet<usize>) -> Result<Tests, String> {
    let tree = Tree::copy(root)?;
    let mut compile_time = tree.known_at_compile_time();
    loop {
        let arms = tree.weave(root, mutants, &unviable, &compile_time)?;
        let errors = tree.check()?;
        if errors.is_empty() {
            tree.know_at_compile_time(&compile_time)?;
            let woven = arms.into_iter().map(|arm| arm.mutant).collect();
            return Ok(Tests { programs: tree.programs()?, package: tree.directory.join(PACKAGE), woven, unviable });
        }
        let known = unviable.len() + compile_time.len();
        compile_time.extend(errors.iter().filter_map(Fault::called_at_compile_time));
        unviable.extend(errors.iter().flat_map(|error| error.arms(&arms, true)));
        if unviable.len() + compile_time.len() == known {
            unviable.extend(errors.iter().flat_map(|error| error.arms(&arms, false)));
        }
        if unviable.len() + compile_time.len() == known {
            return Err(format!("the woven code does not compile: {}", errors[0].text));
        }
    }
}

struct Tree {
    directory: PathBuf,
    target: PathBuf,
}

/// Where a mutant is in the woven code.
struct Arm {
    file: String,
    lines: RangeInclusive<usize>,
    mutant: usize,
}

impl Tree {
    fn copy(root: &Path) -> Result<Self, String> {
        let mut command = Command::new("git");
        command.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let output = command.output().map_err(|error| format!("run git: {error}"))?;
        let target = root.join("target/mutants");
        let tree = Self { directory: target.join("tree"), target: target.join("build") };
        for path in String::from_utf8_lossy(&output.stdout).lines().filter(|path| root.join(path).is_file()) {
            let is_woven = WOVEN.iter().any(|sources| path.starts_with(sources)) && super::is_rust(Path::new(path));
            if !is_woven {
                tree.keep(path, &fs::read(root.join(path)).map_err(|error| format!("read {path}: {error}"))?)?;
            }
        }
        Ok(tree)
    }

    /// Names of functions that had to stay `const` the last time.
    fn known_at_compile_time(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(self.target.with_file_name(COMPILE_TIME)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn know_at_compile_time(&self, names: &BTreeSet<String>) -> Result<(), String> {
        let text: String = names.iter().map(|name| format!("{name}\n")).collect();
        fs::write(self.target.with_file_name(COMPILE_TIME), text)
            .map_err(|error| format!("write {COMPILE_TIME}: {error}"))
    }

    /// Writes a file, unless it is so already: what is not written is not built anew.
    fn keep(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.directory.join(path);
        if fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, bytes));
        written.map_err(|error| format!("write {}: {error}", path.display()))
    }

    fn weave(
        &self,
        root: &Path,
        mutants: &[Mutant],
        without: &BTreeSet<usize>,
        compile_time: &BTreeSet<String>,
    ) -> Result<Vec<Arm>, String> {
        let mut arms = Vec::new();
        let numbered = || (1..).zip(mutants).filter(|(number, _)| !without.contains(number));
        for (path, text) in super::sources_in(root, WOVEN)? {
            let here: Vec<_> = numbered().filter(|(_, mutant)| mutant.file == path).collect();
            let mut woven = weave(&text, &here, compile_time).map_err(|error| format!("{path}: {error}"))?;
            if WOVEN.iter().any(|sources| path.strip_prefix(sources) == Some(LIBRARY)) {
                woven.text.push_str(CHOSEN);
            }
            self.keep(&path, woven.text.as_bytes())?;
            let arm = |(lines, mutant)| Arm { file: path.clone(), lines, mutant };
            arms.extend(woven.arms.into_iter().map(arm));
        }
        Ok(arms)
    }

    fn check(&self) -> Result<Vec<Fault>, String> {
        let messages = self.cargo(&["check", "--lib", "--tests"])?;
        Ok(messages.iter().filter_map(Fault::of).collect())
    }

    fn programs(&self) -> Result<Vec<(String, PathBuf)>, String> {
        let messages = self.cargo(&["test", "--no-run"])?;
        if let Some(fault) = messages.iter().find_map(Fault::of) {
            return Err(format!("the woven tests do not compile: {}", fault.text));
        }
        let tests = messages.iter().filter(|message| message["profile"]["test"] == true);
        let program = |message: &Value| {
            Some((message["target"]["name"].as_str()?.to_owned(), message["executable"].as_str()?.into()))
        };
        Ok(tests.filter_map(program).collect::<BTreeMap<_, _>>().into_iter().collect())
    }

    /// What cargo says as JSON, line by line. That something does not compile is not an error here.
    fn cargo(&self, arguments: &[&str]) -> Result<Vec<Value>, String> {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).args([
            "--package",
            "agent-core",
            "--package",
            "agent-types",
            "--message-format",
            "json",
            "--quiet",
            "--target-dir",
        ]);
        command.arg(&self.target).current_dir(&self.directory);
        // A mutant may be what a lint forbids. No debug information, because this is never debugged; a little speed, because it runs a
        // thousand times.
        command.env("RUSTFLAGS", "--cap-lints allow").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        let output = command.output().map_err(|error| format!("run cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if output.status.success() || messages.iter().any(|message| Fault::of(message).is_some()) {
            Ok(messages)
        } else {
            Err(format!("cargo {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// An error of the compiler.
struct Fault {
    text: String,
    /// File, line and whether the error is right there.
    places: Vec<(String, usize, bool)>,
}

impl Fault {
    fn of(message: &Value) -> Option<Self> {
        let message = (message["reason"] == "compiler-message").then(|| &message["message"])?;
        if message["level"] != "error" {
            return None;
        }
        let mut places = Vec::new();
        for span in message["spans"].as_array()? {
            // What a macro wrote stands where the macro was called.
            let mut written = Some(span);
            while let Some(at) = written.filter(|at| at.is_object()) {
                let line = usize::try_from(at["line_start"].as_u64()?).ok()?;
                places.push((at["file_name"].as_str()?.to_owned(), line, span["is_primary"] == true));
                written = at["expansion"].get("span");
            }
        }
        // "aborting due to 3 previous errors" has no place.
        (!places.is_empty()).then(|| Self { text: message["rendered"].as_str().unwrap_or_default().to_owned(), places })
    }

    /// The mutants that it speaks of.
    fn arms(&self, arms: &[Arm], is_primary: bool) -> BTreeSet<usize> {
        let places = self.places.iter().filter(|(_, _, primary)| *primary == is_primary);
        let hit = |(file, line): (&String, &usize)| {
            arms.iter()
                .filter(|arm| arm.file == *file && arm.lines.contains(line))
                .map(|arm| arm.mutant)
                .collect::<Vec<_>>()
        };
        places.flat_map(|(file, line, _)| hit((file, line))).collect()
    }

    /// The name of the function that ought to have stayed `const`.
    fn called_at_compile_time(&self) -> Option<String> {
        let path = self.text.split("cannot call non-const ").nth(1)?.split('`').nth(1)?;
        Some(path.rsplit("::").next()?.to_owned())
    }
}

const COMPILE_TIME: &str = "compile-time.txt";
const PACKAGE: &str = "crates/agent-core";
/// The machines.
pub(super) const SOURCES: &str = "crates/agent-core/src/";
/// The types that they share with adapters.
pub(super) const TYPES: &str = "crates/agent-types/src/";
/// What is woven. The kernel is not: its proofs run when tables are compiled, before a mutant could be chosen.
const WOVEN: &[&str] = &[SOURCES, TYPES];
/// The kernel.
pub(super) const KERNEL: &str = "crates/statetable/src/";
const LIBRARY: &str = "lib.rs";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_names_its_mutant() {
        let span = json!({ "file_name": "/std/macros.rs", "line_start": 1, "is_primary": true,
            "expansion": { "span": { "file_name": "a.rs", "line_start": 7, "expansion": null } } });
        let error = |rendered: &str| {
            json!({ "reason": "compiler-message",
            "message": { "level": "error", "spans": [span], "rendered": rendered } })
        };
        let fault = Fault::of(&error("error[E0308]: mismatched types")).unwrap();
        let arm = |file: &str, lines, mutant| Arm { file: file.to_owned(), lines, mutant };
        let arms = [arm("a.rs", 1..=6, 1), arm("a.rs", 7..=9, 2), arm("b.rs", 7..=9, 3)];
        assert_eq!(fault.arms(&arms, true), BTreeSet::from([2]));
        assert_eq!(fault.arms(&arms, false), BTreeSet::new());
        assert_eq!(fault.called_at_compile_time(), None);
        let fault = Fault::of(&error("error[E0015]: cannot call non-const function `a::limit` in constants")).unwrap();
        assert_eq!(fault.called_at_compile_time().as_deref(), Some("limit"));
    }
}
