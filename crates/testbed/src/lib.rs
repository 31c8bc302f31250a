//! tcplab-testbed.
