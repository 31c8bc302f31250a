//! What follows from a situation, a rule each.

use tcplab_scenario::metrics;
use tcplab_trace::Limit;
use tcplab_units::{Bytes, Endpoint, Rate, Span, rounded};

use super::advice::{Advice, Change, Expected};
use super::model::Law;
use super::seen::NOTABLE;
use super::situation::{Goal, Situation};
use super::window::{WINDOW_MAX, window};
use super::words::{amount, percent, share_of, span};

/// The least gain that a formula must predict to recommend a setting.
const WORTH_IT: f64 = 1.1;
/// A queue is felt when it more than doubles the round trip by so much.
const FELT: Span = Span::from_millis(20);
/// What CoDel lets wait (RFC 8289 section 4.3).
const TARGET: Span = Span::from_millis(5);
/// The share of the link's rate to which its owner limits it, so that the queue is here.
const BELOW: f64 = 0.95;
/// The most that Linux delays an acknowledgement at first (`TCP_ATO_MIN` in include/net/tcp.h).
const DELAYED_ACK: Span = Span::from_millis(40);

/// The recommendations, the most useful first. Nothing is advised without a reason in the
/// situation.
pub fn advise(situation: &Situation, goal: Goal) -> Vec<Advice> {
    let mut all = all(situation, goal);
    all.sort_by(|one, other| {
        let gain = |advice: &Advice| advice.expected.as_ref().map_or(1.0, Expected::factor);
        gain(other).total_cmp(&gain(one))
    });
    all
}

/// What all rules say.
pub(super) fn all(situation: &Situation, goal: Goal) -> Vec<Advice> {
    let mut all = Vec::new();
    if goal.wants_throughput() {
        all.extend(congestion_for_loss(situation));
        all.extend(window(situation));
        all.extend(write_size(situation));
    }
    if goal.wants_latency() {
        all.extend(congestion_for_delay(situation, goal));
        all.extend(no_delay(situation));
        all.extend(queue(situation));
    }
    if goal == Goal::Both {
        all.extend(not_sent(situation));
    }
    all.extend(options(situation));
    all
}

/// Loss without a full queue keeps the window of Reno and CUBIC below what the path would carry.
/// What a connection was seen to reach is not below what the formula says.
fn congestion_for_loss(situation: &Situation) -> Option<Advice> {
    let law = Law::of(situation)?;
    let mbits = |law: Law| law.goodput(situation, None).map(Rate::as_mbit_f64);
    let (reckoned, to) = (mbits(law)?, mbits(Law::Bbr)?);
    let seen = situation.seen.as_ref().and_then(|seen| seen.goodput);
    let from = seen.map_or(reckoned, |seen| reckoned.max(seen.as_mbit_f64()));
    if law == Law::Bbr || to / from < WORTH_IT {
        return None;
    }
    let window = law.window(situation.rtt, situation.loss)?;
    let settled = window * situation.segment().bits() as f64 / situation.rtt.as_secs_f64();
    let which = if situation.has_losses_of_queue {
        "lost (those of a full queue included)"
    } else {
        "lost for other reasons than a full queue"
    };
    let mut how = vec!["sysctl -w net.ipv4.tcp_congestion_control=bbr".into()];
    how.push("or for one socket: setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"bbr\", 3)".into());
    if !situation.offers("bbr") {
        how.insert(0, "modprobe tcp_bbr".into());
    }
    Some(Advice {
        id: "congestion-control",
        what: "Use BBR as congestion control at the end that sends.".into(),
        how,
        why: format!(
            "{} takes each loss for congestion: with {} of packets {which} its window settles near \
             {window:.0} segments, which is {:.1} Mbit/s on this round trip of {}. BBR sends at the \
             rate that arrives.",
            law.name(),
            percent(situation.loss),
            settled / 1e6,
            span(situation.rtt),
        ),
        basis: match law {
            Law::Cubic => {
                "settled window = 1.054 (RTT/p)^(3/4) segments (RFC 9438 section 5.1), at \
                           least that of Reno; the transfer reckoned round trip by round trip, its \
                           slow start included"
            }
            _ => {
                "settled window = 1.22/√p segments (Mathis and others, 1997); the transfer reckoned \
                  round trip by round trip, its slow start included"
            }
        },
        expected: Some(Expected::of(metrics::GOODPUT, from, to)),
        changes: vec![Change::new(&situation.congestion_key(), "bbr")],
        replaces: other_congestion(situation),
    })
}

