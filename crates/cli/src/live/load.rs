//! `tcplab load --live`.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::Frame;
use tcplab_load::Progress;

use super::load_picture::LoadPicture;
use super::load_screen;
use super::screen::{Screen, Shown, View};

/// A load on the whole screen, drawn until this is dropped.
pub(crate) struct LiveLoad {
    latest: Arc<Mutex<LoadPicture>>,
    _screen: Screen,
}

impl LiveLoad {
    /// # Errors
    /// When the screen cannot be drawn on.
    pub(crate) fn open(target: &str) -> io::Result<LiveLoad> {
        let picture = LoadPicture::of(target);
        let latest = Arc::new(Mutex::new(picture.clone()));
        let screen = Screen::open(LoadView { latest: Arc::clone(&latest), picture })?;
        Ok(LiveLoad { latest, _screen: screen })
    }

    pub(crate) fn show(&self, progress: &Progress) {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take(progress);
    }
}

struct LoadView {
    latest: Arc<Mutex<LoadPicture>>,
    /// What is drawn.
    picture: LoadPicture,
}

impl View for LoadView {
    fn refresh(&mut self) {
        self.picture = self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
    }
    fn draw(&self, frame: &mut Frame<'_>, shown: Shown) {
        load_screen::draw(&self.picture, frame, shown);
    }
}
