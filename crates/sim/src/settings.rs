//! What a scenario asks of an endpoint, as the settings of the stack that models it.

use tcplab_scenario::EndpointSpec;
use tcplab_stack::{Config, SYSCTLS, SysctlError, set_sysctl};

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
    Ok(config)
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::Stack;
    use tcplab_units::Bytes;

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
        let error = of(Stack::Linux, &[("net.ipv4.tcp_mem", "1")]).unwrap_err().to_string();
        assert!(error.starts_with("`net.ipv4.tcp_mem` is no setting of a model; there are net."));
        let error = of(Stack::Linux, &[("net.ipv4.tcp_sack", "yes")]).unwrap_err().to_string();
        assert_eq!(error, "`net.ipv4.tcp_sack` of a model cannot be `yes`: 0 or 1");
        let error = of(Stack::Linux, &[("net.ipv4.tcp_wmem", "9 8 7")]).unwrap_err();
        assert!(matches!(error, SettingsError::Value { .. }));
    }
}
