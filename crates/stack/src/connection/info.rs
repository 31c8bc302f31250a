//! The statistics of a connection (`TCP_INFO`).

use tcplab_units::{Bytes, Instant};

use super::Connection;
use crate::info::Info;
use crate::state::State;

impl Connection {
    /// Its statistics.
    pub fn info(&self, now: Instant) -> Info {
        let counters = &self.counters;
        let sender = self.sender.info();
        let since = |at: Instant| self.timers.jiffies.now(now).since(self.timers.jiffies.now(at));
        let [busy_time, rwnd_limited, sndbuf_limited] = counters.limits.times(now);
        let synchronized = self.state.is_synchronized();
        let repetitions = u32::from(self.handshake.retransmissions);
        Info {
            state: if self.handshake.fast.pending && synchronized {
                State::SynReceived
            } else {
                self.state
            },
            syn_data: self.handshake.fast.taken,
            retransmits: if synchronized { sender.retransmits } else { repetitions },
            probes: sender.probes + u32::from(self.timers.keep_alive.probes),
            timestamps: self.terms.timestamps,
            sack: self.terms.sack,
            window_scaling: self.terms.scaling,
            ecn: self.terms.ecn || self.accurate.is_on(),
            ecn_seen: self.receiver.ecn.seen,
            snd_wscale: self.terms.peer_scale,
            rcv_wscale: self.receiver.window.scale,
            rto: self.sender_rto(),
            ato: self.receiver.acks.interval(),
            snd_mss: self.terms.sending_mss,
            rcv_mss: self.receiver.window.peer_mss,
            last_data_sent: since(counters.last_sent),
            last_data_recv: since(self.receiver.acks.last_arrival),
            last_ack_recv: since(counters.last_ack),
            pmtu: u32::from(self.terms.mtu),
            rcv_ssthresh: self.receiver.window.threshold,
            advmss: self.receiver.window.asked_mss,
            rcv_rtt: self.receiver.window.tuning.round_trip().unwrap_or_default(),
            rcv_space: self.receiver.window.tuning.space,
            bytes_acked: Bytes::new(counters.bytes_acked),
            bytes_received: Bytes::new(counters.bytes_received),
            segs_out: counters.segments_out,
            segs_in: counters.segments_in,
            notsent_bytes: Bytes::new(self.buffer.end().saturating_sub(self.sent())),
            data_segs_in: counters.data_segments_in,
            delivery_rate: self.sender.delivery_rate(self.terms.sending_mss),
            busy_time,
            rwnd_limited,
            sndbuf_limited,
            delivered_ce: counters.delivered_ce + self.sender.feedback.marked,
            delivered_bytes: self.sender.feedback.bytes,
            received_ce: self.accurate.marked,
            received_bytes: self.accurate.bytes,
            rcv_ooopack: self.receiver.out_of_order_segments,
            snd_wnd: if synchronized { sender.snd_wnd } else { 0 },
            rcv_wnd: self.receiver.window.offered,
            ..sender
        }
    }
}
