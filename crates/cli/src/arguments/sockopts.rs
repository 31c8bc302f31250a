//! `tcplab sockopts`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SockoptsArguments {
    /// Only these: names of the man page (SO_RCVBUF), of a scenario (rcvbuf), or parts of them
    pub(crate) names: Vec<String>,
    /// Only those of this level
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<OptionLevel>,
    /// Only those that a scenario can set
    #[arg(long)]
    pub(crate) keys: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
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
  tcplab sockopts                    every option of this machine, a line or two each
  tcplab sockopts SO_RCVBUF          one in full: default, limit, sysctls, what Linux makes of it
  tcplab sockopts keep               all whose name has `keep` in it
  tcplab sockopts --level tcp --keys those of TCP that a scenario can vary

An option is a level, a name and a value: setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size).
What is asked for is a wish: Linux doubles buffer sizes, cuts them to what a sysctl allows, rounds
times to its clock, and takes some options without a word and without effect. So every experiment of
tcplab reads them back: before they are set, set, connected, and at the end. In a scenario:

  [client]
  socket = { rcvbuf = \"64 KiB\", nodelay = true, linger = \"5 s\" }

  [server]
  socket   = { backlog = 128, defer_accept = \"5 s\" }   the socket it listens on
  accepted = { keepalive = true, keepidle = \"10 s\" }   the sockets that accept() gives

  [matrix]
  \"client.socket.sndbuf\" = [\"1 KiB\", \"4 KiB\", \"64 KiB\"]

Nothing is sent: the options are read on fresh sockets.";
