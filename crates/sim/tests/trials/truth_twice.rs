//! The model knows why it sent each segment; the analyser, given only the capture beside the
//! sender, must find the same.

use std::collections::BTreeMap;

use tcplab_path::Direction;
use tcplab_trace::{Flow, Segment, SegmentKind, Sign, Timer, analyze};
use tcplab_units::{Endpoint, Instant, Offset, Span};

use crate::trial;

/// What the analyser has to call a segment that the model sent for this reason, and the timer that
/// it has to name.
fn agrees(because: &str, segment: &Segment) -> bool {
    let (kinds, timer): (&[SegmentKind], _) = match because {
        "handshake" | "new" | "limited-transmit" => (&[SegmentKind::New], None),
        "fast-retransmit" | "rack" | "path-mtu" => (&[SegmentKind::FastRetransmission], None),
        // The peer's SYN that came again prompts it, too.
        "handshake-retransmission" if segment.kind == SegmentKind::RepeatedControl => {
            (&[SegmentKind::RepeatedControl], None)
        }
        "timeout" | "handshake-retransmission" => {
            (&[SegmentKind::TimeoutRetransmission], Some(Timer::Retransmission))
        }
        "after-timeout" => (&[SegmentKind::AfterTimeoutRetransmission], None),
        // RFC 8985 section 7.3: new data if there is any, or else the newest again.
        "tail-loss-probe" => {
            (&[SegmentKind::New, SegmentKind::TimeoutRetransmission], Some(Timer::Probe))
        }
        other => panic!("data is not sent as {other}"),
    };
    let too_big = segment.proof.by == Sign::PacketTooBig;
    kinds.contains(&segment.kind) && segment.timer == timer && too_big == (because == "path-mtu")
}

/// The paths, each with what spoils it.
const PATHS: &[(&str, &str)] = &[
    ("loss", "loss = \"1 %\""),
    ("heavy loss", "loss = \"5 %\""),
    ("bursts", "loss = { gilbert_elliott = { p = \"0.5 %\", r = \"60 %\" } }"),
    (
        "interruptions",
        "interruption = { every = \"1 s\", lasting = \"200 ms\", offset = \"300 ms\" }",
    ),
    ("lost acks", "[path.WAY]\nloss = \"20 %\""),
    ("reordering", "jitter = { uniform = \"4 ms\", reorder = true }"),
];

/// The senders: profile and congestion control.
const SENDERS: &[(&str, &str)] = &[
    ("linux-6.18", "reno"),
    ("linux-6.18", "cubic"),
    ("linux-6.18", "westwood"),
    ("linux-6.18", "bbr"),
    ("linux-6.12", "cubic"),
    ("windows-7", "reno"),
    ("windows-7-compound", "compound"),
    ("osx-10.7", "newreno"),
    ("freebsd-15", "cubic"),
    ("netburner", "reno"),
    ("haiku-2017-before", "old-haiku"),
    ("haiku-2017-middle", "newreno"),
    ("haiku-2017-after", "newreno"),
];

/// What the capture does not show: where the analyser may call a segment otherwise than the
/// model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Undecidable {
    /// A retransmission timer that ran out within 180 ms of the last packet, while there was
    /// evidence of a loss or a probe was due. A busy machine acts on evidence that late, and the
    /// timer of a probe runs as long. A timer of Linux never runs out so early; one of Haiku does
    /// (100 ms above the round trip), and one of xnu that the retransmission did not restart.
    ShortTimer,
    /// Retransmissions after such a timeout until it is repaired: they have its cause.
    AfterShortTimer,
    /// xnu takes a timeout for spurious whose retransmission is acknowledged within a round trip,
    /// and continues the fast recovery that the timeout had interrupted, or waits for duplicates
    /// anew; any other stack that repeats data on an acknowledgement then is in slow start after
    /// the timeout.
    BadRetransmit,
}

/// Which of these a stack may have.
fn undecidable(stack: &str) -> &'static [Undecidable] {
    match stack {
        "osx-10.7" => {
            &[Undecidable::BadRetransmit, Undecidable::ShortTimer, Undecidable::AfterShortTimer]
        }
        haiku if haiku.starts_with("haiku") => {
            &[Undecidable::ShortTimer, Undecidable::AfterShortTimer]
        }
        _ => &[],
    }
}

/// The analyser's limit of what a busy machine explains.
const SHORT: Span = Span::from_millis(180);

/// A flow of which the truth is known, walked segment by segment.
struct Walk<'a> {
    flow: &'a Flow,
    /// When each packet passed the sender.
    times: BTreeMap<u64, Instant>,
    because: BTreeMap<u64, String>,
    highest: Offset,
    /// Until what is acknowledged the last timeout is not repaired.
    timeout: Option<Offset>,
    /// The same of the last undecidable one.
    short: Option<Offset>,
}

