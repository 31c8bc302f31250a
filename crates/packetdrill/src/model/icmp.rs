//! ICMP messages about the model's segments.

use tcplab_stack::{ConnectionError, State};
use tcplab_units::Instant;

use super::Model;
use super::socket::Stage;
use crate::subject::{IcmpMessage, LOCAL_PORT, Refusal};

/// What a message says.
enum Meaning {
    /// The packet was too large.
    TooBig,
    /// An error, by its name in `errno.h`, and whether a handshake is given up for it
    /// (`tcp_v4_err`, `tcp_v6_err`).
    Error(&'static str, bool),
    /// Nothing that TCP heeds.
    Nothing,
}

impl Model {
    pub(super) fn hear_icmp(&mut self, now: Instant, message: &IcmpMessage) -> Result<(), Refusal> {
        let IcmpMessage { mtu, seq, local_port, remote_port, .. } = *message;
        let (error, drops) = match meaning(message, self.host.is_v6)? {
            Meaning::Nothing => return Ok(()),
            Meaning::TooBig => {
                let ports = (local_port, remote_port);
                if let Some(open) = self.opens().find(|open| open.ports() == ports) {
                    open.connection.handle_too_big(now, seq, mtu);
                }
                return Ok(());
            }
            Meaning::Error(name, drops) => (ConnectionError::Unreachable(name), drops),
        };
        let is_live = |open: &super::socket::Open| {
            open.ports() == (local_port, remote_port) && open.connection.state() != State::Closed
        };
        if let Some(open) = self.opens().find(|open| is_live(open)) {
            open.connection.handle_unreachable(now, seq, error);
            return Ok(());
        }
        for socket in self.sockets.values_mut().filter(|_| local_port == LOCAL_PORT) {
            if let Stage::Listening(listener) = &mut socket.stage {
                listener.handle_unreachable(now, &remote_port, seq, error, drops);
            }
        }
        Ok(())
    }
}

/// `icmp_err_convert` and `tcp_v4_err`, `icmpv6_err_convert` and `tcp_v6_err`.
fn meaning(message: &IcmpMessage, is_v6: bool) -> Result<Meaning, Refusal> {
    let kind = message.kind.as_str();
    let code = message.code.as_deref().unwrap_or_default();
    Ok(match (is_v6, kind, code) {
        (false, "unreachable", "frag_needed") | (true, "packet_too_big", _) => Meaning::TooBig,
        (_, "unreachable", "" | "net_unreachable" | "no_route") => {
            Meaning::Error("ENETUNREACH", !is_v6)
        }
        (false, "unreachable", "host_unreachable") => Meaning::Error("EHOSTUNREACH", true),
        (_, "unreachable", "port_unreachable") => Meaning::Error("ECONNREFUSED", is_v6),
        (false, "unreachable", "protocol_unreachable") => Meaning::Error("ENOPROTOOPT", false),
        (false, "unreachable", "source_route_failed") => Meaning::Error("EOPNOTSUPP", false),
        (false, "unreachable", "net_unknown" | "net_prohibited" | "net_unreachable_for_tos") => {
            Meaning::Error("ENETUNREACH", false)
        }
        (false, "unreachable", "host_unknown") => Meaning::Error("EHOSTDOWN", false),
        (false, "unreachable", "source_host_isolated") => Meaning::Error("ENONET", false),
        (
            false,
            "unreachable",
            "host_prohibited"
            | "host_unreachable_for_tos"
            | "packet_filtered"
            | "precedence_violation"
            | "precedence_cutoff",
        ) => Meaning::Error("EHOSTUNREACH", false),
        (true, "unreachable", "admin_prohibited") => Meaning::Error("EACCES", true),
        (true, "unreachable", "not_neighbour" | "address_unreachable") => {
            Meaning::Error("EHOSTUNREACH", false)
        }
        (_, "parameter_problem", _) => Meaning::Error("EPROTO", true),
        (_, "time_exceeded", _) => Meaning::Error("EHOSTUNREACH", !is_v6),
        (false, "source_quench" | "redirect", _) => Meaning::Nothing,
        _ => {
            return Err(Refusal(format!("the ICMP message `{}`", format!("{kind} {code}").trim())));
        }
    })
}
