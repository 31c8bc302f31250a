//! What the numbers in a connection's packets are relative to.

use std::net::SocketAddr;

use tcplab_wire::{FrameView, Numbering, SeqNumber};

use crate::Connection;

/// Numbers of a connection by which its packets are read. Small: one can be kept for each
/// connection of interest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionNumbers {
    /// The connection, counted from 0.
    pub index: usize,
    /// Both ends, the client first.
    pub ends: [SocketAddr; 2],
    /// First and last frame.
    pub frames: (u64, u64),
    initial: [Option<SeqNumber>; 2],
    shifts: [Option<u8>; 2],
}

impl ConnectionNumbers {
    /// Those of `connection`, whose number is `index`.
    pub fn new(index: usize, connection: &Connection) -> ConnectionNumbers {
        let Connection { client, server, frames, handshake, forward, reverse, .. } = connection;
        // RFC 7323 section 2.2: windows are scaled if both SYNs have the option.
        let scales = [&handshake.client, &handshake.server];
        let has_none = scales.iter().any(|syn| syn.seen && !syn.cut && syn.window_scale.is_none());
        let both = scales[0].window_scale.zip(scales[1].window_scale);
        let shifts = match both {
            Some((client, server)) => [Some(client), Some(server)],
            None if has_none => [Some(0); 2],
            None => [None; 2],
        };
        ConnectionNumbers {
            index,
            ends: [*client, *server],
            frames: *frames,
            initial: [forward.initial_sequence, reverse.initial_sequence],
            shifts,
        }
    }

    /// What a packet is read by; `None` if it is not one of this connection's.
    pub fn of(&self, packet: &FrameView<'_>, frame: u64) -> Option<Numbering> {
        let tcp = packet.tcp()?;
        let ends = [(tcp.src(), tcp.src_port()), (tcp.dst(), tcp.dst_port())].map(SocketAddr::from);
        let [client, server] = self.ends;
        let from = match ends {
            _ if !(self.frames.0..=self.frames.1).contains(&frame) => return None,
            ends if ends == [client, server] => 0,
            ends if ends == [server, client] => 1,
            _ => return None,
        };
        Some(Numbering {
            seq: self.initial[from],
            ack: self.initial[1 - from],
            window_shift: self.shifts[from],
        })
    }
}
