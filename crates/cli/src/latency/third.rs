//! A third host that measures meanwhile, asked for by this one.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use serde_json::Value;
use tcplab_load::{LatencyConfig, LatencyOutcome, look_up};
use tcplab_quantities::LATENCY_DOCUMENT;
use tcplab_units::visible_line;

use super::measured::Measured;
use super::request::{ANSWER_MOST, Answer, Lines, Request, VERSION, line};
use crate::remedied::Remedied;

/// How long a third host may take to accept the connection, and to hear from its own server.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);
const LONGEST_BEGIN: Duration = Duration::from_secs(10);
/// How long it may take to end and tell, beside the time that it waits for late answers.
const LONGEST_END: Duration = Duration::from_secs(30);

/// A third host that measures.
pub(super) struct Third {
    name: String,
    lines: Lines,
    /// What it told already, where it has ended before this host began.
    early: Option<Value>,
}

/// What it measured.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ThirdResult {
    /// Its address, as given.
    pub(super) host: String,
    /// What is used of its document.
    pub(super) result: Value,
}

/// What was measured here, and what a third host measured meanwhile.
#[derive(Serialize)]
pub(super) struct Whole<'a> {
    #[serde(flatten)]
    pub(super) outcome: &'a LatencyOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) third: Option<&'a ThirdResult>,
}

impl Third {
    /// Asks for the same measurement, and waits until it has begun.
    ///
    /// # Errors
    /// When the third host is not there, does not answer as expected, or cannot measure.
    pub(super) fn start(name: &str, config: &LatencyConfig) -> Result<Third> {
        let micros = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
        let request = Request {
            tcplab_latency: VERSION,
            interval_us: micros(config.interval),
            duration_us: micros(config.time),
            timeout_us: micros(config.timeout),
        };
        let address = look_up(name)?;
        let stream = TcpStream::connect_timeout(&address, LONGEST_CONNECT).map_err(|error| {
            Remedied::error(
                format!("cannot connect to the third host {}: {error}", visible_line(name)),
                "start `tcplab latency HOST:PORT --on-request ADDRESS:PORT` there",
            )
        })?;
        let mut third = Third { name: name.to_owned(), lines: Lines::of(stream), early: None };
        third.ask(&request).with_context(|| third.said())?;
        Ok(third)
    }

    fn ask(&mut self, request: &Request) -> Result<()> {
        self.lines.stream().write_all(&line(request))?;
        match self.lines.receive(ANSWER_MOST, LONGEST_BEGIN)? {
            Answer::Began => Ok(()),
            Answer::Failed { message } => Err(anyhow!("{}", visible_line(&message))),
            // It was so short that nothing was told of it before.
            Answer::Finished { result } => {
                self.early = Some(*result);
                Ok(())
            }
        }
    }

    /// Ends its measurement, and gives what it came to.
    ///
    /// # Errors
    /// When the connection was lost meanwhile, or what it tells is no result.
    pub(super) fn finish(mut self, timeout: Duration) -> Result<(ThirdResult, Measured)> {
        let told = self.told(timeout).with_context(|| self.said())?;
        let text = serde_json::to_vec(&told)?;
        let measured = Measured::of(&text, &self.name, || self.said())?;
        // Nothing that was not looked at is passed on.
        let result = serde_json::to_value(LATENCY_DOCUMENT.of(&measured))?;
        Ok((ThirdResult { host: self.name, result }, measured))
    }

    fn told(&mut self, timeout: Duration) -> Result<Value> {
        if let Some(early) = self.early.take() {
            return Ok(early);
        }
        // It may have ended by itself.
        let _ = self.lines.stream().shutdown(Shutdown::Write);
        match self.lines.receive(ANSWER_MOST, LONGEST_END + timeout)? {
            Answer::Finished { result } => Ok(*result),
            Answer::Failed { message } => Err(anyhow!("{}", visible_line(&message))),
            Answer::Began => Err(anyhow!("it began twice")),
        }
    }

    fn said(&self) -> String {
        format!("the third host {} did not measure", visible_line(&self.name))
    }
}
