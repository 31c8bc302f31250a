//! The options an application sets on its socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Bytes;

/// Linux keeps the name of a congestion control in 16 bytes, the closing NUL included
/// (`TCP_CA_NAME_MAX`).
const CONGESTION_NAME_MAX: usize = 15;

/// Buffer sizes are passed as a C `int`.
const BUFFER_MAX: u64 = i32::MAX as u64;

/// What Linux accepts for TCP_MAXSEG (`TCP_MIN_MSS` to `MAX_TCP_WINDOW`), bytes.
const MAXSEG: std::ops::RangeInclusive<u16> = 88..=32_767;

/// Socket options set before the connection is opened; an option left out keeps the system's
/// default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketOptions {
    /// TCP_CONGESTION: the congestion control by the kernel's name for it, such as `cubic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// SO_RCVBUF: the receive buffer to ask for. Linux doubles it, and no longer tunes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcvbuf: Option<Bytes>,
    /// SO_SNDBUF: the send buffer to ask for. Linux doubles it, and no longer tunes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf: Option<Bytes>,
    /// TCP_NODELAY: small segments are sent at once, Nagle's algorithm is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodelay: Option<bool>,
    /// TCP_MAXSEG: the largest segment to send and to offer, bytes, 88 to 32767.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxseg: Option<u16>,
}

impl SocketOptions {
    /// Refuses values that no kernel takes.
    ///
    /// # Errors
    /// The first option that is out of its range.
    pub fn check(&self) -> Result<(), SocketError> {
        if let Some(name) = &self.congestion {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
            if name.is_empty() || name.len() > CONGESTION_NAME_MAX || !name.bytes().all(plain) {
                return Err(SocketError::Congestion(name.clone()));
            }
        }
        for (key, size) in [("rcvbuf", self.rcvbuf), ("sndbuf", self.sndbuf)] {
            if size.is_some_and(|size| !(1..=BUFFER_MAX).contains(&size.as_u64())) {
                return Err(SocketError::Buffer(key));
            }
        }
        match self.maxseg {
            Some(size) if !MAXSEG.contains(&size) => Err(SocketError::Maxseg(size)),
            _ => Ok(()),
        }
    }
}

/// Why socket options cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// No congestion control can have this name.
    #[error(
        "`{0}` is not a name of a congestion control: up to 15 letters, digits, `_` or `-`, \
         such as `reno`"
    )]
    Congestion(String),
    /// The named buffer cannot have this size.
    #[error("`{0}` must be from 1 B to 2147483647 B")]
    Buffer(&'static str),
    /// No segment can have this size.
    #[error("`maxseg` is {0}: it must be from {min} to {max} bytes", min = MAXSEG.start(), max = MAXSEG.end())]
    Maxseg(u16),
}

impl SocketError {
    /// The key it is about.
    pub fn key(&self) -> &'static str {
        match self {
            SocketError::Congestion(_) => "congestion",
            SocketError::Buffer(key) => key,
            SocketError::Maxseg(_) => "maxseg",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_kernel_takes_is_refused() {
        for (options, key) in [
            (r"{}", None),
            (r#"{"congestion": "cubic", "rcvbuf": "64 KiB", "maxseg": 536}"#, None),
            (r#"{"congestion": ""}"#, Some("congestion")),
            (r#"{"congestion": "a_name_of_sixteen"}"#, Some("congestion")),
            (r#"{"congestion": "re no"}"#, Some("congestion")),
            (r#"{"rcvbuf": "0 B"}"#, Some("rcvbuf")),
            (r#"{"sndbuf": "2 GiB"}"#, Some("sndbuf")),
            (r#"{"maxseg": 87}"#, Some("maxseg")),
            (r#"{"maxseg": 32768}"#, Some("maxseg")),
        ] {
            let parsed: SocketOptions = serde_json::from_str(options).unwrap();
            assert_eq!(parsed.check().err().map(|e| e.key()), key, "{options}");
        }
    }

    #[test]
    fn what_is_left_out_stays_out() {
        let options: SocketOptions = serde_json::from_str(r#"{"nodelay": true}"#).unwrap();
        assert_eq!(serde_json::to_string(&options).unwrap(), r#"{"nodelay":true}"#);
    }
}
