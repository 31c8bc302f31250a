//! The path MTU, as ICMP reports it.

use tcplab_units::Instant;
use tcplab_wire::SeqNumber;

use super::Connection;
use crate::SendCause;
use crate::state::State;

/// The least MTU of IPv6, bytes.
const LEAST_V6: u16 = 1_280;

/// The largest packet that a path takes, as a host remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMtu {
    /// Bytes of IP.
    pub mtu: u16,
    /// Whether routers may cut packets, for the path takes less than the host's packets become.
    pub fragments: bool,
}

impl Connection {
    /// ICMP says that a packet of this connection was too large: the segment that it quotes begins
    /// with `sequence`, and the next link takes `mtu` bytes of IP (0 from routers that do not
    /// report it; RFC 1191 section 4, RFC 8201). What is too large is retransmitted in smaller
    /// segments, which counts as no congestion. Gives what the host may remember of the path, if
    /// that is news.
    ///
    /// Only messages that quote something outstanding count (RFC 5927 section 4; `tcp_v4_err`).
    pub fn handle_too_big(
        &mut self,
        now: Instant,
        sequence: SeqNumber,
        mtu: u32,
    ) -> Option<PathMtu> {
        let config = &self.config.path_mtu;
        let position = self.numbers.own.position(sequence);
        let una = if self.state.is_synchronized() { self.sender.una() } else { 0 };
        let is_outstanding = (una as i64..=self.sent() as i64).contains(&position);
        let is_over = matches!(self.state, State::Closed | State::TimeWait);
        let known = self.terms.mtu;
        let mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
        if !self.options.path_mtu_discovery
            || is_over
            || !is_outstanding
            || self.terms.fragments
            || mtu >= known
        {
            return None;
        }
        // `__ip_rt_update_pmtu`; in IPv6 no router cuts packets, and every link takes 1280 bytes
        // (RFC 8200 section 5).
        let least = if self.terms.is_v6() { LEAST_V6 } else { config.least };
        self.terms.fragments = mtu < least && !self.terms.is_v6();
        let mtu = mtu.max(least.min(known));
        self.lower_mtu(now, mtu);
        Some(PathMtu { mtu, fragments: self.terms.fragments })
    }

    /// The path MTU shrank to `mtu` bytes. Larger segments are retransmitted.
    pub fn lower_mtu(&mut self, now: Instant, mtu: u16) {
        if mtu >= self.terms.mtu {
            return;
        }
        self.terms.mtu = mtu;
        self.terms.sending_mss = self.terms.sending_mss.min(self.terms.room());
        if self.state == State::SynSent {
            self.terms.ask_for_less();
            if self.handshake.fast.with_syn > 0 && self.handshake.retransmissions == 0 {
                // Too large with its data, the SYN leaves at once without
                // (`tcp_simple_retransmit`).
                self.handshake.retransmissions = 1;
                self.send_syn(now, SendCause::HandshakeRetransmission);
            }
        }
        if self.state.is_sending() {
            let stream = self.stream();
            self.sender.set_mss(now, self.terms.sending_mss, &stream);
        }
    }

    /// Whether its packets say "don't fragment".
    pub fn dont_fragment(&self) -> bool {
        self.options.path_mtu_discovery && !self.terms.fragments
    }
}
