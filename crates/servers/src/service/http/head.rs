//! The head of a request (RFC 9112, sections 2 to 6).

use std::mem::MaybeUninit;

use httparse::{Error, Header, Request, Status};

/// The longest head, and the longest request line, that are read. nginx and Apache take as much.
pub(super) const LONGEST: usize = 8 << 10;
const MOST_FIELDS: usize = 100;

/// A request, as far as a server of files wants to know.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: Method,
    /// Decoded, from its first `/` on, without query; none when it makes no sense.
    pub(super) path: Option<String>,
    /// HTTP/1.0.
    pub(super) is_old: bool,
    pub(super) keeps_alive: bool,
    /// Bytes that follow the head.
    pub(super) body: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Other,
}

/// An answer that says what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) reason: &'static str,
}

impl Refusal {
    pub(super) const BAD: Refusal = Refusal { code: 400, reason: "Bad Request" };
    pub(super) const FORBIDDEN: Refusal = Refusal { code: 403, reason: "Forbidden" };
    pub(super) const NOT_FOUND: Refusal = Refusal { code: 404, reason: "Not Found" };
    pub(super) const METHOD: Refusal = Refusal { code: 405, reason: "Method Not Allowed" };
    pub(super) const TIMEOUT: Refusal = Refusal { code: 408, reason: "Request Timeout" };
    pub(super) const TOO_LARGE: Refusal = Refusal { code: 413, reason: "Content Too Large" };
    pub(super) const LONG_TARGET: Refusal = Refusal { code: 414, reason: "URI Too Long" };
    pub(super) const LONG_HEAD: Refusal =
        Refusal { code: 431, reason: "Request Header Fields Too Large" };
    pub(super) const CODING: Refusal = Refusal { code: 501, reason: "Not Implemented" };
    pub(super) const UNAVAILABLE: Refusal = Refusal { code: 503, reason: "Service Unavailable" };
    pub(super) const VERSION: Refusal = Refusal { code: 505, reason: "HTTP Version Not Supported" };
}

/// What a look at the input gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// More is needed; empty lines at the beginning can be forgotten.
    Partial { skipped: usize },
    /// A head of this many bytes.
    Head { head: Head, length: usize },
    /// This will never be a request that can be answered.
    Refused(Refusal),
}

/// Reads the head at the beginning of `input`.
pub(super) fn parse(input: &[u8]) -> Parsed {
    let skipped = empty_lines(input);
    // What lies behind the longest head decides nothing, however much came at once.
    let input = &input[skipped..];
    let looked_at = &input[..input.len().min(LONGEST)];
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut request = Request::new(&mut []);
    match request.parse_with_uninit_headers(looked_at, &mut fields) {
        Ok(Status::Complete(length)) => match head(&request) {
            Ok(head) => Parsed::Head { head, length: skipped + length },
            Err(refusal) => Parsed::Refused(refusal),
        },
        Ok(Status::Partial) if looked_at.len() < LONGEST => Parsed::Partial { skipped },
        Ok(Status::Partial) if request.version.is_none() => Parsed::Refused(Refusal::LONG_TARGET),
        Ok(Status::Partial) | Err(Error::TooManyHeaders) => Parsed::Refused(Refusal::LONG_HEAD),
        Err(Error::Version) => Parsed::Refused(Refusal::VERSION),
        Err(_) => Parsed::Refused(Refusal::BAD),
    }
}

/// Line ends before a request, which some clients send after a body (RFC 9112, section 2.2).
fn empty_lines(input: &[u8]) -> usize {
    let mut skipped = 0;
    loop {
        match &input[skipped..] {
            [b'\r', b'\n', ..] => skipped += 2,
            [b'\n', ..] => skipped += 1,
            _ => return skipped,
        }
    }
}

fn head(request: &Request<'_, '_>) -> Result<Head, Refusal> {
    let is_old = request.version == Some(0);
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        _ => Method::Other,
    };
    let fields = Fields::read(request.headers)?;
    // RFC 9112, section 3.2.
    if !is_old && fields.hosts != 1 || fields.hosts > 1 {
        return Err(Refusal::BAD);
    }
    let keeps_alive = !fields.closes && (!is_old || fields.keeps);
    let path = request.path.and_then(path);
    Ok(Head { method, path, is_old, keeps_alive, body: fields.length.unwrap_or(0) })
}

/// The fields that matter.
#[derive(Default)]
struct Fields {
    hosts: usize,
    length: Option<u64>,
    closes: bool,
    keeps: bool,
}

impl Fields {
    fn read(headers: &[Header<'_>]) -> Result<Fields, Refusal> {
        let mut fields = Fields::default();
        for header in headers {
            // By length first: most fields are none of these.
            match header.name.len() {
                4 if header.name.eq_ignore_ascii_case("host") => fields.hosts += 1,
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    let mut options = header.value.split(|byte| *byte == b',');
                    let mut says =
                        |word: &[u8]| options.any(|it| it.trim_ascii().eq_ignore_ascii_case(word));
                    fields.closes |= says(b"close");
                    let mut options = header.value.split(|byte| *byte == b',');
                    fields.keeps |=
                        options.any(|it| it.trim_ascii().eq_ignore_ascii_case(b"keep-alive"));
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let length = length(header.value).ok_or(Refusal::BAD)?;
                    // RFC 9112, section 6.3: two that differ are request smuggling.
                    if fields.length.is_some_and(|other| other != length) {
                        return Err(Refusal::BAD);
                    }
                    fields.length = Some(length);
                }
                // RFC 9112, section 6.1: a coding that is not understood. A server of files has no
                // use for bodies, in pieces least of all.
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    return Err(Refusal::CODING);
                }
                _ => {}
            }
        }
        Ok(fields)
    }
}

/// Digits only: neither sign nor list.
fn length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The path of a target in origin-form or absolute-form (RFC 9112, section 3.2), decoded.
fn path(target: &str) -> Option<String> {
    let scheme = target.get(..7).filter(|start| start.eq_ignore_ascii_case("http://"));
    let origin = match scheme {
        Some(_) => target[7..].find(['/', '?']).map_or("/", |at| &target[7 + at..]),
        None => target,
    };
    let path = origin.split(['?', '#']).next().unwrap_or_default();
    let path = if path.is_empty() && scheme.is_some() { "/" } else { path };
    let decoded = decode(path)?;
    let is_sound = decoded.starts_with('/')
        && !decoded.contains('\0')
        && decoded.split('/').all(|part| part != "..");
    is_sound.then_some(decoded)
}

/// Percent-encoding undone (RFC 3986, section 2.1); none when it is broken or no text.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        decoded.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(decoded).ok()
}
