//! Tests of the stand-ins, through their public interface only.

mod client;
mod clocks;
mod demo;
mod http;
mod ports;
mod provider;
mod rules;
mod tools;
