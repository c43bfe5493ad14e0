//! What one person does at one prompt: a session, or one after the other where the person goes from one to another. The terminal, the line
//! editor and the keys stay.

use super::desk::Desk;
use super::status::Status;
use super::{Screen, custom, registry};
use crate::commands::run::going_on;
use crate::commands::sessions::{Earlier, branched, take_files_back};
use crate::config::options::{Mode, Options, OutputFormat, Seat, Verification};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::endpoint::Endpoint;
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::approver::ScreenApprover;
use crate::screen::counted::counted;
use crate::screen::hint::resume_command;
use crate::screen::job_control::Changes;
use crate::screen::lines::{self, Line};
use crate::screen::signals::{self, Signals};
use crate::screen::terminal::{PasteMarks, inline};
use crate::screen::view::Level;
use crate::screen::{keys, terminal};
use crate::session::apart::{self, opened, settings, unless_signalled};
use crate::session::limits::Raise;
use crate::session::own::own;
use crate::session::setup::Opened;
use agent_core::budget::Limits;
use agent_runner::{End, Runner};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Runs a session at the prompt, with a first message if there is one, and returns the exit code.
pub(crate) async fn run(options: Options, verification: &Verification, first: Option<&str>) -> Result<u8, Failure> {
    if options.output_format.is_some_and(|format| format != OutputFormat::Text) || options.include_partial_messages {
        return Err(Failure::usage("the prompt writes for people: `--output-format` works only with `agent run`"));
    }
    let mut signals = signals::listen()?;
    let first = first.map(|first| first.trim().to_owned());
    let mut sitting = Sitting { options, back: None, first, draft: None, desk: None, keyboard: None };
    loop {
        if let Left::Program(code) = sitting.session(verification, &mut signals).await? {
            return Ok(code);
        }
    }
}

/// Where a person goes from a session.
pub(super) enum Next {
    /// Back to before a message of it.
    Before { message: Earlier, with_files: bool },
    /// To a new one.
    New,
    /// To one with all that was said in this one.
    Branch,
    /// To this one.
    Other(String),
}

/// What is read from the person.
pub(super) struct Keyboard {
    pub(super) lines: mpsc::UnboundedReceiver<Line>,
    pub(super) changes: Changes,
    /// Where there is no line editor.
    _marks: Option<PasteMarks>,
}

/// What was left.
enum Left {
    Program(u8),
    /// Only the session: the options name the next one.
    Session,
}

struct Sitting {
    options: Options,
    /// Those of the session that was left, to which a person comes back where the next one cannot be had.
    back: Option<Options>,
    /// What is sent first, and what stands in the line then.
    first: Option<String>,
    draft: Option<String>,
    desk: Option<Desk>,
    keyboard: Option<Keyboard>,
}

