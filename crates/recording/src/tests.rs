//! A small trial, packet by packet, and its recording.

use std::path::Path;

use tcplab_capture::Reader;
use tcplab_path::{Cause, Direction, Fate, Verdict};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_workload::{AppReport, Application, WorkloadSpec};

use crate::{
    AppLog, Captured, EndpointRecord, Recording, RecordingError, RecordingWriter, Sample,
    TrialRecord, WorldRecord,
};

const EPOCH: u64 = 1_800_000_000_000_000_000;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

fn verdict(id: u64, direction: Direction, entered: u64, left: u64, fate: Fate) -> Verdict {
    let size = Bytes::new(40);
    Verdict {
        id,
        direction,
        size,
        entered: ms(entered),
        transmission: None,
        left: ms(left),
        fate,
        origin: None,
        marked: false,
        corrupted: None,
        fragment: None,
        second_path: false,
    }
}

/// A packet of 40 equal bytes.
fn of(byte: u8) -> Captured<'static> {
    const PACKETS: [[u8; 40]; 5] = [[0; 40], [1; 40], [2; 40], [3; 40], [4; 40]];
    Captured { bytes: &PACKETS[usize::from(byte)], original_len: 40 }
}

fn report(side: Endpoint) -> AppReport {
    let spec = WorkloadSpec::uploading(Bytes::new(1));
    Application::new(side, &spec, 1).report()
}

fn app() -> AppLog {
    AppLog::of(report(Endpoint::Client), report(Endpoint::Server))
}

fn record() -> TrialRecord {
    TrialRecord {
        tcplab: "0".into(),
        case: "base".into(),
        case_hash: "00".into(),
        path: tcplab_path::PathSpec::default(),
        path_events: Vec::new(),
        second_path: None,
        seed: 1,
        epoch_nanos: EPOCH,
        duration: Span::from_millis(100),
        client: EndpointRecord::default(),
        server: EndpointRecord::default(),
        world: WorldRecord {
            name: "kernel".into(),
            device: "tun".into(),
            privilege: "held".into(),
            scheduling: "real-time".into(),
            device_drops: 2,
            ..WorldRecord::default()
        },
    }
}

/// Packet 1 is delivered, 2 is dropped long after 3 came back from the server, 4 is never judged.
fn write_small_trial(directory: &Path) -> Result<(), RecordingError> {
    let addresses = ["10.98.0.1", "10.98.0.2"].map(str::to_owned);
    let mut writer = RecordingWriter::create(directory, EPOCH, &addresses, None)?;
    let cause = Cause::Interruption { number: 1, from: ms(20), to: ms(70) };
    writer.left(Endpoint::Client, ms(1), 1, of(1))?;
    writer.left(Endpoint::Client, ms(2), 2, of(2))?;
    writer.arrived(Endpoint::Server, ms(10), 1)?;
    writer.verdict(&verdict(1, Direction::Forward, 1, 10, Fate::Delivered))?;
    writer.left(Endpoint::Server, ms(11), 3, of(3))?;
    writer.entered(Endpoint::Client, ms(15), of(3))?;
    writer.verdict(&verdict(3, Direction::Reverse, 11, 15, Fate::Delivered))?;
    writer.verdict(&verdict(2, Direction::Forward, 2, 20, Fate::Dropped(cause)))?;
    writer.left(Endpoint::Client, ms(90), 4, of(4))?;
    let mut sample = Sample::empty(ms(10), Endpoint::Client);
    sample.cwnd_segments = 10;
    writer.sampled(&sample)?;
    writer.finish(&app(), &record())
}

/// A capture as lines: time, first byte, direction, comments.
fn capture(recording: &Recording, endpoint: Endpoint) -> Vec<String> {
    let (_, file) = recording.capture(endpoint).unwrap();
    let mut reader = Reader::new(file).unwrap();
    let mut lines = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let at = (record.time.unwrap().as_nanos() - EPOCH) / 1_000_000;
        let comments: Vec<String> = record.comments().map(|text| text.to_string()).collect();
        let direction = record.direction().unwrap();
        lines.push(
            format!("{at} ms {direction:?} {} {}", record.captured[0], comments.join("; "))
                .trim_end()
                .to_owned(),
        );
    }
    let counted = reader.statistics()[0].unwrap();
    lines.push(format!("{:?} seen, {:?} lost", counted.received, counted.dropped));
    lines
}

