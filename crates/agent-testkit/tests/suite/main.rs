//! Tests of the stand-ins, through their public interface only.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as the tests do, by a panic that names the line")]

mod client;
mod clocks;
mod conformance;
mod demo;
mod faults;
mod http;
mod ports;
mod provider;
mod rules;
mod tool_conformance;
mod tools;
