//! What one stack does differently from another: everything that a profile can set.
//!
//! Defaults are those of Linux 6.18 with its default sysctls.

mod recovery;

use schemars::JsonSchema;
use serde::Deserialize;
use tcplab_units::{Bytes, Span};

pub use recovery::{Detection, Recovery, Reduction};

use crate::{FreeBsd, SocketOption, TimestampOrder};

/// A stack's constants and rules. One for each endpoint, not changed while it lives.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Opening, closing and options.
    pub handshake: Handshake,
    /// The timers of the sender.
    pub timeout: Timeout,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Congestion window.
    pub window: CongestionWindow,
    /// Send buffer and segmentation.
    pub sending: Sending,
    /// Receive buffer and window.
    pub receiving: Receiving,
    /// When acknowledgements are sent.
    pub acks: Acks,
    /// Path MTU discovery.
    pub path_mtu: PathMtu,
    /// Dead peers.
    pub liveness: Liveness,
    /// The machine that the stack runs on.
    pub host: Host,
    /// FreeBSD's rules where settings say nothing; absent: Linux's.
    pub freebsd: Option<FreeBsd>,
    /// What its applications set on their sockets before they connect or listen, in this order.
    #[serde(skip)]
    pub socket: Vec<SocketOption>,
}

impl Config {
    /// Whether the stack is Linux in what no setting says: its timers are.
    pub(crate) fn is_linux(&self) -> bool {
        self.timeout.rule == TimeoutRule::Linux
    }
}

/// What is offered in SYN segments, and how connections come and go.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Handshake {
    /// The MSS offered, bytes (RFC 9293 section 3.7.1); 0: what fits the MTU.
    pub mss: u16,
    /// Whether selective acknowledgements are offered and accepted (`tcp_sack`).
    pub sack: bool,
    /// Whether D-SACK blocks are sent (`tcp_dsack`).
    pub dsack: bool,
    /// Whether timestamps are offered and accepted (`tcp_timestamps`).
    pub timestamps: bool,
    /// The byte order of their values.
    pub timestamp_order: TimestampOrder,
    /// Whether segments with an older timestamp than the last are dropped (PAWS, RFC 7323 section
    /// 5).
    pub paws: bool,
    /// The least window scale offered; `None`: no scaling (`tcp_window_scaling`).
    pub window_scale: Option<u8>,
    /// Whether a client asks for ECN and a server grants it (`tcp_ecn`).
    pub ecn: Ecn,
    /// When segments carry the option of Accurate ECN (`tcp_ecn_option`): 0 never, 1 when there is
    /// news, 2 always, 3 even if it seems to get lost.
    pub ecn_option: u8,
    /// How often in an RTT they do at least (`tcp_ecn_option_beacon`).
    pub ecn_option_beacon: u32,
    /// Whether retransmitted SYNs do without ECN, and impossible answers end it
    /// (`tcp_ecn_fallback`).
    pub ecn_fallback: bool,
    /// Whether a server keeps nothing of a SYN, but has all come back with the ACK (RFC 4987
    /// section 3.6, `tcp_syncookies = 2`): the peer's segment size in four steps, options only
    /// where both have timestamps.
    pub syn_cookies: bool,
    /// How often a SYN is retransmitted (`tcp_syn_retries`).
    pub syn_retries: u8,
    /// How often a SYN-ACK is retransmitted (`tcp_synack_retries`).
    pub synack_retries: u8,
    /// The first retransmissions of a SYN, as many as this, come without backing off
    /// (`tcp_syn_linear_timeouts`).
    pub syn_linear_timeouts: u8,
    /// How long TIME-WAIT lasts (`TCP_TIMEWAIT_LEN`; RFC 9293: twice the segment lifetime).
    pub time_wait: Span,
    /// How long FIN-WAIT-2 lasts once the application has closed (`tcp_fin_timeout`).
    pub fin_wait_2: Span,
    /// The least time between answers to possible attacks (`tcp_invalid_ratelimit`, RFC 5961
    /// section 7).
    pub challenge_ack_interval: Span,
    /// Whether an open connection answers an acknowledgement of what was never sent, as since Linux
    /// 6.18; before, it is dropped (RFC 5961 section 5.2, `tcp_ack`).
    pub challenges_unsent: bool,
}

