//! What each of the two calls a segment, where the names differ, and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use tcplab_trace::{SegmentKind, Trace};

use super::names::NAMES;
use super::oracle::Row;
use super::reasons::{DUPLICATES, PACKETS, SEGMENTS};
use crate::truth;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/differences-from-tshark.md");
const NOTHING: &str = "nothing special";

/// Two names of a thing, ours and theirs, and in which captures how often.
type Pairs = BTreeMap<(&'static str, &'static str), BTreeMap<String, u64>>;

#[derive(Debug, Default)]
pub(super) struct Differences {
    segments: Pairs,
    duplicates: Pairs,
    /// Segments and acknowledgements that both call the same.
    alike: [u64; 2],
    /// Each host of each capture: retransmissions by its kernel, by us and by tshark.
    retransmissions: Vec<(String, [u64; 3])>,
}

impl Differences {
    pub(super) fn add(&mut self, capture: &str, trace: &Trace, rows: &[Row]) {
        let (mut ours_again, mut theirs_again) = (0, 0);
        let host = Host::beside(capture);
        for connection in &trace.connections {
            for (flow, sender) in
                [(&connection.forward, connection.client), (&connection.reverse, connection.server)]
            {
                let is_own = sender.ip() == host.address;
                for segment in &flow.segments {
                    let theirs = their_name(&rows[segment.frame as usize - 1]);
                    let is_again = segment.kind.is_retransmission();
                    ours_again += u64::from(is_own && is_again);
                    theirs_again += u64::from(is_own && theirs.ends_with("retransmission"));
                    if is_alike(segment.kind, theirs) {
                        self.alike[0] += 1;
                    } else {
                        count(&mut self.segments, (our_name(segment.kind), theirs), capture);
                    }
                }
                for ack in &flow.acks {
                    let theirs = rows[ack.frame as usize - 1].flags.contains(&"duplicate_ack");
                    if ack.duplicate == theirs {
                        self.alike[1] += 1;
                    } else {
                        let name = |is| if is { "duplicate" } else { "no duplicate" };
                        let pair = (name(ack.duplicate), name(theirs));
                        count(&mut self.duplicates, pair, capture);
                    }
                }
            }
        }
        let sums = [host.retransmitted(), ours_again, theirs_again];
        if sums.iter().any(|sum| *sum > 0) {
            self.retransmissions.push((format!("{} | {}", host.capture, host.role), sums));
        }
    }

    /// Compares the page with the differences, or writes it (`TCPLAB_BLESS`).
    #[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
    pub(super) fn check(&self, version: &str) {
        let page = self.page(version);
        if std::env::var_os("TCPLAB_BLESS").is_some() {
            std::fs::write(PAGE, page).unwrap();
            return;
        }
        let there = std::fs::read_to_string(PAGE).unwrap();
        let tells_of = format!("tshark {version}");
        if !there.contains(&tells_of) {
            eprintln!("skipped: the list of differences is not about {tells_of}");
            return;
        }
        assert!(
            there == page,
            "docs/differences-from-tshark.md is out of date: make it anew with \
             `TCPLAB_BLESS=1 cargo test -p tcplab-trace --test corpus tshark`; it would be\n{page}"
        );
    }

    fn page(&self, version: &str) -> String {
        let [segments, acks] = self.alike;
        let mut page = format!(
            "# Differences from tshark\n\n\
             Every packet of the captures in `corpus/groundtruth`, read by tcplab and by tshark \
             {version}. Addresses, ports,\nnumbers, windows (raw and scaled), options and lengths \
             are the same in all of them; a test compares each.\nWhat a packet is *called* differs \
             as listed here, with the reason. The test that compares writes this page.\n\n\
             ## Segments\n\n{segments} segments are called alike. The others:\n\n"
        );
        page += &table(&self.segments, SEGMENTS);
        let _ = write!(page, "\n## Acknowledgements\n\n{acks} are called alike. The others:\n\n");
        page += &table(&self.duplicates, DUPLICATES);
        page += "\n## Packets found\n\n\
            In captures of other networks, tcplab finds the TCP packets that tshark finds, behind \
            the same links and tunnels,\nexcept these kinds. Fragments are put together by both; a \
            packet counts at its last fragment.\n\n| packet | tshark | tcplab | why |\n|---|---|---|---|\n";
        for [packet, theirs, ours, why] in PACKETS {
            let _ = writeln!(page, "| {packet} | {theirs} | {ours} | {why} |");
        }
        page += "\n## Against the kernel\n\n\
            Captures taken at the sender, where every retransmission is seen: what the sender's \
            kernel counted\n(`TcpRetransSegs`, of both hosts), what tcplab calls a retransmission \
            (any kind), and what tshark does.\n\n\
            | capture | kernel | tcplab | tshark |\n|---|---:|---:|---:|\n";
        for (name, [kernel, ours, theirs]) in &self.retransmissions {
            let _ = writeln!(page, "| {name} | {kernel} | {ours} | {theirs} |");
        }
        page
    }
}

