//! What is to be written and is not yet. A thread of its own writes it, so a reader that does not read holds up that thread and nothing
//! else.
//!
//! 1. To put something in never waits, wherever it is called.
//! 2. What is put in is written once and in its order, as soon as the reader takes it.
//! 3. After an answer that could not be written no other is: a later one would hide the gap.
//!
//! What is absent: a bound. Those who make more to write wait in between, a call of the model until the queue is empty, the stream of an
//! answer until there is room.

use super::charset::encoded;
use super::live::Update;
use super::outputs::{lead_to_one_place, write_some};
use crate::failure::Failure;
use crate::screen::threads;
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What is written, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To standard output; that it is lost matters.
    Answer,
    /// To standard output, for the terminal: a prompt, a mark.
    Aside,
    /// To standard error.
    Remark,
}

/// Writes to an output: by the queue where there is one, or at once.
pub(super) fn write(kind: Kind, text: &str) -> io::Result<()> {
    match (QUEUES.get(), kind) {
        (Some(queues), _) => {
            queues.put(kind, &encoded(kind, text));
            if kind == Kind::Answer { written_so_far() } else { Ok(()) }
        }
        (None, Kind::Answer) => write_now(kind, text).inspect_err(|error| drop(LOST.set(again(error)))),
        (None, Kind::Aside | Kind::Remark) => write_now(kind, text),
    }
}

/// Writes a text above the rows at the bottom. Where the end of the update before still waits and was of the same kind, it is taken back
/// instead of undone.
pub(super) fn write_live(kind: Kind, update: &Update) -> io::Result<()> {
    let Some(queues) = QUEUES.get() else {
        return write(kind, &format!("{}{}{}", update.before, update.text, update.after));
    };
    queues.of(kind).put_live(kind, update);
    if kind == Kind::Answer { written_so_far() } else { Ok(()) }
}