#[test]
fn flushed_files_end_with_whole_rows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut writer = RecordingWriter::create(path, EPOCH, &["a".into(), "b".into()], None).unwrap();
    let len = |name: &str| std::fs::metadata(path.join(name)).unwrap().len();
    let names = ["client.pcapng", "server.pcapng", "path.jsonl"];
    assert_eq!(names.map(len), [0; 3], "nothing is written early");
    writer.left(Endpoint::Client, ms(1), 1, of(1)).unwrap();
    writer.arrived(Endpoint::Server, ms(2), 1).unwrap();
    writer.verdict(&verdict(1, Direction::Forward, 1, 2, Fate::Delivered)).unwrap();
    writer.flush().unwrap();
    let rows = std::fs::read_to_string(path.join("path.jsonl")).unwrap();
    assert!(rows.ends_with("}\n") && rows.lines().count() == 1, "{rows}");
    for name in &names[..2] {
        let file = std::fs::File::open(path.join(name)).unwrap();
        let mut reader = Reader::new(file).unwrap();
        assert!(reader.next_record().unwrap().is_some(), "{name}");
        assert!(reader.next_record().unwrap().is_none(), "{name}");
    }
    assert!(len("samples.csv") > 0);
    let before = names.map(len);
    writer.flush().unwrap();
    assert_eq!(names.map(len), before);
}

#[test]
fn frames_are_written_in_order_with_their_verdicts() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let recording = Recording::open(directory.path()).unwrap();
    assert_eq!(
        capture(&recording, Endpoint::Client),
        [
            "1 ms Outbound 1",
            "2 ms Outbound 2 dropped by interruption 1 (0.020 s to 0.070 s)",
            "15 ms Inbound 3",
            "90 ms Outbound 4 no verdict recorded",
            "Some(6) seen, Some(2) lost",
        ]
    );
    assert_eq!(
        capture(&recording, Endpoint::Server),
        ["10 ms Inbound 1", "11 ms Outbound 3", "Some(4) seen, Some(2) lost"]
    );
}

#[test]
fn truth_rows_have_the_frame_numbers_of_the_senders_capture() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let rows = Recording::open(directory.path()).unwrap().truth().unwrap();
    let truths: Vec<(Option<u64>, u64, &str)> =
        rows.iter().map(|row| (row.frame, row.verdict.id, row.verdict.fate.name())).collect();
    // Frame 2 of the server's capture is what it sent as packet 3.
    let [first, second] = [Some(1), Some(2)];
    assert_eq!(truths, [(first, 1, "delivered"), (second, 3, "delivered"), (second, 2, "dropped")]);
}

#[test]
fn dropped_frames_are_those_of_the_ground_truth() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let recording = Recording::open(directory.path()).unwrap();
    assert_eq!(recording.dropped_frames().unwrap(), [[2].into(), [].into()]);
    let of_capture = |name| Recording::of_capture(&directory.path().join(name));
    assert_eq!(of_capture("server.pcapng").unwrap().1, Endpoint::Server);
    assert!(of_capture("other.pcapng").is_none());
}

#[test]
fn malformed_truth_row_is_an_error_with_line() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let recording = Recording::open(directory.path()).unwrap();
    let file = directory.path().join("path.jsonl");
    let whole = std::fs::read(&file).unwrap();
    let third = whole.split_inclusive(|&byte| byte == b'\n').take(2).map(<[u8]>::len).sum();
    for (bad, what) in [
        (&b"{}"[..], "missing field"),
        (b"", "EOF while parsing"),
        (b"\xff", "expected value"),
        (&whole[third..whole.len() - 9], "EOF while parsing"),
    ] {
        let (before, after) = whole.split_at(third);
        std::fs::write(&file, [before, bad, b"\n", after].concat()).unwrap();
        let mut rows = recording.truth_rows().unwrap();
        assert_eq!(rows.by_ref().take(2).flatten().count(), 2);
        let error = rows.next().unwrap().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}, line 3: ", file.display())), "{error}");
        assert!(error.contains(what), "{error}");
        assert!(rows.next().is_none());
    }
}

