//! Who belongs to a tree now.

use super::marker::{is_inherited, is_within, marker_in, marker_of_process};
use super::table::{self, Process};
use super::{Root, registry, signal};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Repeated looks at one tree. What once belonged to it belongs to it for good, also when its parents are gone.
pub(super) struct Survey<'a> {
    root: &'a Root,
    own_pid: i32,
    own_session: i32,
    known: BTreeSet<Identity>,
    beyond_reach: BTreeSet<Identity>,
    /// Those of some run that may or may not be this one.
    unclear: BTreeMap<Identity, Instant>,
    group_was_killed: bool,
}

/// Number and start time.
type Identity = (i32, u64);

impl<'a> Survey<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self {
            root,
            own_pid: signal::own_pid(),
            own_session: signal::own_session(),
            known: BTreeSet::new(),
            beyond_reach: BTreeSet::new(),
            unclear: BTreeMap::new(),
            group_was_killed: false,
        }
    }

    /// The members that are alive and within reach. Takes the status of adopted ones that are not alive.
    pub(super) fn take(&mut self) -> Vec<Process> {
        let all = table::all();
        if all.is_empty() {
            return self.without_table();
        }
        let mut alive = Vec::new();
        for process in self.members(&all) {
            if process.is_zombie {
                signal::reap(&process);
                continue;
            }
            self.known.insert(identity(&process));
            if !self.beyond_reach.contains(&identity(&process)) {
                alive.push(process);
            }
        }
        alive
    }

    /// Asks a process to end; a stopped one is continued, so that it can.
    pub(super) fn ask_to_end(&mut self, process: &Process) {
        self.send(process, Signal::TERM);
        self.send(process, Signal::CONT);
    }

    /// Kills processes, and with them their group if it is the program's.
    pub(super) fn kill(&mut self, processes: &[Process]) {
        if processes.iter().any(|process| process.group == self.root.pid) {
            signal::send_to_group(self.root.pid, Signal::KILL);
            self.group_was_killed = true;
        }
        for process in processes {
            self.send(process, Signal::KILL);
        }
    }

    /// Kills what comes to us from the tree, the moment it comes, until nothing has come for a while. Whether that was so before the limit.
    ///
    /// A process that forks, leaves its session and ends, generation after generation, is gone before a look at the whole process table
    /// is over. But each generation is orphaned by the one before and becomes a child of ours at once.
    pub(super) fn hunt(&mut self, limit: Instant) -> bool {
        if !registry::is_subreaper() {
            return true;
        }
        let mut last_seen = Instant::now();
        while last_seen.elapsed() < QUIET {
            if Instant::now() > limit {
                return false;
            }
            // The youngest first: the others have forked long ago.
            for pid in table::adopted_children().into_iter().rev() {
                if registry::is_root(pid) {
                    continue;
                }
                let Some(process) = table::process(pid) else { continue };
                let is_news = match kin(self.root, &process, self.own_pid, self.own_session) {
                    Kin::Others => false,
                    Kin::Ours | Kin::Unclear | Kin::Abandoned if process.is_zombie => {
                        signal::reap(&process);
                        true
                    }
                    Kin::Ours => {
                        let is_new = self.known.insert(identity(&process));
                        if is_new && process.parent != self.own_pid {
                            self.send(&process, Signal::KILL);
                        } else if is_new && !signal::kill_child(&process) {
                            self.beyond_reach.insert(identity(&process));
                        }
                        // Until it is dead it has children that are not ours yet.
                        !self.beyond_reach.contains(&identity(&process))
                    }
                    Kin::Abandoned => signal::kill_child(&process),
                    Kin::Unclear => {
                        let since = self.unclear.entry(identity(&process)).or_insert_with(Instant::now);
                        since.elapsed() < PATIENCE
                    }
                };
                if is_news {
                    last_seen = Instant::now();
                }
            }
        }
        true
    }

    /// How many processes besides the program were ever seen alive.
    pub(super) fn found(&self) -> usize {
        let others = self.known.iter().filter(|(pid, _)| *pid != self.root.pid);
        others.count()
    }

    pub(super) fn beyond_reach(&self) -> usize {
        self.beyond_reach.len()
    }

    fn send(&mut self, process: &Process, signal: Signal) {
        if !signal::send(process, signal) {
            self.beyond_reach.insert(identity(process));
        }
    }

    fn members(&self, all: &[Process]) -> Vec<Process> {
        let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
        for process in all {
            children.entry(process.parent).or_default().push(process);
        }
        let mut members = BTreeMap::new();
        let mut unvisited: Vec<&Process> = all.iter().filter(|process| self.is_member_by_itself(process)).collect();
        while let Some(process) = unvisited.pop() {
            if members.insert(process.pid, *process).is_none() {
                let children = children.get(&process.pid).into_iter().flatten();
                unvisited.extend(children.filter(|child| child.born >= self.root.born));
            }
        }
        members.into_values().collect()
    }

    fn is_member_by_itself(&self, process: &Process) -> bool {
        let kin = || kin(self.root, process, self.own_pid, self.own_session);
        self.known.contains(&identity(process)) || kin() == Kin::Ours
    }

    /// Without a process table there is the group, and nothing else can be known. Once killed it is done with: its dead cannot be told from
    /// its living, and none of it outlives that signal.
    fn without_table(&self) -> Vec<Process> {
        let group = Process {
            pid: self.root.pid,
            parent: self.own_pid,
            group: self.root.pid,
            session: self.own_session,
            born: self.root.born,
            is_zombie: false,
        };
        let exists = !self.group_was_killed && signal::group_exists(self.root.pid);
        exists.then_some(group).into_iter().collect()
    }
}

