//! Counters of the sender's kernel, compared with the analyser.

use std::path::Path;
use std::process::Command;

use tcplab_trace::{Flow, Limit, LimitShares, Trace};

/// Where the client leaves what `ss` says of its socket, in the directory that it runs in.
pub(crate) const FILE: &str = "near.ss";

/// The accounts of one socket: how long it was busy, and of that, how long the receiver's window or
/// the send buffer kept it (`tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).
/// Milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    busy: f64,
    receive_window: f64,
    send_buffer: f64,
}

/// What `ss` says of the sockets here that are connected to a port.
pub(crate) fn sockets(port: u16) -> Option<String> {
    let mut command = Command::new("ss");
    command.args(["--tcp", "--info", "--numeric", "--no-header", "--all"]);
    let output = command.arg(format!("dport = :{port}")).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

impl Account {
    /// What the client left, if it left anything.
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

    /// The shares of the busy time, per cent, that differ in meaning: each by its name, the
    /// kernel's and the analyser's. Beside the receiver nobody can tell a full window from a full
    /// buffer that holds as much ([`Limit::SendBuffer`]).
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

/// The flow that carried most.
pub(crate) fn largest(trace: &Trace) -> Option<&Flow> {
    trace.connections.iter().map(|c| &c.forward).max_by_key(|flow| flow.totals.data)
}

fn busy(shares: &LimitShares) -> f64 {
    shares.busy().as_secs_f64()
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}
