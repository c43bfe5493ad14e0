#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;
pub mod conversation;
pub mod hook;
pub mod llm;
pub mod permission;
pub mod ports;
pub mod tool;
