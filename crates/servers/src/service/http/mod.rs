//! Files over HTTP/1.1 (RFC 9110, RFC 9112): GET and HEAD, connections that stay, pipelines.

mod disk;
mod head;
mod kinds;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::{Phase, Service, Session};
use crate::calendar::Moment;
use crate::output::{After, FilePart, Output};
pub(crate) use disk::Disk;
use head::{Head, Method, Parsed, Refusal};

/// The service, over files of any kind.
pub struct Http {
    files: Arc<dyn Files>,
}

impl Http {
    /// Serves `files`.
    pub fn new(files: Arc<dyn Files>) -> Http {
        Http { files }
    }
}

impl Service for Http {
    fn open(&self) -> Box<dyn Session> {
        Box::new(HttpSession {
            files: Arc::clone(&self.files),
            state: State::Head,
            is_arriving: false,
            is_stopping: false,
        })
    }
}

/// The source of the content.
pub trait Files: Send + Sync {
    /// The file of a path that begins with `/`, is decoded, and has no query.
    ///
    /// # Errors
    /// When there is none, or it cannot be had now.
    fn find(&self, path: &str, now: &Moment) -> Result<Found, Missing>;
}

/// A file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The header fields that describe it, each with its line end.
    pub fields: Arc<str>,
    /// What is in it.
    pub body: Body,
}

impl Found {
    /// A file of this name and content; `modified` in seconds since the Unix epoch.
    pub fn new(name: &str, body: Body, modified: Option<u64>) -> Found {
        let mut fields =
            format!("Content-Length: {}\r\nContent-Type: {}\r\n", body.length(), kinds::of(name));
        if let Some(second) = modified {
            let date = Moment::at(second);
            fields += &format!("Last-Modified: {}\r\n", String::from_utf8_lossy(date.http_date()));
        }
        Found { fields: fields.into(), body }
    }
}

/// What is in a file.
#[derive(Debug, Clone)]
pub enum Body {
    /// A small one, read.
    Bytes(Arc<[u8]>),
    /// A large one, open, and how many bytes it has.
    File(Arc<OwnedFd>, u64),
}

impl Body {
    fn length(&self) -> u64 {
        match self {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(_, length) => *length,
        }
    }
}

/// Why there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// There is none of that name.
    NotThere,
    /// It may not be read.
    Forbidden,
    /// Not now: descriptors are used up.
    Unable,
}

/// Bytes of a request's body that are read to be thrown away; a larger one ends the connection.
const MOST_BODY: u64 = 1 << 20;

struct HttpSession {
    files: Arc<dyn Files>,
    state: State,
    /// Whether a request has begun to arrive.
    is_arriving: bool,
    is_stopping: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next bytes are a request's head.
    Head,
    /// As many bytes of a body come first.
    Body(u64),
    /// The last answer was given.
    Over,
}

impl Session for HttpSession {
    fn advance(&mut self, input: &[u8], now: &Moment, output: &mut Output) -> usize {
        let mut taken = 0;
        while !output.is_full() {
            let rest = &input[taken..];
            match self.state {
                State::Over => break,
                State::Body(left) => {
                    let part = left.min(rest.len() as u64);
                    taken += part as usize;
                    if part < left {
                        self.state = State::Body(left - part);
                        return taken;
                    }
                    (self.state, self.is_arriving) = (State::Head, false);
                }
                State::Head => match self.head(rest) {
                    Parsed::Partial { skipped } => return taken + skipped,
                    Parsed::Head { head, length } => {
                        taken += length;
                        self.answer(&head, now, output);
                    }
                    Parsed::Refused(refusal) => self.refuse(refusal, now, output),
                },
            }
        }
        if self.state == State::Over { input.len() } else { taken }
    }

    fn end(&mut self, _unread: &[u8], _now: &Moment, output: &mut Output) {
        // A request that is not whole will never be.
        if output.after() == After::Continue {
            output.end(After::Close);
        }
        self.state = State::Over;
    }

    fn phase(&self) -> Phase {
        if self.is_arriving { Phase::Request } else { Phase::Idle }
    }

    fn late(&mut self, now: &Moment, output: &mut Output) {
        self.refuse(Refusal::TIMEOUT, now, output);
    }

    fn stop(&mut self) {
        self.is_stopping = true;
    }
}

