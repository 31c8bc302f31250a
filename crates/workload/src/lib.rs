//! tcplab-workload.
