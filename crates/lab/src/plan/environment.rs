//! What the numbers depend on besides the scenario: the machine and its settings.

use std::fs;
use std::path::Path;

use super::kernels::VirtualKernels;
use crate::json::to_json;

/// Name and value of what should be known of the machine, in the order to show. What cannot be
/// read is left out.
pub fn environment() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            rows.push((name.to_owned(), value));
        }
    };
    row("tcplab", Some(env!("CARGO_PKG_VERSION").into()));
    row("tcplab's revision", Some(env!("TCPLAB_REVISION").into()));
    row("kernel", read("/proc/sys/kernel/osrelease"));
    row("kernel build", read("/proc/sys/kernel/version"));
    row("processor", processor());
    row("processors", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    row("memory", memory());
    row("clock source", read("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    row("load at the start", read("/proc/loadavg"));
    row("operating system", operating_system());
    for name in [
        "tcp_available_congestion_control",
        "tcp_congestion_control",
        "tcp_rmem",
        "tcp_wmem",
        "tcp_sack",
        "tcp_recovery",
        "tcp_early_retrans",
        "tcp_frto",
    ] {
        row(&format!("machine's net.ipv4.{name}"), read(&format!("/proc/sys/net/ipv4/{name}")));
    }
    let hystart = "/sys/module/tcp_cubic/parameters/hystart";
    row("tcp_cubic hystart", Path::new(hystart).exists().then(|| read(hystart)).flatten());
    rows
}

/// The environment of a run on these kernels in virtual time.
pub(crate) fn environment_of_run(kernels: &VirtualKernels) -> Vec<(String, String)> {
    environment().into_iter().chain(kernels.environment()).collect()
}

/// Version and revision of tcplab.
pub(crate) fn tcplab() -> String {
    let (version, revision) = (env!("CARGO_PKG_VERSION"), env!("TCPLAB_REVISION"));
    format!("{version} {revision}").trim_end().to_owned()
}

/// What of this machine decides about a trial on its kernel: which kernel it is, on which
/// processor, and how its TCP is set.
pub(crate) fn of_kernel() -> String {
    let decides = |name: &str| {
        matches!(name, "kernel" | "kernel build" | "processor" | "tcp_cubic hystart")
            || name.starts_with("machine's net.")
    };
    let rows: Vec<_> = environment().into_iter().filter(|(name, _)| decides(name)).collect();
    blake3::hash(&to_json(&rows)).to_hex().to_string()
}

/// A sysctl of this machine, such as `net.ipv4.tcp_congestion_control`; none where it has none.
pub(crate) fn sysctl(name: &str) -> Option<String> {
    read(&format!("/proc/sys/{}", name.replace('.', "/"))).filter(|value| !value.is_empty())
}

fn read(file: &str) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().replace('\t', " "))
}

fn processor() -> Option<String> {
    field("/proc/cpuinfo", "model name", ':')
}

fn memory() -> Option<String> {
    field("/proc/meminfo", "MemTotal", ':')
}

fn operating_system() -> Option<String> {
    Some(field("/etc/os-release", "PRETTY_NAME", '=')?.trim_matches('"').to_owned())
}

/// The value of the first line that starts with `name`.
fn field(file: &str, name: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(separator)?.1.trim().to_owned())
}
