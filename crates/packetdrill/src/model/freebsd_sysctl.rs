//! FreeBSD's sysctls as a [`Config`].

use tcplab_stack::config::Ecn;
use tcplab_stack::{Config, FreeBsd};
use tcplab_units::{Bytes, Span};

use crate::Refusal;

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

/// Whether a connection takes the setting when it begins, and never looks at it again.
pub(super) fn is_read_once(name: &str) -> bool {
    matches!(
        name,
        "kern.ipc.maxsockbuf"
            | "net.inet.tcp.recvspace"
            | "net.inet.tcp.sendspace"
            | "net.inet.tcp.rfc1323"
            | "net.inet.tcp.sack.enable"
            | "net.inet.tcp.ecn.enable"
    )
}

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
