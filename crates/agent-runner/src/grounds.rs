//! The workspaces that children have for themselves: made and cleared in tasks, because that takes its time. Each answers with a message.

use crate::inbox::{Inbox, Message, Place};
use crate::notice::AgentName;
use crate::nursery::Nursery;
use crate::stop::{GRACE_MS, Stop};
use agent_core::child::Left;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What is being made or cleared, by the places of the children.
#[derive(Default)]
pub(crate) struct Grounds {
    at_work: BTreeMap<Place, CancellationToken>,
    tasks: TaskTracker,
}

impl Grounds {
    /// Has the workspace made in which an agent is to begin.
    pub(crate) fn prepare(&mut self, nursery: Arc<dyn Nursery>, agent: Arc<AgentName>, inbox: Inbox) {
        self.start(agent, inbox, |agent, stop| async move { Message::Prepared(nursery.prepare(&agent, &stop).await) });
    }

    /// Has the workspace of an agent that has ended looked through. Without a nursery nothing is known of it.
    pub(crate) fn clear(&mut self, nursery: Option<Arc<dyn Nursery>>, agent: Arc<AgentName>, inbox: Inbox) {
        self.start(agent, inbox, |agent, stop| async move {
            Message::Cleared(match nursery {
                Some(nursery) => nursery.clear(&agent, &stop).await,
                None => Left::Unknown { found: String::from("this program knows no agents below the session's own") },
            })
        });
    }

    fn start<F>(&mut self, agent: Arc<AgentName>, inbox: Inbox, task: impl FnOnce(Arc<AgentName>, Stop) -> F)
    where
        F: Future<Output = Message> + Send + 'static,
    {
        let place = Place::from(agent.place.as_slice());
        if self.at_work.contains_key(&place) {
            return;
        }
        let stop = CancellationToken::new();
        self.at_work.insert(place, stop.clone());
        let task = task(agent, Stop(stop));
        self.tasks.spawn(async move { inbox.send(task.await) });
    }

    /// Asks what is in progress for a child to stop; its answer comes all the same. Returns whether there was anything.
    pub(crate) fn stop(&self, place: &[u32]) -> bool {
        let stop = self.at_work.get(place);
        stop.inspect(|stop| stop.cancel()).is_some()
    }

    /// The answer came.
    pub(crate) fn is_done(&mut self, place: &[u32]) {
        self.at_work.remove(place);
    }

    /// Stops everything and waits until it has stopped, for a moment.
    pub(crate) async fn stop_everything(&mut self) {
        self.at_work.values().for_each(CancellationToken::cancel);
        self.tasks.close();
        let _ = tokio::time::timeout(Duration::from_millis(2 * GRACE_MS), self.tasks.wait()).await;
    }
}
