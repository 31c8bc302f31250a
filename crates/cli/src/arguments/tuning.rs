//! How frames are moved, whatever the path does to them.

use clap::{Args, ValueEnum};
use tcplab_testbed::Tuning;
use tcplab_units::Span;

use super::duration::within;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Io {
    /// TUN devices: fastest; needs /dev/net/tun
    Tun,
    /// veth pairs and packet sockets
    PacketSocket,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TuningArguments {
    /// Busy-wait this long before each packet's release time (0 to 1 ms)
    ///
    /// Waking from sleep takes 30 to 100 µs on common machines and delays packets by as much. A
    /// longer busy-wait makes release times more exact on slow machines; 0 always sleeps. It costs
    /// processor time: up to seven eighths of one processor when packets follow closely. Recordings
    /// note the value.
    #[arg(long, value_name = "DURATION", default_value_t = Tuning::default().spin, value_parser = spin)]
    pub(crate) spin: Span,
}

impl TuningArguments {
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { spin: self.spin, ..Tuning::default() }
    }
}

/// To poll longer gains nothing, and takes a processor from the programs at both ends.
fn spin(text: &str) -> Result<Span, String> {
    within(text, Span::ZERO, Tuning::LONGEST_SPIN)
}
