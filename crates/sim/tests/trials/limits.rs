//! The model knows its window, its flight and what is not sent yet at each sample; the analyser,
//! given only a capture at either end, must find the same limits.

use tcplab_recording::Sample;
use tcplab_trace::{Flow, Limit, analyze};
use tcplab_units::{Bytes, Endpoint, Span};

use crate::{Trial, trial};

/// The largest difference of a share, percentage points.
const APART: f64 = 10.0;
/// From this share of its rate on, the path is busy.
const BUSY: f64 = 0.85;
const LIMITS: [Limit; 4] = [Limit::Application, Limit::SlowStart, Limit::Congestion, Limit::Path];

/// A path by its rate in Mbit/s, its delay in ms, and its queue in packets.
type Path = (u64, u64, u64);

const SHORT: Path = (20, 10, 100);
const SHALLOW: Path = (10, 15, 12);
const LONG: Path = (5, 50, 40);

/// Bytes of data that the sender's peer has, by a sample.
fn delivered(sample: &Sample) -> f64 {
    (sample.bytes_acked + sample.sacked_segments * sample.snd_mss_bytes) as f64
}

/// Per cent of the samples by limit, as docs/limits.md defines them.
fn shares_by_samples(samples: &[Sample], paced: bool, (rate, ..): Path) -> [f64; 4] {
    let data_rate = rate as f64 * 1e6 / 8.0 * 1448.0 / 1500.0;
    let (mut counts, mut was_busy) = ([0_u32; 4], false);
    for now in samples {
        let half = Span::from_micros(now.rtt_us / 2);
        let first = samples.iter().rev().find(|s| s.at + half <= now.at).unwrap_or(&samples[0]);
        let last =
            samples.iter().find(|s| s.at >= now.at + half).unwrap_or(&samples[samples.len() - 1]);
        let passed = last.at.since(first.at).as_secs_f64();
        let busy = delivered(last) - delivered(first) >= BUSY * data_rate * passed;
        was_busy |= busy;
        let in_flight =
            now.unacked_segments + now.retrans_segments - now.sacked_segments - now.lost_segments;
        let full = in_flight >= now.cwnd_segments;
        let starting = if paced {
            !was_busy
        } else {
            now.cwnd_segments < now.ssthresh_segments && now.ca_state == 0
        };
        let limit = match now {
            _ if now.notsent_bytes == 0 && now.lost_segments == 0 && !full => 0,
            _ if busy => 3,
            _ if starting => 1,
            _ if full => 2,
            // What has data and room waits for its pacing timer.
            _ => 3,
        };
        counts[limit] += 1;
    }
    counts.map(|count| 100.0 * f64::from(count) / samples.len() as f64)
}

fn shares(recording: &Trial, end: Endpoint) -> [f64; 4] {
    let (_, file): (_, std::fs::File) = recording.capture(end).unwrap();
    let trace = analyze(tcplab_capture::Reader::new(file).unwrap());
    let flow: &Flow = &trace.connections[0].forward;
    LIMITS.map(|limit| 100.0 * flow.shares.share(limit))
}

/// Differences of more than [`APART`] of one sender on one path.
fn compare(control: &str, path: Path, loss: &str, seed: u64) -> Vec<String> {
    let (rate, delay, queue) = path;
    let text = format!(
        "[path]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue = \"{queue} packets\"\n\
         forward.loss = \"{loss} %\"\n[workload]\nupload = \"{} kB\"\n[client]\n\
         stack = \"model:linux-6.18\"\nsocket = {{ congestion = \"{control}\" }}\n\
         [sampling]\ntcp_info = \"2 ms\"\n",
        rate * 250
    );
    let recording = trial(&text, seed);
    let mut samples = recording.samples().unwrap();
    samples.retain(|s| s.endpoint == Endpoint::Client && s.unacked_segments > 0);
    let model = shares_by_samples(&samples, control == "bbr", path);
    let mut apart = Vec::new();
    for end in [Endpoint::Client, Endpoint::Server] {
        let ours = shares(&recording, end);
        if ours.iter().zip(&model).any(|(ours, model)| (ours - model).abs() > APART) {
            apart.push(format!(
                "{control} {loss} % {path:?} {end:?}: {ours:.1?}, model {model:.1?}"
            ));
        }
    }
    apart
}

#[test]
fn limit_shares_match_the_model_at_both_ends() {
    let mut apart = Vec::new();
    for path in [SHORT, SHALLOW, LONG] {
        for loss in ["0", "0.1", "1", "3"] {
            apart.extend(compare("bbr", path, loss, 1));
        }
        for control in ["cubic", "reno"] {
            for loss in ["0", "1"] {
                apart.extend(compare(control, path, loss, 1));
            }
        }
    }
    assert!(
        apart.is_empty(),
        "application, slow start, congestion window, path:\n{}",
        apart.join("\n")
    );
}

/// Per cent of the time by limit, of each connection of a capture, of the direction with data.
fn shares_of_each(recording: &Trial, end: Endpoint) -> Vec<[f64; 4]> {
    let (_, file): (_, std::fs::File) = recording.capture(end).unwrap();
    let trace = analyze(tcplab_capture::Reader::new(file).unwrap());
    let of = |flow: &Flow| LIMITS.map(|limit| 100.0 * flow.shares.share(limit));
    let carries = |flow: &&Flow| flow.totals.unique > Bytes::ZERO;
    let flows = trace.connections.iter().flat_map(|it| [&it.forward, &it.reverse]);
    flows.filter(carries).map(of).collect()
}

/// Together they keep the link busy to the end of the first: none of them could have had more
/// without the others having less.
#[test]
fn transfers_that_fill_a_link_together_are_limited_by_it_at_both_ends() {
    for (control, count, direction) in
        [("cubic", 2, "download"), ("cubic", 4, "upload"), ("reno", 3, "download")]
    {
        let text = format!(
            "[path]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
             [workload]\n{direction} = \"4 MB\"\n[flow.bulk]\ncount = {count}\n\
             [client]\nsocket.congestion = \"{control}\"\n\
             [server]\nsocket.congestion = \"{control}\"\n"
        );
        let recording = trial(&text, 1);
        for end in [Endpoint::Client, Endpoint::Server] {
            let shares = shares_of_each(&recording, end);
            assert_eq!(shares.len(), count);
            for [application, _, congestion, path] in shares {
                assert!(
                    path > 90.0 && application < 5.0 && congestion < 5.0,
                    "{control}, {count} of {direction}, {end:?}: path {path:.1} %, congestion \
                     window {congestion:.1} %, application {application:.1} %"
                );
            }
        }
    }
}

/// What waits in a queue that another connection fills is no more than its application wrote.
#[test]
fn application_beside_a_full_queue_is_the_limit_at_both_ends() {
    let text = "[path]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
                [workload]\ndownload = \"8 MB\"\n[flow.bulk]\n[flow.writer]\n\
                workload = { download = \"300 kB\", write_size = \"15 kB\", think = \"400 ms\" }\n";
    let recording = trial(text, 1);
    for end in [Endpoint::Client, Endpoint::Server] {
        let shares = shares_of_each(&recording, end);
        let [bulk, writer] = [shares[0], shares[1]];
        assert!(bulk[3] > 85.0, "{end:?}: bulk {bulk:.1?}");
        assert!(writer[0] > 60.0, "{end:?}: writer {writer:.1?}");
    }
}
