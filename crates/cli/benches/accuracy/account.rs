//! Counters of the sender's kernel, compared with the analyser.

use std::path::Path;
use std::process::Command;

use tcplab_trace::{Flow, Limit, LimitShares, Trace};

/// The client's output of `ss` about its socket, in its directory.
pub(crate) const FILE: &str = "near.ss";

/// The times of one socket in milliseconds: busy, and of that limited by the receiver's window or
/// by the send buffer (`tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    busy: f64,
    receive_window: f64,
    send_buffer: f64,
}

/// The output of `ss` about local sockets connected to this port.
pub(crate) fn sockets(port: u16) -> Option<String> {
    let mut command = Command::new("ss");
    command.args(["--tcp", "--info", "--numeric", "--no-header", "--all"]);
    let output = command.arg(format!("dport = :{port}")).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

impl Account {
    /// The client's account, if it wrote one.
    pub(crate) fn left_in(directory: &Path) -> Option<Account> {
        let text = std::fs::read_to_string(directory.join(FILE)).ok()?;
        let number = |name: &str| {
            let rest = text.split_whitespace().find_map(|word| word.strip_prefix(name))?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<f64>().ok()
        };
        Some(Account {
            busy: number("busy:")?,
            receive_window: number("rwnd_limited:").unwrap_or(0.0),
            send_buffer: number("sndbuf_limited:").unwrap_or(0.0),
        })
    }

    /// Shares of the busy time in percent: name, the kernel's, the analyser's. A capture point at
    /// the receiver cannot distinguish a full window from a full buffer of the same size
    /// ([`Limit::SendBuffer`]).
    pub(crate) fn beside(&self, flow: &Flow, at_sender: bool) -> Vec<(&'static str, f64, f64)> {
        let shares = &flow.shares;
        let ours = |limit| percent(shares.of(limit).as_secs_f64(), busy(shares));
        let (window, buffer) = (ours(Limit::ReceiveWindow), ours(Limit::SendBuffer));
        let kernels = |time| percent(time, self.busy);
        let total = shares.total().as_secs_f64() * 1e3;
        let busy_here = percent(busy(shares) * 1e3, total);
        let in_use = ("busy", percent(self.busy.min(total), total), busy_here);
        if at_sender {
            vec![
                ("window", kernels(self.receive_window), window),
                ("buffer", kernels(self.send_buffer), buffer),
                in_use,
            ]
        } else {
            let both = kernels(self.receive_window + self.send_buffer);
            vec![("window or buffer", both, window + buffer), in_use]
        }
    }
}

/// The flow with most data.
pub(crate) fn largest(trace: &Trace) -> Option<&Flow> {
    trace.connections.iter().map(|c| &c.forward).max_by_key(|flow| flow.totals.data)
}

fn busy(shares: &LimitShares) -> f64 {
    shares.busy().as_secs_f64()
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}
