//! What a scenario asks of an endpoint, as the settings of the stack that models it.

use tcplab_recording::OptionRecord;
use tcplab_scenario::{EndpointSpec, RouteSpec, RouteValue};
use tcplab_stack::config::Ecn;
use tcplab_stack::{Config, SYSCTLS, SysctlError, set_sysctl};
use tcplab_workload::Outcome;

use crate::error::SettingsError;

/// The settings of the model that simulates an endpoint, without its socket options.
///
/// # Errors
/// When the model has no such settings.
pub(crate) fn settings(endpoint: &EndpointSpec) -> Result<Config, SettingsError> {
    let mut config = endpoint.model.applied_to(endpoint.profile())?;
    for (name, value) in &endpoint.sysctl {
        set_sysctl(&mut config, name, value.trim()).map_err(|error| {
            let name = name.into();
            match error {
                SysctlError::Unknown => SettingsError::Unknown { name, known: SYSCTLS.join(", ") },
                SysctlError::Value(expected) => {
                    SettingsError::Value { name, value: value.into(), expected }
                }
            }
        })?;
    }
    set_route(&mut config, &endpoint.route)?;
    if let Some(name) = endpoint.module.keys().next() {
        return Err(SettingsError::Module { name: name.clone() });
    }
    Ok(config)
}

/// Checks what an endpoint asks of its route and of kernel modules.
///
/// # Errors
/// The first that its model does not have.
pub fn check_route_and_modules(endpoint: &EndpointSpec) -> Result<(), SettingsError> {
    let EndpointSpec { route, module, .. } = endpoint.clone();
    settings(&EndpointSpec { route, module, ..EndpointSpec::default() }).map(drop)
}

/// What the attributes of a route mean to a model.
fn set_route(config: &mut Config, route: &RouteSpec) -> Result<(), SettingsError> {
    for (key, _, value) in route.attributes() {
        match (key, value) {
            ("initcwnd", RouteValue::Segments(count)) => config.window.initial = count,
            ("rto_min", RouteValue::Time(span)) => config.timeout.asked_least = Some(span),
            ("quickack", RouteValue::Flag(on)) => config.acks.delayed &= !on,
            ("congctl", RouteValue::Name(name)) => {
                name.clone_into(&mut config.window.congestion);
            }
            ("window", RouteValue::Size(size)) => config.receiving.most_window = Some(size),
            ("ecn", RouteValue::Flag(true)) => {
                let ecn = &mut config.handshake.ecn;
                *ecn = match *ecn {
                    Ecn::Off | Ecn::Granted => Ecn::Asked,
                    Ecn::AccurateGranted => Ecn::AccurateOrClassic,
                    asked => asked,
                };
            }
            ("ecn", RouteValue::Flag(false)) => {}
            _ => return Err(SettingsError::Route { key }),
        }
    }
    Ok(())
}

/// The attributes of the route of a model, which has all that it takes.
pub(crate) fn route_record(route: &RouteSpec) -> Vec<OptionRecord> {
    let record = |(key, option, value): (&'static str, &'static str, RouteValue<'_>)| {
        let text = value.to_string();
        OptionRecord {
            name: key.into(),
            option: option.into(),
            requested: Some(text.clone()),
            effective: text,
            outcome: Outcome::AsAsked,
            ..OptionRecord::default()
        }
    };
    route.attributes().map(record).collect()
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::Stack;
    use tcplab_units::{Bytes, Span};

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
    fn attributes_of_the_route_set_the_fields_of_the_config() {
        let route = RouteSpec {
            initcwnd: Some(3),
            rto_min: Some(Span::from_millis(50)),
            quickack: Some(true),
            congctl: Some("reno".into()),
            window: Some(Bytes::new(30_000)),
            ecn: Some(true),
            ..RouteSpec::default()
        };
        let config = settings(&EndpointSpec { route, ..EndpointSpec::default() }).unwrap();
        assert_eq!((config.window.initial, config.acks.delayed), (3, false));
        assert_eq!(config.timeout.asked_least, Some(Span::from_millis(50)));
        assert_eq!(config.window.congestion, "reno");
        assert_eq!(config.receiving.most_window, Some(Bytes::new(30_000)));
        assert_eq!(config.handshake.ecn, Ecn::Asked);
    }

    #[test]
    fn attribute_or_module_that_no_model_has_is_refused() {
        let route = RouteSpec { initrwnd: Some(4), ..RouteSpec::default() };
        let refused = check_route_and_modules(&EndpointSpec { route, ..EndpointSpec::default() });
        assert_eq!(refused, Err(SettingsError::Route { key: "initrwnd" }));
        let module = [("tcp_cubic.hystart".into(), "0".into())].into();
        let refused = check_route_and_modules(&EndpointSpec { module, ..EndpointSpec::default() });
        assert!(matches!(refused, Err(SettingsError::Module { .. })), "{refused:?}");
    }

    #[test]
    fn unknown_sysctls_and_values_are_refused() {
        let error = of(Stack::Linux, &[("net.ipv4.tcp_mem", "1")]).unwrap_err().to_string();
        assert!(error.starts_with("`net.ipv4.tcp_mem` is no setting of a model; there are net."));
        let error = of(Stack::Linux, &[("net.ipv4.tcp_sack", "yes")]).unwrap_err().to_string();
        assert_eq!(error, "`net.ipv4.tcp_sack` of a model cannot be `yes`: 0 or 1");
        let error = of(Stack::Linux, &[("net.ipv4.tcp_wmem", "9 8 7")]).unwrap_err();
        assert!(matches!(error, SettingsError::Value { .. }));
    }
}