/// RFC 3168.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// Never.
    Off,
    /// Granted when asked for (`tcp_ecn = 2`).
    Granted,
    /// Asked for and granted (`tcp_ecn = 1`).
    Asked,
    /// Accurate ECN (RFC 9768) asked for and granted (`tcp_ecn = 3`).
    Accurate,
    /// Accurate ECN granted, that of RFC 3168 asked for (`tcp_ecn = 4`).
    AccurateOrClassic,
    /// Accurate ECN granted, none asked for (`tcp_ecn = 5`).
    AccurateGranted,
}

/// The retransmission timer.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timeout {
    /// How the timeout follows from RTTs.
    pub rule: TimeoutRule,
    /// The timeout before the first RTT is known (`TCP_TIMEOUT_INIT`, RFC 6298 section 2.1).
    pub initial: Span,
    /// The least timeout, as the rule applies it (`tcp_rto_min_us`).
    pub least: Span,
    /// What a route or a setting asks for in its place (`tcp_rto_min`). How long Linux goes on
    /// trying, and how it probes a closed window, follow from `least` all the same.
    #[serde(skip)]
    pub asked_least: Option<Span>,
    /// The longest timeout (`tcp_rto_max_ms`).
    pub most: Span,
    /// The factors of timeouts in a row; after the last, doubling continues. Empty: doubled from
    /// the first.
    pub backoff: Vec<u32>,
    /// How many retransmissions until the connection is given up (`tcp_retries2`); Linux waits as
    /// long as that many would take from `least` on.
    pub retries: u8,
    /// Whether `retries` counts retransmissions rather than their time.
    pub counts_retries: bool,
    /// What the timer marks lost.
    pub action: TimeoutAction,
    /// BSD stacks take the timeout for spurious if an acknowledgement arrives within this share of
    /// a smoothed RTT after the first retransmission; eighths, 0: never.
    pub bad_retransmit_eighths: u32,
}

/// How the timeout follows from RTTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutRule {
    /// `SRTT + max(least, deviation)` as `tcp_rtt_estimator` has it.
    Linux,
    /// RFC 6298: `max(least, SRTT + 4·RTTVAR)`.
    Rfc6298,
    /// `least + max(30 ms, SRTT + 4·RTTVAR)` (xnu: `TCP_REXMTVAL` and slop).
    Xnu,
    /// `max(least, SRTT + 2·RTTVAR)`; without timestamps 2 s after each acknowledgement (Haiku
    /// before August 2017).
    OldHaiku,
    /// `SRTT + max(100 ms, 4·RTTVAR)` (Haiku after).
    Haiku,
}

/// What is marked lost when the timer expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutAction {
    /// The first segment, and those that RACK finds overdue (`tcp_enter_loss`,
    /// `tcp_timeout_mark_lost`).
    Scoreboard,
    /// All segments not SACKed (RFC 6675 section 5.1).
    AllUnsacked,
    /// Everything: SACK is discarded and sending restarts at the first byte (go-back-N).
    GoBack,
}

/// The congestion window.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CongestionWindow {
    /// The congestion control by name (`tcp_congestion_control`).
    pub congestion: String,
    /// Initial window, segments (`TCP_INIT_CWND`, RFC 6928).
    pub initial: u32,
    /// The first threshold, in segments; `None`: none; `Some(0)`: the peer's first window.
    pub first_threshold: Option<u32>,
    /// Whether the window shrinks after an idle time (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// The most segments by which one acknowledgement grows the window in slow start (RFC 3465: L);
    /// 0: as many as it acknowledges.
    pub growth_limit: u32,
    /// Whether CUBIC's HyStart follows rounds from the first window on; 5.10 does so only from its
    /// least window on, and so begins in the middle of a round (`hystart_low_window`).
    pub hystart_from_first: bool,
}

