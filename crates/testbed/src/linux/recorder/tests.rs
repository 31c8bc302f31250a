//! A queue that is read too slowly, and one with super-packets.

use std::path::Path;

use tcplab_capture::Reader;
use tcplab_path::{Direction, Link, LinkPlan, Packet};
use tcplab_recording::{AppLog, EndpointRecord, Recording, TrialRecord, WorldRecord};
use tcplab_units::{Bytes, Endpoint, Span};
use tcplab_wire::{ChecksumState, Ecn, FrameView, Ipv4Repr, TcpRepr};
use tcplab_workload::{Application, WorkloadSpec};

use super::*;

fn at(micros: u64) -> Instant {
    Instant::ZERO + Span::from_micros(micros)
}

/// A super-packet of the client's with `segments` segments of 1,000 bytes of data.
fn super_packet(segments: usize) -> (VnetHeader, Vec<u8>) {
    let ip = Ipv4Repr {
        src: [10, 98, 0, 1].into(),
        dst: [10, 98, 0, 2].into(),
        id: 9,
        ttl: 64,
        ecn: Ecn::NotEct,
    };
    let packet = TcpRepr::default().to_packet(&ip.into(), &vec![7; segments * 1000]);
    let header = VnetHeader {
        needs_checksum: true,
        gso_type: GsoType::TcpV4,
        gso_size: 1000,
        hdr_len: 40,
        csum_start: 20,
        csum_offset: 16,
        ..VnetHeader::COMPLETE
    };
    (header, packet)
}

/// What a link with nothing on it says of packet `id`.
fn verdict(id: u64, now: Instant) -> Verdict {
    let mut link = Link::new(&LinkPlan::default(), 1, Direction::Forward);
    link.handle_packet(now, Packet::of_size(id, Bytes::new(1040)));
    link.poll(now).expect("it passes at once").verdict
}

fn writer(directory: &Path, snaplen: Option<u32>) -> RecordingWriter {
    RecordingWriter::create(directory, 0, &["a".into(), "b".into()], snaplen).unwrap()
}

fn finish(writer: RecordingWriter) {
    let spec = WorkloadSpec::uploading(Bytes::new(1));
    let report = |side| Application::new(side, &spec, 1).report();
    let app = AppLog::of(report(Endpoint::Client), report(Endpoint::Server));
    let record = TrialRecord {
        path: tcplab_path::PathSpec::default(),
        path_events: Vec::new(),
        second_path: None,
        tcplab: "0".into(),
        case: "base".into(),
        case_hash: "00".into(),
        seed: 1,
        epoch_nanos: 0,
        duration: Span::from_millis(1),
        client: EndpointRecord::default(),
        server: EndpointRecord::default(),
        world: WorldRecord::default(),
    };
    writer.finish(&app, &record).unwrap();
}

/// Frames as captured and original length, and whether each whole one's checksum is right.
fn frames(recording: &Recording, end: Endpoint) -> Vec<(usize, u32)> {
    let mut reader = Reader::new(recording.capture(end).unwrap().1).unwrap();
    let mut frames = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let captured = &record.captured;
        if captured.len() == record.original_len as usize {
            let tcp = FrameView::of_packet(captured).tcp().unwrap();
            assert_eq!(tcp.checksum_state(), ChecksumState::Right);
        }
        frames.push((captured.len(), record.original_len));
    }
    frames
}

#[test]
fn super_packets_are_written_down_as_their_segments() {
    for snaplen in [None, Some(100)] {
        let directory = tempfile::tempdir().unwrap();
        let (mut queue, recorder) = recorder_queue(snaplen);
        let (header, packet) = super_packet(3);
        let layout = Layout::of(&packet, 1000).unwrap();
        queue.left(Endpoint::Client, at(1), 1, header, &packet, Some(&layout));
        for id in 1..=3 {
            queue.verdict(&verdict(id, at(1)), (id != 2).then_some(at(2)));
        }
        queue.pass_on(|| 4);
        assert_eq!((queue.frames_lost(), queue.verdicts_lost()), ([0; 2], 0));
        drop(queue);
        let (_, no_samples) = mpsc::channel();
        finish(
            recorder
                .write_down(writer(directory.path(), snaplen), &no_samples, BEHIND_PROGRAMS)
                .unwrap(),
        );
        let recording = Recording::open(directory.path()).unwrap();
        let kept = snaplen.map_or(1040, |len| len as usize);
        assert_eq!(frames(&recording, Endpoint::Client), [(kept, 1040); 3]);
        assert_eq!(frames(&recording, Endpoint::Server), [(kept, 1040); 2]);
        assert_eq!(recording.truth().unwrap().len(), 3);
    }
}

#[test]
fn full_recorder_queue_counts_what_it_omits() {
    let directory = tempfile::tempdir().unwrap();
    let (mut queue, recorder) = recorder_queue(None);
    let (header, packet) = super_packet(60);
    let layout = Layout::of(&packet, 1000).unwrap();
    // Four times what the pages hold.
    let supers = (4 * PAGES * PAGE_BYTES / packet.len()) as u64;
    for number in 0..supers {
        let first = 1 + number * 60;
        queue.left(Endpoint::Client, at(number), first, header, &packet, Some(&layout));
        for id in first..first + 60 {
            queue.verdict(&verdict(id, at(number)), Some(at(number)));
        }
    }
    let packets = supers * 60;
    let ([sent_lost, received_lost], verdicts_lost) = (queue.frames_lost(), queue.verdicts_lost());
    assert!(sent_lost > packets / 2, "{sent_lost} of {packets}");
    assert!(verdicts_lost > 0, "even the reserve is full");
    // Now the recorder resumes.
    queue.pass_on(|| packets + 1);
    drop(queue);
    let (_, no_samples) = mpsc::channel();
    let mut writer = recorder
        .write_down(writer(directory.path(), Some(60)), &no_samples, BEHIND_PROGRAMS)
        .unwrap();
    writer.missed(Endpoint::Client, sent_lost);
    writer.missed(Endpoint::Server, received_lost);
    let capture_drops = writer.capture_drops();
    finish(writer);
    let recording = Recording::open(directory.path()).unwrap();
    let kept = Endpoint::BOTH.map(|end| frames(&recording, end).len() as u64);
    assert_eq!(kept[0], packets - sent_lost);
    assert_eq!(kept.iter().sum::<u64>() + capture_drops, 2 * packets);
    assert_eq!(recording.truth().unwrap().len() as u64, packets - verdicts_lost);
}
