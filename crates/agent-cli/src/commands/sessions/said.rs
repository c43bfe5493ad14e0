//! Everything that was said in a session, also what a summary has replaced since and what was shortened to fit.

use agent_core::conversation::{Author, Conversation, Item, Summary, UserMessage};
use agent_core::session::{Transition, Trigger};
use std::sync::Arc;

/// What left the history.
#[derive(Default)]
pub(super) struct Said {
    /// What summaries replaced, oldest first; earlier summaries among it.
    replaced: Vec<Arc<Item>>,
    /// Rounds that were shortened, each with what it was.
    shortened: Vec<(Arc<Item>, Arc<Item>)>,
}

impl Said {
    /// A step changed the history from this to that.
    pub(super) fn follow(&mut self, before: &Conversation, after: &Conversation, transitions: &[Transition]) {
        let fired = |on: &[Trigger]| transitions.iter().any(|step| on.contains(&step.on));
        if fired(&[Trigger::CompactionCompleted, Trigger::CompactionCompletedWorkDue]) {
            let stays = |item: &&Arc<Item>| after.iter().any(|kept| Arc::ptr_eq(kept, item));
            let left: Vec<_> =
                before.iter().take_while(|item| !stays(item)).map(|item| self.whole(item).clone()).collect();
            self.replaced.extend(left);
        } else if fired(&[Trigger::ContextOverflowed])
            && let (Some(old), Some(new)) = (before.last(), after.last())
            && !Arc::ptr_eq(old, new)
        {
            self.shortened.push((new.clone(), self.whole(old).clone()));
        }
    }

    /// All of it, oldest first, up to what the history holds now.
    pub(super) fn items<'a>(&'a self, now: &'a Conversation) -> impl Iterator<Item = &'a Item> {
        self.shared(now).map(AsRef::as_ref)
    }

    /// The same, to be kept.
    pub(super) fn shared<'a>(&'a self, now: &'a Conversation) -> impl Iterator<Item = &'a Arc<Item>> {
        self.replaced.iter().chain(now.iter().map(|item| self.whole(item)))
    }

    fn whole<'a>(&'a self, item: &'a Arc<Item>) -> &'a Arc<Item> {
        let found = self.shortened.iter().find(|(short, _)| Arc::ptr_eq(short, item));
        found.map_or(item, |(_, whole)| whole)
    }
}

/// Whose words a message is.
pub(super) const fn by(said: &UserMessage) -> &'static str {
    match said.author {
        Author::User => "you",
        Author::Agent => "agent to the model",
    }
}

/// Who wrote a summary, and what the model reads beside it.
pub(super) fn about(summary: &Summary) -> String {
    let mut kept: Vec<&str> = summary.kept().iter().map(|result| result.tool()).collect();
    kept.dedup();
    let said = match summary.said().len() {
        0 => None,
        1 => Some(String::from("1 message of yours")),
        count => Some(format!("{count} messages of yours")),
    };
    let results = (!kept.is_empty()).then(|| format!("results of {}", kept.join(", ")));
    let beside: Vec<String> = said.into_iter().chain(results).collect();
    let beside =
        if beside.is_empty() { String::new() } else { format!(" and, word for word, {}", beside.join(" and ")) };
    format!("summary by {}: from here on, the model read this{beside} instead of what stands above", summary.model())
}
