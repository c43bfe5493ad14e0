//! The model's side: which provider is asked, with which key, how fast, and what of it is secret.

pub(crate) mod keys;
pub(crate) mod paced;
pub(crate) mod provider;
pub(crate) mod secrets;
pub(crate) mod tape;
