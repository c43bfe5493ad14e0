#!/bin/sh
# Builds and runs the tests with the bare compiler. Everything it writes goes to target/.
set -eu
mkdir -p target
TMPDIR="$PWD/target"
RUST_BACKTRACE=0
export TMPDIR RUST_BACKTRACE
rustc --edition 2021 --test -o target/durations-tests src/lib.rs
exec target/durations-tests --test-threads 1
