//! Tells the crate what its sources are, so that two programs with it know whether they are of one build.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;
use std::path::Path;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let mut hasher = DefaultHasher::new();
    add(Path::new("src"), &mut hasher)?;
    println!("cargo::rustc-env=AGENT_EXEC_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn add(directory: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, hasher)?;
        } else {
            hasher.write(path.as_os_str().as_encoded_bytes());
            hasher.write(&std::fs::read(&path)?);
        }
    }
    Ok(())
}
