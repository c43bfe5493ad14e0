//! The model provider: its choice, its key, its secrets, its recordings, and the pace of its calls.

pub(crate) mod asked;
pub(crate) mod effort;
pub(crate) mod endpoint;
pub(crate) mod given;
pub(crate) mod keys;
pub(crate) mod paced;
pub(crate) mod provider;
pub(crate) mod secrets;
pub(crate) mod tape;
