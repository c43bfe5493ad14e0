//! Lines of a journal in any format, and the session that they make. Seeds: `crates/agent-core/tests/golden/journal`.

#![no_main]

use agent_core::journal::{Format, Replayer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|journal: &str| {
    let mut lines = journal.lines();
    let Some(first) = lines.next() else { return };
    let Ok(format) = Format::of(first) else { return };
    let Ok(header) = format.read(first) else { return };
    let Ok(mut replayer) = Replayer::new(header) else { return };
    for line in lines {
        let Ok(record) = format.read(line) else { continue };
        let written = serde_json::to_string(&record).expect("a record that was read can be written");
        assert_eq!(Format::TODAY.read(&written), Ok(record.clone()), "a record is read as it is written");
        let before = replayer.next_seq();
        match replayer.advance(record) {
            Ok(()) => assert_eq!(replayer.next_seq(), before + 1),
            Err(_) => assert_eq!(replayer.next_seq(), before, "a refused record changes nothing"),
        }
    }
    let _ = (replayer.outcome(), replayer.finish());
});
