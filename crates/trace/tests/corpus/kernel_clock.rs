//! RTTs compared with the kernel's: `ss -tin` at the sender during the transfer, against its
//! capture up to the same packet.

use tcplab_capture::UnixTime;
use tcplab_trace::{Analyzer, Frame, RoundTrips};
use tcplab_units::Span;
use tcplab_wire::{FrameView, LinkType};

use super::{TRANSFERS, socket_statistics};

const SENDER: &str = "10.98.0.1";

/// One line of `ss` about one connection; microseconds.
#[derive(Debug, Default, PartialEq)]
struct Sample {
    port: u16,
    /// Packets that the socket had received.
    segs_in: u64,
    smoothed: f64,
    deviation: f64,
    timeout: f64,
    least: f64,
}

/// The sender's tick: timeouts are rounded up to it (`usecs_to_jiffies`; CONFIG_HZ is 250).
const TICK: f64 = 4_000.0;
/// Socket and capture point read their clocks at different moments, and where Linux goes by a
/// timestamp it counts milliseconds, of which an eighth enters the smoothed RTT.
const TOLERANCE: f64 = 200.0;

#[test]
fn rtt_and_rto_match_kernel() {
    let (mut errors, mut backed_off) = (Vec::new(), 0);
    for name in TRANSFERS {
        let capture = Capture::read(&format!("{name}.snd"));
        let text = socket_statistics(name);
        let mut samples: Vec<Sample> = Vec::new();
        for sample in text.lines().filter_map(sample) {
            if !samples.contains(&sample) {
                samples.push(sample);
            }
        }
        for kernel in samples {
            let Some(trips) = capture.round_trips(kernel.port, kernel.segs_in) else { continue };
            let micros = |span: Option<Span>| span.unwrap().as_nanos() as f64 / 1e3;
            let error = (micros(trips.smoothed) - kernel.smoothed).abs();
            let variation = (micros(trips.variation) - kernel.deviation).abs();
            assert!(error < TOLERANCE, "{name}: {kernel:?} {trips:?}");
            assert!(variation < TOLERANCE, "{name}: {kernel:?} {trips:?}");
            // The kernel's is smaller by up to a tick of its timestamps where it went by these.
            let least = micros(trips.min) - kernel.least;
            assert!((-50.0..1_000.0).contains(&least), "{name}: {kernel:?} {trips:?}");
            let backoff = backoff(micros(trips.timeout), kernel.timeout);
            backed_off += u64::from(backoff.expect(name) > 0);
            errors.push(error);
        }
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() > 250, "{} were compared", errors.len());
    let median = errors[errors.len() / 2];
    assert!(median < 15.0, "median error {median} us");
    assert!(backed_off > 1, "{backed_off} while the timer was backed off");
}

/// How often `timeout` was doubled to give the kernel's, ticks and tolerance taken into account.
fn backoff(timeout: f64, kernel: f64) -> Option<u32> {
    (0..8).find(|&times| {
        let once = kernel / f64::from(1 << times);
        (timeout - TOLERANCE * 5.0..timeout + TICK + TOLERANCE * 5.0).contains(&once)
    })
}

/// The fields of a line such as `ESTAB ... 10.98.0.1:52200 ... rtt:20.377/5.782 ...`.
fn sample(line: &str) -> Option<Sample> {
    let mut sample = Sample::default();
    let millis = |text: &str| text.parse::<f64>().unwrap() * 1_000.0;
    for word in line.split_whitespace() {
        let Some((name, value)) = word.split_once(':') else { continue };
        match name {
            SENDER => sample.port = value.parse().unwrap(),
            "segs_in" => sample.segs_in = value.parse().unwrap(),
            "rto" => sample.timeout = millis(value),
            "minrtt" => sample.least = millis(value),
            "rtt" => {
                let (smoothed, deviation) = value.split_once('/').unwrap();
                (sample.smoothed, sample.deviation) = (millis(smoothed), millis(deviation));
            }
            _ => {}
        }
    }
    (sample.port > 0 && sample.smoothed > 0.0).then_some(sample)
}

struct Record {
    time_ns: u64,
    bytes: Vec<u8>,
    original_len: u32,
    /// To the sender, at this port.
    to: Option<u16>,
}

struct Capture {
    link: LinkType,
    records: Vec<Record>,
}

impl Capture {
    fn read(name: &str) -> Capture {
        let mut reader = super::capture(name);
        let link = LinkType::from_number(reader.interfaces()[0].link_type);
        let mut records = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            let view = FrameView::new(link, record.captured, record.original_len);
            let tcp = view.tcp().filter(|tcp| tcp.dst().to_string() == SENDER);
            records.push(Record {
                time_ns: record.time.map_or(0, UnixTime::as_nanos),
                bytes: record.captured.to_vec(),
                original_len: record.original_len,
                to: tcp.map(|tcp| tcp.dst_port()),
            });
        }
        Capture { link, records }
    }

    /// The capture's result up to the packet that is the `segs_in`th to arrive at `port`.
    fn round_trips(&self, port: u16, segs_in: u64) -> Option<RoundTrips> {
        let arrivals = self.records.iter().enumerate().filter(|(_, r)| r.to == Some(port));
        let last = arrivals.map(|(index, _)| index).nth(segs_in as usize - 1)?;
        let mut analyzer = Analyzer::new();
        for record in &self.records[..=last] {
            let Record { time_ns, bytes, original_len, .. } = record;
            let whole = Frame::whole(*time_ns, self.link, bytes);
            analyzer.packet(&Frame { original_len: *original_len, ..whole });
        }
        let connections = analyzer.finish().connections;
        connections.into_iter().find(|c| c.client.port() == port).map(|c| c.forward.round_trips)
    }
}
