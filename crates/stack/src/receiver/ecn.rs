//! Congestion marks, as the receiver echoes them (RFC 3168 section 6.1.3).

use tcplab_wire::Ecn;

/// What the receiver owes the sender.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct EcnEcho {
    /// Whether both ends agreed on ECN.
    pub(crate) negotiated: bool,
    /// A mark arrived and the sender has not said that it slowed down: ECE is set
    /// (`TCP_ECN_DEMAND_CWR`).
    pub(crate) echo: bool,
    /// Whether it is Accurate ECN, which counts elsewhere.
    pub(crate) accurate: bool,
    /// Whether any ECN-capable segment arrived (`TCP_ECN_SEEN`).
    pub(crate) seen: bool,
}

impl EcnEcho {
    /// A segment with CWR came (`tcp_ecn_accept_cwr`).
    pub(crate) fn accept_cwr(&mut self) {
        self.echo = false;
    }

    /// Data came (`tcp_ecn_check_ce`); whether the next acknowledgements must be quick.
    pub(super) fn see(&mut self, ecn: Ecn) -> bool {
        if self.accurate {
            return ecn == Ecn::NotEct && self.seen;
        }
        if !self.negotiated {
            return false;
        }
        match ecn {
            // Not capable although others were: it is probably a retransmission.
            Ecn::NotEct => self.seen,
            Ecn::Ce => {
                self.seen = true;
                !std::mem::replace(&mut self.echo, true)
            }
            Ecn::Ect0 | Ecn::Ect1 => {
                self.seen = true;
                false
            }
        }
    }
}
