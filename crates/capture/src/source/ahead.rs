//! Decompresses on another processor, ahead of whoever reads.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How much is handed over at once, at most.
const PIECE: usize = 256 << 10;
/// As many pieces wait at most: a reader that is slower holds the other up.
const WAITING: usize = 4;

/// A stream read ahead by a thread, which ends with the stream or when it is dropped.
pub(super) struct Ahead {
    pieces: Receiver<io::Result<Piece>>,
    /// Those that were read, to be filled again.
    empty: SyncSender<Vec<u8>>,
    piece: Piece,
    /// So much of `piece` was read.
    read: usize,
    over: bool,
    /// The stream itself, where there can be no thread.
    here: Option<Box<dyn Read + Send>>,
}

/// The first `len` bytes of a buffer, which keeps its length: it would have to be cleared again.
#[derive(Default)]
struct Piece {
    buffer: Vec<u8>,
    len: usize,
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead").field("over", &self.over).finish_non_exhaustive()
    }
}

impl Ahead {
    pub(super) fn of(stream: impl Read + Send + 'static) -> Ahead {
        let (filled, pieces) = sync_channel(WAITING);
        let (empty, used) = sync_channel(WAITING + 2);
        // Where no thread is made, the stream must not be lost with what the thread was given.
        let parcel = Arc::new(Mutex::new(Some(stream)));
        let take = |parcel: &Mutex<Option<_>>| {
            parcel.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let given = Arc::clone(&parcel);
        let work = move || {
            if let Some(stream) = take(&given) {
                decompress(stream, &filled, &used);
            }
        };
        // It is not waited for: standard input may never say anything again.
        let here = match thread::Builder::new().name("decompress".into()).spawn(work) {
            Ok(_) => None,
            Err(_) => take(&parcel).map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        };
        Ahead { pieces, empty, piece: Piece::default(), read: 0, over: false, here }
    }

    /// The next piece; an empty one at the end.
    fn next(&mut self) -> io::Result<Piece> {
        if self.over {
            return Ok(Piece::default());
        }
        let piece = match self.pieces.recv() {
            Ok(piece) => piece,
            // A stream that is over says so.
            Err(_) => Err(io::Error::other("decompressing failed")),
        };
        self.over = !piece.as_ref().is_ok_and(|piece| piece.len > 0);
        piece
    }
}

/// Hands over all that `stream` gives, and last nothing or why it cannot be read.
fn decompress(
    mut stream: impl Read,
    filled: &SyncSender<io::Result<Piece>>,
    used: &Receiver<Vec<u8>>,
) {
    loop {
        let mut buffer = used.try_recv().unwrap_or_default();
        buffer.resize(PIECE, 0);
        let read = match stream.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_last = !read.as_ref().is_ok_and(|&len| len > 0);
        if filled.send(read.map(|len| Piece { buffer, len })).is_err() || is_last {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(stream) = &mut self.here {
            return stream.read(buffer);
        }
        if self.read == self.piece.len {
            let next = self.next()?;
            let used = std::mem::replace(&mut self.piece, next);
            self.read = 0;
            // One too many is let go.
            let _ = self.empty.try_send(used.buffer);
        }
        let len = (&self.piece.buffer[self.read..self.piece.len]).read(buffer)?;
        self.read += len;
        Ok(len)
    }
}
