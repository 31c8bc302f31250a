//! What has to do with the states of connections.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tcplab_trace::TcpState;

use super::JsonArguments;

#[derive(Debug, Args)]
#[command(after_help = STATES_EXAMPLES)]
pub(crate) struct StatesArguments {
    /// A run directory, the recording of one trial, or a capture [default: this
    /// machine's connections]
    #[arg(value_name = "PLACE")]
    pub(crate) place: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: StateFilter,
    /// Show this case of a run [default: the only one]
    #[arg(long, value_name = "NAME", requires = "place", conflicts_with_all = OF_MACHINE)]
    pub(crate) case: Option<String>,
    /// Show this trial of a run
    #[arg(long, value_name = "N", default_value_t = 1, requires = "place", conflicts_with_all = OF_MACHINE)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trial: u32,
    /// Show this connection, counted from 0 as in `tcplab trace` [default: of a trial the one with
    /// most data, of a capture the only one]
    #[arg(long, short, value_name = "N", requires = "place", conflicts_with_all = OF_MACHINE)]
    pub(crate) connection: Option<usize>,
    /// Write the state diagram with both ends' transitions as SVG
    #[arg(long, value_name = "FILE", requires = "place", conflicts_with_all = OF_MACHINE)]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

/// Which of this machine's connections are shown, and no others.
const OF_MACHINE: [&str; 2] = ["state", "port"];

/// Which of this machine's connections.
#[derive(Debug, Args)]
pub(crate) struct StateFilter {
    /// Show connections in this state; repeat for several
    #[arg(long, value_name = "STATE", conflicts_with = "place")]
    #[arg(ignore_case = true, value_parser = states())]
    pub(crate) state: Vec<TcpState>,
    /// Show connections with this port at either end; repeat for several
    #[arg(long, value_name = "PORT", conflicts_with = "place")]
    pub(crate) port: Vec<u16>,
}

/// Reads the name of a state, as RFC 9293, netstat or `ss` write it.
fn states() -> impl TypedValueParser<Value = TcpState> {
    let named = TcpState::ALL.into_iter().filter(|state| *state != TcpState::Closed);
    let values = named.map(|state| PossibleValue::new(state.name()).aliases(others_names(state)));
    PossibleValuesParser::new(values).map(|given| {
        let is_it = |name: &&str| name.eq_ignore_ascii_case(&given);
        let named = TcpState::ALL
            .into_iter()
            .find(|state| is_it(&state.name()) || others_names(*state).iter().any(is_it));
        named.expect("the parser knows only names of states")
    })
}

/// Names that are not the standard's.
fn others_names(state: TcpState) -> &'static [&'static str] {
    match state {
        TcpState::Established => &["estab"],
        TcpState::SynSent => &["syn_sent"],
        TcpState::SynReceived => &["syn-recv", "syn_recv", "syn_received"],
        TcpState::FinWait1 => &["fin_wait1", "fin_wait_1"],
        TcpState::FinWait2 => &["fin_wait2", "fin_wait_2"],
        TcpState::CloseWait => &["close_wait"],
        TcpState::LastAck => &["last_ack"],
        TcpState::TimeWait => &["time_wait"],
        TcpState::Listen | TcpState::Closing | TcpState::Closed => &[],
    }
}

const STATES_EXAMPLES: &str = "\
Examples:
  tcplab states                                         explain this machine's connections
  tcplab states --state time-wait --port 443
  tcplab states runs/interruption/20260101T120000-1a2b3c4d --case lan --trial 2
  tcplab states capture.pcapng -c 3 --svg walk.svg

Of a trial or a capture it shows the transitions of both ends through the state diagram of RFC 9293
(figure 5), each with the packet or call that caused it. A trial has a capture at each end, so each
end's transitions come from its own capture and are checked against its socket's states. A capture
from one place cannot show everything: the output marks what is implied and what is missing.";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: StatesArguments,
    }

    #[test]
    fn state_accepts_aliases() {
        for (name, state) in [
            ("time-wait", TcpState::TimeWait),
            ("TIME_WAIT", TcpState::TimeWait),
            ("estab", TcpState::Established),
            ("SYN-RECV", TcpState::SynReceived),
            ("FIN_WAIT2", TcpState::FinWait2),
            ("Listen", TcpState::Listen),
        ] {
            let line = Line::try_parse_from(["states", "--state", name]).unwrap();
            assert_eq!(line.arguments.filter.state, [state], "{name}");
        }
        for wrong in [
            &["--state", "closed"][..],
            &["--svg", "file.svg"],
            &["--trial", "0", "runs"],
            &["runs", "--port", "80"],
            &["--port", "65536"],
        ] {
            let line = [&["states"], wrong].concat();
            assert!(Line::try_parse_from(line).is_err(), "{wrong:?}");
        }
    }
}
