//! The event-stream scanner without an operating system.
//!
//! It compiles only as long as the scanner needs no more than `core` and an allocator: this library has no `std`.

#![no_std]

extern crate alloc;

#[path = "../src/sse.rs"]
pub mod sse;
