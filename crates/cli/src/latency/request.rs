//! What a host asks a third one over TCP, and what that answers: a line of JSON each.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked: the server is the third host's own choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// The version of these lines.
    pub(super) tcplab_latency: u64,
    /// Between two probes.
    pub(super) interval_us: u64,
    /// How long probes are sent, unless who asked ends the connection's direction before.
    pub(super) duration_us: u64,
    /// When a probe counts as lost.
    pub(super) timeout_us: u64,
}

/// What is answered: that it began, and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Answer {
    /// Its server answers, and probes are sent.
    Began,
    /// What `--json` has.
    Finished {
        /// The document.
        result: Box<Value>,
    },
    /// It did not, or does not any more.
    Failed {
        /// Why.
        message: String,
    },
}

/// The version that is spoken here.
pub(super) const VERSION: u64 = 1;
/// The longest request, and the longest answer: results have at most 4,096 points.
pub(super) const REQUEST_MOST: u64 = 1_000;
pub(super) const ANSWER_MOST: u64 = 16 << 20;

impl Request {
    /// What the flags of the command allow, too.
    ///
    /// # Errors
    /// If it is another version's, or out of range.
    pub(super) fn checked(self) -> Result<Request> {
        let Request { tcplab_latency, interval_us, duration_us, timeout_us } = self;
        if tcplab_latency != VERSION {
            bail!("version {tcplab_latency} is not spoken here, but {VERSION}");
        }
        for (name, value, range) in [
            ("interval", interval_us, 1_000..=60_000_000),
            ("duration", duration_us, 100_000..=366 * 86_400_000_000),
            ("timeout", timeout_us, 10_000..=3_600_000_000),
        ] {
            if !range.contains(&value) {
                bail!("{name} of {value} µs: it is {} to {} µs", range.start(), range.end());
            }
        }
        Ok(self)
    }

    pub(super) fn interval(&self) -> Duration {
        Duration::from_micros(self.interval_us)
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_micros(self.duration_us)
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_micros(self.timeout_us)
    }
}

/// A connection that lines come from.
pub(super) struct Lines(BufReader<Timed>);

/// Until a time, however the bytes come.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

impl Lines {
    pub(super) fn of(stream: TcpStream) -> Lines {
        Lines(BufReader::new(Timed { stream, until: Instant::now() }))
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.0.get_ref().stream
    }

    /// Receives a line of at most `most` bytes.
    ///
    /// # Errors
    /// If none comes in this time, it is longer, or it is not what is expected.
    pub(super) fn receive<T: for<'de> Deserialize<'de>>(
        &mut self,
        most: u64,
        longest: Duration,
    ) -> Result<T> {
        self.0.get_mut().until = Instant::now() + longest;
        read_line(&mut self.0, most)
    }
}

fn read_line<T: for<'de> Deserialize<'de>>(from: &mut impl BufRead, most: u64) -> Result<T> {
    let mut line = Vec::new();
    match from.take(most).read_until(b'\n', &mut line) {
        Ok(_) => {}
        Err(error) if [ErrorKind::TimedOut, ErrorKind::WouldBlock].contains(&error.kind()) => {
            bail!("it said nothing in time");
        }
        Err(error) => return Err(error.into()),
    }
    if line.is_empty() {
        bail!("the connection ended");
    }
    if line.last() != Some(&b'\n') {
        bail!("a line of it is cut, or longer than {most} bytes");
    }
    serde_json::from_slice(&line).context("it does not speak as `tcplab latency` does")
}

/// The line of a value.
pub(super) fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("plain data has a JSON form");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    const GOOD: Request = Request {
        tcplab_latency: VERSION,
        interval_us: 10_000,
        duration_us: 1_000_000,
        timeout_us: 500_000,
    };

    #[test]
    fn only_what_the_flags_allow_is_asked() {
        assert_eq!(GOOD.checked().unwrap(), GOOD);
        for wrong in [
            Request { tcplab_latency: 2, ..GOOD },
            Request { interval_us: 0, ..GOOD },
            Request { interval_us: 999, ..GOOD },
            Request { duration_us: u64::MAX, ..GOOD },
            Request { timeout_us: 0, ..GOOD },
        ] {
            assert!(wrong.checked().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn line_that_comes_byte_by_byte_has_no_more_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let slow = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            // Until nobody reads any more.
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let (stream, _) = listener.accept().unwrap();
        let mut lines = Lines::of(stream);
        let said = lines.receive::<Request>(REQUEST_MOST, Duration::from_millis(100));
        assert_eq!(said.unwrap_err().to_string(), "it said nothing in time");
        drop(lines);
        slow.join().unwrap();
    }

    #[test]
    fn lines_are_read_and_bounded() {
        let text = line(&GOOD);
        assert_eq!(read_line::<Request>(&mut &text[..], REQUEST_MOST).unwrap(), GOOD);
        let began = line(&Answer::Began);
        assert_eq!(began, b"{\"event\":\"began\"}\n");
        assert_eq!(read_line::<Answer>(&mut &began[..], 100).unwrap(), Answer::Began);
        for (text, most) in [
            (&b""[..], 100),
            (b"GET / HTTP/1.1\r\n", 100),
            (b"{\"event\":\"began\"}", 100),
            (b"{\"event\":\"began\"}\n", 10),
            (b"{\"event\":\"exploded\"}\n", 100),
            (b"\xff\xfe\n", 100),
        ] {
            assert!(read_line::<Answer>(&mut &text[..], most).is_err(), "{text:?}");
        }
    }
}
