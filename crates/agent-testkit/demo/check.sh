#!/bin/sh
# Builds and runs the tests with the bare compiler. Everything it writes goes to target/.
set -eu
mkdir -p target
TMPDIR="$PWD/target"
export TMPDIR
rustc --edition 2021 --test -o target/durations-tests src/lib.rs
exec target/durations-tests --test-threads 1
