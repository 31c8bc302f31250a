//! tcplab-wire.