impl HttpSession {
    /// Parses a head from its beginning on each read. With short heads, a client that sends single
    /// bytes costs the kernel more than this parser.
    fn head(&mut self, input: &[u8]) -> Parsed {
        let parsed = head::parse(input);
        if let Parsed::Partial { skipped } = parsed {
            self.is_arriving = input.len() > skipped;
        }
        parsed
    }

    fn answer(&mut self, head: &Head, now: &Moment, output: &mut Output) {
        output.count_request();
        let is_last = self.is_stopping || !head.keeps_alive || head.body > MOST_BODY;
        let is_found = match (head.method, &head.path) {
            (Method::Other, _) => Err(Refusal::METHOD),
            _ if head.body > MOST_BODY => Err(Refusal::TOO_LARGE),
            (_, None) => Err(Refusal::BAD),
            (_, Some(path)) => self.files.find(path, now).map_err(Refusal::from),
        };
        // Whoever sends a body may still be sending it.
        let after = match (is_last, head.body > 0 || self.is_stopping) {
            (false, _) => After::Continue,
            (true, false) => After::Close,
            (true, true) => After::Linger,
        };
        let persistence = Persistence { is_last, is_old: head.is_old };
        match is_found {
            Ok(found) => {
                let with_body = head.method == Method::Get;
                write_found(&found, with_body, persistence, now, output);
            }
            Err(refusal) => {
                output.count_refusal();
                refusal.write(head.method != Method::Head, persistence, now, output);
            }
        }
        output.end(after);
        self.state = match (after, head.body) {
            (After::Continue, 0) => State::Head,
            (After::Continue, body) => State::Body(body),
            _ => State::Over,
        };
        self.is_arriving = matches!(self.state, State::Body(_));
    }

    /// Answers a malformed request with the reason and closes.
    fn refuse(&mut self, refusal: Refusal, now: &Moment, output: &mut Output) {
        output.count_refusal();
        refusal.write(true, Persistence { is_last: true, is_old: false }, now, output);
        output.end(After::Linger);
        self.state = State::Over;
        self.is_arriving = false;
    }
}

/// What the answer says about the connection.
#[derive(Debug, Clone, Copy)]
struct Persistence {
    is_last: bool,
    /// The client speaks HTTP/1.0: without `keep-alive` the connection closes.
    is_old: bool,
}

impl Persistence {
    fn write(self, output: &mut Output) {
        if self.is_last {
            output.push(b"Connection: close\r\n");
        } else if self.is_old {
            output.push(b"Connection: keep-alive\r\n");
        }
    }
}

fn write_found(
    found: &Found,
    with_body: bool,
    persistence: Persistence,
    now: &Moment,
    output: &mut Output,
) {
    const STATUS: &[u8] = b"HTTP/1.1 200 OK\r\nServer: tcplab\r\nDate: ";
    let small = match &found.body {
        Body::Bytes(bytes) if with_body => bytes.len(),
        _ => 0,
    };
    output.reserve(STATUS.len() + 29 + 2 + found.fields.len() + 24 + 2 + small);
    output.push(STATUS);
    output.push(now.http_date());
    output.push(b"\r\n");
    output.push(found.fields.as_bytes());
    persistence.write(output);
    output.push(b"\r\n");
    match &found.body {
        _ if !with_body => {}
        Body::Bytes(bytes) => output.push(bytes),
        Body::File(file, length) => output.push_file(FilePart::new(Arc::clone(file), *length)),
    }
}

impl Refusal {
    /// The answer; `with_text` unless it is one to HEAD.
    fn write(self, with_text: bool, persistence: Persistence, now: &Moment, output: &mut Output) {
        let Refusal { code, reason } = self;
        let text = format!("{code} {reason}\n");
        output.push(format!("HTTP/1.1 {code} {reason}\r\nServer: tcplab\r\nDate: ").as_bytes());
        output.push(now.http_date());
        let length = text.len();
        output.push(
            format!("\r\nContent-Length: {length}\r\nContent-Type: text/plain\r\n").as_bytes(),
        );
        if self == Refusal::METHOD {
            // RFC 9110, section 15.5.6.
            output.push(b"Allow: GET, HEAD\r\n");
        }
        persistence.write(output);
        output.push(b"\r\n");
        if with_text {
            output.push(text.as_bytes());
        }
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Refusal {
        match missing {
            Missing::NotThere => Refusal::NOT_FOUND,
            Missing::Forbidden => Refusal::FORBIDDEN,
            Missing::Unable => Refusal::UNAVAILABLE,
        }
    }
}
