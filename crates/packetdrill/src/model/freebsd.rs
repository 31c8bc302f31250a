//! FreeBSD's settings and commands, as far as they concern its TCP.

use tcplab_stack::config::Ecn;
use tcplab_stack::{Config, Data, FreeBsd, Send, State};
use tcplab_units::{Bytes, Instant, Span};

use super::Model;
use super::socket::Stage;
use crate::{Outcome, Refusal};

/// Settings that have no effect on the model with these values (none: with any).
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    ("net.inet.tcp.hostcache.purgenow", &["1"]),
    ("net.inet.tcp.blackhole", &["0"]),
    ("net.inet.tcp.syncookies", &["0", "1"]),
    ("net.inet.tcp.syncookies_only", &["0"]),
    ("net.inet.tcp.rexmit_drop_options", &["0"]),
    ("net.inet.tcp.tolerate_missing_ts", &["0"]),
    ("net.inet.tcp.path_mtu_discovery", &["1"]),
    ("net.inet.tcp.udp_tunneling_port", &["0"]),
    ("net.inet.tcp.mssdflt", &["536"]),
    ("net.inet.tcp.v6mssdflt", &["1220"]),
];

/// Gives `config` what FreeBSD's sysctl `name` means there; `None` for the name of another system.
pub(super) fn set(config: &mut Config, name: &str, value: &str) -> Option<Result<(), Refusal>> {
    let of_freebsd = name.starts_with("net.inet.") || name.starts_with("kern.ipc.");
    of_freebsd.then(|| match &mut config.freebsd {
        Some(_) => apply(config, name, value),
        None => Err(Refusal("a setting of FreeBSD: use --stack model:freebsd-15".into())),
    })
}

fn apply(config: &mut Config, name: &str, value: &str) -> Result<(), Refusal> {
    if let Some((_, harmless)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        let known = harmless.contains(&value);
        return if known { Ok(()) } else { Err(Refusal("not modelled".into())) };
    }
    let number: u64 = value.parse().map_err(|_| Refusal("unknown value".into()))?;
    let flag = number != 0;
    let millis = Span::from_millis(number);
    let rules = config.freebsd.get_or_insert_with(FreeBsd::default);
    match name {
        "kern.ipc.maxsockbuf" => {
            config.receiving.most_asked = Bytes::new(number);
            config.sending.most_asked = Bytes::new(number);
        }
        "net.inet.tcp.recvspace" => config.receiving.buffer = [Bytes::new(number); 2],
        "net.inet.tcp.sendspace" => config.sending.buffer = [Bytes::new(number); 2],
        "net.inet.tcp.rfc1323" => {
            config.handshake.timestamps = flag;
            config.handshake.window_scale = flag.then_some(0);
        }
        "net.inet.tcp.sack.enable" => config.handshake.sack = flag,
        "net.inet.tcp.ecn.enable" => {
            config.handshake.ecn = match number {
                0 => Ecn::Off,
                1 => Ecn::Asked,
                2 => Ecn::Granted,
                _ => return Err(Refusal("Accurate ECN is not modelled".into())),
            };
        }
        "net.inet.tcp.ecn.maxretries" => rules.ecn_retries = number.min(255) as u8,
        "net.inet.tcp.insecure_rst" => rules.insecure_rst = flag,
        "net.inet.tcp.insecure_syn" => rules.insecure_syn = flag,
        "net.inet.tcp.drop_synfin" => rules.drop_synfin = flag,
        "net.inet.tcp.keepinit" => rules.keep_init = millis,
        "net.inet.tcp.rexmit_initial" => config.timeout.initial = millis,
        "net.inet.tcp.rexmit_slop" => {
            rules.slop = millis;
            config.timeout.least = millis;
        }
        "net.inet.tcp.delacktime" => config.acks.delay = [millis; 2],
        "net.inet.tcp.keepidle" => config.liveness.keep_idle = millis,
        "net.inet.tcp.keepintvl" => config.liveness.keep_interval = millis,
        "net.inet.tcp.keepcnt" => config.liveness.keep_probes = number.min(255) as u8,
        _ => return Err(Refusal("not modelled".into())),
    }
    Ok(())
}