/// Send buffer and segmentation.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent rules, each of its own version of a stack"
)]
pub struct Sending {
    /// The send buffer at the start and its largest tuned size; equal: never tuned
    /// (`tcp_wmem[1]`, `tcp_wmem[2]`).
    pub buffer: [Bytes; 2],
    /// The largest SO_SNDBUF (`net.core.wmem_max`).
    pub most_asked: Bytes,
    /// The most segments in the buffer, however small; `None`: only bytes count.
    pub segments: Option<u32>,
    /// The most segments in flight, regardless of windows; `None`: no such limit.
    pub unacked: Option<u32>,
    /// Whether a segment is charged its memory as in Linux (`skb->truesize`) rather than its bytes.
    pub charges_memory: bool,
    /// What a segment's memory has room for besides data, bytes (`MAX_TCP_HEADER`): 128 and the
    /// longest header of a link, rounded up to 64. The kernel's build decides: 192 where it knows
    /// neither wireless LANs nor tunnels, 320 in those of most distributions. What the send buffer
    /// grows to depends on it (`tcp_sndbuf_expand`).
    pub header_room: u32,
    /// Whether memory of small packets comes in blocks of their size, as in Linux 6.12
    /// (`SKB_SMALL_HEAD_CACHE_SIZE`), not in powers of two, as in 6.1.
    pub small_blocks: bool,
    /// Whether a buffer that is shorter than what may leave takes from the next one, as in Linux
    /// 6.12 (`tcp_grow_skb`; 6.1 does not).
    pub grows_short: bool,
    /// Nagle's algorithm (RFC 896), optionally with Minshall's rule (`tcp_minshall_check`).
    pub nagle: Nagle,
    /// The largest burst handed down as one, bytes; 0: segments one by one
    /// (`GSO_LEGACY_MAX_SIZE`).
    pub burst: u32,
    /// Whether close peers get larger ones (`tcp_tso_rtt_log`, since Linux 5.18).
    pub bursts_by_rtt: bool,
    /// The fewest segments of such a burst when pacing (`tcp_min_tso_segs`).
    pub least_burst: u32,
    /// Whether segments are paced if the congestion control does not pace them
    /// (`sk_pacing_status`).
    pub paced: bool,
}

/// Holding back small segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nagle {
    /// While anything is unacknowledged (RFC 896).
    Plain,
    /// While a small segment is unacknowledged (Minshall).
    Minshall,
    /// Never (`TCP_NODELAY`).
    Off,
}

/// Receive buffer and window.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent rules, each of its own version of a stack"
)]
pub struct Receiving {
    /// The receive buffer at the start and its largest tuned size; equal: never tuned
    /// (`tcp_rmem[1]`, `tcp_rmem[2]`).
    pub buffer: [Bytes; 2],
    /// The largest SO_RCVBUF (`net.core.rmem_max`); the window's scale is for as much
    /// at least.
    pub most_asked: Bytes,
    /// The most segments in the buffer, however small; `None`: only bytes count.
    pub segments: Option<u32>,
    /// The most out-of-order segments kept; `None`: as many as fit the buffer.
    pub out_of_order: Option<u32>,
    /// Which part of the buffer is window, in 256ths (`scaling_ratio`; 256: all of it).
    pub window_share: u32,
    /// Whether that follows the size of segments that are charged more than their data, as since
    /// Linux 6.6 (before: `tcp_adv_win_scale`).
    pub window_share_follows: bool,
    /// Whether the application set the buffer (SO_RCVBUF): the window's scale is chosen for it
    /// alone then, and nothing tunes it (`SOCK_RCVBUF_LOCK`).
    pub locked: bool,
    /// What stands before a segment's data in its memory, bytes: headers and headroom. The segment
    /// is charged for all its memory (`skb->truesize`), which comes in blocks. 0: data alone
    /// counts.
    pub segment_overhead: u32,
    /// How the buffer follows what the application reads.
    pub tuning: ReceiveTuning,
    /// The largest window, whatever the buffer.
    pub most_window: Option<Bytes>,
    /// Whether a segment is acceptable up to the furthest edge of the window ever offered (RFC 7323
    /// section 2.4; Linux 7.2's `rcv_mwnd_seq`) rather than to that of the last offer.
    pub remembers_edge: bool,
    /// Whether the window may shrink, where windows are scaled (`tcp_shrink_window`).
    pub shrinks: bool,
}

