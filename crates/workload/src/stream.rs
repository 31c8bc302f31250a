//! The bytes that went one way.

use tcplab_units::{Bytes, Instant};

use crate::payload::{Digest, Payload};
use crate::report::{AppReport, BackReport, Role};
use crate::shared_payload::SharedPayload;

/// What went one way.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) check: Check,
    /// Of what was not urgent, where anything was.
    pub(crate) rest: Option<Digest>,
    pub(crate) bytes: Bytes,
    pub(crate) calls: u64,
    pub(crate) first: Option<Instant>,
    pub(crate) last: Option<Instant>,
}

/// How it is known which bytes they were.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// Nobody looks at them.
    Nobody,
    /// By their hash.
    Hashed(Box<Digest>),
    /// They are the beginning of this payload, from which they were drawn. Hashing them takes
    /// longer than a fast path does, and can wait.
    Drawn(Payload),
    /// Equal so far; later bytes are compared with the second.
    Compared(Payload, Payload),
    /// They are this payload so far, which both ends share.
    Shared(SharedPayload),
}

impl Stream {
    pub(crate) fn new() -> Stream {
        Stream::with(Check::Hashed(Box::default()))
    }

    pub(crate) fn with(check: Check) -> Stream {
        Stream { check, rest: None, bytes: Bytes::ZERO, calls: 0, first: None, last: None }
    }

    /// A call moved bytes this way; the last of them is urgent where it `marks`.
    pub(crate) fn moved(&mut self, bytes: &[u8], now: Instant, marks: bool) {
        if !bytes.is_empty() {
            self.take_in(bytes, marks);
            self.returned(now);
        }
    }

    /// Bytes go this way; a call may move several such parts.
    pub(crate) fn take_in(&mut self, bytes: &[u8], marks: bool) {
        match &mut self.check {
            Check::Hashed(digest) => {
                if marks && self.rest.is_none() {
                    self.rest = Some(Digest::clone(digest));
                }
                digest.update(bytes);
            }
            Check::Compared(payload, ahead) => {
                if !ahead.goes_on_with(bytes) {
                    let mut digest = Digest::after(payload.clone(), self.bytes.as_u64());
                    digest.update(bytes);
                    self.check = Check::Hashed(Box::new(digest));
                }
            }
            Check::Shared(payload) => {
                if !payload.goes_on_with(bytes) {
                    let mut digest = payload.digest();
                    digest.update(bytes);
                    self.check = Check::Hashed(Box::new(digest));
                }
            }
            Check::Nobody | Check::Drawn(_) => {}
        }
        if let Some(rest) = &mut self.rest {
            rest.update(&bytes[..bytes.len() - usize::from(marks)]);
        }
        self.bytes += Bytes::from(bytes.len());
    }

    /// A call that moved bytes has returned.
    pub(crate) fn returned(&mut self, now: Instant) {
        self.calls += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    pub(crate) fn hex(&self) -> String {
        match &self.check {
            Check::Nobody => String::new(),
            Check::Hashed(digest) => digest.hex(),
            Check::Drawn(payload) | Check::Compared(payload, _) => {
                Digest::of(payload.clone(), self.bytes.as_u64())
            }
            Check::Shared(payload) => payload.digest().hex(),
        }
    }
}

/// What the report of an end in this role says of the bytes that it wrote and read.
pub(crate) fn report(role: Role, written: &Stream, read: &Stream) -> AppReport {
    let (main, back) = match role {
        Role::Sender => (written, read),
        Role::Receiver => (read, written),
    };
    AppReport {
        bytes: main.bytes,
        digest: main.hex(),
        calls: main.calls,
        first_byte: main.first,
        last_byte: main.last,
        back: (back.bytes > Bytes::ZERO)
            .then(|| BackReport { bytes: back.bytes, digest: back.hex() }),
        ..AppReport::of_nothing(role)
    }
}
