//! tcplab-findings.
