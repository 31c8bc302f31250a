//! What follows from a situation, a rule each.

use tcplab_scenario::metrics;
use tcplab_trace::Limit;
use tcplab_units::{Bytes, Endpoint, Rate, Span};

use super::advice::{Advice, Change, Expected};
use super::model::Law;
use super::situation::{Goal, Situation};
use super::words::{amount, span};

/// The least gain that a formula must predict to recommend a setting.
const WORTH_IT: f64 = 1.1;
/// The least share of the time for which a limit must apply to be worth raising.
const NOTABLE: f64 = 0.1;
/// The largest window without scaling (RFC 9293 section 3.1).
const WINDOW_MAX: u64 = 65_535;
/// A queue is felt when it more than doubles the round trip by so much.
const FELT: Span = Span::from_millis(20);
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

/// The formula of its congestion control; none where it is not known, or no formula describes it.
fn law_of(situation: &Situation) -> Option<Law> {
    Law::named(situation.congestion.name.as_deref()?)
}

fn percent(share: f64) -> String {
    // As few digits as tell it: losses may be one in a million.
    let value = share * 100.0;
    let digits = if value > 0.0 { (1.0 - value.log10().floor()).clamp(2.0, 9.0) } else { 0.0 };
    let text = format!("{value:.*}", digits as usize);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A share of the time, as `tcplab trace` rounds it.
fn share_of(share: f64) -> String {
    match share * 100.0 {
        share if share >= 9.95 => format!("{share:.0} %"),
        share if share >= 0.95 => format!("{share:.1} %"),
        share if share > 0.0 => format!("{share:.2} %"),
        _ => "0 %".to_owned(),
    }
}

/// Loss at random keeps the window of Reno and CUBIC below what the path would carry.
fn congestion_for_loss(situation: &Situation) -> Option<Advice> {
    let law = law_of(situation)?;
    let mbits = |law: Law| law.goodput(situation, None).map(Rate::as_mbit_f64);
    let (from, to) = (mbits(law)?, mbits(Law::Bbr)?);
    if law == Law::Bbr || to / from < WORTH_IT {
        return None;
    }
    let window = law.window(situation.rtt, situation.loss)?;
    let settled = window * situation.segment().bits() as f64 / situation.rtt.as_secs_f64();
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
            "{} takes each loss for congestion: with {} of packets lost at random its window settles \
             near {window:.0} segments, which is {:.1} Mbit/s on this round trip of {}. BBR sends at \
             the rate that arrives.",
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
    })
}

/// What fills a queue keeps it full; BBR sends at the rate that arrives.
fn congestion_for_delay(situation: &Situation, goal: Goal) -> Option<Advice> {
    let queue = felt(situation)?;
    let law = law_of(situation)?;
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
    })
}