impl<'a> Walk<'a> {
    /// Why the analyser cannot know why a segment was sent, which it calls otherwise.
    fn excuse(&mut self, segment: &Segment) -> Option<Undecidable> {
        let because = self.because[&segment.frame].as_str();
        let before = self.times.range(..segment.frame).next_back().map(|(_, at)| *at);
        let silence = before.map_or(Span::ZERO, |before| segment.at.since(before));
        let is_open =
            |point: Option<Offset>| point.is_some_and(|point| segment.range.start < point);
        if because == "timeout" && silence < SHORT {
            self.short = Some(self.highest);
            return Some(Undecidable::ShortTimer);
        }
        match because {
            "timeout" | "after-timeout" if is_open(self.short) => {
                Some(Undecidable::AfterShortTimer)
            }
            "fast-retransmit"
                if is_open(self.timeout)
                    && segment.kind == SegmentKind::AfterTimeoutRetransmission =>
            {
                Some(Undecidable::BadRetransmit)
            }
            _ => None,
        }
    }

    /// What of the flow is called otherwise, and why it may be.
    fn differences(&mut self) -> Vec<(&'a Segment, Option<Undecidable>)> {
        let (flow, mut found) = (self.flow, Vec::new());
        for segment in &flow.segments {
            if !agrees(&self.because[&segment.frame], segment) {
                found.push((segment, self.excuse(segment)));
            }
            if self.because[&segment.frame] == "timeout" {
                self.timeout = Some(self.highest);
            }
            self.highest = self.highest.max(segment.range.end);
        }
        found
    }
}

/// What a sender and its path are.
struct Setting {
    stack: &'static str,
    control: &'static str,
    spoilt: &'static str,
    way: &'static str,
    seed: u64,
}

/// Compares the analyser's account of the sender's capture with the model's own. Returns the number
/// of segments, and of undecidable ones.
fn compare(setting: &Setting) -> (usize, BTreeMap<Undecidable, usize>) {
    let Setting { stack, control, spoilt, way, seed } = *setting;
    let is_upload = way == "upload";
    let (sender, acks) = if is_upload { ("client", "reverse") } else { ("server", "forward") };
    let text = format!(
        "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"40 packets\"\n{}\n\
         [workload]\n{way} = \"500 kB\"\n[{sender}]\nstack = \"model:{stack}\"\n\
         socket = {{ congestion = \"{control}\" }}\n",
        spoilt.replace("WAY", acks)
    );
    let recording = trial(&text, seed);
    let (end, direction) = if is_upload {
        (Endpoint::Client, Direction::Forward)
    } else {
        (Endpoint::Server, Direction::Reverse)
    };
    let (file, _) = recording.capture(end).unwrap();
    let trace = analyze(tcplab_capture::open(file).unwrap());
    let connection = &trace.connections[0];
    let flow = if is_upload { &connection.forward } else { &connection.reverse };
    let truth = recording.truth().unwrap();
    let own = truth.into_iter().filter(|row| row.verdict.direction == direction);
    let because = own.filter_map(|row| Some((row.frame?, row.because?.into_owned())));
    let sent = flow.segments.iter().map(|segment| (segment.frame, segment.at));
    let mut walk = Walk {
        flow,
        times: flow.acks.iter().map(|ack| (ack.frame, ack.at)).chain(sent).collect(),
        because: because.collect(),
        highest: Offset::ZERO,
        timeout: None,
        short: None,
    };
    let mut excused = BTreeMap::new();
    let truth = walk.because.clone();
    for (segment, excuse) in walk.differences() {
        let known = excuse.filter(|excuse| undecidable(stack).contains(excuse));
        let Some(excuse) = known else {
            panic!(
                "frame {} was sent for {}, and is called {:?} {:?} ({excuse:?})\nseed {seed}\n{text}",
                segment.frame, truth[&segment.frame], segment.kind, segment.timer
            );
        };
        *excused.entry(excuse).or_default() += 1;
    }
    (flow.segments.len(), excused)
}

/// What ICMP says, the analyser reads as the sender does, and does not mistake for a loss.
#[test]
fn packets_that_were_too_big_are_found_by_the_analyser() {
    let discovers = ["linux-6.18", "windows-7", "osx-10.7"];
    for (stack, control) in SENDERS.iter().filter(|(stack, _)| discovers.contains(stack)) {
        for spoilt in ["mtu = \"1400 B\"", "mtu = \"1400 B\"\nloss = \"1 %\""] {
            let (segments, excused) =
                compare(&Setting { stack, control, spoilt, way: "upload", seed: 3 });
            assert!(segments > 350, "{stack}: {segments} segments");
            assert!(excused.len() <= undecidable(stack).len(), "{stack}: {excused:?}");
        }
    }
}

#[test]
fn causes_are_found_again() {
    let (mut segments, mut excused) = (0, 0);
    for (stack, control) in SENDERS {
        for (_, spoilt) in PATHS {
            for (way, seed) in [("upload", 1), ("download", 2)] {
                let (count, some) = compare(&Setting { stack, control, spoilt, way, seed });
                segments += count;
                excused += some.values().sum::<usize>();
            }
        }
    }
    assert!(segments > 40_000, "{segments}");
    // They are rare: a transfer whose causes are all excused would prove nothing.
    assert!(excused * 100 < segments, "{excused} of {segments} are undecidable");
}
