//! `struct tcp_info` by the names that scripts use.

use tcplab_stack::Info;
use tcplab_units::Span;

use crate::constants::constant;

/// The field `name` of `info`, in Linux's units: microseconds for round trips and times of
/// limits, milliseconds for times since something, bytes a second for rates.
pub(super) fn field(info: &Info, name: &str) -> Option<i64> {
    let micros = |span: Span| span.as_micros() as i64;
    let millis = |span: Span| (span.as_micros() / 1_000) as i64;
    let rate = |rate: Option<tcplab_units::Rate>| {
        rate.map_or(-1, |rate| rate.bytes_in(Span::from_secs(1)).as_u64() as i64)
    };
    Some(match name.strip_prefix("tcpi_")? {
        "state" => info.state.number().into(),
        "ca_state" => info.ca_state as i64,
        "retransmits" => info.retransmits.into(),
        "probes" => info.probes.into(),
        "backoff" => info.backoff.into(),
        "options" => options(info),
        "snd_wscale" => info.snd_wscale.into(),
        "rcv_wscale" => info.rcv_wscale.into(),
        "rto" => micros(info.rto),
        "ato" => micros(info.ato),
        "snd_mss" => info.snd_mss.into(),
        "rcv_mss" => info.rcv_mss.into(),
        "unacked" => info.unacked.into(),
        "sacked" => info.sacked.into(),
        "lost" => info.lost.into(),
        "retrans" => info.retrans.into(),
        "last_data_sent" => millis(info.last_data_sent),
        "last_data_recv" => millis(info.last_data_recv),
        "last_ack_recv" => millis(info.last_ack_recv),
        "pmtu" => info.pmtu.into(),
        "rcv_ssthresh" => info.rcv_ssthresh as i64,
        "rtt" => micros(info.rtt),
        "rttvar" => micros(info.rttvar),
        "snd_ssthresh" => info.snd_ssthresh.into(),
        "snd_cwnd" => info.snd_cwnd.into(),
        "advmss" => info.advmss.into(),
        "reordering" => info.reordering.into(),
        "rcv_rtt" => micros(info.rcv_rtt),
        "rcv_space" => info.rcv_space as i64,
        "total_retrans" => info.total_retrans as i64,
        "pacing_rate" => rate(info.pacing_rate),
        "bytes_acked" => info.bytes_acked.as_u64() as i64,
        "bytes_received" => info.bytes_received.as_u64() as i64,
        "segs_out" => info.segs_out as i64,
        "segs_in" => info.segs_in as i64,
        "notsent_bytes" => info.notsent_bytes.as_u64() as i64,
        "min_rtt" => info.min_rtt.map_or(-1, micros),
        "data_segs_in" => info.data_segs_in as i64,
        "data_segs_out" => info.data_segs_out as i64,
        "delivery_rate" => info.delivery_rate.map_or(0, |known| rate(Some(known))),
        "delivery_rate_app_limited" => info.delivery_rate_app_limited.into(),
        "busy_time" => micros(info.busy_time),
        "rwnd_limited" => micros(info.rwnd_limited),
        "sndbuf_limited" => micros(info.sndbuf_limited),
        "delivered" => info.delivered as i64,
        "delivered_ce" => info.delivered_ce as i64,
        "bytes_sent" => info.bytes_sent.as_u64() as i64,
        "bytes_retrans" => info.bytes_retrans.as_u64() as i64,
        "dsack_dups" => info.dsack_dups as i64,
        "reord_seen" => info.reord_seen as i64,
        "rcv_ooopack" => info.rcv_ooopack.into(),
        "snd_wnd" => info.snd_wnd as i64,
        "rcv_wnd" => info.rcv_wnd as i64,
        "total_rto" => info.total_rto as i64,
        name => return marks(info, name),
    })
}

/// What Accurate ECN counts.
fn marks(info: &Info, name: &str) -> Option<i64> {
    Some(match name {
        "delivered_e1_bytes" => info.delivered_bytes[1].into(),
        "delivered_e0_bytes" => info.delivered_bytes[2].into(),
        "delivered_ce_bytes" => info.delivered_bytes[3].into(),
        "received_ce" => info.received_ce.into(),
        "received_e1_bytes" => info.received_bytes[1].into(),
        "received_e0_bytes" => info.received_bytes[2].into(),
        "received_ce_bytes" => info.received_bytes[3].into(),
        _ => return None,
    })
}

fn options(info: &Info) -> i64 {
    [
        (info.timestamps, "TCPI_OPT_TIMESTAMPS"),
        (info.sack, "TCPI_OPT_SACK"),
        (info.window_scaling, "TCPI_OPT_WSCALE"),
        (info.ecn, "TCPI_OPT_ECN"),
        (info.ecn_seen, "TCPI_OPT_ECN_SEEN"),
        (info.syn_data, "TCPI_OPT_SYN_DATA"),
    ]
    .into_iter()
    .filter(|(set, _)| *set)
    .filter_map(|(_, name)| constant(name))
    .fold(0, |all, bit| all | bit)
}
