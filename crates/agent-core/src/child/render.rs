//! Gives the actions of a row their data.

use super::Child;
use super::action::Action;
use super::table::{ActionKind, State};

impl Child {
    pub(super) fn action(&self, kind: ActionKind) -> Option<Action> {
        let run = self.run;
        Some(match kind {
            ActionKind::BeginChild => Action::BeginChild { run, lease: self.lease },
            ActionKind::WithdrawBegin => Action::WithdrawBegin { run },
            ActionKind::SendMessage => {
                let text = self.waiting.back()?.clone();
                Action::SendMessage { run, number: self.sent(), text }
            }
            ActionKind::StopChild => Action::StopChild { run },
            ActionKind::InheritChildren => Action::InheritChildren { run },
            ActionKind::ClearWorkspace => Action::ClearWorkspace { run },
            ActionKind::HandOver => Action::HandOver { run },
        })
    }

    /// What has to be done for this child after a crash, as far as the child's journal does not show it done: the next thing that holds.
    /// A run is begun only where nothing says that it should not be.
    #[must_use]
    pub fn outstanding(&self) -> Option<Action> {
        match self.state {
            State::Starting => self.action(ActionKind::BeginChild),
            State::Stopping if self.lost.is_some() => self.action(ActionKind::InheritChildren),
            State::Stopping if self.begun != self.run => self.action(ActionKind::WithdrawBegin),
            State::Stopping => self.action(ActionKind::StopChild),
            State::Clearing => self.action(ActionKind::ClearWorkspace),
            State::Detached => self.action(ActionKind::HandOver),
            State::Working | State::Asking => {
                let text = self.waiting.front()?.clone();
                Some(Action::SendMessage { run: self.run, number: self.taken.saturating_add(1), text })
            }
            State::Planned | State::Wanted | State::Ended | State::Told => None,
        }
    }
}