impl Sitting {
    /// One session, from its beginning until it is left.
    async fn session(&mut self, verification: &Verification, signals: &mut Signals) -> Result<Left, Failure> {
        let (approver, questions) = ScreenApprover::new();
        let asked = self.options.clone();
        let begin = async {
            let (options, own) = apart::apart(move || own(&asked)).await??;
            if let Some(own) = own.filter(|_| !options.quiet) {
                terminal::say(&own);
            }
            let (settings, approver) = (settings(&options, Seat::Interactive).await?, Arc::new(approver));
            let chosen = provider::choose(&settings).await?.paced(Unread::IsTheEnd);
            let bound = verification.commitments();
            let (opened, settings) = opened(settings, &options, chosen, Some(approver), bound).await?;
            Ok((opened, settings, options))
        };
        // A signal ends the program, another failure only the way there.
        let begun: Result<_, Failure> = unless_signalled(signals, async { Ok(begin.await) }).await?;
        let Some((opened, settings, options)) = self.or_back(begun)? else { return Ok(Left::Session) };
        // What begins with this session's records, or after it, is used as it was.
        self.options.clone_from(&options);
        let (mut screen, runner, mut notices) = self.shown(opened, &Arc::new(settings));
        screen.commitments = verification.commitments();
        let mut keyboard = self.sit_down(&screen)?;
        let (handle, id) = (screen.handle.clone(), screen.id.clone());
        let task = tokio::spawn(runner.run());
        if let Some(first) = self.first.take() {
            screen.view.said(&format!("> {first}"));
            let attached = screen.attaching.to(&first, &[]);
            let attached = attached.map_err(|why| Failure::input(format!("the message is not sent: {why}")))?;
            attached.told.iter().for_each(|told| screen.view.tell(&inline(&format!("attached: {told}"))));
            handle.input(attached.message);
        }
        let left = screen.run(&mut notices, signals, &mut keyboard, questions).await;
        screen.tell_what_ends();
        let next = screen.next.take();
        if next.is_none() {
            screen.keep_draft();
            // The terminal is given back before the last words, which stay.
            screen.desk = None;
        }
        handle.detach();
        let (ended, cut_short) = apart::ended(task, signals, || {
            screen.view.tell("stopping the end-of-session hooks (Ctrl-C again quits at once)");
            handle.detach();
        })
        .await;
        screen.repository.turn_ended();
        if let (Some(mcp), None) = (&screen.mcp, &cut_short) {
            mcp.stop().await;
        }
        let left = cut_short.map_or(left, |signal| signal.failure().code);
        let Some(ended) = ended else { return Ok(Left::Program(left)) };
        let (end, agent) = ended.map_err(|error| Failure::internal(format!("cannot drive the session: {error}")))?;
        let session = agent.session();
        screen.view.last_words(&mut notices);
        screen.view.end_line();
        screen.tell_spent(session.ledger(), session.has_open_cost());
        if !id.is_empty() {
            let command = resume_command(&id, &options, Raise::of(session).as_ref());
            screen.view.tell_whole(&format!("to resume: {command}"));
        }
        if let End::JournalFailed(error) = end {
            return Err(Failure::internal(error));
        }
        let Some(next) = next.filter(|_| cut_short.is_none()) else { return Ok(Left::Program(left)) };
        // The journal is closed with it.
        drop(agent);
        self.go(next, &mut screen).await?;
        (self.desk, self.keyboard) = (screen.desk, Some(keyboard));
        Ok(Left::Session)
    }

    /// What was begun. Where that failed on the way from another session, nothing: that one is next again.
    fn or_back<T>(&mut self, begun: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match (begun, self.back.take()) {
            (Err(failure), Some(back)) => {
                terminal::say(&format!("agent: back in the session before: {failure}"));
                self.options = back;
                Ok(None)
            }
            (begun, _) => begun.map(Some),
        }
    }

    /// Shows what session this is and where it stands.
    fn shown(&mut self, opened: Opened, settings: &Arc<Settings>) -> (Screen, Runner, agent_runner::Notices) {
        let Opened {
            runner,
            handle,
            notices,
            id,
            model,
            reach,
            before,
            repository,
            unfinished,
            reached,
            background,
            attaching,
            mcp,
            skills,
            doorway,
            ..
        } = opened;
        let options = &self.options;
        let level = Level::of(options.quiet, options.verbose);
        let mut screen = Screen::new(handle, repository, level, settings.limits, &before.ledger);
        screen.directory.clone_from(&settings.directory);
        screen.settings = Arc::clone(settings);
        screen.view.show_changes_in(&settings.directory);
        // From here on the width of the terminal counts.
        let status = Status::new(&model, settings.permissions.mode);
        screen.desk = match self.desk.take() {
            Some(mut desk) => {
                desk.status = status;
                Some(desk)
            }
            None => {
                let is_coloured = screen.style.is_on();
                Desk::take(options.plain, is_coloured, &settings.directory, status, settings.user.prompt)
            }
        };
        if let Some(desk) = &mut screen.desk {
            self.draft.take().iter().for_each(|draft| desk.editor.replace(draft));
            screen.view.show_all_it_can();
            screen.look_at_branch();
        }
        screen.view.tell(&inline(&format!("{} in {} · session {id}", model.id, settings.directory.display())));
        screen.view.tell("Ctrl-C stops the turn, Ctrl-C twice quits; /help for more");
        screen.view.recap(&before.conversation, before.unanswered.as_deref());
        if let Some(left) = &unfinished {
            screen.view.tell(&going_on(left));
        }
        (screen.id, screen.attaching) = (id, attaching);
        screen.door = doorway.open(&screen.id, &screen.handle);
        (screen.background, screen.mcp) = (background, mcp);
        (screen.reach, screen.wish) = (reach, settings.effort);
        screen.provider = Endpoint::of(settings).map(|endpoint| endpoint.name).unwrap_or_default();
        let (mut customs, unreadable) = custom::found(&settings.directory);
        customs.extend(skills.iter().map(custom::of_skill));
        unreadable.iter().for_each(|why| screen.view.tell(&inline(why)));
        if let Some(desk) = &mut screen.desk {
            desk.editor.know_commands(customs.iter().map(|custom| custom.name.as_str()).chain(registry::names()));
        }
        screen.customs = customs;
        if let Some((reached, raise)) = reached {
            screen.ask_for_more(&reached, &raise);
        } else if self.first.is_none() {
            screen.offer_server(&self.options);
        }
        (screen, runner, notices)
    }

