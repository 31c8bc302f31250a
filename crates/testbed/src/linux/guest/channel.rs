//! Messages to the world outside and from it: JSON, through the device of the kernel's driver.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::TrialError;
use crate::sys::clock_page;
use crate::virtual_calls::VirtualCalls;

const PLACE: &str = "/dev/tcplab";
/// A message is one or more pieces, each of which begins with one of these.
const MORE: u8 = 0;
const LAST: u8 = 1;
/// Bytes of a message in a piece.
const PIECE: usize = 64 << 10;
/// How long to wait where there is no room.
const FULL: Duration = Duration::from_micros(1);

/// The two directions, for many threads.
pub(super) struct Channel {
    out: Mutex<File>,
    incoming: Mutex<File>,
}

impl Channel {
    pub(super) fn open() -> Result<Channel, TrialError> {
        Ok(Channel { out: Mutex::new(open()?), incoming: Mutex::new(open()?) })
    }

    /// Calls of the same device.
    pub(super) fn virtual_calls() -> Result<VirtualCalls, TrialError> {
        Ok(VirtualCalls::new(open()?))
    }

    /// The kernel's clock, in memory.
    pub(super) fn clock(&self) -> Result<&'static AtomicU64, TrialError> {
        let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        clock_page(out.as_fd()).map_err(TrialError::setup("look at the kernel's clock"))
    }

    /// The first message, which has no content.
    pub(super) fn greet(&self) -> Result<(), TrialError> {
        self.send(&[]).map_err(TrialError::setup("greet the world outside"))
    }

    pub(super) fn say(&self, message: &impl Serialize) -> Result<(), TrialError> {
        let bytes = serde_json::to_vec(message).expect("plain data has a JSON form");
        self.send(&bytes).map_err(TrialError::setup("report"))
    }

    /// The next message; waits for it.
    pub(super) fn hear<M: DeserializeOwned>(&self) -> Result<M, TrialError> {
        let bytes = self.receive().map_err(TrialError::setup("hear what is to be done"))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| TrialError::setup("understand what is to be done")(error.into()))
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let count = bytes.len().div_ceil(PIECE).max(1);
        for nth in 0..count {
            let piece = &bytes[nth * PIECE..bytes.len().min((nth + 1) * PIECE)];
            let kind = if nth + 1 == count { LAST } else { MORE };
            let piece = [&[kind], piece].concat();
            // The world outside empties it while this guest waits.
            while let Err(error) = out.write_all(&piece) {
                if error.raw_os_error() != Some(libc::ENOBUFS) {
                    return Err(error);
                }
                sleep(FULL);
            }
        }
        Ok(())
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut message, mut piece) = (Vec::new(), vec![0; PIECE + 1]);
        loop {
            let count = incoming.read(&mut piece)?;
            let Some((kind, bytes)) = piece[..count].split_first() else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            message.extend_from_slice(bytes);
            if *kind == LAST {
                return Ok(message);
            }
        }
    }
}

fn open() -> Result<File, TrialError> {
    let file = OpenOptions::new().read(true).write(true).open(PLACE);
    file.map_err(TrialError::setup(format!("open {PLACE}")))
}