/// What fills a queue keeps it full; BBR sends at the rate that arrives.
fn congestion_for_delay(situation: &Situation, goal: Goal) -> Option<Advice> {
    let queue = felt(situation)?;
    let law = Law::of(situation)?;
    let is_settled = law == Law::Bbr
        // Then it has been said already, for a better reason.
        || goal.wants_throughput() && congestion_for_loss(situation).is_some();
    let losses_keep_it_empty =
        law.window(situation.rtt, situation.loss).zip(situation.bdp()).is_some_and(
            |(window, bdp)| window * (situation.segment().as_u64() as f64) < bdp.as_u64() as f64,
        );
    if is_settled || losses_keep_it_empty {
        return None;
    }
    let (rtt, full) = (situation.rtt.as_millis_f64(), (situation.rtt + queue).as_millis_f64());
    Some(Advice {
        id: "congestion-control",
        what: "Use BBR as congestion control at the end that sends.".into(),
        how: vec!["sysctl -w net.ipv4.tcp_congestion_control=bbr".into()],
        why: format!(
            "{} sends until the queue before the bottleneck overflows; full, it adds {} to a \
             round trip of {}. BBR keeps about a bandwidth-delay product on its way, so the queue \
             stays short.",
            law.name(),
            span(queue),
            span(situation.rtt)
        ),
        basis: "loss-based congestion control fills the queue (RFC 5681 section 3.1; RFC 8289 \
                section 1); BBR bounds what is in flight to two bandwidth-delay products",
        // Two bandwidth-delay products at most, one and a quarter while it looks for more.
        expected: Some(Expected::of(
            metrics::RTT_MEAN,
            f64::midpoint(full, f64::midpoint(rtt, full)),
            (rtt * 1.25).max(rtt + least_flight(situation)).min(full),
        )),
        changes: vec![Change::new(&situation.congestion_key(), "bbr")],
        replaces: other_congestion(situation),
    })
}

/// What a run sets beside the socket's own key, and what would win over it.
fn other_congestion(situation: &Situation) -> Vec<Change> {
    let set = situation.ends.as_ref();
    set.and_then(|ends| ends.set(situation.sender, "accepted.congestion")).into_iter().collect()
}

/// What a full queue adds, where that matters: of a capture, the mean round trip shows it.
pub(super) fn felt(situation: &Situation) -> Option<Span> {
    let is_seen = situation.seen.as_ref().and_then(|seen| seen.mean_rtt);
    let stood = is_seen.map_or(FELT, |mean| mean.saturating_sub(situation.rtt));
    situation.queue.filter(|queue| *queue >= FELT && stood >= FELT)
}

/// Four segments, below which BBR's window never falls (`bbr_cwnd_min_target` in tcp_bbr.c), at the
/// path's rate, in milliseconds.
fn least_flight(situation: &Situation) -> f64 {
    let bits = 4.0 * situation.mtu.bits() as f64;
    situation.rate.map_or(0.0, |rate| bits / rate.bits_per_second().max(1) as f64 * 1e3)
}

/// Pieces that fill segments.
fn write_size(situation: &Situation) -> Option<Advice> {
    // Of requests and responses each is as long as it is, and waiting for the other is the purpose.
    let seen = situation.seen.as_ref().filter(|seen| !seen.is_dialogue)?;
    (seen.share(Limit::Application) >= NOTABLE).then(|| Advice {
        id: "write-size",
        what: "Hand the socket 64 KiB or more at once, and never wait for an answer in between."
            .into(),
        how: vec!["write(fd, buffer, 65536), or sendfile(2)".into()],
        why: format!(
            "For {} of the time the application had nothing to send.",
            share_of(seen.share(Limit::Application))
        ),
        basis: "measured: what bounded the rate in the capture",
        expected: None,
        changes: Vec::new(),
        replaces: Vec::new(),
    })
}

/// Small messages must not wait for one another.
fn no_delay(situation: &Situation) -> Option<Advice> {
    let seen = situation.seen.as_ref();
    if seen.is_some_and(|seen| seen.nagle_waits == 0) {
        return None;
    }
    let rtt = situation.rtt.as_millis_f64();
    let waits = seen.map(|seen| {
        let each = seen.nagle_waited.as_millis_f64() / seen.nagle_waits.max(1) as f64;
        (seen.nagle_waits, each)
    });
    let why = match waits {
        Some((count, each)) => format!(
            "{count} small segments waited for an acknowledgement, {each:.0} ms each: Nagle's \
             algorithm holds them back, and the receiver delays what they wait for."
        ),
        None => "Nagle's algorithm holds a small segment back until all before it is acknowledged, \
                 and the receiver delays that acknowledgement: a request written in two pieces takes \
                 a round trip and the delay longer."
            .into(),
    };
    Some(Advice {
        id: "nodelay",
        what: "Write each message whole, with TCP_NODELAY.".into(),
        how: vec![
            "setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int))".into(),
            "and one write(2) or writev(2) for a message; MSG_MORE where it is built in pieces"
                .into(),
        ],
        why,
        basis: "RFC 9293 sections 3.7.4 and 3.8.6.3; Linux delays acknowledgements by 40 ms at first",
        expected: Some(Expected::of(
            metrics::MEDIAN_RESPONSE,
            waits.map_or(2.0 * rtt + DELAYED_ACK.as_millis_f64(), |(_, each)| rtt + each),
            rtt,
        )),
        changes: vec![
            Change::new("client.socket.nodelay", true),
            Change::new("server.accepted.nodelay", true),
        ],
        replaces: Vec::new(),
    })
}

