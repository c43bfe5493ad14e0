//! Commands that lead to another session at the same prompt, and the question about a limit with which one begins.

use super::Screen;
use super::does::more;
use super::sitting::Next;
use crate::commands::sessions::sessions_to_choose;
use crate::config::kept_server::{self, Server};
use crate::config::options::Options;
use crate::failure::Failure;
use crate::screen::choose::Chooser;
use crate::screen::terminal::inline;
use crate::session::kept::{failed, store};
use crate::session::limits::Raise;
use agent_core::budget::LimitReached;

pub(super) fn clear(screen: &mut Screen, _: &str) -> bool {
    screen.next = Some(Next::New);
    false
}

/// To a copy of this session.
pub(super) fn branch(screen: &mut Screen, _: &str) -> bool {
    if screen.id.is_empty() {
        screen.view.tell("this session is not kept, so there is nothing to branch off");
    } else {
        screen.next = Some(Next::Branch);
    }
    false
}

pub(super) fn rewind(screen: &mut Screen, _: &str) -> bool {
    screen.choose_earlier();
    false
}

pub(super) fn resume(screen: &mut Screen, argument: &str) -> bool {
    let gone = if argument.is_empty() { screen.choose_session() } else { screen.go_to(argument) };
    gone.unwrap_or_else(|failure| screen.view.error(&failure.to_string()));
    false
}

impl Screen {
    fn choose_session(&mut self) -> Result<(), Failure> {
        let mut sessions = sessions_to_choose(&store(&self.directory)?)?;
        sessions.retain(|session| session.id != self.id);
        if sessions.is_empty() {
            self.view.tell("there is no other session here");
            return Ok(());
        }
        let chooser = Chooser::new("Session", sessions.iter().map(|session| &session.shown), 0);
        let is_open = self.choose(chooser, move |screen, at| {
            let chosen = sessions.get(at).map_or(Ok(()), |session| screen.go_to(&session.id));
            chosen.unwrap_or_else(|failure| screen.view.error(&failure.to_string()));
            false
        });
        if !is_open {
            self.view.tell("`/resume ID` goes to a session; `agent sessions list` shows them");
        }
        Ok(())
    }

    /// Leaves this session for another one, unless that is in use.
    fn go_to(&mut self, start: &str) -> Result<(), Failure> {
        let store = store(&self.directory)?;
        let id = store.id_of(start).map_err(|error| failed(&error))?;
        if id == self.id {
            self.view.tell("this is that session");
        } else if store.is_in_use(&id).map_err(|error| failed(&error))? {
            self.view
                .tell(&format!("the session {} is in use: leave it where it is open, then resume it", inline(&id)));
        } else {
            self.next = Some(Next::Other(id));
        }
        Ok(())
    }

    /// A server on this machine that nothing but its URL names is offered for the configuration, once.
    pub(super) fn offer_server(&mut self, options: &Options) {
        let server = Server::of(options, &self.settings.user, self.reach).filter(|_| kept_server::is_news());
        let Some(server) = server else { return };
        let told = format!("{} can be kept in your configuration, so that `agent` alone asks it", server.url);
        let choices = [('y', "yes".to_owned()), ('n', "no, and do not ask again".to_owned())];
        let is_open = self.choose_unasked(Chooser::by_letter("Keep this server?", choices, 1), move |screen, at| {
            kept_server::note_asked();
            if at == 0 {
                match server.keep() {
                    Ok(path) => screen.view.tell(&inline(&format!("saved in {}", path.display()))),
                    Err(why) => screen.view.error(&inline(&why)),
                }
            }
            false
        });
        if is_open {
            self.view.tell(&inline(&told));
        }
    }

    /// A limit ended the last turn and would end the next one: the person is asked for more.
    pub(super) fn ask_for_more(&mut self, reached: &LimitReached, raise: &Raise) {
        let how = match raise {
            Raise::Flag(flag, value) => format!("`{flag} {value}` raises it"),
            Raise::Otherwise(how, _) => (*how).to_owned(),
        };
        self.view.tell(&format!("{reached}; {how}"));
        let choices = [('y', "yes, as /more does".to_owned()), ('n', "no".to_owned())];
        let chooser = Chooser::by_letter("Raise the limits by their initial amounts?", choices, 1);
        self.choose_unasked(chooser, |screen, at| {
            if at == 0 {
                more(screen, "");
            }
            false
        });
    }
}
