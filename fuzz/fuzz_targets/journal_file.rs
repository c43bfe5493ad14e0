//! A journal on a disk: checksums, cut lines, damage, and the copy of what is whole.

#![no_main]

use agent_runner::journal::{read, salvage};
use libfuzzer_sys::fuzz_target;
use std::{env, fs, process};

fuzz_target!(|journal: &[u8]| {
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
});
