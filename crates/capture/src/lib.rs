//! tcplab-capture.
