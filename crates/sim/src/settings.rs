//! What a scenario asks of an endpoint, as the settings of the stack that models it.

use tcplab_scenario::EndpointSpec;
use tcplab_stack::Config;
use tcplab_stack::config::{BlackHole, Detection, Ecn};
use tcplab_units::{Bytes, Span};

use crate::error::SettingsError;

/// The settings of the model that stands for an endpoint, without its socket options.
///
/// # Errors
/// When the model has no such settings.
pub(crate) fn settings(endpoint: &EndpointSpec) -> Result<Config, SettingsError> {
    let mut config = endpoint.model.applied_to(endpoint.profile())?;
    for (name, value) in &endpoint.sysctl {
        set(&mut config, name, value)?;
    }
    Ok(config)
}

/// How a sysctl changes a model; why it cannot.
type Setter = fn(&mut Config, &str) -> Result<(), &'static str>;

/// The sysctls that models know, by name.
const SETTERS: &[(&str, Setter)] = &[
    ("net.core.rmem_max", |config, value| {
        number(value).map(|bytes| config.receiving.most_asked = Bytes::new(bytes))
    }),
    ("net.core.wmem_max", |config, value| {
        number(value).map(|bytes| config.sending.most_asked = Bytes::new(bytes))
    }),
    ("net.ipv4.ip_no_pmtu_disc", |config, value| {
        flag(value).map(|on| config.path_mtu.discovery = !on)
    }),
    ("net.ipv4.route.min_pmtu", |config, value| {
        let least = value.parse().ok().filter(|least| *least >= 68);
        config.path_mtu.least = least.ok_or("a whole number from 68 to 65535")?;
        Ok(())
    }),
    ("net.ipv4.tcp_base_mss", |config, value| {
        let base = value.parse().ok().filter(|base| *base >= 48);
        config.path_mtu.base_mss = base.ok_or("a whole number from 48 to 65535")?;
        Ok(())
    }),
    ("net.ipv4.tcp_congestion_control", |config, value| {
        value.clone_into(&mut config.window.congestion);
        Ok(())
    }),
    ("net.ipv4.tcp_comp_sack_delay_ns", |config, value| {
        number(value).map(|nanos| config.acks.compressed.1 = Span::from_nanos(nanos))
    }),
    ("net.ipv4.tcp_comp_sack_nr", |config, value| {
        small(value).map(|count| config.acks.compressed.0 = count)
    }),
    ("net.ipv4.tcp_dsack", |config, value| flag(value).map(|on| config.handshake.dsack = on)),
    ("net.ipv4.tcp_early_retrans", |config, value| match value {
        "0" => {
            config.recovery.tail_loss_probe = false;
            Ok(())
        }
        "3" | "4" => {
            config.recovery.tail_loss_probe = true;
            Ok(())
        }
        _ => Err("0 (no tail loss probes), 3 or 4"),
    }),
    ("net.ipv4.tcp_ecn", |config, value| {
        config.handshake.ecn = match value {
            "0" => Ecn::Off,
            "1" => Ecn::Asked,
            "2" => Ecn::Granted,
            _ => return Err("0, 1 or 2"),
        };
        Ok(())
    }),
    ("net.ipv4.tcp_fin_timeout", |config, value| {
        number(value).map(|seconds| config.handshake.fin_wait_2 = Span::from_secs(seconds))
    }),
    ("net.ipv4.tcp_frto", |config, value| {
        number(value).map(|mode| config.recovery.frto = mode > 0)
    }),
    ("net.ipv4.tcp_keepalive_intvl", |config, value| {
        number(value).map(|seconds| config.liveness.keep_interval = Span::from_secs(seconds))
    }),
    ("net.ipv4.tcp_keepalive_probes", |config, value| {
        tiny(value).map(|count| config.liveness.keep_probes = count)
    }),
    ("net.ipv4.tcp_keepalive_time", |config, value| {
        number(value).map(|seconds| config.liveness.keep_idle = Span::from_secs(seconds))
    }),
    ("net.ipv4.tcp_max_reordering", |config, value| {
        small(value).map(|count| config.recovery.most_reordering = count)
    }),
    ("net.ipv4.tcp_mtu_probing", |config, value| {
        config.path_mtu.black_hole = match value {
            "0" => BlackHole::Ignored,
            "1" => BlackHole::Linux,
            _ => return Err("0 (never) or 1 (once a black hole is suspected)"),
        };
        Ok(())
    }),
    ("net.ipv4.tcp_recovery", |config, value| {
        config.recovery.detection = match value {
            "0" => Detection::Sack,
            "1" => Detection::Rack,
            _ => return Err("0 (RFC 6675) or 1 (RACK)"),
        };
        Ok(())
    }),
    ("net.ipv4.tcp_reordering", |config, value| {
        small(value).map(|count| config.recovery.dupthresh = count)
    }),
    ("net.ipv4.tcp_retries1", |config, value| {
        tiny(value).map(|count| config.path_mtu.patience = count)
    }),
    ("net.ipv4.tcp_retries2", |config, value| {
        tiny(value).map(|count| config.timeout.retries = count)
    }),
    ("net.ipv4.tcp_rmem", |config, value| {
        let [_, first, most] = triple(value)?;
        config.receiving.buffer = [first, most];
        Ok(())
    }),
    ("net.ipv4.tcp_rto_max_ms", |config, value| {
        number(value).map(|millis| config.timeout.most = Span::from_millis(millis))
    }),
    ("net.ipv4.tcp_rto_min_us", |config, value| {
        number(value).map(|micros| config.timeout.least = Span::from_micros(micros))
    }),
    ("net.ipv4.tcp_sack", |config, value| flag(value).map(|on| config.handshake.sack = on)),
    ("net.ipv4.tcp_slow_start_after_idle", |config, value| {
        flag(value).map(|on| config.window.slow_start_after_idle = on)
    }),
    ("net.ipv4.tcp_syn_linear_timeouts", |config, value| {
        tiny(value).map(|count| config.handshake.syn_linear_timeouts = count)
    }),
    ("net.ipv4.tcp_syn_retries", |config, value| {
        tiny(value).map(|count| config.handshake.syn_retries = count)
    }),
    ("net.ipv4.tcp_synack_retries", |config, value| {
        tiny(value).map(|count| config.handshake.synack_retries = count)
    }),
    ("net.ipv4.tcp_timestamps", |config, value| {
        number(value).map(|mode| config.handshake.timestamps = mode > 0)
    }),
    ("net.ipv4.tcp_window_scaling", |config, value| {
        flag(value).map(|on| config.handshake.window_scale = on.then_some(0))
    }),
    ("net.ipv4.tcp_wmem", |config, value| {
        let [_, first, most] = triple(value)?;
        config.sending.buffer = [first, most];
        Ok(())
    }),
];

