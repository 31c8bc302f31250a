//! tcplab-lab.
