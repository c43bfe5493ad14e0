//! Landlock: the weaker fallback. It cannot take back a part of what it gives, so `.git` stays writable inside of the workspace, and it knows
//! nothing of permissions, owners and times of files.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;

/// Whether this kernel has as much of it as a sandbox needs.
///
/// # Errors
/// Why not, as words.
pub(crate) fn available() -> Result<(), String> {
    create().map(drop).map_err(|_| "this kernel has no Landlock, or one older than Linux 6.2".to_owned())
}

/// Confines this process and what it starts: reading and running everywhere, writing beneath these paths.
///
/// # Errors
/// Why it could not, as words; then nothing may be started.
pub(crate) fn confine(writable: &[OsString]) -> Result<(), String> {
    let restrict = || {
        let devices = path_beneath_rules(HARMLESS_DEVICES, AccessFs::from_file(NEWEST));
        let status = create()?
            .add_rules(path_beneath_rules(["/"], AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(writable, AccessFs::from_all(NEWEST)))?
            .add_rules(devices)?
            .restrict_self()?;
        Ok::<_, RulesetError>(status.ruleset)
    };
    match restrict() {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("Landlock is there and does not act".to_owned()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}

/// Everything that this kernel can handle, but at least the rights of [`OLDEST`]: an older one lets files outside be emptied.
fn create() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()
}

const OLDEST: ABI = ABI::V3;
const NEWEST: ABI = ABI::V9;
const HARMLESS_DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
