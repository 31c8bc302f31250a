//! Linux's settings as a [`Config`].

use tcplab_stack::Config;
use tcplab_stack::config::{Detection, Ecn};
use tcplab_units::{Bytes, Span};

use crate::Refusal;

/// Settings that have no effect on a stack that does not have what they tune: (name, the values
/// that leave it as it is; none: any).
///
/// Bursts are as large as
/// `Sending::burst` lets them be; SYN cookies answer floods only.
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    ("tcp_fack", &["0"]),
    ("tcp_syncookies", &["0", "1"]),
    ("tcp_fastopen_blackhole_timeout_sec", &[]),
    ("tcp_pacing_ss_ratio", &["200"]),
    ("tcp_pacing_ca_ratio", &["120"]),
    ("tcp_notsent_lowat", &["4294967295", "-1"]),
    ("tcp_tso_win_divisor", &[]),
    ("tcp_ecn_option", &[]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_no_metrics_save", &[]),
    ("tcp_autocorking", &["0"]),
    ("tcp_plb_enabled", &["0"]),
    ("tcp_shrink_window", &["0"]),
    ("tcp_thin_linear_timeouts", &["0"]),
    ("tcp_base_mss", &[]),
];

/// Whether a connection takes the setting when it begins, and never looks at it again.
pub(super) fn is_read_once(name: &str) -> bool {
    matches!(
        name,
        "net.ipv4.tcp_ecn"
            | "net.ipv4.tcp_timestamps"
            | "net.ipv4.tcp_sack"
            | "net.ipv4.tcp_window_scaling"
            | "net.ipv4.tcp_congestion_control"
            | "net.ipv4.tcp_reordering"
    )
}

/// Gives `config` what the setting `name` means there.
///
/// # Errors
/// When it means nothing there.
pub(super) fn apply(config: &mut Config, name: &str, value: &str) -> Result<(), Refusal> {
    // Both ways of finding the end of slow start: the only way the model has it.
    if (name, value) == ("tcp_cubic.hystart_detect", "3") {
        return Ok(());
    }
    let Some(name) = name.strip_prefix("net.ipv4.") else {
        return Err(Refusal("not a TCP setting".into()));
    };
    if let Some((_, harmless)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        if harmless.is_empty() || harmless.contains(&value) {
            return Ok(());
        }
        return Err(Refusal("not modelled".into()));
    }
    let odd = || Refusal("unknown value".into());
    if name == "tcp_congestion_control" {
        tcplab_stack::congestion::by_name(value).ok_or_else(odd)?;
        value.clone_into(&mut config.window.congestion);
        return Ok(());
    }
    if let "tcp_rmem" | "tcp_wmem" = name {
        let sizes: Vec<u64> = value.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let [_, start, most] = sizes.as_slice() else { return Err(odd()) };
        let buffer = [Bytes::new(*start), Bytes::new((*most).max(*start))];
        if name == "tcp_rmem" {
            config.receiving.buffer = buffer;
        } else {
            config.sending.buffer = buffer;
        }
        return Ok(());
    }
    let number = match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => value.parse(),
    };
    apply_number(config, name, number.map_err(|_| odd())?)
}

