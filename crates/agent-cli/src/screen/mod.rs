//! The terminal: output, input and Unix signals, and the wait before the program ends.

pub(crate) mod answer;
pub(crate) mod approver;
pub(crate) mod attached;
pub(crate) mod change;
pub(crate) mod choose;
pub(crate) mod confirm;
pub(crate) mod counted;
pub(crate) mod edit;
pub(crate) mod folded;
pub(crate) mod form;
pub(crate) mod hint;
pub(crate) mod job_control;
pub(crate) mod keys;
pub(crate) mod letters;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod offered;
pub(crate) mod printer;
pub(crate) mod results;
pub(crate) mod sheet;
pub(crate) mod signals;
pub(crate) mod terminal;
pub(crate) mod threads;
pub(crate) mod unread;
pub(crate) mod view;
pub(crate) mod wire;
