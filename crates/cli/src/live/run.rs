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

    /// Takes an event; beside lines, what is to be said about failures is said at once.
    pub(crate) fn show(&mut self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.handle(event);
        if self.screen.is_none() {
            print_notes(&mut state);
        }
    }

    /// Leaves the screen, and prints what is still to be said.
    pub(crate) fn close(self) {
        let LiveRun { state, screen, lines } = self;
        drop((screen, lines));
        print_notes(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn print_notes(state: &mut RunState) {
    state.notes.drain(..).for_each(|note| print_note(&note));
}
