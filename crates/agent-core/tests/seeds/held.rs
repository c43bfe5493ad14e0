//! What the seeds say in sentences, where no other test holds it already. Each test names the sentence.

mod job;
mod lifecycle;
mod rows;
mod session;
