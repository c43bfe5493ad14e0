//! What bash really does with a command, in a world where nothing is there to be run.
//!
//! Every builtin is a function that only looks at its descriptors, every other name is not found, and bash traces what it calls
//! (`set -x`): programs, builtins and assignments alike, each word as it was passed on. So nothing runs, and nothing is hidden.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What bash ran: the words of each command, in the order of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) commands: Vec<Vec<String>>,
    /// What else it did that no plain command does.
    pub(super) marks: Vec<String>,
}

/// A directory of its own, and the scripts in it.
pub(super) struct World {
    directory: tempfile::TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("work")).unwrap();
        for (name, content) in [("prelude", PRELUDE), ("driver", DRIVER), ("trace", ""), ("texts", ""), ("names", "")] {
            std::fs::write(path(name), content).unwrap();
        }
        // For a bash that runs as somebody else.
        for (name, mode) in [("", 0o755), ("work", 0o777), ("trace", 0o666)] {
            std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Self { directory }
    }

    /// Has these programs stand for themselves, too: one with a slash in its name cannot be handled as one that is not found.
    pub(super) fn stub<'a>(&self, programs: impl Iterator<Item = &'a str>) {
        let names: BTreeSet<&str> = programs.filter(|name| name.contains('/')).collect();
        let lines: String = names.into_iter().map(|name| format!("{name}\n")).collect();
        std::fs::write(self.path("names"), lines).unwrap();
    }

    /// Runs many commands in one bash, one after the other. Nothing when it did not come to its end.
    pub(super) fn run_all(&self, texts: &[(&str, u8)]) -> Option<Vec<Ran>> {
        let list: String = texts.iter().map(|(text, status)| format!("{status}{text}\0")).collect();
        std::fs::write(self.path("texts"), list).unwrap();
        let mut bash = self.bash();
        bash.arg(self.path("driver"));
        let trace = self.traced(&mut bash, Duration::from_secs(60))?;
        let mut parts = trace.split('\u{3}').skip(1);
        let ran: Vec<Ran> = parts.by_ref().take(texts.len()).map(|part| read(part, 2)).collect();
        let end = parts.next().unwrap_or_default();
        let is_whole = ran.len() == texts.len() && end == "end\n" && self.left().is_empty();
        is_whole.then_some(ran)
    }

    /// Runs one command as the tool does, in a bash of its own.
    pub(super) fn run(&self, text: &str, status: u8) -> Ran {
        let mut bash = self.bash();
        bash.args(["-c", "--", text]).env("BASH_ENV", self.path("prelude")).env("STUB_TRACES", "1");
        bash.env("STUB_STATUS", status.to_string());
        let Some(trace) = self.traced(&mut bash, Duration::from_secs(10)) else {
            return Ran { commands: Vec::new(), marks: vec!["it did not end".to_owned()] };
        };
        let mut ran = read(&trace, 0);
        ran.marks.extend(self.left().into_iter().map(|name| format!("it made the file {name}")));
        ran
    }

    fn bash(&self) -> Command {
        let bash = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/usr/bin/bash" };
        let mut command = Command::new(bash);
        command.env_clear().env("PATH", "/nowhere").env("STUB_HOME", self.directory.path());
        command.current_dir(self.path("work")).stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            // Whatever a fault lets through can write nothing outside.
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn traced(&self, bash: &mut Command, longest: Duration) -> Option<String> {
        std::fs::write(self.path("trace"), "").unwrap();
        let output = |name: &str| std::fs::File::create(self.path(name)).unwrap();
        let mut child = bash.stdout(output("out")).stderr(output("err")).spawn().unwrap();
        let begun = Instant::now();
        let has_ended = loop {
            if child.try_wait().unwrap().is_some() {
                break true;
            }
            if begun.elapsed() > longest {
                child.kill().unwrap();
                child.wait().unwrap();
                break false;
            }
            std::thread::sleep(Duration::from_millis(if begun.elapsed().as_millis() < 20 { 1 } else { 5 }));
        };
        let trace = std::fs::read(self.path("trace")).unwrap();
        has_ended.then(|| String::from_utf8_lossy(&trace).into_owned())
    }

    /// Files that commands have made, which are then gone.
    fn left(&self) -> Vec<String> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.path("work")).unwrap() {
            let entry = entry.unwrap();
            names.push(entry.file_name().to_string_lossy().into_owned());
            std::fs::remove_file(entry.path()).unwrap();
        }
        names
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// Reads a trace: records of `\x01`, how many functions deep, `\x02`, and the words as a shell would read them. Deeper than `base` are
/// the functions' own doings.
fn read(trace: &str, base: usize) -> Ran {
    let mut ran = Ran::default();
    for record in trace.split('\u{1}').filter(|record| !record.is_empty()) {
        let Some((depth, words)) = record.split_once('\u{2}') else {
            continue;
        };
        let depth: usize = depth.parse().unwrap_or_default();
        let words = words.strip_suffix('\n').unwrap_or(words);
        if depth > base {
            ran.marks.extend(words.strip_prefix("[[ -n ").map(|mark| mark.trim_end_matches(" ]]").to_owned()));
        } else if !(base > 0 && words.starts_with("builtin ")) {
            ran.commands.push(split(words));
        }
    }
    ran
}

