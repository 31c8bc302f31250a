//! Attributes of the route to the other end.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Span};

/// Attributes of an endpoint's route to the other end, named as `ip route` names them. The kernel
/// applies them to all of its connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouteSpec {
    /// Initial congestion window: 1 to 65535 segments. The kernel's default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub initcwnd: Option<u32>,
    /// Initial receive window: 1 to 65535 segments of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub initrwnd: Option<u32>,
    /// Least retransmission timeout: 1 ms to 120 s in whole milliseconds. Linux adds it to the
    /// smoothed RTT and rounds it up to its ticks. The kernel's default: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Span>,
    /// Whether every segment is acknowledged at once. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack: Option<bool>,
    /// Congestion control of sockets that ask for no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congctl: Option<String>,
    /// Largest packet sent, in bytes of IP: 88 B to 1500 B. Path MTU discovery may find less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// Largest MSS that is advertised: 48 B to 65495 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advmss: Option<Bytes>,
    /// Largest window that is advertised: 1 B to 1 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Bytes>,
    /// Whether connections ask for ECN, and grant it, whatever `net.ipv4.tcp_ecn` says. Default:
    /// false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
}

/// The value of an attribute. Its text is exact, in the attribute's own unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteValue<'a> {
    /// A number of segments.
    Segments(u32),
    /// A time.
    Time(Span),
    /// Bytes.
    Size(Bytes),
    /// On or off.
    Flag(bool),
    /// A name.
    Name(&'a str),
}

impl fmt::Display for RouteValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RouteValue::Segments(count) => write!(f, "{count}"),
            RouteValue::Time(span) => write!(f, "{span}"),
            RouteValue::Size(size) => write!(f, "{} B", size.as_u64()),
            RouteValue::Flag(on) => f.write_str(if *on { "on" } else { "off" }),
            RouteValue::Name(name) => f.write_str(name),
        }
    }
}

impl RouteSpec {
    /// `TCP_RTO_MAX`.
    const LONGEST_TIMEOUT: Span = Span::from_secs(120);
    /// `TCP_CA_NAME_MAX` without the closing NUL.
    const NAME_MAX: usize = 15;

    /// Whether it has no attributes.
    pub fn is_empty(&self) -> bool {
        *self == RouteSpec::default()
    }

    /// The attributes that are given: key, name in rtnetlink(7), value.
    pub fn attributes(&self) -> impl Iterator<Item = (&'static str, &'static str, RouteValue<'_>)> {
        let segments = |count: Option<u32>| count.map(RouteValue::Segments);
        let size = |size: Option<Bytes>| size.map(RouteValue::Size);
        let flag = |on: Option<bool>| on.map(RouteValue::Flag);
        [
            ("initcwnd", "RTAX_INITCWND", segments(self.initcwnd)),
            ("initrwnd", "RTAX_INITRWND", segments(self.initrwnd)),
            ("rto_min", "RTAX_RTO_MIN", self.rto_min.map(RouteValue::Time)),
            ("quickack", "RTAX_QUICKACK", flag(self.quickack)),
            ("congctl", "RTAX_CC_ALGO", self.congctl.as_deref().map(RouteValue::Name)),
            ("mtu", "RTAX_MTU", size(self.mtu)),
            ("advmss", "RTAX_ADVMSS", size(self.advmss)),
            ("window", "RTAX_WINDOW", size(self.window)),
            ("ecn", "RTAX_FEATURES", flag(self.ecn)),
        ]
        .into_iter()
        .filter_map(|(key, name, value)| Some((key, name, value?)))
    }

    /// Checks the ranges; an error comes with its key.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, _, value) in self.attributes() {
            let range = match &value {
                RouteValue::Segments(1..=65_535) | RouteValue::Flag(_) => continue,
                RouteValue::Segments(_) => "1 to 65535 segments",
                RouteValue::Time(span) => {
                    let millis = span.as_nanos() % 1_000_000 == 0 && !span.is_zero();
                    if millis && *span <= RouteSpec::LONGEST_TIMEOUT {
                        continue;
                    }
                    "1 ms to 120 s in whole milliseconds"
                }
                RouteValue::Size(size) => {
                    let (least, most, range) = match key {
                        "mtu" => (88, 1_500, "88 B to 1500 B"),
                        "advmss" => (48, 65_495, "48 B to 65495 B"),
                        _ => (1, 1 << 30, "1 B to 1 GiB"),
                    };
                    if (least..=most).contains(&size.as_u64()) {
                        continue;
                    }
                    range
                }
                RouteValue::Name(name) => {
                    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
                    let fits = (1..=RouteSpec::NAME_MAX).contains(&name.len());
                    if fits && name.bytes().all(is_plain) {
                        continue;
                    }
                    "a name of 1 to 15 letters, digits, `_` and `-`"
                }
            };
            return Err((key, format!("`{key}` cannot be {value}: use {range}")));
        }
        Ok(())
    }
}
