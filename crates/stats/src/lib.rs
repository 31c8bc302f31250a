//! tcplab-stats.