/// Whether a child of ours, adopted by us, is or was left of a tree. Takes the status of those that ended.
pub(super) fn has_adopted(root: &Root) -> bool {
    let mut strangers = table::adopted_children();
    strangers.retain(|&pid| !registry::is_root(pid));
    // As after nearly every command.
    if strangers.is_empty() {
        return false;
    }
    let (own_pid, own_session) = (signal::own_pid(), signal::own_session());
    let mut found = false;
    for pid in strangers {
        let Some(process) = table::process(pid) else {
            continue;
        };
        if kin(root, &process, own_pid, own_session) != Kin::Others {
            // One that ended may have left another that was not seen yet.
            found = true;
            signal::reap(&process);
        }
    }
    found
}

/// Whose a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kin {
    /// It belongs to the tree.
    Ours,
    /// One of the runs left it, and nothing says which.
    Unclear,
    /// It has the marker of a run that is over, or of none that ever was, and is to be ended when it is found.
    Abandoned,
    /// It belongs to another run, or to none.
    Others,
}

/// Whose a process is, judged without its relatives.
fn kin(root: &Root, process: &Process, own_pid: i32, own_session: i32) -> Kin {
    if process.born < root.born || process.pid == own_pid {
        return Kin::Others;
    }
    if process.pid == root.pid && !root.is_reaped {
        return Kin::Ours;
    }
    if root.has_all_orphans && process.parent == own_pid {
        return Kin::Ours;
    }
    if registry::is_root(process.pid) && process.pid != root.pid {
        return Kin::Others;
    }
    if process.group == root.pid {
        return Kin::Ours;
    }
    // What is ending has no environment any more.
    let environment = if process.is_zombie { None } else { table::environment(process.pid) };
    let marker = environment.as_deref().and_then(marker_in);
    if marker.is_some_and(|marker| is_within(marker, &root.marker)) {
        return Kin::Ours;
    }
    let is_anothers = marker.is_some_and(|marker| registry::has_marker(marker) || is_inherited(marker));
    if is_anothers || process.parent != own_pid || process.session == own_session {
        return Kin::Others;
    }
    if marker.is_some_and(|marker| is_within(marker, marker_of_process())) {
        return Kin::Abandoned;
    }
    if registry::only_run_at(process.born, root.pid) { Kin::Ours } else { Kin::Unclear }
}

/// How long one that may be dying is waited for: its children are not ours before.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long nothing has to come for nothing to be there.
const QUIET: Duration = Duration::from_millis(2);

fn identity(process: &Process) -> Identity {
    (process.pid, process.born)
}
