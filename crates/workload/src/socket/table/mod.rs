//! All socket options that matter to TCP, UDP and IP on Linux, one row each: the only place where
//! they are described. From it follow what a scenario may ask for, its schema, how an option is
//! set and read back, the sentence on the outcome, and `tcplab sockopts`.
//!
//! Numbers, ranges and adjustments are those of Linux 6.12 (`sk_setsockopt` in net/core/sock.c,
//! `do_tcp_setsockopt` in net/ipv4/tcp.c, `do_ip_setsockopt` in net/ipv4/ip_sockglue.c,
//! `do_ipv6_setsockopt` in net/ipv6/ipv6_sockglue.c); rows of later options say so.

/// Defines the options of a level. The comment above each says what it does, as the end of a
/// sentence: `tcplab sockopts` and the schema take it from there.
macro_rules! define {
    ($($(#[doc = $effect:literal])+ $info:expr;)*) => {
        pub(super) const OPTIONS: &[crate::socket::option::OptionInfo] =
            &[$($info.with_effect(concat!($($effect),+))),*];
    };
}

mod ip;
mod ipv6;
mod socket;
mod tcp;

use super::option::OptionInfo;

/// Every option, level by level, each in the order of its numbers.
pub fn options() -> impl Iterator<Item = &'static OptionInfo> {
    socket::OPTIONS.iter().chain(tcp::OPTIONS).chain(ip::OPTIONS).chain(ipv6::OPTIONS)
}

/// The options that a scenario can set, in the order in which they are set.
pub fn keyed() -> impl Iterator<Item = (&'static str, &'static OptionInfo)> {
    options().filter_map(|info| Some((info.key?, info)))
}

/// The option that a scenario calls `key`.
pub fn by_key(key: &str) -> Option<&'static OptionInfo> {
    keyed().find(|(known, _)| *known == key).map(|(_, info)| info)
}