/// What a full queue adds, where that matters: of a capture, the mean round trip shows it.
fn felt(situation: &Situation) -> Option<Span> {
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

/// What may be on its way must fit in the receive window and the send buffer.
fn window(situation: &Situation) -> Option<Advice> {
    let bdp = situation.bdp()?;
    // A lost segment comes again a round trip later; meanwhile as much again arrives and waits.
    let room = Bytes::new(bdp.as_u64().saturating_mul(2));
    let narrow = situation.seen.as_ref().and_then(|seen| {
        let share = seen.share(Limit::ReceiveWindow) + seen.share(Limit::SendBuffer);
        let window = seen.window.filter(|window| window.as_u64() < room.as_u64())?;
        (share >= NOTABLE).then_some((window, share))
    });
    let needed = room.as_u64().saturating_mul(2).checked_next_power_of_two().unwrap_or(u64::MAX);
    // Linux grows to 6 MiB by itself (net.ipv4.tcp_rmem), half of which or more is window.
    let grows = situation.buffer_maxima.map_or(6 << 20, |[receive, send]| receive.min(send));
    let is_enough = narrow.is_none() && room.as_u64() <= grows / 2;
    let shift = (0..14).find(|shift| WINDOW_MAX << shift >= room.as_u64()).unwrap_or(14);
    let why = match (&narrow, &situation.seen) {
        (Some((window, _)), Some(seen)) => format!(
            "The receive window limited the sender for {} of the time, the send buffer for {}. The \
             window was at most {}, of a bandwidth-delay product of {}.",
            share_of(seen.share(Limit::ReceiveWindow)),
            share_of(seen.share(Limit::SendBuffer)),
            amount(*window),
            amount(bdp)
        ),
        _ => format!(
            "The path holds {} on its way; a window of {} takes a window scale of {shift}{}.",
            amount(bdp),
            amount(room),
            if is_enough {
                format!(
                    ", and Linux tunes its buffers up to {} MiB by itself{}",
                    grows >> 20,
                    if situation.buffer_maxima.is_some() { " on this machine" } else { "" }
                )
            } else {
                String::new()
            }
        ),
    };
    let expected = narrow.and_then(|(window, _)| {
        let law = law_of(situation)?;
        let goodput = |window| law.goodput(situation, Some(window)).map(Rate::as_mbit_f64);
        let (before, after) = goodput(window).zip(goodput(room))?;
        Some(Expected::of(metrics::GOODPUT, before, after))
    });
    let (what, how, changes) = if is_enough {
        let what = format!(
            "Leave the buffers to the kernel; of your own, set no less than {}.",
            amount(room)
        );
        let how =
            format!("elsewhere than on Linux: SO_RCVBUF and SO_SNDBUF of {} each", amount(room));
        (what, vec![how], Vec::new())
    } else {
        let what = format!("Let the receive window and the send buffer grow to {}.", amount(room));
        (what, larger_buffers(situation, needed), larger_buffers_tried(needed.max(6 << 20)))
    };
    let basis = "bandwidth-delay product = rate × round trip (RFC 6349 section 3.3.1); twice that, \
                 for while a lost segment is retransmitted, as much again arrives and must wait";
    Some(Advice { id: "buffers", what, how, why, basis, expected, changes })
}

/// How to raise the kernel's limits to `needed`: only where they are lower, so that no limit falls.
fn larger_buffers(situation: &Situation, needed: u64) -> Vec<String> {
    let maximum = needed.max(6 << 20);
    let mut how = Vec::new();
    for (index, (name, before, end)) in
        [("tcp_rmem", "4096 131072", "receiver"), ("tcp_wmem", "4096 16384", "sender")]
            .into_iter()
            .enumerate()
    {
        let present = situation.buffer_maxima.map(|maxima| maxima[index]);
        let condition = match present {
            Some(present) if present >= needed => continue,
            Some(_) => String::new(),
            None => format!(", if `sysctl net.ipv4.{name}` shows less than {needed} last"),
        };
        how.push(format!(
            "sysctl -w net.ipv4.{name}=\"{before} {maximum}\"   at the {end}{condition}"
        ));
    }
    how.push("and no SO_RCVBUF or SO_SNDBUF: setting either ends the kernel's own tuning".into());
    how
}

fn larger_buffers_tried(maximum: u64) -> Vec<Change> {
    vec![
        Change::new("server.sysctl.'net.ipv4.tcp_rmem'", format!("4096 131072 {maximum}")),
        Change::new("client.sysctl.'net.ipv4.tcp_wmem'", format!("4096 16384 {maximum}")),
    ]
}

/// Pieces that fill segments.
fn write_size(situation: &Situation) -> Option<Advice> {
    let seen = situation.seen.as_ref()?;
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
    })
}

/// Whoever owns the bottleneck can keep its queue short.
fn queue(situation: &Situation) -> Option<Advice> {
    let queue = felt(situation).filter(|queue| *queue > situation.rtt)?;
    Some(Advice {
        id: "queue",
        what: "Where the bottleneck is yours: a queue that manages itself, FQ-CoDel or CAKE."
            .into(),
        how: vec![match situation.rate {
            Some(rate) => format!("tc qdisc replace dev IFACE root cake bandwidth {rate}")
                .replace(" Mbit/s", "mbit")
                .replace(" Gbit/s", "gbit")
                .replace(" kbit/s", "kbit"),
            None => "tc qdisc replace dev IFACE root fq_codel".into(),
        }],
        why: format!(
            "Its queue adds up to {} to a round trip of {}. A managed queue stays near 5 ms, \
             and short answers pass the long transfers.",
            span(queue),
            span(situation.rtt)
        ),
        basis: "RFC 8290; target of 5 ms: RFC 8289 section 4.3",
        expected: None,
        changes: vec![Change::new(
            match situation.sender {
                Endpoint::Client => "path.forward.queue",
                Endpoint::Server => "path.reverse.queue",
            },
            serde_json::json!({ "fq_codel": {} }),
        )],
    })
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
        });
    };
    let bdp = situation.bdp().filter(|bdp| bdp.as_u64() > WINDOW_MAX);
    if let (Some(false), Some(bdp)) = (seen.window_scaling, bdp) {
        let goodput = |window: u64| {
            let law = law_of(situation)?;
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