#[test]
fn app_record_and_samples_are_read_as_written() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let recording = Recording::open(directory.path()).unwrap();
    assert_eq!(recording.app().unwrap(), app());
    assert_eq!(recording.record().unwrap(), record());
    let samples = recording.samples().unwrap();
    assert_eq!((samples.len(), samples[0].cwnd_segments), (1, 10));
}

/// As that of a shell: there is nothing to list or export.
#[test]
fn recording_without_samples_has_no_file_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let writer = RecordingWriter::create(path, EPOCH, &["a".into(), "b".into()], None).unwrap();
    writer.finish_without_application(&record()).unwrap();
    let recording = Recording::open(path).unwrap();
    assert!(!path.join("samples.csv").exists() && !recording.has_samples());
    assert_eq!(recording.samples().unwrap(), []);
    recording.forget_packets().unwrap();
    let error = recording.samples().unwrap_err();
    assert!(matches!(error, RecordingError::NoPackets { .. }), "{error}");
}

#[test]
fn recording_without_done_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    std::fs::remove_file(directory.path().join("DONE")).unwrap();
    let error = Recording::open(directory.path()).unwrap_err();
    assert!(matches!(error, RecordingError::Unfinished { .. }), "{error}");
}

/// Captures are private: another user is told so, not that the recording is incomplete.
#[test]
fn what_may_not_be_read_has_the_remedy_of_its_owner() {
    let refused = |kind: std::io::ErrorKind| RecordingError::File {
        verb: "read",
        path: "seen".into(),
        source: kind.into(),
    };
    let remedy = |kind| refused(kind).remedy("--runs");
    let denied = remedy(std::io::ErrorKind::PermissionDenied).unwrap();
    assert!(denied.contains("`chmod -R go+rX seen` lets others"), "{denied}");
    assert_eq!(remedy(std::io::ErrorKind::NotFound), None);
}

#[test]
fn existing_recording_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    write_small_trial(directory.path()).unwrap();
    let error = write_small_trial(directory.path()).unwrap_err();
    assert!(error.to_string().contains("File exists"), "{error}");
}

#[test]
fn unwritable_directory_is_named_in_error() {
    let error = write_small_trial(Path::new("/dev/null/nowhere")).unwrap_err().to_string();
    assert!(error.starts_with("cannot make /dev/null/nowhere/samples.csv: "), "{error}");
}

#[test]
fn missed_frames_are_counted_and_verdicts_complete() {
    let directory = tempfile::tempdir().unwrap();
    let addresses = ["10.98.0.1", "10.98.0.2"].map(str::to_owned);
    let mut writer = RecordingWriter::create(directory.path(), EPOCH, &addresses, Some(4)).unwrap();
    writer.left(Endpoint::Client, ms(1), 1, of(1)).unwrap();
    // Packet 2 was sent, too, but the ring was full; 2^63 is a copy that the path made of it.
    writer.missed(Endpoint::Client, 1);
    let made = 1 << 63;
    for (id, at) in [(1, 10), (2, 11), (made, 12)] {
        if id == made {
            writer.entered(Endpoint::Server, ms(at), of(2)).unwrap();
        } else {
            writer.arrived(Endpoint::Server, ms(at), id).unwrap();
        }
        writer.verdict(&verdict(id, Direction::Forward, 1, at, Fate::Delivered)).unwrap();
    }
    assert_eq!(writer.capture_drops(), 2);
    writer.finish(&app(), &record()).unwrap();
    let recording = Recording::open(directory.path()).unwrap();
    let lines = Endpoint::BOTH.map(|end| capture(&recording, end));
    assert_eq!(lines[0], ["1 ms Outbound 1", "Some(4) seen, Some(3) lost"]);
    assert_eq!(lines[1], ["10 ms Inbound 1", "12 ms Inbound 2", "Some(5) seen, Some(3) lost"]);
    let rows = recording.truth().unwrap();
    let truths: Vec<(Option<u64>, u64)> =
        rows.iter().map(|row| (row.frame, row.verdict.id)).collect();
    assert_eq!(truths, [(Some(1), 1), (None, 2), (None, made)]);
    let (_, file) = recording.capture(Endpoint::Server).unwrap();
    let first = Reader::new(file).unwrap().next_record().unwrap().unwrap().captured.len();
    assert_eq!(first, 4, "the snap length");
}
