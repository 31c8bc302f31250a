//! tcplab-recording.
