//! Tests of reading and writing durations.

use super::{read, write};

#[test]
fn reads_one_unit() {
    assert_eq!(read("45s"), Some(45));
    assert_eq!(read("10m"), Some(600));
    assert_eq!(read("2h"), Some(7200));
}

#[test]
fn reads_several_units() {
    assert_eq!(read("1h30m"), Some(5400));
    assert_eq!(read("1h1m1s"), Some(3661));
}

#[test]
fn refuses_what_is_not_a_duration() {
    for text in ["", "90", "h", "3 hours", "5d"] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn writes_what_it_has_read() {
    for text in ["0s", "45s", "10m", "1h30m", "25h59m1s"] {
        assert_eq!(read(text).map(write).as_deref(), Some(text));
    }
}
