//! tcplab-plot.
