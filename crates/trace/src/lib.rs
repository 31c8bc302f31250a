//! tcplab-trace.
