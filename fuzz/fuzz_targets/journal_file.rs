//! A journal on a disk: checksums, cut lines, damage, and the copy of what is whole. Seeds: `crates/agent-core/tests/golden/journal`.

#![no_main]

use agent_runner::journal::{read, salvage};
use libfuzzer_sys::fuzz_target;
use std::io::Write as _;
use std::{env, fs, process};

fuzz_target!(|journal: &[u8]| {
    check(journal);
    // A fuzzer does not find checksums, so they are made for it.
    check(&summed(journal));
});

fn check(journal: &[u8]) {
    let directory = env::temp_dir();
    let path = directory.join(format!("fuzz-journal-{}", process::id()));
    let copy = directory.join(format!("fuzz-journal-{}-copy", process::id()));
    fs::write(&path, journal).expect("the journal is written");
    let _ = fs::remove_file(&copy);
    if let Ok(recovered) = read(&path) {
        assert!(recovered.good_bytes + recovered.torn_bytes <= journal.len() as u64);
        let _ = recovered.rebuild();
    }
    if let Ok(salvaged) = salvage(&path, &copy) {
        let whole = read(&copy).expect("a copy has no damage");
        assert!(whole.records.len() as u64 >= salvaged.records, "each copied record is in the copy");
        assert_eq!(whole.torn_bytes, 0);
        whole.rebuild().expect("a copy makes a session");
    }
}

/// The same lines with the checksums of today's format.
fn summed(journal: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(b"{") {
            Some(rest) => {
                let sum = crc32fast::hash(rest.strip_suffix(b"\n").unwrap_or(rest));
                let _ = write!(out, "{{\"sum\":\"{sum:08x}\",");
                out.extend_from_slice(rest);
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}
