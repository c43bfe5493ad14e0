//! A tree of agents in the real runner, with a model and a tool that answer at once.

mod kept;
mod nursery;
mod ports;
mod tree;

pub use tree::{Crowd, Measured, Moment, Shape, Times, beginnings};
