//! Whole trials in virtual time.

mod buffers;
mod calls;
mod catalogue;
mod datagrams;
mod episodes;
mod flows;
mod forwarded;
mod handshakes;
mod limits;
mod path_mtu;
mod queues;
mod resets;
mod states;
mod truth_twice;

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_recording::Recording;
use tcplab_scenario::Scenario;
use tcplab_sim::{TrialRequest, run_trial};
use tcplab_units::{Endpoint, Instant, Span};
use tempfile::TempDir;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(&format!("title = \"A trial\"\n{text}\n[repeat]\ntrials = 1\n"), "trial")
        .unwrap()
}

/// A recording and its directory, which is removed with it.
struct Trial {
    recording: Recording,
    place: TempDir,
}

impl Deref for Trial {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

/// Runs the only case of a scenario.
fn trial(text: &str, seed: u64) -> Trial {
    let scenario = scenario(text);
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let request = TrialRequest {
        case: &scenario.cases[0],
        seed,
        directory,
        snaplen: None,
        keeps_packets: true,
    };
    let ran = run_trial(&request, &AtomicBool::new(false));
    ran.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    Trial { recording: Recording::open(directory).unwrap(), place }
}

/// The packets of a capture, from their IP headers on.
fn packets(recording: &Recording, end: Endpoint) -> Vec<Vec<u8>> {
    let (_, file): (_, std::fs::File) = recording.capture(end).unwrap();
    let mut reader = tcplab_capture::Reader::new(file).unwrap();
    let mut packets = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        assert_eq!(record.captured.len() as u32, record.original_len);
        packets.push(record.captured.to_vec());
    }
    packets
}

const LOSSY: &str = r#"
[path]
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "50 packets"
loss  = "1 %"
[workload]
upload = "1 MB"
"#;

#[test]
fn transfer_through_losses_arrives() {
    let recording = trial(LOSSY, 1);
    let app = recording.app().unwrap();
    assert_eq!(app.server.bytes.as_u64(), 1_000_000);
    assert_eq!(app.server.digest, app.client.digest);
}

/// A path whose round trip holds far more than the send buffer has room for at first.
const LONG: &str = r#"
[path]
rate  = "20 Mbit/s"
delay = "40 ms"
queue = "2 bdp"
[workload]
upload = "9 MB"
"#;

/// The send buffer grows with the window while the application waits for room: 9 MB need 3.6 s at
/// 20 Mbit/s, and slow start takes less than another second.
#[test]
fn send_buffer_does_not_limit_long_path() {
    let recording = trial(LONG, 1);
    let took = recording.app().unwrap().server.last_byte.unwrap();
    assert!(took < Instant::ZERO + Span::from_millis(4_600), "{took:?}");
}

/// A send buffer may be all acknowledged while its application waits for room.
#[test]
fn small_send_buffer_empties_and_refills() {
    for seed in 1..=5 {
        let small = format!("{LOSSY}[client]\nsocket.sndbuf = \"8 KiB\"\n");
        let recording = trial(&small, seed);
        assert_eq!(recording.app().unwrap().server.bytes.as_u64(), 1_000_000, "seed {seed}");
    }
}

/// Every file of a recording.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Runs a scenario twice with one seed and once with another; the files of one recording.
fn seed_decides_bytes(text: &str) -> Vec<(String, Vec<u8>)> {
    let [first, again, other] = [1, 1, 2].map(|seed| files(trial(text, seed).place.path()));
    assert!(first == again, "two trials of one seed differ: {text}");
    assert!(first != other, "the seed decides nothing: {text}");
    first
}

#[test]
fn same_seed_gives_same_bytes_and_another_does_not() {
    let made = seed_decides_bytes(LOSSY);
    assert!(made.len() >= 6 && made.iter().any(|(name, _)| name == "client.pcapng"));
}

/// What changes packets hands over bytes; what does not, segments: both arrive.
#[test]
fn changed_and_copied_packets_do_not_stop_a_transfer() {
    let path = LOSSY.replace("loss  = \"1 %\"", "corrupt = \"1 %\"\nduplicate = \"1 %\"");
    let recording = trial(&path, 1);
    let truth = recording.truth().unwrap();
    assert!(truth.iter().any(|row| row.verdict.corrupted.is_some()));
    assert!(truth.iter().any(|row| row.verdict.origin.is_some()));
    assert!(truth.iter().any(|row| row.because.as_deref() == Some("rack")));
}

/// `host` is the machine below a stack, the kernel's stand-in too: each segment takes it that long.
#[test]
fn processing_time_slows_a_transfer_down() {
    let took = |processing: &str| {
        let text = format!(
            "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"50 packets\"\n\
             [workload]\nupload = \"100 kB\"\n[server]\nmodel = {{ host = {{ processing = \"{processing}\" }} }}"
        );
        trial(&text, 1).app().unwrap().server.last_byte.unwrap()
    };
    // 100 kB are 70 segments of 1,448 bytes.
    let (fast, slow) = (took("0 ms"), took("5 ms"));
    assert!(fast.as_secs_f64() < 0.2, "{fast:?}");
    assert!((0.35..0.5).contains(&slow.as_secs_f64()), "{slow:?}");
}

#[test]
fn each_model_meets_each_other() {
    for client in tcplab_scenario::Profile::names() {
        for server in tcplab_scenario::Profile::names() {
            let text = format!(
                "[path]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"20 packets\"\n\
                 loss = \"0.5 %\"\n[workload]\nupload = \"200 kB\"\n\
                 [client]\nstack = \"model:{client}\"\n[server]\nstack = \"model:{server}\""
            );
            let app = trial(&text, 3).app().unwrap();
            assert_eq!(app.server.bytes.as_u64(), 200_000, "{client} to {server}");
        }
    }
}
