//! What a kernel counted.

use std::collections::BTreeMap;

/// The counters of one host over one transfer, by the names that `nstat` gives them
/// (`/proc/net/snmp`, `/proc/net/netstat`); those that did not move may be absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted(BTreeMap<String, u64>);

impl Counted {
    pub(crate) fn new(counters: impl IntoIterator<Item = (String, u64)>) -> Counted {
        Counted(counters.into_iter().collect())
    }

    fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Segments retransmitted, SYNs and FINs too.
    pub(crate) fn retransmissions(&self) -> u64 {
        self.of("TcpRetransSegs")
    }
    /// Of these, in recovery (`tcp_xmit_retransmit_queue`).
    pub(crate) fn fast(&self) -> u64 {
        self.of("TcpExtTCPFastRetrans")
    }
    /// Of these, after a timeout, while in the state Loss.
    pub(crate) fn after_timeout(&self) -> u64 {
        self.of("TcpExtTCPSlowStartRetrans")
    }
    /// Times the retransmission timer ran out.
    pub(crate) fn timeouts(&self) -> u64 {
        self.of("TcpExtTCPTimeouts")
    }
    /// Expirations of the probe timer less repeating probes: probes with new data.
    pub(crate) fn new_probes(&self) -> u64 {
        self.of("TcpExtTCPLossProbes").saturating_sub(self.repeating_probes())
    }
    /// Of the probes, those that repeated something. No counter keeps them: they are what is
    /// left of
    /// all retransmissions, for each timeout makes one (`tcp_retransmit_timer`).
    pub(crate) fn repeating_probes(&self) -> u64 {
        let others = self.fast() + self.after_timeout() + self.timeouts();
        self.retransmissions().saturating_sub(others)
    }
    /// D-SACKs that came for what this host had retransmitted.
    pub(crate) fn dsacks(&self) -> u64 {
        self.of("TcpExtTCPDSACKRecv") + self.of("TcpExtTCPDSACKOfoRecv")
    }
    /// Probes of a zero window.
    pub(crate) fn window_probes(&self) -> u64 {
        self.of("TcpExtTCPWinProbe")
    }
    pub(crate) fn keep_alives(&self) -> u64 {
        self.of("TcpExtTCPKeepAlive")
    }
}