/// The states by `sockstat`'s names.
fn state(name: &str) -> Option<State> {
    Some(match name {
        "CLOSED" => State::Closed,
        "SYN_SENT" => State::SynSent,
        "SYN_RCVD" => State::SynReceived,
        "ESTABLISHED" => State::Established,
        "CLOSE_WAIT" => State::CloseWait,
        "FIN_WAIT_1" => State::FinWait1,
        "FIN_WAIT_2" => State::FinWait2,
        "CLOSING" => State::Closing,
        "LAST_ACK" => State::LastAck,
        "TIME_WAIT" => State::TimeWait,
        _ => return None,
    })
}

impl Model {
    /// How many connections `sockstat` shows in the state `name`; `held`: of those that an
    /// application has.
    pub(super) fn count_in_state(&self, name: &str, held: bool) -> Result<usize, Refusal> {
        let state = state(name).ok_or_else(|| Refusal(format!("the state {name}")))?;
        let own = self.sockets.values().map(|socket| match &socket.stage {
            Stage::Fresh => usize::from(state == State::Closed),
            Stage::Listening(listener) if !held => listener.count_in(state),
            Stage::Listening(_) => 0,
            Stage::Open(open) => usize::from(open.connection.state() == state),
        });
        let orphans = self.orphans.iter().filter(|open| open.connection.state() == state);
        Ok(own.sum::<usize>() + if held { 0 } else { orphans.count() })
    }

    /// Whether a write to an address connects with Fast Open: TCP_FASTOPEN was set before.
    pub(super) fn connects_by_writing(&self, fd: i64) -> bool {
        self.config.freebsd.is_some()
            && self.sockets.get(&fd).is_some_and(|socket| {
                matches!(socket.stage, Stage::Fresh) && socket.fast.queue.is_some()
            })
    }

    /// Such a write: all is buffered, what fits goes with the SYN.
    pub(super) fn connect_by_writing(&mut self, now: Instant, fd: i64, data: &Data) -> Outcome {
        let asked = self.sockets.get(&fd).and_then(|s| s.options(&self.config).max_segment);
        let wanted = asked.unwrap_or(self.config.handshake.mss);
        let (client, with_syn) = self.fast.begin_of_freebsd(wanted, data.len());
        self.connect(now, fd, Some(&client));
        let Ok(open) = self.open(fd) else { return Outcome::error("EBADF") };
        let rest = data.part(with_syn..data.len());
        let buffered = match open.connection.send(now, &rest, Send::default()) {
            Ok(count) => count,
            Err(_) => 0,
        };
        let taken = with_syn + buffered;
        open.written += u64::from(taken);
        Outcome::value(taken.into())
    }

    /// `tcpdrop -s`: connections in the state `name` are gone.
    pub(super) fn drop_in_state(&mut self, now: Instant, name: &str) -> Result<(), Refusal> {
        if name != "TIME_WAIT" {
            return Err(Refusal(format!("tcpdrop of connections in the state {name}")));
        }
        for open in self.opens().filter(|open| open.connection.state() == State::TimeWait) {
            open.connection.abort(now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctl_of_freebsd_changes_config_of_freebsd_only() {
        let mut config = Config { freebsd: Some(FreeBsd::default()), ..Config::default() };
        for (name, value) in [
            ("net.inet.tcp.rfc1323", "0"),
            ("net.inet.tcp.insecure_rst", "1"),
            ("net.inet.tcp.keepinit", "5000"),
            ("net.inet.tcp.recvspace", "4096"),
            ("net.inet.tcp.hostcache.purgenow", "1"),
        ] {
            assert_eq!(set(&mut config, name, value), Some(Ok(())), "{name}");
        }
        assert!(!config.handshake.timestamps && config.handshake.window_scale.is_none());
        assert_eq!(config.receiving.buffer, [Bytes::new(4_096); 2]);
        let rules = config.freebsd.clone().unwrap();
        assert_eq!((rules.insecure_rst, rules.keep_init), (true, Span::from_secs(5)));
        for (name, value) in [
            ("net.inet.tcp.blackhole", "2"),
            ("net.inet.tcp.ecn.enable", "3"),
            ("net.inet.tcp.sack.enable", "yes"),
            ("net.inet.tcp.unheard_of", "1"),
        ] {
            assert!(matches!(set(&mut config, name, value), Some(Err(_))), "{name}");
        }
        assert!(matches!(set(&mut Config::default(), "kern.ipc.x", "1"), Some(Err(_))));
        assert_eq!(set(&mut config, "net.ipv4.tcp_sack", "1"), None);
    }
}
