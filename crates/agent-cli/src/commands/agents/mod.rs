//! What people do with agents: list, look, watch, send, stop. All of them read journals; what is asked of a running one goes through the
//! [door](crate::session::door) of its session.

pub(crate) mod args;
mod attach;
mod fleet;
mod lines;
mod ps;
mod reach;
mod show;
mod tree;
mod watch;

pub(crate) use attach::run as attach;
pub(crate) use fleet::run as fleet;
pub(crate) use ps::run as ps;
pub(crate) use reach::{send, stop};
pub(crate) use show::run as show;
