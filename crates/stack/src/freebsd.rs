//! What FreeBSD does otherwise than its settings and Linux's code say.

use schemars::JsonSchema;
use serde::Deserialize;
use tcplab_units::Span;

/// FreeBSD's rules in place of Linux's, and the settings that only FreeBSD has. Its rules say which
/// segments are accepted in which state (`tcp_do_segment`, `syncache_expand`, `tcp_twcheck`), how
/// windows follow from buffers and options stand in a header (`tcp_output`), and that every second
/// segment is acknowledged, however small (`DELAY_ACK`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FreeBsd {
    /// Whether a RST anywhere in the window breaks a connection off, as in RFC 793
    /// (`net.inet.tcp.insecure_rst`); otherwise RFC 5961 section 3.2.
    pub insecure_rst: bool,
    /// The same of a SYN (`net.inet.tcp.insecure_syn`); otherwise RFC 5961 section 4.2.
    pub insecure_syn: bool,
    /// Whether segments with SYN and FIN are dropped (`net.inet.tcp.drop_synfin`).
    pub drop_synfin: bool,
    /// How long a handshake may take (`net.inet.tcp.keepinit`).
    pub keep_init: Span,
    /// How many SYNs are retransmitted with ECN (`net.inet.tcp.ecn.maxretries`).
    pub ecn_retries: u8,
    /// What each timeout but the first of a SYN is longer by (`net.inet.tcp.rexmit_slop`).
    pub slop: Span,
}

impl Default for FreeBsd {
    /// The defaults of FreeBSD 15.
    fn default() -> FreeBsd {
        FreeBsd {
            insecure_rst: false,
            insecure_syn: false,
            drop_synfin: false,
            keep_init: Span::from_secs(75),
            ecn_retries: 1,
            slop: Span::from_millis(200),
        }
    }
}
