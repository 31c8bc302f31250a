//! tcplab-path.
