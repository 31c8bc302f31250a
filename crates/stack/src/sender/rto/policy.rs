//! What TCPs do differently about the retransmission timeout.

use std::fmt;

use tcplab_units::Span;

/// The estimator of RFC 6298 section 2, scaled as BSD and Linux have it.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    /// The smoothed RTT, eighths of µs; 0: none yet.
    pub(super) srtt8: i64,
    /// The mean deviation, quarters of µs.
    pub(super) deviation4: i64,
}

impl Estimate {
    /// The first measurement, µs (section 2.2).
    pub(super) fn begin(&mut self, rtt: i64) {
        self.srtt8 = (rtt << 3).max(1);
        self.deviation4 = rtt << 1;
    }

    /// A later measurement, µs (section 2.3). `slow`: a deviation that grows because the RTT fell
    /// counts an eighth only.
    pub(super) fn update(&mut self, rtt: i64, slow: bool) {
        let error = rtt - (self.srtt8 >> 3);
        self.srtt8 = (self.srtt8 + error).max(1);
        let mut step = error.abs() - (self.deviation4 >> 2);
        if slow && error < 0 && step > 0 {
            step >>= 3;
        }
        self.deviation4 += step;
    }
}

/// An RTT and where the sender stood when it was measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurement {
    /// µs.
    pub(crate) rtt: u64,
    /// Everything below was acknowledged.
    pub(crate) una: u64,
    /// The next new position.
    pub(crate) nxt: u64,
}

impl Measurement {
    /// The RTT, bounded so that no sum overflows.
    pub(super) fn bounded(&self) -> i64 {
        i64::try_from(self.rtt).unwrap_or(i64::MAX >> 4)
    }
}

/// How RTTs are measured and the retransmission timeout follows from them.
pub(crate) trait RtoPolicy: fmt::Debug + Send {
    /// Takes an RTT in.
    fn measure(&mut self, estimate: &mut Estimate, measurement: Measurement) {
        let rtt = measurement.bounded();
        if estimate.srtt8 == 0 { estimate.begin(rtt) } else { estimate.update(rtt, false) }
    }

    /// The timeout, not backed off, µs.
    fn timeout(&self, estimate: &Estimate) -> i64;

    /// The handshake measured nothing; the deviation, quarters of µs, is assumed.
    fn assume(&mut self, _deviation4: i64) {}

    /// Whether the times of SACKed segments are RTTs. BSD stacks take the echoed timestamp first
    /// (RFC 7323 section 4), and SACK gives no RTT: after go-back-N it may report twice.
    fn measures_sacked(&self) -> bool {
        false
    }

    /// A fixed timeout after each acknowledgement where there are no timestamps.
    fn without_timestamps(&self) -> Option<Span> {
        None
    }
}
