//! tcplab-report.
