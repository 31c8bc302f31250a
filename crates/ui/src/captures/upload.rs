//! A file that comes: from the connection to the disk in pieces.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt;

use super::name;
use super::place::{FILES_PLACE, PARTS, by_age};
use super::store::{Capture, Captures};
use crate::error::Refusal;
use crate::token::Token;

/// The largest file, bytes.
pub(crate) const LARGEST: u64 = 8_000_000_000;
/// Pieces on the way to the disk; then the sender waits.
const ON_THE_WAY: usize = 16;
/// Who sends nothing for so long is cut off.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file that has come.
#[derive(Debug, Serialize)]
pub(crate) struct Uploaded {
    /// Of the capture that it belongs to.
    id: String,
    /// What it is called now.
    name: String,
    bytes: u64,
}

impl Captures {
    /// Takes a file for the capture of this name, or for a new one. Nothing is left of a file that
    /// does not come whole.
    pub(crate) async fn take(
        &self,
        id: Option<&str>,
        name: &str,
        length: Option<u64>,
        body: Body,
    ) -> Result<Uploaded, Refusal> {
        if length.is_some_and(|length| length > LARGEST) {
            return Err(too_large());
        }
        let busy = |_| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many uploads at a time");
        let _place = Arc::clone(&self.uploads).try_acquire_owned().map_err(busy)?;
        let capture = match id {
            Some(id) => self.capture(id)?,
            None => self.begin()?,
        };
        let mut new = New { captures: self, id: id.is_none().then(|| capture.id.clone()) };
        let taken = self.write(&capture, name, body).await?;
        new.id = None;
        Ok(taken)
    }

    async fn write(
        &self,
        capture: &Arc<Capture>,
        name: &str,
        body: Body,
    ) -> Result<Uploaded, Refusal> {
        capture.place.has_room()?;
        let part = Part::new(&capture.place.directory(PARTS)?)?;
        let (sender, receiver) = mpsc::channel(ON_THE_WAY);
        let writer = tokio::task::spawn_blocking(move || part.fill(receiver));
        let sent = send(body, sender).await;
        // It has ended: it heard that this was all, or that nothing more comes.
        let written = writer.await.map_err(|_| Refusal::failed("a mistake in tcplab"))?;
        sent?;
        let (part, bytes) = written.map_err(|error| cannot_write(&error))?;
        if bytes == 0 {
            return Err(Refusal::bad("the file is empty: it has no packets"));
        }
        let place = capture.place.directory(FILES_PLACE)?;
        let safe = name::safe(name);
        let name = part.keep(&place, &safe).map_err(|error| cannot_write(&error))?;
        Ok(Uploaded { id: capture.id.clone(), name, bytes })
    }
}

/// A capture that is removed unless its first file comes: also where the connection ends.
struct New<'a> {
    captures: &'a Captures,
    id: Option<String>,
}

impl Drop for New<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            let _ = self.captures.remove(id);
        }
    }
}

/// Passes a body on, piece by piece; `Piece::End` follows a whole one.
async fn send(body: Body, sender: mpsc::Sender<Piece>) -> Result<(), Refusal> {
    let mut pieces = body.into_data_stream();
    let mut sum = 0;
    loop {
        let slow = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the upload stopped");
        let piece = timeout(PATIENCE, pieces.next()).await.map_err(slow)?;
        let Some(piece) = piece else { break };
        let piece = piece.map_err(|_| Refusal::bad("the upload broke off"))?;
        sum += piece.len() as u64;
        if sum > LARGEST {
            return Err(too_large());
        }
        if sender.send(Piece::Bytes(piece)).await.is_err() {
            // The writer says why.
            return Ok(());
        }
    }
    let _ = sender.send(Piece::End).await;
    Ok(())
}

#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    End,
}

/// A file under a temporary name, removed unless it is kept.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    is_kept: bool,
}

impl Part {
    fn new(place: &Path) -> Result<Part, Refusal> {
        let name = Token::random().map_err(|error| cannot_write(&error))?;
        Ok(Part { path: place.join(name.as_str()), is_kept: false })
    }

    /// Writes what comes; the number of bytes.
    fn fill(self, mut pieces: mpsc::Receiver<Piece>) -> io::Result<(Part, u64)> {
        let mut file = File::create_new(&self.path)?;
        let mut sum = 0;
        loop {
            match pieces.blocking_recv() {
                Some(Piece::Bytes(bytes)) => {
                    file.write_all(&bytes)?;
                    sum += bytes.len() as u64;
                }
                Some(Piece::End) => return Ok((self, sum)),
                // Whoever sent it is gone.
                None => return Err(io::Error::other("the upload broke off")),
            }
        }
    }

    /// Moves it to its place; its name there.
    fn keep(mut self, place: &Path, name: &str) -> io::Result<String> {
        let name = name::free(name, |name| place.join(name).exists());
        // Two that come in one tick of the file system's clock stay in order, too.
        if let Some((last, _)) = by_age(place).last() {
            let changed = SystemTime::now().max(*last + Duration::from_nanos(1));
            File::options().write(true).open(&self.path)?.set_modified(changed)?;
        }
        fs::rename(&self.path, place.join(&name))?;
        self.is_kept = true;
        Ok(name)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn too_large() -> Refusal {
    let what =
        format!("a file has at most {} GB: split it by `editcap -c`", LARGEST / 1_000_000_000);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what)
}

fn cannot_write(error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::StorageFull {
        let what = "the disk is full: delete captures or runs";
        return Refusal::new(StatusCode::INSUFFICIENT_STORAGE, what);
    }
    Refusal::failed(format!("cannot keep the file: {error}"))
}
