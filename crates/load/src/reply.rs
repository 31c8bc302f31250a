//! Reading answers: bytes in, a verdict out. It knows no socket and no clock.

mod chunked;

use std::mem::MaybeUninit;

use crate::error::Fault;
use crate::reference::{Comparing, Standard};
use chunked::Chunked;

/// The longest head of an answer that is read.
const LONGEST_HEAD: usize = 64 << 10;
const MOST_FIELDS: usize = 100;

/// A parser of consecutive responses of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of HTTP/1.1, to GET.
    Http,
    /// This many bytes.
    Exactly(u64),
}

#[derive(Debug)]
pub(crate) struct Reply {
    stage: Stage,
    head: Vec<u8>,
    body: Comparing,
    /// Bytes of the body.
    length: u64,
    bad_status: Option<u16>,
    keeps: bool,
}

#[derive(Debug)]
enum Stage {
    Head,
    /// As many bytes are left.
    Counted(u64),
    Chunked(Chunked),
    /// Until the connection ends.
    Open,
    Done,
}

/// The state of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not whole.
    More,
    /// It is whole, and as it should be.
    Good {
        /// Whether the connection can be used again.
        keeps: bool,
    },
    /// It is whole or never will be, and not as it should be.
    Bad(Fault, KeepsAfter),
}

/// Whether the connection can be used again after a bad answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeepsAfter(pub(crate) bool);

impl Reply {
    pub(crate) fn new(kind: Kind, standard: &Standard) -> Reply {
        let stage = match kind {
            Kind::Http => Stage::Head,
            Kind::Exactly(length) => Stage::Counted(length),
        };
        Reply {
            stage,
            head: Vec::new(),
            body: Comparing::begin(standard),
            length: 0,
            bad_status: None,
            keeps: true,
        }
    }

    /// Bytes of the body so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn receive(&mut self, bytes: &[u8], standard: &Standard) -> Verdict {
        let mut rest = bytes;
        if matches!(self.stage, Stage::Head) {
            match self.receive_head(bytes) {
                Ok(Some(taken)) => rest = &bytes[taken..],
                Ok(None) => return Verdict::More,
                Err(fault) => return self.broken(fault),
            }
        }
        self.receive_body(rest, standard)
    }

    pub(crate) fn end(&mut self, standard: &Standard) -> Verdict {
        match self.stage {
            Stage::Open => {
                self.stage = Stage::Done;
                self.keeps = false;
                self.judge(standard)
            }
            _ => self.broken(Fault::Closed),
        }
    }

    /// Reads the head; how many of `bytes` belong to it, none while it is not whole.
    fn receive_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let before = self.head.len();
        // Nearly always it comes whole, and need not be kept.
        let parsed = if before == 0 {
            parse(bytes)?
        } else {
            self.head.extend_from_slice(bytes);
            parse(&self.head)?
        };
        let Some(mut head) = parsed else {
            if before == 0 {
                self.head.extend_from_slice(bytes);
            }
            return if self.head.len() >= LONGEST_HEAD { Err(Fault::Protocol) } else { Ok(None) };
        };
        let mut taken = head.length - before;
        // An interim answer (RFC 9110, section 15.2): the real one follows.
        while head.is_interim {
            self.head = bytes[taken..].to_vec();
            let Some(next) = parse(&self.head)? else { return Ok(None) };
            taken += next.length;
            head = next;
        }
        self.head = Vec::new();
        self.keeps = head.keeps;
        self.bad_status = head.bad_status;
        self.stage = match head.framing {
            Framing::Counted(length) => Stage::Counted(length),
            Framing::Chunked => Stage::Chunked(Chunked::default()),
            Framing::Open => Stage::Open,
        };
        Ok(Some(taken))
    }

    fn receive_body(&mut self, mut rest: &[u8], standard: &Standard) -> Verdict {
        loop {
            match &mut self.stage {
                Stage::Counted(left) => {
                    let part = (*left).min(rest.len() as u64);
                    *left -= part;
                    let is_whole = *left == 0;
                    self.add(&rest[..part as usize], standard);
                    rest = &rest[part as usize..];
                    if !is_whole {
                        return Verdict::More;
                    }
                    self.stage = Stage::Done;
                }
                Stage::Chunked(chunked) => {
                    let Ok((taken, piece)) = chunked.next(rest) else {
                        return self.broken(Fault::Protocol);
                    };
                    let is_over = chunked.is_over();
                    self.add(&rest[piece], standard);
                    rest = &rest[taken..];
                    if is_over {
                        self.stage = Stage::Done;
                    } else if rest.is_empty() {
                        return Verdict::More;
                    }
                }
                Stage::Open => {
                    self.add(rest, standard);
                    return Verdict::More;
                }
                // Only one answer was requested.
                Stage::Done if !rest.is_empty() => return self.broken(Fault::Protocol),
                Stage::Done => return self.judge(standard),
                Stage::Head => unreachable!("it was read"),
            }
        }
    }

    fn add(&mut self, bytes: &[u8], standard: &Standard) {
        self.length += bytes.len() as u64;
        // The text of an error is nothing to compare with.
        if self.bad_status.is_none() {
            self.body.add(bytes, standard);
        }
    }

    fn judge(&mut self, standard: &Standard) -> Verdict {
        let body = std::mem::replace(&mut self.body, Comparing::Nothing);
        if let Some(code) = self.bad_status {
            Verdict::Bad(Fault::Status(code), KeepsAfter(self.keeps))
        } else if body.end(standard) {
            Verdict::Good { keeps: self.keeps }
        } else {
            Verdict::Bad(Fault::Body, KeepsAfter(self.keeps))
        }
    }

    fn broken(&mut self, fault: Fault) -> Verdict {
        self.stage = Stage::Done;
        Verdict::Bad(fault, KeepsAfter(false))
    }
}