fn apply_number(config: &mut Config, name: &str, number: u64) -> Result<(), Refusal> {
    let on = number != 0;
    let odd = || Refusal("unknown value".into());
    let count = u8::try_from(number).map_err(|_| odd());
    let wide = u32::try_from(number).map_err(|_| odd());
    // Beyond this nanoseconds do not reach.
    let seconds = || wide.clone().map(|n| Span::from_secs(n.into()));
    let millis = || wide.clone().map(|n| Span::from_millis(n.into()));
    match name {
        "tcp_timestamps" => config.handshake.timestamps = on,
        "tcp_sack" => config.handshake.sack = on,
        "tcp_dsack" => config.handshake.dsack = on,
        "tcp_window_scaling" => config.handshake.window_scale = on.then_some(0),
        "tcp_ecn" => {
            config.handshake.ecn = match number {
                0 => Ecn::Off,
                1 => Ecn::Asked,
                2 => Ecn::Granted,
                _ => return Err(Refusal("Accurate ECN is not modelled".into())),
            }
        }
        "tcp_syn_retries" => config.handshake.syn_retries = count?,
        "tcp_synack_retries" => config.handshake.synack_retries = count?,
        "tcp_syn_linear_timeouts" => config.handshake.syn_linear_timeouts = count?,
        "tcp_fin_timeout" => config.handshake.fin_wait_2 = seconds()?,
        "tcp_invalid_ratelimit" => config.handshake.challenge_ack_interval = millis()?,
        "tcp_retries2" => config.timeout.retries = count?,
        "tcp_rto_min_us" => config.timeout.least = Span::from_micros(wide?.into()),
        "tcp_rto_max_ms" => config.timeout.most = millis()?,
        "tcp_reordering" => config.recovery.dupthresh = wide?,
        "tcp_max_reordering" => config.recovery.most_reordering = wide?,
        "tcp_frto" => config.recovery.frto = on,
        // `sysctl_tcp_early_retrans`: 3 and 4 turn tail loss probes on, since 4.12 nothing else.
        "tcp_early_retrans" => config.recovery.tail_loss_probe = matches!(number, 3 | 4),
        // `TCP_RACK_LOSS_DETECTION`; the other bits change RACK's window.
        "tcp_recovery" => match number {
            0 => config.recovery.detection = Detection::Sack,
            1 => config.recovery.detection = Detection::Rack,
            _ => return Err(odd()),
        },
        "tcp_slow_start_after_idle" => config.window.slow_start_after_idle = on,
        "tcp_min_tso_segs" => config.sending.least_burst = wide?,
        "tcp_comp_sack_nr" => config.acks.compressed.0 = wide?,
        "tcp_comp_sack_delay_ns" => config.acks.compressed.1 = Span::from_nanos(number),
        "tcp_moderate_rcvbuf" if on => {}
        "tcp_moderate_rcvbuf" => {
            config.receiving.tuning = tcplab_stack::config::ReceiveTuning::None;
        }
        "tcp_keepalive_time" => config.liveness.keep_idle = seconds()?,
        "tcp_keepalive_intvl" => config.liveness.keep_interval = seconds()?,
        "tcp_keepalive_probes" => config.liveness.keep_probes = count?,
        _ => return Err(Refusal("not modelled".into())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::DEFAULTS;

    #[test]
    fn sysctl_defaults_of_suite_change_config() {
        let mut config = Config::default();
        for (name, value) in DEFAULTS.iter().filter(|(name, _)| !name.contains("fastopen")) {
            apply(&mut config, name, value).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        }
        assert_eq!(config.receiving.buffer, [Bytes::new(540_000), Bytes::new(15_728_640)]);
        assert_eq!(config.sending.buffer, [Bytes::new(262_144), Bytes::new(4_194_304)]);
        assert_eq!((config.handshake.syn_retries, config.handshake.synack_retries), (5, 5));
        assert_eq!(config.handshake.ecn, Ecn::Off);
        assert!(!config.window.slow_start_after_idle && config.recovery.tail_loss_probe);
    }

    #[test]
    fn sysctl_without_effect_is_refused() {
        for (name, value) in [
            ("net.core.default_qdisc", "fq"),
            ("net.ipv4.tcp_mtu_probing", "2"),
            ("net.ipv4.tcp_ecn", "3"),
            ("net.ipv4.tcp_recovery", "5"),
            ("net.ipv4.tcp_congestion_control", "dctcp"),
            ("net.ipv4.tcp_rmem", "1 2"),
            ("net.ipv4.tcp_sack", "yes"),
            ("net.ipv4.tcp_syn_retries", "300"),
            ("net.ipv4.tcp_unheard_of", "1"),
        ] {
            assert!(apply(&mut Config::default(), name, value).is_err(), "{name} = {value}");
        }
    }
}
