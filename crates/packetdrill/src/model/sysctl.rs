//! Linux's settings as a [`Config`].

use tcplab_stack::config::ReceiveTuning;
use tcplab_stack::congestion::by_name;
use tcplab_stack::{Config, SysctlError, set_sysctl};
use tcplab_units::Span;

use crate::Refusal;

/// Settings that have no effect on a stack that does not have what they tune: (name, the values
/// that leave it as it is; none: any).
///
/// Bursts are as large as `Sending::burst` allows.
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    ("tcp_fack", &["0"]),
    ("tcp_fastopen_blackhole_timeout_sec", &[]),
    ("tcp_pacing_ss_ratio", &["200"]),
    ("tcp_pacing_ca_ratio", &["120"]),
    ("tcp_notsent_lowat", &["4294967295", "-1"]),
    ("tcp_tso_win_divisor", &[]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_no_metrics_save", &[]),
    ("tcp_autocorking", &["0"]),
    ("tcp_plb_enabled", &["0"]),
    ("tcp_thin_linear_timeouts", &["0"]),
    ("tcp_base_mss", &[]),
];

/// Whether a connection takes the setting when it begins, and never looks at it again.
pub(super) fn is_read_once(name: &str) -> bool {
    matches!(
        name,
        "net.ipv4.tcp_ecn"
            | "net.ipv4.tcp_ecn_option"
            | "net.ipv4.tcp_ecn_option_beacon"
            | "net.ipv4.tcp_ecn_fallback"
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
    let number = match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    };
    let wide = || number.and_then(|number| u32::try_from(number).ok()).ok_or_else(odd);
    match name {
        "tcp_congestion_control" if by_name(value).is_none() => return Err(odd()),
        "tcp_invalid_ratelimit" => {
            config.handshake.challenge_ack_interval = Span::from_millis(wide()?.into());
        }
        "tcp_min_tso_segs" => config.sending.least_burst = wide()?,
        "tcp_moderate_rcvbuf" if number.ok_or_else(odd)? != 0 => {}
        "tcp_moderate_rcvbuf" => config.receiving.tuning = ReceiveTuning::None,
        _ => {
            let value = number.map_or_else(|| value.into(), |number| number.to_string());
            set_sysctl(config, &format!("net.ipv4.{name}"), &value).map_err(
                |error| match error {
                    SysctlError::Unknown => Refusal("not modelled".into()),
                    SysctlError::Value(_) => odd(),
                },
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tcplab_stack::config::Ecn;
    use tcplab_units::Bytes;

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
            ("net.ipv4.tcp_ecn", "6"),
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
