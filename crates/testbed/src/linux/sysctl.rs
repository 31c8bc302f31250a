//! Settings of a network namespace under `/proc/sys/net`: set, and read back for the record.
//!
//! The kernel shows each thread the settings of the namespace that the thread is in.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::OnceLock;

use crate::TrialError;

/// No IPv6 yet: its neighbour discovery would put packets of its own on the path.
const OWN: &[(&str, &str)] =
    &[("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];

/// Sets tcplab's own settings in the calling thread's namespace.
pub(crate) fn keep_quiet() {
    for (name, value) in OWN {
        // A kernel without IPv6 has nothing to switch off.
        let _ = fs::write(file_of(name), value);
    }
}

/// Sets tcplab's own settings and then the scenario's in the calling thread's namespace.
pub(crate) fn apply(
    endpoint: &'static str,
    settings: &BTreeMap<String, String>,
) -> Result<(), TrialError> {
    keep_quiet();
    for (name, value) in settings {
        fs::write(file_of(name), value)
            .map_err(|source| refusal(endpoint, name, value, explained(name, value, source)))?;
    }
    Ok(())
}

/// All `net.ipv4.tcp_*` settings in force in the calling thread's namespace.
pub(crate) fn in_force() -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir("/proc/sys/net/ipv4") else { return BTreeMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let value =
                name.starts_with("tcp_").then(|| fs::read_to_string(entry.path()).ok())??;
            Some((format!("net.ipv4.{name}"), value.trim().replace('\t', " ")))
        })
        .collect()
}

/// The congestion controls that this kernel has loaded.
pub(crate) fn congestion_controls() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    names.unwrap_or_default().split_whitespace().map(Into::into).collect()
}

/// The error of a congestion control that this kernel does not have.
pub(crate) fn no_congestion_control(name: &str) -> TrialError {
    TrialError::Reported {
        message: format!("this kernel has no congestion control \"{name}\""),
        remedy: Some(format!(
            "it has: {}; more come as modules, as root: `modprobe tcp_{name}`",
            congestion_controls().join(", ")
        )),
    }
}

/// Settings of the whole machine that bound what sockets get.
const OF_THE_MACHINE: &[&str] = &["net.core.rmem_max", "net.core.wmem_max"];
/// As they were before this process went into a namespace of its own: there, kernels before 6.10
/// do not show them.
static SEEN_OUTSIDE: OnceLock<BTreeMap<&'static str, String>> = OnceLock::new();

/// To be called before this process enters a namespace of its own.
pub(crate) fn look_around() {
    let read = |name: &&'static str| Some((*name, read(name)?));
    let _ = SEEN_OUTSIDE.set(OF_THE_MACHINE.iter().filter_map(read).collect());
}

/// The value of a setting in the calling thread's namespace, or of the machine where no namespace
/// has one of its own.
pub(crate) fn value(name: &str) -> Option<String> {
    read(name).or_else(|| SEEN_OUTSIDE.get()?.get(name).cloned())
}

fn read(name: &str) -> Option<String> {
    let value = fs::read_to_string(file_of(name)).ok()?;
    Some(value.trim().replace('\t', " "))
}

fn refusal(endpoint: &'static str, name: &str, value: &str, source: io::Error) -> TrialError {
    TrialError::Sysctl { endpoint, name: name.into(), value: value.into(), source }
}

/// In a namespace that is not the initial one, `tcp_congestion_control` takes only what the
/// initial one allows (net/ipv4/tcp_cong.c, `tcp_set_default_congestion_control`), and the
/// kernel's answer does not say so.
fn explained(name: &str, value: &str, source: io::Error) -> io::Error {
    if name != "net.ipv4.tcp_congestion_control" {
        return source;
    }
    io::Error::new(
        source.kind(),
        format!(
            "{source}. A namespace may choose only what the machine allows \
             (net.ipv4.tcp_allowed_congestion_control); \
             set `socket = {{ congestion = \"{value}\" }}` instead, which has no such limit"
        ),
    )
}

fn file_of(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