struct Head {
    length: usize,
    framing: Framing,
    is_interim: bool,
    bad_status: Option<u16>,
    keeps: bool,
}

enum Framing {
    Counted(u64),
    Chunked,
    Open,
}

/// Reads a head; none while it is not whole.
fn parse(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Fault::Protocol),
    };
    let code = response.code.unwrap_or(0);
    let mut keeps = response.version == Some(1);
    let (mut counted, mut is_chunked) = (None, false);
    for field in response.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        match field.name.len() {
            10 if is("connection") => {
                let mut options = field.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                if options.clone().any(|it| it.eq_ignore_ascii_case(b"close")) {
                    keeps = false;
                } else if options.any(|it| it.eq_ignore_ascii_case(b"keep-alive")) {
                    keeps = true;
                }
            }
            14 if is("content-length") => {
                let text = std::str::from_utf8(field.value).map_err(|_| Fault::Protocol)?;
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let length = text.parse::<u64>().ok().filter(|_| digits).ok_or(Fault::Protocol)?;
                // RFC 9112, section 6.3: which of two to believe cannot be known.
                if counted.is_some_and(|other| other != length) {
                    return Err(Fault::Protocol);
                }
                counted = Some(length);
            }
            17 if is("transfer-encoding") => {
                let last = field.value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
                is_chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
                if !is_chunked {
                    return Err(Fault::Protocol);
                }
            }
            _ => {}
        }
    }
    // RFC 9112, section 6.3, in its order.
    let framing = if matches!(code, 100..=199 | 204 | 304) {
        Framing::Counted(0)
    } else if is_chunked {
        Framing::Chunked
    } else if let Some(length) = counted {
        Framing::Counted(length)
    } else {
        Framing::Open
    };
    // A connection that changes its protocol (101) was not asked to.
    let is_interim = matches!(code, 100..=199) && code != 101;
    Ok(Some(Head {
        length,
        framing,
        is_interim,
        bad_status: Some(code).filter(|code| !(200..400).contains(code)),
        keeps,
    }))
}

/// An answer in pieces, read to its end, for tests with arbitrary bytes: whether it is good,
/// or what is wrong with it, and the length of its body.
pub fn verdict(pieces: &[&[u8]]) -> (Option<Fault>, u64) {
    let mut reply = Reply::new(Kind::Http, &Standard::None);
    let ended = |verdict, reply: &Reply| match verdict {
        Verdict::More => None,
        Verdict::Good { .. } => Some((None, reply.length())),
        Verdict::Bad(fault, _) => Some((Some(fault), reply.length())),
    };
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let verdict = reply.receive(piece, &Standard::None);
        if let Some(result) = ended(verdict, &reply) {
            return result;
        }
    }
    let verdict = reply.end(&Standard::None);
    ended(verdict, &reply).expect("there is no more")
}

#[cfg(test)]
mod tests;
