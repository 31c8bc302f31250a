//! tcplab-scenario.
