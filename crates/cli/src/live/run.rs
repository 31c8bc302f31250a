//! `tcplab run --live`.

use std::sync::{Arc, Mutex, PoisonError};

use tcplab_lab::{Event, RunDirectory, RunEstimate};

use super::plain::Lines;
use super::run_picture::RunFollower;
use super::run_state::RunState;
use super::screen::Screen;
use crate::arguments::LiveMode;
use crate::output::print_note;

/// Shows a run while it runs.
pub(crate) struct LiveRun {
    state: Arc<Mutex<RunState>>,
    /// What shows it; dropped before anything else is printed.
    screen: Option<Screen>,
    lines: Option<Lines>,
}

impl LiveRun {
    /// Begins. Where the screen cannot be drawn on, with a line a second.
    pub(crate) fn of(run: &RunDirectory, estimate: &RunEstimate, mode: LiveMode) -> LiveRun {
        let state = Arc::new(Mutex::new(RunState::new(run, estimate)));
        let follower = || RunFollower::new(Arc::clone(&state));
        let screen = match mode {
            LiveMode::Screen => Screen::open(follower()).map_err(|error| {
                print_note(&format!("--live: a line a second, as the screen fails: {error}"));
            }),
            LiveMode::Plain => Err(()),
        };
        let screen = screen.ok();
        let lines = screen.is_none().then(|| Lines::of(follower()));
        LiveRun { state, screen, lines }
    }

    pub(crate) fn show(&mut self, event: Event<'_>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).handle(event);
    }

    /// Leaves the screen, and prints what was said about failures meanwhile.
    pub(crate) fn close(self) {
        let LiveRun { state, screen, lines } = self;
        drop((screen, lines));
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.notes.iter().for_each(|note| print_note(note));
    }
}