    /// Reads from now on what the person types, unless it is read already.
    fn sit_down(&mut self, screen: &Screen) -> Result<Keyboard, Failure> {
        if let Some(keyboard) = self.keyboard.take() {
            return Ok(keyboard);
        }
        Ok(match &screen.desk {
            Some(desk) => {
                Keyboard { lines: keys::read(desk.give_up.clone())?, changes: Changes::listen(), _marks: None }
            }
            None => Keyboard { lines: lines::read()?, changes: Changes::default(), _marks: PasteMarks::ask() },
        })
    }

    /// Makes the next session where it begins with records of this one, and has the options name it.
    async fn go(&mut self, next: Next, screen: &mut Screen) -> Result<(), Failure> {
        let is_another = matches!(next, Next::Other(_));
        let next_id = match next {
            Next::New => None,
            Next::Other(id) => Some(id),
            Next::Branch => Some(branched(&screen.directory, &screen.id, None)?),
            Next::Before { message, with_files } => {
                let (directory, id) = (screen.directory.clone(), screen.id.clone());
                let new_id = branched(&directory, &id, Some(message.before))?;
                if with_files {
                    let undone = take_files_back(&directory, &id, message.before).await?;
                    let (changed, left) = (undone.restored.len() + undone.removed.len(), undone.left.len());
                    let changed = counted(changed as u64, "file");
                    let told = format!("{changed} restored, {left} left unchanged; `agent undo` reverses this");
                    screen.view.tell(&told);
                }
                self.draft = Some(message.text);
                Some(new_id)
            }
        };
        // What was written so far stands before what is said of the next one.
        terminal::told().await;
        self.back = (!screen.id.is_empty()).then(|| Options {
            must_exist: true,
            session_id: Some(screen.id.clone()),
            continue_newest: false,
            fork_session: false,
            ..self.options.clone()
        });
        let options = match is_another {
            true => as_it_was_used(&self.options),
            false => Options {
                model: screen.model().or_else(|| self.options.model.clone()),
                effort: screen.wish,
                permission_mode: screen.mode().map(Mode::from).or(self.options.permission_mode),
                ..self.options.clone()
            },
        };
        self.options = Options {
            must_exist: next_id.is_some(),
            session_id: next_id,
            continue_newest: false,
            fork_session: false,
            raised: Limits::default(),
            ..options
        };
        Ok(())
    }
}

/// The options for a session that was used with others: what was said on the command line was said of the one before.
fn as_it_was_used(options: &Options) -> Options {
    Options {
        provider: None,
        base_url: None,
        api_key_env: None,
        model: None,
        effort: None,
        fallback_model: Vec::new(),
        permission_mode: None,
        max_turns: None,
        max_tool_calls: None,
        max_total_tokens: None,
        max_budget_usd: None,
        max_wall_time: None,
        ..options.clone()
    }
}
