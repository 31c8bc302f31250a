//! The log of a path's queue beside what the captures alone say of it.

use std::collections::BTreeMap;

use tcplab_path::{Cause, Direction};
use tcplab_recording::{QueueLog, Queues, Recording};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::{FrameView, LinkType};

use crate::trial;

/// Nanoseconds of a byte at 4 Mbit/s, and of the way behind the bottleneck.
const BYTE: u64 = 2_000;
const DELAY: u64 = 10_000_000;

fn queues(recording: &Recording) -> [QueueLog; 2] {
    let Queues::Logged(logs) = recording.queues().unwrap() else { panic!("a path has a log") };
    logs.try_into().unwrap()
}

/// The packets in the capture at one end that the client or the server sent, in order: when, how
/// long they are, and their bytes.
fn captured(recording: &Recording, end: Endpoint, sender: Endpoint) -> Vec<(u64, u64, Vec<u8>)> {
    let record = recording.record().unwrap();
    let address = match sender {
        Endpoint::Client => record.client.address,
        Endpoint::Server => record.server.address,
    };
    let mut reader = tcplab_capture::Reader::new(recording.capture(end).unwrap().1).unwrap();
    let mut packets = Vec::new();
    while let Some(record_of) = reader.next_record().unwrap() {
        let (bytes, long) = (record_of.captured.to_vec(), record_of.original_len);
        let at = record_of.time.unwrap().as_nanos() - record.epoch_nanos;
        let source = FrameView::new(LinkType::RawIp, &bytes, long).tcp().unwrap().src();
        if source.to_string() == address {
            packets.push((at, long.into(), bytes));
        }
    }
    packets
}

/// What waited by both captures: a packet joins the queue when its sender sends it, and leaves it
/// so long before it arrives as it takes to send it and to go the way. And when those were sent
/// that did not arrive.
fn by_captures(recording: &Recording, from: Endpoint, to: Endpoint) -> (Vec<Length>, Vec<u64>) {
    let sent = captured(recording, from, from);
    let mut arrived = captured(recording, to, from).into_iter().peekable();
    let (mut changes, mut lost) = (BTreeMap::<u64, (i64, i64)>::new(), Vec::new());
    for (at, long, bytes) in sent {
        let Some((came, ..)) = arrived.next_if(|(.., other)| *other == bytes) else {
            lost.push(at);
            continue;
        };
        let began = came - DELAY - long * BYTE;
        assert!(began >= at, "sent before it came");
        for (at, sign) in [(at, 1), (began, -1)] {
            let change = changes.entry(at).or_default();
            *change = (change.0 + sign, change.1 + sign * long as i64);
        }
    }
    assert_eq!(arrived.next(), None, "what arrived was sent, in this order");
    let (mut packets, mut total, mut lengths) = (0, 0, Vec::new());
    for (at, change) in changes.into_iter().filter(|(_, change)| *change != (0, 0)) {
        (packets, total) = (packets + change.0, total + change.1);
        lengths.push((at, packets, total));
    }
    (lengths, lost)
}

/// From when on, packets, bytes.
type Length = (u64, i64, i64);

fn logged(log: &QueueLog) -> Vec<Length> {
    let each = log.lengths.iter();
    each.map(|it| (it.at.as_nanos(), it.packets.into(), it.bytes.as_u64() as i64)).collect()
}

#[test]
fn queue_by_the_log_is_that_by_the_captures() {
    for (way, queue) in [("upload", "12 packets"), ("download", "12 packets"), ("upload", "9 kB")] {
        let text = format!(
            "[path]\nrate = \"4 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"{queue}\"\n\
             [workload]\n{way} = \"600 kB\""
        );
        let recording = trial(&text, 1);
        let logs = queues(&recording);
        let (mut most, mut drops) = ((0, 0), 0);
        for log in &logs {
            let ends = match log.direction {
                Direction::Forward => [Endpoint::Client, Endpoint::Server],
                Direction::Reverse => [Endpoint::Server, Endpoint::Client],
            };
            let (lengths, lost) = by_captures(&recording, ends[0], ends[1]);
            assert_eq!(logged(log), lengths, "{way}, {queue}, {:?}", log.direction);
            let dropped: Vec<u64> = log.drops.iter().map(|it| it.at.as_nanos()).collect();
            assert_eq!(dropped, lost, "{way}, {queue}, {:?}", log.direction);
            for (at, packets, bytes) in lengths {
                most = (most.0.max(packets), most.1.max(bytes));
                assert!(at < recording.record().unwrap().duration.as_nanos());
                // In bytes a packet is dropped that would not fit beside the others.
                assert!(if queue == "9 kB" { bytes <= 9_000 } else { packets <= 12 });
            }
            for at in lost {
                let full = log.at(Instant::ZERO + Span::from_nanos(at));
                let is_full = match queue {
                    "9 kB" => full.bytes.as_u64() > 9_000 - 1_500,
                    _ => full.packets == 12,
                };
                assert!(is_full, "dropped beside {full:?}");
                drops += 1;
            }
            let all_full = log.drops.iter().all(|it| matches!(it.cause, Cause::QueueFull { .. }));
            assert!(all_full, "nothing else drops here");
        }
        assert!(drops > 3, "{way}, {queue}: {drops} drops");
        assert!(if queue == "9 kB" { most.1 > 7_500 } else { most.0 == 12 }, "{queue}: {most:?}");
    }
}

#[test]
fn drops_elsewhere_are_told_from_those_of_the_queue() {
    let text = "[path]\nrate = \"4 Mbit/s\"\ndelay = \"10 ms\"\nqueue = { codel = {} }\nloss = \"1 %\"\n\
                [workload]\nupload = \"900 kB\"";
    let recording = trial(text, 2);
    let [forward, _] = queues(&recording);
    let count =
        |is_of: fn(&Cause) -> bool| forward.drops.iter().filter(|it| is_of(&it.cause)).count();
    let (managed, lost) =
        (count(|it| matches!(it, Cause::Aqm { .. })), count(|it| matches!(it, Cause::Loss)));
    assert!(managed > 0 && lost > 0, "{managed} {lost}");
    // CoDel counts those that wait when it drops one, which has left the queue by then.
    for dropped in &forward.drops {
        if let Cause::Aqm { packets, .. } = dropped.cause {
            let found = forward.at(dropped.at).packets;
            assert!(found.abs_diff(packets) <= 1, "{found} waiting, {packets} by the verdict");
        }
    }
}

#[test]
fn path_without_a_bottleneck_has_no_log_of_a_queue() {
    let recording = trial("[path]\ndelay = \"10 ms\"\n[workload]\nupload = \"50 kB\"", 1);
    assert_eq!(recording.queues().unwrap(), Queues::Logged(vec![]));
}
