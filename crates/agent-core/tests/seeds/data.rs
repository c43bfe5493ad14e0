//! The seeds.

mod reasons;
mod seed_000;
mod seed_001;
mod seed_002;
mod seed_003;
mod seed_004;

pub(crate) use seed_000::SEED_000;
pub(crate) use seed_001::SEED_001;
pub(crate) use seed_002::SEED_002;
pub(crate) use seed_003::SEED_003;
pub(crate) use seed_004::SEED_004;
