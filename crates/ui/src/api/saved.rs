//! A file that a browser saves.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio_stream::wrappers::ReceiverStream;

use crate::error::Refusal;

/// Pieces of a file on the way to who saves it, and their size in bytes.
const ON_THE_WAY: usize = 4;
const PIECE: usize = 256 << 10;

/// This file, whose name has plain letters only, as those have that commands make.
pub(super) fn saved(path: &Path) -> Result<Response, Refusal> {
    let cannot = |error: io::Error| Refusal::failed(format!("cannot read it: {error}"));
    let file = File::open(path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    spawn_blocking(move || pass_on(file.take(length), &sender));
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

/// Passes a file on in pieces until nobody takes them.
fn pass_on(mut file: impl Read, sender: &mpsc::Sender<io::Result<Bytes>>) {
    let mut piece = vec![0; PIECE];
    loop {
        let passed = match file.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => sender.blocking_send(Ok(Bytes::copy_from_slice(&piece[..count]))),
            Err(error) => {
                let _ = sender.blocking_send(Err(error));
                return;
            }
        };
        if passed.is_err() {
            return;
        }
    }
}