/// Whoever owns the bottleneck can keep its queue short.
fn queue(situation: &Situation) -> Option<Advice> {
    let queue = felt(situation).filter(|queue| *queue > situation.rtt)?;
    let (target, managed) = managed_queue(situation);
    Some(Advice {
        id: "queue",
        what: "Where the bottleneck is yours: a queue that manages itself, FQ-CoDel or CAKE."
            .into(),
        how: vec![match situation.rate {
            Some(rate) => {
                // Above or at the link's rate the packets wait in another queue.
                let below = (rate.bits_per_second() as f64 * BELOW) as u64;
                let below = rounded::rate(Rate::from_bits_per_second(below));
                let below = below.replace(' ', "").replace("/s", "").to_lowercase();
                format!("tc qdisc replace dev IFACE root cake bandwidth {below}")
            }
            None => "tc qdisc replace dev IFACE root fq_codel".into(),
        }],
        why: format!(
            "Its queue adds up to {} to a round trip of {}. A managed queue stays near {}, \
             and short answers pass the long transfers.",
            span(queue),
            span(situation.rtt),
            span(target)
        ),
        basis: "RFC 8290; target of 5 ms, and at least the time of a packet: RFC 8289 sections 4.3 \
                and 4.4; one and a half of it, and a rate below the link's: tc-cake(8)",
        expected: None,
        changes: vec![Change::new(
            match situation.sender {
                Endpoint::Client => "path.forward.queue",
                Endpoint::Server => "path.reverse.queue",
            },
            serde_json::json!({ "fq_codel": managed }),
        )],
        replaces: Vec::new(),
    })
}

/// The wait that a managed queue allows, and the keys of FQ-CoDel for it where that is not its
/// default: at least one and a half packets (RFC 8289 section 4.4), which CAKE takes by itself.
fn managed_queue(situation: &Situation) -> (Span, serde_json::Value) {
    /// CoDel's interval, below which its target must be.
    const INTERVAL: Span = Span::from_millis(100);
    let target = Span::from_micros((least_flight(situation) * 1e3 * 1.5 / 4.0).ceil() as u64);
    if target <= TARGET {
        return (TARGET, serde_json::json!({}));
    }
    let interval = INTERVAL.max(target * 2);
    (target, serde_json::json!({ "target": target, "interval": interval }))
}

/// What waits in the socket cannot be passed by what is more urgent.
fn not_sent(situation: &Situation) -> Option<Advice> {
    situation.seen.is_none().then(|| Advice {
        id: "notsent-lowat",
        what: "Where one connection carries both, keep little unsent in its socket.".into(),
        how: vec![
            "setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){131072}, sizeof(int))".into(),
        ],
        why:
            "What was written is sent in order: an answer waits behind all that stands in the send \
              buffer, which the kernel tunes to megabytes."
                .into(),
        basis: "tcp(7); 128 KiB fill a path of 10 Mbit/s for 100 ms",
        expected: None,
        changes: Vec::new(),
        replaces: Vec::new(),
    })
}

/// Options that a SYN offered not.
fn options(situation: &Situation) -> Vec<Advice> {
    let Some(seen) = &situation.seen else { return Vec::new() };
    let mut all = Vec::new();
    let mut add = |id, what: &str, sysctl: &str, why: String, basis: &'static str, expected| {
        all.push(Advice {
            id,
            what: what.into(),
            how: vec![format!("sysctl -w {sysctl}=1   at both ends, where it is off")],
            why,
            basis,
            expected,
            changes: Vec::new(),
            replaces: Vec::new(),
        });
    };
    let bdp = situation.bdp().filter(|bdp| bdp.as_u64() > WINDOW_MAX);
    if let (Some(false), Some(bdp)) = (seen.window_scaling, bdp) {
        let goodput = |window: u64| {
            let law = Law::of(situation)?;
            law.goodput(situation, Some(Bytes::new(window))).map(Rate::as_mbit_f64)
        };
        let expected = goodput(WINDOW_MAX).zip(goodput(bdp.as_u64() * 2));
        add(
            "window-scaling",
            "Turn window scaling on at both ends.",
            "net.ipv4.tcp_window_scaling",
            format!(
                "Without it no window is larger than 65,535 B, and the path holds {}.",
                amount(bdp)
            ),
            "RFC 7323 section 2: window / round trip bounds the rate",
            expected.map(|(before, after)| Expected::of(metrics::GOODPUT, before, after)),
        );
    }
    if seen.sack == Some(false) && seen.retransmissions > 0 {
        add(
            "sack",
            "Turn selective acknowledgements on at both ends.",
            "net.ipv4.tcp_sack",
            format!(
                "{} of {} segments were retransmitted; without SACK the sender learns of one loss a \
                 round trip.",
                seen.retransmissions, seen.segments
            ),
            "RFC 6675 section 1; RFC 2018",
            None,
        );
    }
    if seen.timestamps == Some(false) && seen.retransmissions > 0 {
        add(
            "timestamps",
            "Turn timestamps on at both ends.",
            "net.ipv4.tcp_timestamps",
            "They show which retransmissions are spurious, and give RTT samples of retransmitted \
             data."
                .into(),
            "RFC 7323 section 4; RFC 3522",
            None,
        );
    }
    all
}
