//! `tcplab sockopts`.

use clap::{Args, ValueEnum};

use super::JsonArguments;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SockoptsArguments {
    /// Show these options: names of the man page (SO_RCVBUF), of a scenario (rcvbuf), or parts
    pub(crate) names: Vec<String>,
    /// Show options of this level
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<OptionLevel>,
    /// Show options that a scenario can set
    #[arg(long)]
    pub(crate) keys: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OptionLevel {
    /// SOL_SOCKET, socket(7), and what listen(2) is given
    Socket,
    /// IPPROTO_TCP, tcp(7)
    Tcp,
    /// IPPROTO_IP, ip(7)
    Ip,
    /// IPPROTO_IPV6, ipv6(7)
    Ipv6,
}

const EXAMPLES: &str = "\
Examples:
  tcplab sockopts                    list all options of this machine
  tcplab sockopts SO_RCVBUF          show one in full: default, limit, sysctls, effect
  tcplab sockopts keep               list those with `keep` in their name
  tcplab sockopts --level tcp --keys list TCP options that a scenario can vary

An option is a level, a name and a value: setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size).
The effective value can differ from the requested one: Linux doubles buffer sizes, caps them by a
sysctl, rounds times to its clock, and ignores some options silently. So every experiment reads the
options back: before they are set, after, when connected, and at the end. In a scenario:

  [client]
  socket = { rcvbuf = \"64 KiB\", nodelay = true, linger = \"5 s\" }

  [server]
  socket   = { backlog = 128, defer_accept = \"5 s\" }   the listening socket
  accepted = { keepalive = true, keepidle = \"10 s\" }   the accepted sockets

  [matrix]
  \"client.socket.sndbuf\" = [\"1 KiB\", \"4 KiB\", \"64 KiB\"]

The command reads fresh sockets and sends nothing.";
