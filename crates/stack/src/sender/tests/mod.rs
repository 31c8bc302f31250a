//! Packets in time.
