//! One server: its process, the protocol, and the task that performs what the machine asks for.

mod asking;
pub(crate) mod authorized;
pub(crate) mod connection;
pub(crate) mod driver;
mod http;
mod input;
mod late;
mod lines;
mod listener;
pub(crate) mod oauth;
pub(crate) mod offer;
mod pace;
pub(crate) mod process;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod wanted;
pub(crate) mod wire;