/// How the receive buffer follows what the application reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveTuning {
    /// Not at all.
    None,
    /// `tcp_rcv_space_adjust` of Linux 5.10 and 6.1: what waits to be read counts, too, and memory
    /// is that of whole segments.
    #[serde(rename = "linux-6.1")]
    Linux61,
    /// `tcp_rcv_space_adjust` of Linux 6.12.
    #[serde(rename = "linux-6.12")]
    Linux612,
    /// `tcp_rcv_space_adjust` of Linux 6.18.
    #[serde(rename = "linux-6.18")]
    Linux618,
    /// `tcp_rcvbuf_grow` of Linux 7.2: slower where the RTT is below 1 ms (`tcp_rcvbuf_low_rtt`).
    #[serde(rename = "linux-7.2")]
    Linux72,
}

/// When acknowledgements are sent.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Acks {
    /// Whether acknowledgements of data in order are delayed at all (RFC 9293 section 3.8.6.3).
    pub delayed: bool,
    /// The least and the most delay (`TCP_DELACK_MIN`, `TCP_DELACK_MAX`).
    pub delay: [Span; 2],
    /// An ACK is due after this many full segments (RFC 5681: 2); in FreeBSD after as many segments
    /// of any size.
    pub every: u32,
    /// How many first acknowledgements are not delayed (`TCP_MAX_QUICKACKS`).
    pub quick: u32,
    /// Stretch acknowledgements (xnu): after the first number of segments in a fast stream, one
    /// acknowledgement per second number of segments; `None`: never.
    pub stretch: Option<(u32, u32)>,
    /// Whether out-of-order data is acknowledged at once (RFC 5681 section 4.2).
    pub out_of_order_at_once: bool,
    /// Compression of acknowledgements of out-of-order data: the most held, and how long
    /// (`tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns`); (0, _): none.
    pub compressed: (u32, Span),
    /// They are held no longer than this part of an RTT either, percent
    /// (`tcp_comp_sack_rtt_percent`).
    pub compressed_percent: u32,
    /// How much later than that the timer may expire, and does where nothing else wakes the kernel
    /// (`tcp_comp_sack_slack_ns`).
    pub compressed_slack: Span,
    /// Whether their timestamps are of when they leave, not of the last arrival
    /// (`tcp_mstamp_refresh` in `tcp_compressed_ack_kick`).
    pub compressed_stamp_is_new: bool,
}

/// How the path MTU is discovered.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathMtu {
    /// Whether packets are sent with "don't fragment" and ICMP's "fragmentation needed" is heeded
    /// (RFC 1191; `ip_no_pmtu_disc = 0`). Otherwise routers fragment them.
    pub discovery: bool,
    /// The smallest packet size discovered, bytes of IP; on a path with a smaller MTU, routers may
    /// fragment (`net.ipv4.route.min_pmtu`).
    pub least: u16,
    /// What to do if large packets vanish without an ICMP error.
    pub black_hole: BlackHole,
    /// Data bytes of the segments that are tried first then (`tcp_base_mss`).
    pub base_mss: u16,
    /// How many unanswered retransmissions suggest a black hole (`tcp_retries1`); Linux waits as
    /// long as that many would take.
    pub patience: u8,
}

/// What to do if large packets vanish without an ICMP error (RFC 2923 section 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlackHole {
    /// Nothing: the segment is retransmitted as it is (`tcp_mtu_probing = 0`).
    Ignored,
    /// Segments of `base_mss`, halved with each further timeout (`tcp_mtu_probing = 1`). They stay
    /// small: larger ones are not tried.
    Linux,
}

/// Dead peers.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Liveness {
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// TCP_KEEPIDLE.
    pub keep_idle: Span,
    /// TCP_KEEPINTVL.
    pub keep_interval: Span,
    /// TCP_KEEPCNT.
    pub keep_probes: u8,
    /// TCP_USER_TIMEOUT; zero: none (RFC 5482).
    pub user_timeout: Span,
}

/// The machine: its timers, clock and cost of work.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Timers expire on multiples of this, counted from the machine's start (`CONFIG_HZ`); zero:
    /// exactly.
    pub tick: Span,
    /// Whether timers are kept in a wheel, which is coarser for distant timers, so that they expire
    /// late (Linux's `timer_list` since 4.8).
    pub wheel: bool,
    /// The ticks that the machine has counted when time begins: distant timers expire on multiples
    /// of 8, 64, … ticks.
    pub first_tick: u64,
    /// The unit of the timestamps option's clock (RFC 7323 section 5.4).
    pub timestamp_tick: Span,
    /// The time that the machine needs for each incoming segment, data or acknowledgement, one
    /// after the other. In virtual time there is no other cost of work.
    pub processing: Span,
    /// How many packet buffers all connections of the machine share, at least 1; absent:
    /// unlimited. Each segment that waits to be sent or acknowledged, to be read, or to be worked
    /// on takes one, however small it is.
    pub pool: Option<u32>,
}

