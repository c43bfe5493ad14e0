//! Holds the crates of `Cargo.lock` to `deny.toml`: licences, sources, second versions. `cargo deny` reads the same file, but takes
//! minutes to build; what only it knows, the advisories, is left to the hosted CI.

use serde::Deserialize;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `deny.toml` that is checked here.
#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    skip: Vec<Skip>,
}

#[derive(Deserialize)]
struct Skip {
    /// A crate and the beginning of its version: `syn@2`.
    #[serde(rename = "crate")]
    spec: String,
}

/// A package as `cargo metadata` describes it.
#[derive(Deserialize)]
pub(crate) struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Nothing for a crate of this workspace.
    source: Option<String>,
}

/// What is wrong, one line each.
pub(crate) fn faults(deny: &str, packages: &[Package]) -> Result<Vec<String>, String> {
    let deny: Deny = toml::from_str(deny).map_err(|error| format!("deny.toml: {error}"))?;
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| package.source.as_deref().is_some_and(|source| source != REGISTRY))
    {
        faults.push(format!("{}: comes from elsewhere than crates.io", package.name));
    }
    faults.extend(packages.iter().filter_map(|package| license_fault(&deny.licenses, package)));
    faults.extend(version_faults(&deny.bans, packages));
    Ok(faults)
}

fn license_fault(licenses: &Licenses, package: &Package) -> Option<String> {
    let written = package.license.as_deref().unwrap_or_default();
    let exceptions = licenses.exceptions.iter().filter(|exception| exception.name == package.name);
    let allowed: Vec<&String> =
        licenses.allow.iter().chain(exceptions.flat_map(|exception| &exception.allow)).collect();
    match Expression::parse_mode(written, ParseMode::LAX) {
        Ok(license) if license.evaluate(|one| allowed.iter().any(|allowed| **allowed == one.to_string())) => None,
        Ok(_) => Some(format!("{}: deny.toml does not allow its licence {written}", package.name)),
        Err(error) => Some(format!("{}: its licence `{written}` cannot be read: {}", package.name, error.reason)),
    }
}

/// Crates in several versions, of which all but one need an entry, and entries that no second version needs.
fn version_faults(bans: &Bans, packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let mut faults = Vec::new();
    let mut needed = BTreeSet::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let skipped = |version: &str| bans.skip.iter().find(|skip| is_of(&skip.spec, name, version));
        let left: Vec<_> = versions.iter().filter(|version| skipped(version).is_none()).collect();
        needed.extend(versions.iter().filter_map(|version| skipped(version)).map(|skip| &skip.spec));
        if left.len() > 1 {
            faults.push(format!("{name}: is there in the versions {left:?}; deny.toml has no reason for it"));
        }
    }
    let idle = bans.skip.iter().filter(|skip| !needed.contains(&skip.spec));
    faults.extend(idle.map(|skip| format!("deny.toml: {} is not a second version any more", skip.spec)));
    faults
}

/// Whether `syn@2` means version 2.0.119 of syn.
fn is_of(spec: &str, name: &str, version: &str) -> bool {
    let rest =
        spec.split_once('@').filter(|(named, _)| *named == name).and_then(|(_, start)| version.strip_prefix(start));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
        licenses = { allow = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"], exceptions = [{ crate = "odd", allow = ["Zlib"] }] }
        bans = { skip = [{ crate = "a@1" }] }
    "#;

    fn package(name: &str, version: &str, license: &str) -> Package {
        Package {
            name: name.into(),
            version: version.into(),
            license: Some(license.into()),
            source: Some(REGISTRY.into()),
        }
    }

    fn found(packages: &[Package]) -> Vec<String> {
        let twice = [package("a", "1.2.3", "MIT"), package("a", "2.0.0", "MIT")];
        let all: Vec<Package> = twice
            .into_iter()
            .chain(packages.iter().map(|p| Package {
                source: p.source.clone(),
                ..package(&p.name, &p.version, p.license.as_deref().unwrap_or_default())
            }))
            .collect();
        faults(DENY, &all).unwrap()
    }

    #[test]
    fn licences_are_read_as_expressions() {
        for allowed in ["MIT", "MIT/GPL-2.0", "GPL-3.0-only OR ISC", "MIT AND ISC", "Apache-2.0 WITH LLVM-exception"] {
            assert_eq!(found(&[package("b", "1.0.0", allowed)]), [""; 0], "{allowed}");
        }
        for refused in ["", "GPL-3.0-only", "MIT AND GPL-2.0", "Apache-2.0", "Zlib", "my own"] {
            assert_eq!(found(&[package("b", "1.0.0", refused)]).len(), 1, "{refused}");
        }
        assert_eq!(found(&[package("odd", "1.0.0", "Zlib")]), [""; 0]);
    }

    #[test]
    fn a_second_version_needs_a_reason_and_a_reason_a_second_version() {
        let twice = [package("b", "1.0.0", "MIT"), package("b", "1.1.0", "MIT")];
        assert_eq!(found(&twice).len(), 1);
        assert_eq!(found(&[package("a", "12.0.0", "MIT")]).len(), 1, "1 is not the beginning of 12");
        assert_eq!(faults(DENY, &[package("a", "1.2.3", "MIT")]).unwrap().len(), 1);
    }

    #[test]
    fn only_the_registry_is_a_source() {
        let git = Package { source: Some("git+https://example.org/b".into()), ..package("b", "1.0.0", "MIT") };
        assert_eq!(found(&[git]).len(), 1);
    }
}
