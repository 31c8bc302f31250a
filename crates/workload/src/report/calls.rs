//! The calls of an application.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Span};

/// A call, or several equal ones in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRow {
    /// Such as `write`.
    pub call: Cow<'static, str>,
    /// What was asked for, such as `100 B` or `MSG_OOB`; empty where there is nothing to ask.
    #[serde(with = "tcplab_units::text")]
    pub asked: String,
    /// What it was about, where the application knows, such as `request 3, try 2`.
    pub about: String,
    /// One of [`RESULTS`], or `errno` and a number.
    pub result: Cow<'static, str>,
    /// How many calls.
    pub count: u64,
    /// What they moved.
    #[serde(with = "tcplab_units::number")]
    pub bytes: Bytes,
    /// When the first began.
    #[serde(rename = "began_ns")]
    pub began: Instant,
    /// When the last ended.
    #[serde(rename = "ended_ns")]
    pub ended: Instant,
    /// How long all of them took together.
    #[serde(rename = "took_ns", with = "tcplab_units::number")]
    pub took: Span,
    /// How long the longest took.
    #[serde(rename = "longest_ns", with = "tcplab_units::number")]
    pub longest: Span,
    /// Of which connection of the end, in the order in which they began, from 0.
    pub connection: u64,
    /// Whether other calls came in between, because the log was full.
    pub scattered: bool,
}

/// How a call ends without error.
pub(crate) const OK: &str = "ok";
/// The other end has closed its half: a read gave nothing.
pub(crate) const END: &str = "end";
/// The next byte is the urgent one.
pub(crate) const AT_MARK: &str = "at the mark";
/// It is not.
pub(crate) const NOT_AT_MARK: &str = "not at the mark";

/// The call had not returned when the trial's time was over.
pub const WAITING: &str = "waiting";

/// The user timeout ended the connection, or it could not be opened in time.
pub const TIMED_OUT: &str = "ETIMEDOUT";
/// The call of an end whose machine loses its power.
pub const VANISH: &str = "vanish";

/// What calls return: that they did what they should, or the name of their error.
pub const RESULTS: &[&str] = &[
    OK,
    END,
    AT_MARK,
    NOT_AT_MARK,
    WAITING,
    "EAGAIN",
    "ECONNABORTED",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "EINPROGRESS",
    "EINVAL",
    "ENETUNREACH",
    "ENOBUFS",
    "ENOTCONN",
    "EPIPE",
    TIMED_OUT,
];

/// The calls of programs, by their names in the log.
pub const CALLS: &[&str] = &[
    "connect",
    "accept",
    "write",
    "read",
    "send",
    "recv",
    "sendto",
    "recvfrom",
    "poll",
    "sockatmark",
    "setsockopt",
    "shutdown",
    "close",
    "sleep",
    VANISH,
];
