//! Landlock: within bubblewrap what mounts cannot hold, and where there is no bubblewrap the weaker fallback.
//!
//! It cannot take back a part of what it gives, so by itself it leaves `.git` writable inside of the workspace, and it knows nothing of
//! permissions, owners and times of files. What it does hold is the opening for writing of what is not a file: a named pipe outside can be
//! written in spite of a mount that is read only, because nothing on the disk is written then.

use super::Network;
use super::carve::Carving;
use super::place::Place;
use crate::mount_table::MountTable;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::FileType;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What a process may open.
#[derive(Debug)]
pub(crate) enum Reach<'a> {
    /// Everything may be read, and what the namespaces show is all there is.
    InNamespaces {
        /// What may be written, with what is beneath.
        writable: &'a [Place],
    },
    /// Nothing divides this process from others.
    Alone {
        /// Where it connects to and listens.
        network: Network,
        /// What may be written and read, with what is beneath.
        writable: &'a [Place],
        /// What may be read although it lies in something hidden.
        readable: &'a [Place],
        /// What may not be read; without links.
        hidden: &'a [OsString],
    },
}

/// Whether this kernel has as much of it as a sandbox needs.
///
/// # Errors
/// Why not, as words.
pub(crate) fn available() -> Result<(), String> {
    create(Around::Nothing).map(drop).map_err(|_| "this kernel has no Landlock, or one older than Linux 6.2".to_owned())
}

/// Whether it keeps signals to the processes of the sandbox (from Linux 6.12 on).
pub(crate) fn keeps_signals() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.scope(Scope::Signal).and_then(Ruleset::create).is_ok()
}

/// Confines this process and what it starts.
///
/// # Errors
/// Why it could not, as words; then nothing may be started.
pub(crate) fn confine(reach: &Reach<'_>) -> Result<(), String> {
    let restricted = match reach {
        Reach::InNamespaces { writable } => within(writable),
        Reach::Alone { network, writable, readable, hidden } => alone(*network, writable, readable, hidden),
    };
    match restricted {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("Landlock is present but has no effect".to_owned()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}

fn within(writable: &[Place]) -> Result<RulesetStatus, RulesetError> {
    let status = create(Around::Namespaces)?
        .add_rules(path_beneath_rules(["/"], AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(OWN, AccessFs::from_all(NEWEST)))?
        .add_rules(beneath(writable))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// Lets this thread, and what it starts, write in these directories only. Nothing else is held.
///
/// # Errors
/// Why it cannot, as words; then the thread is as it was.
pub(crate) fn fence(writable: &[OsString]) -> Result<(), String> {
    available()?;
    let restrict = || {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(OLDEST))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(NEWEST))?;
        // What is not handled is not held, and cannot be allowed either.
        let rules = path_beneath_rules(writable, AccessFs::from_write(NEWEST));
        let devices = path_beneath_rules(HARMLESS_DEVICES, AccessFs::from_write(NEWEST) & AccessFs::from_file(NEWEST));
        ruleset.create()?.add_rules(rules)?.add_rules(devices)?.restrict_self()
    };
    match restrict().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("Landlock is present but has no effect".to_owned()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}

/// Everything beneath places. One that something else has taken the place of is left out: what is there now was not decided about.
fn beneath(places: &[Place]) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    places.iter().filter_map(Place::open).map(|file| {
        let is_directory =
            rustix::fs::fstat(&file).is_ok_and(|status| FileType::from_raw_mode(status.st_mode).is_dir());
        let rights = if is_directory { AccessFs::from_all(NEWEST) } else { AccessFs::from_file(NEWEST) };
        Ok(PathBeneath::new(file, rights))
    })
}

fn alone(
    network: Network,
    writable: &[Place],
    readable: &[Place],
    hidden: &[OsString],
) -> Result<RulesetStatus, RulesetError> {
    let around = if network == Network::OfTheMachine { Around::TheNetwork } else { Around::Nothing };
    // Names may be listed everywhere: a right to list a directory is one to list all beneath it, and `ls /` has to work.
    let mut ruleset = create(around)?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(beneath(writable))?
        .add_rules(path_beneath_rules(HARMLESS_DEVICES, AccessFs::from_file(NEWEST)))?;
    let content: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::Execute;
    let mut grant = |file| (&mut ruleset).add_rule(PathBeneath::new(file, content)).map(drop);
    let hidden: Vec<PathBuf> = hidden.iter().map(PathBuf::from).collect();
    let named = Carving::out_of(&hidden);
    for place in readable.iter().filter(|place| place.is_there()) {
        named.within(&place.path, &mut grant)?;
    }
    Carving::out_of(&[hidden.clone(), elsewhere()].concat()).around(&mut grant)?;
    Ok(ruleset.restrict_self()?.ruleset)
}

/// What nobody asked to be hidden, by all mounts. A part of it that is mounted outside (`/etc/resolv.conf`, for one) is meant to be read
/// there, but no device is.
fn elsewhere() -> Vec<PathBuf> {
    // The host asked for the table as well, so it can be read.
    let mounts = MountTable::now().unwrap_or_default();
    let mut found = mounts.aliases(Path::new("/dev"));
    found.extend(ELSEWHERE.iter().flat_map(|path| mounts.other_names(Path::new(path))));
    found.extend(ELSEWHERE.iter().map(PathBuf::from));
    found
}

/// What holds a process besides Landlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// A network of its own: what is reached there is its own, too.
    Namespaces,
    /// The network is open for this command.
    TheNetwork,
    Nothing,
}

/// Everything that this kernel can handle, but at least the rights of [`OLDEST`]: an older one lets files outside be emptied.
fn create(around: Around) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    match around {
        Around::Namespaces | Around::TheNetwork => ruleset.create(),
        Around::Nothing => ruleset.handle_access(AccessNet::from_all(NEWEST))?.create(),
    }
}

const OLDEST: ABI = ABI::V3;
const NEWEST: ABI = ABI::V9;
/// What `bwrap` makes for the sandbox alone.
const OWN: [&str; 2] = ["/dev", "/tmp"];
const HARMLESS_DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Devices, among them other terminals; shared memory; files that others have made for a while.
const ELSEWHERE: [&str; 3] = ["/dev", "/run", "/tmp"];