fn count(pairs: &mut Pairs, pair: (&'static str, &'static str), capture: &str) {
    *pairs.entry(pair).or_default().entry(capture.into()).or_default() += 1;
}

fn table(pairs: &Pairs, reasons: &[(&str, &str, &str)]) -> String {
    let mut table =
        String::from("| tcplab | tshark | packets | in | why |\n|---|---|---:|---|---|\n");
    let mut without = Vec::new();
    for ((ours, theirs), captures) in pairs {
        let known = reasons.iter().find(|reason| (reason.0, reason.1) == (ours, theirs));
        let Some((_, _, why)) = known else {
            without.push((ours, theirs, captures));
            continue;
        };
        let count: u64 = captures.values().sum();
        let places: Vec<String> =
            captures.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(table, "| {ours} | {theirs} | {count} | {} | {why} |", places.join(", "));
    }
    assert!(without.is_empty(), "differences without a reason: {without:#?}");
    for (ours, theirs, _) in reasons {
        assert!(pairs.contains_key(&(ours, theirs)), "no longer so: {ours}, {theirs}");
    }
    table
}

fn their_name(row: &Row) -> &'static str {
    NAMES.iter().find(|name| row.flags.contains(&name.0)).map_or(NOTHING, |name| name.1)
}

fn our_name(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::New => "new",
        SegmentKind::FastRetransmission => "fast retransmission",
        SegmentKind::TimeoutRetransmission => "timeout retransmission",
        SegmentKind::AfterTimeoutRetransmission => "retransmission after a timeout",
        SegmentKind::UnexplainedRetransmission => "retransmission, cause unknown",
        SegmentKind::FillsGap => "fills a gap",
        SegmentKind::OutOfOrder => "reordered",
        SegmentKind::NetworkDuplicate => "copied by the network",
        SegmentKind::RepeatedControl => "SYN or FIN repeated",
        SegmentKind::LinkRetry => "sent again by the radio",
        SegmentKind::CaptureDuplicate => "captured twice",
        SegmentKind::WindowProbe => "window probe",
        SegmentKind::KeepAlive => "keep-alive",
    }
}

/// Whether `theirs` says the same, or the same with less: tshark names no timers.
fn is_alike(kind: SegmentKind, theirs: &str) -> bool {
    match kind {
        SegmentKind::New => theirs == NOTHING,
        SegmentKind::FastRetransmission => theirs == "fast retransmission",
        SegmentKind::TimeoutRetransmission | SegmentKind::AfterTimeoutRetransmission => {
            theirs == "retransmission"
        }
        SegmentKind::UnexplainedRetransmission | SegmentKind::RepeatedControl => {
            ["retransmission", "fast retransmission"].contains(&theirs)
        }
        SegmentKind::OutOfOrder => theirs == "out of order",
        SegmentKind::FillsGap
        | SegmentKind::NetworkDuplicate
        | SegmentKind::LinkRetry
        | SegmentKind::CaptureDuplicate => false,
        SegmentKind::WindowProbe | SegmentKind::KeepAlive => theirs == our_name(kind),
    }
}

/// The host beside whose network device a capture was taken.
struct Host<'a> {
    /// The experiment.
    capture: &'a str,
    role: &'static str,
    address: IpAddr,
    /// Where its kernel's counters stand.
    counters: &'static str,
}

impl Host<'_> {
    fn beside(capture: &str) -> Host<'_> {
        let (capture, end) = capture.rsplit_once('.').unwrap();
        let (role, last, counters) = match end {
            "snd" => ("sender", 1, "sender_nstat"),
            "rcv" => ("receiver", 2, "receiver_nstat"),
            other => panic!("{capture}.{other}: taken where?"),
        };
        Host { capture, role, address: Ipv4Addr::new(10, 98, 0, last).into(), counters }
    }

    /// How many segments it retransmitted, by its kernel's own count.
    fn retransmitted(&self) -> u64 {
        truth(self.capture)[self.counters]["TcpRetransSegs"].as_u64().unwrap_or(0)
    }
}
