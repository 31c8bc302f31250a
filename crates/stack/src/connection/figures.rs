//! The statistics of a connection.

use tcplab_units::{Bytes, Instant, Rate, Span};

use super::Connection;
use crate::info::Info;
use crate::sender::DeliveryRate;
use crate::state::State;

impl Connection {
    /// How the connection stands (`TCP_INFO`).
    pub fn info(&self, now: Instant) -> Info {
        let (figures, window) = (self.sender.figures(), self.sender.window());
        let counters = &self.counters;
        let since = |at: Instant| self.timers.jiffies.now(now).since(self.timers.jiffies.now(at));
        let [busy_time, rwnd_limited, sndbuf_limited] = self.counters.limits.times(now);
        let synchronized = self.state.is_synchronized();
        let repetitions = u32::from(self.handshake.retransmissions);
        let retransmits = if synchronized { figures.timeout.in_a_row } else { repetitions };
        Info {
            state: if self.handshake.fast.pending { State::SynReceived } else { self.state },
            syn_data: self.handshake.fast.taken,
            ca_state: window.state,
            retransmits,
            probes: figures.probes + u32::from(self.timers.keep_alive.probes),
            backoff: figures.timeout.backoff,
            timestamps: self.terms.timestamps,
            sack: self.terms.sack,
            window_scaling: self.terms.scaling,
            ecn: self.terms.ecn,
            ecn_seen: self.receiver.ecn.is_seen(),
            snd_wscale: self.terms.peer_scale,
            rcv_wscale: self.receiver.window_scale(),
            delivery_rate_app_limited: figures.delivery.is_some_and(|rate| rate.app_limited),
            rto: self.sender_rto(),
            ato: self.receiver.acks.interval(),
            snd_mss: self.terms.sending_mss,
            rcv_mss: self.receiver.peer_mss(),
            unacked: figures.outstanding.segments,
            sacked: figures.outstanding.sacked,
            lost: figures.outstanding.lost,
            retrans: figures.outstanding.retransmitted,
            last_data_sent: since(counters.last_sent),
            last_data_recv: since(self.receiver.acks.last_arrival()),
            last_ack_recv: since(counters.last_ack),
            pmtu: u32::from(self.terms.mtu),
            rcv_ssthresh: self.receiver.window_threshold(),
            rtt: figures.srtt.unwrap_or(Span::ZERO),
            rttvar: figures.rttvar,
            snd_ssthresh: window.ssthresh,
            snd_cwnd: window.cwnd,
            advmss: self.receiver.asked_mss(),
            reordering: figures.reordering,
            rcv_rtt: self.receiver.window.round_trip().unwrap_or_default(),
            rcv_space: self.receiver.read_per_round_trip(),
            total_retrans: figures.counters.retransmissions,
            pacing_rate: window.pacing.rate,
            bytes_acked: Bytes::new(counters.bytes_acked),
            bytes_received: Bytes::new(counters.bytes_received),
            segs_out: counters.segments_out,
            segs_in: counters.segments_in,
            notsent_bytes: Bytes::new(self.buffer.end().saturating_sub(self.sent())),
            min_rtt: figures.min_rtt,
            data_segs_in: counters.data_segments_in,
            data_segs_out: figures.counters.data_segments,
            delivery_rate: figures.delivery.and_then(|rate| self.delivery_rate(rate)),
            busy_time,
            rwnd_limited,
            sndbuf_limited,
            delivered: figures.delivered,
            delivered_ce: counters.delivered_ce,
            bytes_sent: Bytes::new(figures.counters.bytes_sent),
            bytes_retrans: Bytes::new(figures.counters.bytes_retransmitted),
            dsack_dups: figures.dsacks,
            reord_seen: figures.reorderings,
            rcv_ooopack: self.receiver.out_of_order_segments(),
            snd_wnd: if synchronized { self.sender.peer_window() } else { 0 },
            rcv_wnd: self.receiver.window_offered(),
            total_rto: figures.timeout.total,
        }
    }

    /// `tcp_compute_delivery_rate`.
    fn delivery_rate(&self, rate: DeliveryRate) -> Option<Rate> {
        let bytes = Bytes::new(rate.segments * u64::from(self.terms.sending_mss));
        Rate::of(bytes, Span::from_micros(rate.micros))
    }
}
