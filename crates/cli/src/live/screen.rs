//! The whole screen of a terminal: taken, drawn, left as it was.
//!
//! It is left at the end of the view, on a panic, on a second signal, and while the command is
//! suspended. A first signal stops the command, which ends the view.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};
use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGSTOP, SIGTSTP};
#[cfg(unix)]
use signal_hook::flag;
use signal_hook::low_level;

use crate::output::output_for_screen;

/// How often it is drawn.
const REDRAW: Duration = Duration::from_millis(100);
/// How long the end of the drawing thread is waited for.
const LONGEST_END: Duration = Duration::from_millis(500);
/// The alternate screen, the cursor hidden (xterm's control sequences: 1049, 25).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// Whether the screen is taken.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// Held while it is drawn.
static DRAWN: Mutex<()> = Mutex::new(());
/// Whether a program outside asks to suspend (`kill -TSTP`).
static IS_SUSPENDED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether no view is shown, so that SIGTSTP does what it always does.
static HAS_NO_VIEW: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What fills the screen.
pub(crate) trait View: Send {
    /// Takes what is new; not called while the view is paused.
    fn refresh(&mut self);
    fn draw(&self, frame: &mut Frame<'_>, shown: Shown);
}

/// What the keys chose.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    pub(crate) is_paused: bool,
    pub(crate) has_help: bool,
}

/// A screen that is drawn by a thread of its own until it is closed.
#[derive(Debug)]
pub(crate) struct Screen {
    is_closed: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Screen {
    /// # Errors
    /// When standard error is no terminal that can be drawn on.
    pub(crate) fn open(view: impl View + 'static) -> io::Result<Screen> {
        prepare()?;
        let output = output_for_screen()?;
        enter(&output)?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let thread = thread::Builder::new().spawn(move || {
            // Without a screen the command goes on.
            let _ = show(view, &output, &closed);
            restore();
        });
        let thread = thread.inspect_err(|_| restore())?;
        Ok(Screen { is_closed, thread })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        // Its keys are read by crossterm, which does not return once the terminal is gone.
        let until = Instant::now() + LONGEST_END;
        while !self.thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        restore();
    }
}

/// Leaves the screen, if it is taken; afterwards nothing is drawn.
pub(crate) fn restore() {
    let _drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    leave();
}

fn leave() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        HAS_NO_VIEW.store(true, Ordering::Relaxed);
        if let Ok(mut output) = output_for_screen() {
            let _ = output.write_all(LEAVE);
        }
        let _ = disable_raw_mode();
    }
}

fn enter(mut output: &File) -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    HAS_NO_VIEW.store(false, Ordering::Relaxed);
    output.write_all(ENTER).inspect_err(|_| leave())
}

/// Handles panics and SIGTSTP from now on.
fn prepare() -> io::Result<()> {
    static ONCE: Once = Once::new();
    #[cfg_attr(not(unix), expect(unused_mut, reason = "nothing suspends a command"))]
    let mut result = Ok(());
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // Without the lock: this thread may hold it.
            leave();
            before(info);
        }));
        #[cfg(unix)]
        {
            result = flag::register_conditional_default(SIGTSTP, Arc::clone(&HAS_NO_VIEW))
                .and_then(|_| flag::register(SIGTSTP, Arc::clone(&IS_SUSPENDED)))
                .map(drop);
        }
    });
    result
}

fn show(mut view: impl View, output: &File, is_closed: &AtomicBool) -> io::Result<()> {
    let mut shown = Shown::default();
    loop {
        // Not kept while the command is suspended: what is on the screen then is not known.
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(output)))?;
        draw_until_suspended(&mut view, terminal, &mut shown, is_closed)?;
        if is_closed.load(Ordering::Relaxed) || !IS_SUSPENDED.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        suspend(output)?;
    }
}

fn draw_until_suspended(
    view: &mut impl View,
    mut terminal: Terminal<CrosstermBackend<BufWriter<&File>>>,
    shown: &mut Shown,
    is_closed: &AtomicBool,
) -> io::Result<()> {
    while !is_closed.load(Ordering::Relaxed) && !IS_SUSPENDED.load(Ordering::Relaxed) {
        if !shown.is_paused {
            view.refresh();
        }
        {
            let _drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
            if !IS_TAKEN.load(Ordering::SeqCst) {
                return Ok(());
            }
            terminal.draw(|frame| view.draw(frame, *shown))?;
        }
        take_keys(shown, is_closed)?;
    }
    Ok(())
}

/// Takes keys until it is time to draw again.
fn take_keys(shown: &mut Shown, is_closed: &AtomicBool) -> io::Result<()> {
    let until = Instant::now() + REDRAW;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if is_closed.load(Ordering::Relaxed) || !event::poll(left)? {
            return Ok(());
        }
        let Event::Key(key) = event::read()? else { return Ok(()) };
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            // As Ctrl-C does without a view.
            KeyCode::Char('c') if with_control => low_level::raise(SIGINT)?,
            #[cfg(unix)]
            KeyCode::Char('z') if with_control => IS_SUSPENDED.store(true, Ordering::Relaxed),
            KeyCode::Char('q') => low_level::raise(SIGINT)?,
            KeyCode::Char('p') => shown.is_paused = !shown.is_paused,
            KeyCode::Char('?') => shown.has_help = !shown.has_help,
            _ => shown.has_help = false,
        }
    }
}

/// Gives the terminal back until the command is continued.
fn suspend(output: &File) -> io::Result<()> {
    restore();
    #[cfg(unix)]
    low_level::raise(SIGSTOP)?;
    enter(output)
}