/// Not by the standard library, which takes an output that cannot be written for a null device.
fn write_now(kind: Kind, text: &str) -> io::Result<()> {
    let bytes = encoded(kind, text);
    let mut rest = &*bytes;
    while !rest.is_empty() {
        let written = write_some(kind, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// From now on what is written waits in a queue for its reader, and the caller does not.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn queue() -> Result<(), Failure> {
    if QUEUES.get().is_none() {
        let _ = QUEUES.set(Queues::start()?);
    }
    Ok(())
}

/// Waits until everything is written, or lost.
pub(crate) async fn written() {
    if let Some(queues) = QUEUES.get() {
        queues.written().await;
    }
}

/// Waits until everything is written, or lost, that is more than a drawing: a prompt, the line that is edited.
pub(crate) async fn told() {
    if let Some(queues) = QUEUES.get() {
        let is_told = |state: &State| state.open_bytes == state.open_asides;
        while !(is_told(&queues.out.lock()) && is_told(&queues.err.lock())) {
            queues.out.until(is_told).await;
            queues.err.until(is_told).await;
        }
    }
}

/// Waits until there is room for more pieces of an answer.
pub(crate) async fn room() {
    if let Some(queues) = QUEUES.get() {
        queues.room().await;
    }
}

/// Whether what could be left out has to be: the reader does not keep up.
pub(crate) fn is_behind() -> bool {
    QUEUES.get().is_some_and(|queues| !queues.has_room())
}

/// Waits until something for standard output could not be written.
pub(crate) async fn lost() {
    match QUEUES.get() {
        Some(queues) => queues.lost().await,
        None => std::future::pending().await,
    }
}

/// Why something for standard output could not be written, if it could not.
pub(crate) fn lost_output() -> Option<io::Error> {
    LOST.get().map(again)
}

/// Whether everything for standard output was written so far.
///
/// # Errors
/// What the system said the first time that it could not.
pub(super) fn written_so_far() -> io::Result<()> {
    LOST.get().map_or(Ok(()), |error| Err(again(error)))
}

/// Bytes of standard output that nobody has read, where standard error can tell of them.
pub(crate) fn unread_bytes() -> usize {
    QUEUES.get().filter(|queues| queues.are_apart()).map_or(0, Queues::open_bytes)
}

fn again(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

/// Lets a panic that ends the program be heard: its message may still wait to be written.
pub(crate) struct LastWords;

impl Drop for LastWords {
    fn drop(&mut self) {
        if let Some(queues) = QUEUES.get().filter(|_| std::thread::panicking()) {
            queues.wait_for_remarks(Duration::from_secs(2));
        }
    }
}

/// The queues of both outputs: one where both lead to the same place, so that their order stays.
struct Queues {
    out: Arc<Queue>,
    err: Arc<Queue>,
}

impl Queues {
    /// Starts the threads that write.
    ///
    /// # Errors
    /// When the system gives none.
    fn start() -> Result<Self, Failure> {
        let out = Queue::start("stdout")?;
        let err = if lead_to_one_place() { out.clone() } else { Queue::start("stderr")? };
        Ok(Self { out, err })
    }

    fn put(&self, kind: Kind, bytes: &[u8]) {
        self.of(kind).put(kind, bytes);
    }

    /// Waits until all of it is written or lost.
    async fn written(&self) {
        while !self.is_written() {
            self.out.until(|state| state.open_bytes == 0).await;
            self.err.until(|state| state.open_bytes == 0).await;
        }
    }

    fn is_written(&self) -> bool {
        self.open_bytes() == 0 && self.err.lock().open_bytes == 0
    }

    /// Bytes of standard output that are not written yet; where both are one, of both.
    fn open_bytes(&self) -> usize {
        self.out.lock().open_bytes
    }

    /// Waits until there is room for more of what comes in pieces.
    async fn room(&self) {
        self.out.until(|state| state.open_bytes <= ROOM_BYTES).await;
        self.err.until(|state| state.open_bytes <= ROOM_BYTES).await;
    }

    fn has_room(&self) -> bool {
        [&self.out, &self.err].into_iter().all(|queue| queue.lock().open_bytes <= ROOM_BYTES)
    }

    /// Waits until an answer could not be written.
    async fn lost(&self) {
        self.out.once(|_| LOST.get().is_some()).await;
    }

    /// Whether remarks are written even where nobody takes the answers.
    fn are_apart(&self) -> bool {
        !Arc::ptr_eq(&self.out, &self.err)
    }

    /// Holds the thread until the remarks are written, but not for long: for the last words of a program that panicked.
    fn wait_for_remarks(&self, at_most: Duration) {
        let since = Instant::now();
        while self.err.lock().open_bytes > 0 && since.elapsed() < at_most {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn of(&self, kind: Kind) -> &Queue {
        match kind {
            Kind::Answer | Kind::Aside => &self.out,
            Kind::Remark => &self.err,
        }
    }
}

/// What one thread has to write.
struct Queue {
    state: Mutex<State>,
    has_work: Condvar,
    /// Told when all is written, when there is room again, and when an answer is lost.
    changed: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<(Kind, Vec<u8>)>,
    /// What waits and what is being written.
    open_bytes: usize,
    /// What of it is drawn for the terminal and answers nothing.
    open_asides: usize,
    /// Bytes at the end of what waits that only draw, and that a newer drawing takes the place of.
    drawn_bytes: usize,
    /// Whether they draw all of the rows, or lead back to them.
    is_whole: bool,
    /// Whether the thread has to be woken for more.
    is_asleep: bool,
    /// How many wait until what is here is written. The thread makes no pause then.
    awaited: usize,
}

impl State {
    fn put(&mut self, kind: Kind, bytes: &[u8]) {
        self.open_bytes += bytes.len();
        self.open_asides += if kind == Kind::Aside { bytes.len() } else { 0 };
        self.drawn_bytes = 0;
        match self.waiting.last_mut() {
            Some((last, waiting)) if *last == kind => waiting.extend_from_slice(bytes),
            _ => self.waiting.push((kind, bytes.to_vec())),
        }
    }

    /// Returns whether a drawing of this kind was taken back.
    fn take_back_drawing(&mut self, is_whole: bool) -> bool {
        let drawn = mem::take(&mut self.drawn_bytes);
        if self.is_whole != is_whole {
            return false;
        }
        if let Some((_, bytes)) = self.waiting.last_mut().filter(|_| drawn > 0) {
            bytes.truncate(bytes.len().saturating_sub(drawn));
            self.open_bytes = self.open_bytes.saturating_sub(drawn);
            self.open_asides = self.open_asides.saturating_sub(drawn);
        }
        drawn > 0
    }
}

impl Queue {
    fn start(name: &str) -> Result<Arc<Self>, Failure> {
        let queue = Arc::new(Self { state: Mutex::default(), has_work: Condvar::new(), changed: Notify::new() });
        let writing = queue.clone();
        threads::start(name, move || writing.write())?;
        Ok(queue)
    }

    fn put(&self, kind: Kind, bytes: &[u8]) {
        let mut state = self.lock();
        state.put(kind, bytes);
        self.wake(state);
    }

    fn put_live(&self, kind: Kind, update: &Update) {
        let mut state = self.lock();
        if !state.take_back_drawing(update.is_whole) {
            state.put(Kind::Aside, update.before.as_bytes());
        }
        state.put(kind, update.text.as_bytes());
        state.put(Kind::Aside, update.after.as_bytes());
        (state.drawn_bytes, state.is_whole) = (update.after.len(), update.is_whole);
        self.wake(state);
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let is_asleep = mem::take(&mut state.is_asleep);
        drop(state);
        if is_asleep {
            self.has_work.notify_one();
        }
    }

    /// The thread's work. All that waits is taken at once: the more slowly it is read, the fewer and larger the writes.
    fn write(&self) {
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() {
                state.is_asleep = true;
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let taken = mem::take(&mut state.waiting);
            let taken_drawing = mem::take(&mut state.drawn_bytes) > 0;
            drop(state);
            for (kind, bytes) in taken {
                self.write_piece(kind, &bytes);
            }
            self.pause(if taken_drawing { BETWEEN_FRAMES } else { BETWEEN_WRITES });
        }
    }

    /// Lets more come together, unless that is waited for.
    fn pause(&self, time: Duration) {
        drop(self.has_work.wait_timeout_while(self.lock(), time, |state| state.awaited == 0));
    }

    fn write_piece(&self, kind: Kind, bytes: &[u8]) {
        let mut rest = bytes;
        let is_in_vain = || kind == Kind::Answer && LOST.get().is_some();
        while !rest.is_empty() && !is_in_vain() {
            match write_some(kind, rest) {
                Ok(length) => {
                    rest = rest.get(length..).unwrap_or_default();
                    self.done(kind, length);
                }
                Err(error) => {
                    // A terminal that is gone is no reason to stop; a reader of answers that is gone is one.
                    if kind == Kind::Answer {
                        let _ = LOST.set(error);
                        self.changed.notify_waiters();
                    }
                    break;
                }
            }
        }
        self.done(kind, rest.len());
    }

    fn done(&self, kind: Kind, bytes: usize) {
        let mut state = self.lock();
        let before = state.open_bytes;
        state.open_bytes -= bytes;
        state.open_asides -= if kind == Kind::Aside { bytes } else { 0 };
        let is_news = state.open_bytes == state.open_asides || (before > ROOM_BYTES && state.open_bytes <= ROOM_BYTES);
        drop(state);
        if is_news {
            self.changed.notify_waiters();
        }
    }

    /// Waits for what the thread writes: it does so at once.
    async fn until(&self, holds: impl Fn(&State) -> bool) {
        if holds(&self.lock()) {
            return;
        }
        let _awaited = Awaited::of(self);
        self.once(holds).await;
    }

    async fn once(&self, holds: impl Fn(&State) -> bool) {
        loop {
            // Asked for before the look, so that nothing falls in between.
            let changed = self.changed.notified();
            if holds(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait until the queue is written. One that is given up ends, too.
struct Awaited<'a>(&'a Queue);

impl<'a> Awaited<'a> {
    fn of(queue: &'a Queue) -> Self {
        queue.lock().awaited += 1;
        queue.has_work.notify_one();
        Self(queue)
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.lock().awaited -= 1;
    }
}

static QUEUES: OnceLock<Queues> = OnceLock::new();
/// Why an answer could not be written: the first time counts.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Nobody sees it, and an answer that comes quickly costs fewer writes.
const BETWEEN_WRITES: Duration = Duration::from_millis(1);
/// Below the rows of the line editor moves with each write, so there are fewer; a key is seen within 16 ms all the same.
const BETWEEN_FRAMES: Duration = Duration::from_millis(12);
/// More than most answers have: whoever looks at one page of an answer does not keep the server waiting for the reader.
const ROOM_BYTES: usize = 1024 * 1024;