/// Words as `set -x` writes them.
fn split(written: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = written.chars().peekable();
    while let Some(c) = rest.next() {
        let word = words.last_mut().unwrap();
        match c {
            '\'' => word.extend(rest.by_ref().take_while(|c| *c != '\'')),
            '\\' => word.extend(rest.next()),
            '$' if rest.peek() == Some(&'\'') => word.push_str(&ansi(&mut rest)),
            ' ' => words.push(String::new()),
            _ => word.push(c),
        }
    }
    words
}

/// `$'…'`, as far as bash writes it itself.
fn ansi(rest: &mut impl Iterator<Item = char>) -> String {
    let mut bytes = Vec::new();
    let mut rest = rest.skip(1);
    while let Some(c) = rest.next().filter(|c| *c != '\'') {
        let mut utf8 = [0; 4];
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut utf8).bytes());
            continue;
        }
        match rest.next().unwrap_or_default() {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            digit @ '0'..='7' => {
                let mut value = digit.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    value = value * 8 + rest.next().and_then(|c| c.to_digit(8)).unwrap_or_default();
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            other => bytes.extend(other.encode_utf8(&mut utf8).bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const NOBODY: u32 = 65_534;

/// Makes a function of every builtin, and of some names that no function could stand for otherwise.
const PRELUDE: &str = r#"
exec 8>>"$STUB_HOME/trace"
stub_is_known() { [[ -p $1 || $1 -ef /dev/null || $1 -ef $STUB_HOME/out || $1 -ef $STUB_HOME/err ]] || [[ "descriptor $1 leads to a file" ]]; }
stub='{ stub_is_known /dev/fd/0; stub_is_known /dev/fd/1; stub_is_known /dev/fd/2; (( STUB_STATUS == 0 )); }'
eval "command_not_found_handle() $stub"
mapfile -t stub_names < <(compgen -b; echo "$(<"$STUB_HOME/names")")
for stub_name in "${stub_names[@]}" a b ab a1 a2 0 1 2 - + a: a,b a% @ rm git ls cat; do
  [[ ! $stub_name || $stub_name == builtin ]] || builtin eval "function $stub_name $stub"
done
builtin unset stub stub_name stub_names BASH_ENV
PS4=$'\001${#FUNCNAME[@]}\002'
BASH_XTRACEFD=8
[[ ! $STUB_TRACES ]] || builtin set -x
"#;

/// Runs every text of a list, each with the status that its programs end with in front.
const DRIVER: &str = r#"
source "$STUB_HOME/prelude"
stub_run() { builtin set -x; builtin eval "$1"; builtin set +x; }
stub_state() { stub_now=$PWD$-${#DIRSTACK[@]}$(builtin shopt -p; builtin declare -F; builtin umask; builtin alias); }
stub_now= stub_last=$!
stub_state; stub_then=$stub_now
builtin mapfile -d '' -t stub_texts < "$STUB_HOME/texts"
for stub_text in "${stub_texts[@]}"; do
  STUB_STATUS=${stub_text:0:1}
  builtin printf '\003' >&8
  stub_run "${stub_text:1}"
  if [[ $! != "$stub_last" ]]; then stub_last=$!; builtin printf '\0019\002[[ -n background ]]\n' >&8; fi
done
builtin wait
stub_state
if [[ $stub_now == "$stub_then" ]]; then builtin printf '\003end\n' >&8; fi
"#;
