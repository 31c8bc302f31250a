//! Other analysers on the same capture.

use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// Wireshark's analysis of the packets of one host.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flags {
    pub(crate) retransmissions: usize,
    pub(crate) out_of_order: usize,
    pub(crate) keep_alives: usize,
    pub(crate) window_probes: usize,
}

/// None without tshark.
pub(crate) fn tshark(capture: &Path, host: IpAddr) -> Option<Flags> {
    const FIELDS: [&str; 4] = ["retransmission", "out_of_order", "keep_alive", "zero_window_probe"];
    let field = if host.is_ipv4() { "ip.src" } else { "ipv6.src" };
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-Y", &format!("{field}=={host}"), "-T", "fields"]);
    for name in FIELDS {
        command.args(["-e", &format!("tcp.analysis.{name}")]);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let mut counts = [0; FIELDS.len()];
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        for (count, field) in counts.iter_mut().zip(line.split('\t')) {
            *count += usize::from(!field.is_empty());
        }
    }
    let [retransmissions, out_of_order, keep_alives, window_probes] = counts;
    Some(Flags { retransmissions, out_of_order, keep_alives, window_probes })
}

/// Retransmitted and out-of-order packets of each connection's first host by tcptrace, which reads
/// no raw IP: only captures with Ethernet headers count.
pub(crate) fn tcptrace(capture: &Path) -> Option<(usize, usize)> {
    let output = Command::new("tcptrace").args(["-l", "-n"]).arg(capture).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = |name: &str| -> Option<usize> {
        let values = text.lines().filter_map(|line| line.trim().strip_prefix(name));
        values.map(|rest| rest.split_whitespace().next()?.parse::<usize>().ok()).sum()
    };
    (text.contains("rexmt data pkts:"))
        .then(|| Some((first("rexmt data pkts:")?, first("outoforder pkts:")?)))?
}