impl Default for Handshake {
    fn default() -> Handshake {
        Handshake {
            mss: 0,
            sack: true,
            dsack: true,
            timestamps: true,
            timestamp_order: TimestampOrder::Network,
            paws: true,
            window_scale: Some(0),
            ecn: Ecn::Granted,
            ecn_option: 2,
            ecn_option_beacon: 3,
            ecn_fallback: true,
            syn_cookies: false,
            syn_retries: 6,
            synack_retries: 5,
            syn_linear_timeouts: 4,
            time_wait: Span::from_secs(60),
            fin_wait_2: Span::from_secs(60),
            challenge_ack_interval: Span::from_millis(500),
            challenges_unsent: true,
        }
    }
}

impl Default for Timeout {
    fn default() -> Timeout {
        Timeout {
            rule: TimeoutRule::Linux,
            initial: Span::from_secs(1),
            least: Span::from_millis(200),
            asked_least: None,
            most: Span::from_secs(120),
            backoff: Vec::new(),
            retries: 15,
            counts_retries: false,
            action: TimeoutAction::Scoreboard,
            bad_retransmit_eighths: 0,
        }
    }
}

impl Default for CongestionWindow {
    fn default() -> CongestionWindow {
        CongestionWindow {
            congestion: "cubic".into(),
            initial: 10,
            first_threshold: None,
            slow_start_after_idle: true,
            growth_limit: 0,
            hystart_from_first: true,
        }
    }
}

impl Default for Sending {
    fn default() -> Sending {
        Sending {
            buffer: [Bytes::new(16_384), Bytes::new(4_194_304)],
            most_asked: Bytes::new(4_194_304),
            segments: None,
            unacked: None,
            charges_memory: true,
            header_room: 192,
            small_blocks: true,
            grows_short: true,
            nagle: Nagle::Minshall,
            burst: 65_536,
            bursts_by_rtt: true,
            least_burst: 2,
            paced: false,
        }
    }
}

impl Default for Receiving {
    fn default() -> Receiving {
        Receiving {
            buffer: [Bytes::new(131_072), Bytes::new(33_554_432)],
            most_asked: Bytes::new(4_194_304),
            segments: None,
            out_of_order: None,
            window_share: 128,
            window_share_follows: true,
            locked: false,
            // Of a packet that comes from a TUN device (`tun_alloc_skb`): headers of 52, headroom
            // of 64 (`NET_SKB_PAD`).
            segment_overhead: 116,
            tuning: ReceiveTuning::Linux618,
            most_window: None,
            remembers_edge: false,
            shrinks: false,
        }
    }
}

impl Default for Acks {
    fn default() -> Acks {
        Acks {
            delayed: true,
            delay: [Span::from_millis(40), Span::from_millis(200)],
            every: 2,
            quick: 16,
            stretch: None,
            out_of_order_at_once: true,
            compressed: (44, Span::from_millis(1)),
            compressed_percent: 5,
            compressed_slack: Span::from_micros(100),
            compressed_stamp_is_new: true,
        }
    }
}

impl Default for PathMtu {
    fn default() -> PathMtu {
        PathMtu {
            discovery: true,
            least: 552,
            black_hole: BlackHole::Ignored,
            base_mss: 1_024,
            patience: 3,
        }
    }
}

impl Default for Liveness {
    fn default() -> Liveness {
        Liveness {
            keep_alive: false,
            keep_idle: Span::from_secs(7_200),
            keep_interval: Span::from_secs(75),
            keep_probes: 9,
            user_timeout: Span::ZERO,
        }
    }
}

impl Default for Host {
    fn default() -> Host {
        Host {
            tick: Span::from_millis(4),
            wheel: true,
            first_tick: 0,
            timestamp_tick: Span::from_millis(1),
            processing: Span::ZERO,
            pool: None,
        }
    }
}