/// Sets what the sysctl `name` stands for.
///
/// # Errors
/// When a model has no such setting, or not with that value.
fn set(config: &mut Config, name: &str, value: &str) -> Result<(), SettingsError> {
    let Some((_, setter)) = SETTERS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = SETTERS.iter().map(|(name, _)| *name).collect();
        return Err(SettingsError::Unknown { name: name.into(), known: known.join(", ") });
    };
    setter(config, value.trim()).map_err(|expected| SettingsError::Value {
        name: name.into(),
        value: value.into(),
        expected,
    })
}

fn number(value: &str) -> Result<u64, &'static str> {
    value.parse().map_err(|_| "a whole number, not negative")
}

fn small(value: &str) -> Result<u32, &'static str> {
    value.parse().map_err(|_| "a whole number below 2³²")
}

fn tiny(value: &str) -> Result<u8, &'static str> {
    value.parse().map_err(|_| "a whole number up to 255")
}

fn flag(value: &str) -> Result<bool, &'static str> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("0 or 1"),
    }
}

/// Least, first and most, bytes.
fn triple(value: &str) -> Result<[Bytes; 3], &'static str> {
    const EXPECTED: &str = "three numbers of bytes: least, first and most";
    let sizes: Result<Vec<u64>, _> = value.split_whitespace().map(str::parse).collect();
    match sizes.map_err(|_| EXPECTED)?[..] {
        [least, first, most] if least <= first && first <= most => {
            Ok([least, first, most].map(Bytes::new))
        }
        _ => Err(EXPECTED),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::Stack;

    use super::*;

    fn of(stack: Stack, sysctls: &[(&str, &str)]) -> Result<Config, SettingsError> {
        let sysctl = sysctls.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        settings(&EndpointSpec { stack, sysctl, ..EndpointSpec::default() })
    }

    #[test]
    fn linux_without_sysctls_is_the_default_config() {
        assert_eq!(of(Stack::Linux, &[]), Ok(Config::default()));
    }

    #[test]
    fn sysctls_set_the_fields_of_the_config() {
        let config = of(
            Stack::Linux,
            &[("net.ipv4.tcp_rmem", "4096 131072 724992"), ("net.ipv4.tcp_early_retrans", "0")],
        );
        let config = config.unwrap();
        assert_eq!(config.receiving.buffer, [Bytes::new(131_072), Bytes::new(724_992)]);
        assert!(!config.recovery.tail_loss_probe);
    }

    #[test]
    fn unknown_sysctls_and_values_are_refused() {
        let told = of(Stack::Linux, &[("net.ipv4.tcp_mem", "1")]).unwrap_err().to_string();
        assert!(told.starts_with("`net.ipv4.tcp_mem` is no setting of a model; there are net."));
        let told = of(Stack::Linux, &[("net.ipv4.tcp_sack", "yes")]).unwrap_err().to_string();
        assert_eq!(told, "`net.ipv4.tcp_sack` of a model cannot be `yes`: 0 or 1");
        let told = of(Stack::Linux, &[("net.ipv4.tcp_wmem", "9 8 7")]).unwrap_err();
        assert!(matches!(told, SettingsError::Value { .. }));
    }
}
