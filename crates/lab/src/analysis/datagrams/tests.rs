use std::sync::atomic::AtomicBool;

use tcplab_scenario::Scenario;
use tcplab_sim::{TrialRequest, run_trial};
use tcplab_units::{Endpoint, Span};
use tempfile::TempDir;

use super::*;

/// The second request is lost, the answer to the fourth, and each answer is copied.
const SCENARIO: &str = r#"
title = "Datagrams"
[path]
delay = "10 ms"
[path.forward]
drop = { nth = [2] }
[path.reverse]
drop = { nth = [4] }
duplicate = "100 %"
[workload]
datagrams = { count = 5, timeout = "100 ms", every = "50 ms" }
"#;

fn recorded() -> (TempDir, Recording) {
    recording_of(SCENARIO)
}

fn recording_of(scenario: &str) -> (TempDir, Recording) {
    let scenario = Scenario::parse(scenario, "made").unwrap();
    let place = tempfile::tempdir().unwrap();
    let (case, directory) = (&scenario.cases[0], place.path());
    let request = TrialRequest { case, seed: 1, directory, snaplen: None, keeps_packets: true };
    run_trial(&request, &AtomicBool::new(false)).unwrap();
    let recording = Recording::open(place.path()).unwrap();
    (place, recording)
}

fn read(recording: &Recording) -> Correspondence {
    let (record, app) = (recording.record().unwrap(), recording.app().unwrap());
    super::read(recording, &record, &app.client.datagrams.unwrap()).unwrap()
}

/// Each datagram in a line: who, what, of which request and try, when it came, or why not.
fn line_of(row: &DatagramRow) -> String {
    let mark = row.mark.unwrap();
    let copy = if row.is_copy { " copy" } else { "" };
    let end = match (row.arrived, &row.lost) {
        (Some(at), _) => format!("at {} ms", at.since(Instant::ZERO).as_millis_f64()),
        (None, why) => why.clone().unwrap(),
    };
    let frame = row.frame.map_or(String::new(), |frame| format!(", frame {frame}"));
    format!("{:?} {}.{}{copy} {end}{frame}", row.kind, mark.request, mark.attempt)
}

#[test]
fn every_datagram_has_verdict() {
    let (_place, recording) = recorded();
    let all = read(&recording);
    let rows: Vec<String> = all.datagrams.iter().map(line_of).collect();
    assert_eq!(
        rows,
        [
            "Request 1.1 at 10 ms, frame 1",
            "Answer 1.1 at 20 ms, frame 2",
            "Answer 1.1 copy at 20 ms, frame 3",
            "Request 2.1 dropped by rule 1 of the scenario (match 2), frame 4",
            "Request 2.2 at 160 ms, frame 5",
            "Answer 2.2 at 170 ms, frame 6",
            "Answer 2.2 copy at 170 ms, frame 7",
            "Request 3.1 at 180 ms, frame 8",
            "Answer 3.1 at 190 ms, frame 9",
            "Answer 3.1 copy at 190 ms, frame 10",
            "Request 4.1 at 200 ms, frame 11",
            "Answer 4.1 dropped by rule 1 of the scenario (match 4)",
            "Request 4.2 at 300 ms, frame 12",
            "Answer 4.2 at 310 ms, frame 13",
            "Answer 4.2 copy at 310 ms, frame 14",
            "Request 5.1 at 320 ms, frame 15",
            "Answer 5.1 at 330 ms, frame 16",
            "Answer 5.1 copy at 330 ms, frame 17",
        ]
    );
    assert_eq!(all.lost(), 2);
    let answered = all.requests.iter().map(tcplab_workload::RequestReport::response_time);
    let millis: Vec<f64> = answered.map(|time| time.unwrap().as_millis_f64()).collect();
    assert_eq!(millis, [20.0, 120.0, 20.0, 120.0, 20.0]);
}

/// Where the path has no log, both captures say the same, except why.
#[test]
fn datagrams_without_verdicts_are_matched() {
    let (_place, recording) = recorded();
    let record = recording.record().unwrap();
    let captures = Endpoint::BOTH.map(|end| captured(&recording, &record, end).unwrap());
    let untold = without_verdicts(&captures);
    let own: Vec<DatagramRow> =
        read(&recording).datagrams.into_iter().filter(|row| !row.is_copy).collect();
    assert_eq!(untold.len(), own.len());
    for row in &untold {
        let same = own.iter().find(|it| (it.kind, it.mark) == (row.kind, row.mark)).unwrap();
        assert_eq!((row.sent, row.arrived), (same.sent, same.arrived));
        assert_eq!(row.lost.is_some(), same.lost.is_some());
    }
}

#[test]
fn metrics_are_counted_from_both_ends_and_the_path() {
    let (_place, recording) = recorded();
    let all = read(&recording);
    let metrics = metrics(&recording.app().unwrap(), &all);
    let value = |name: &str| metrics.iter().find(|it| it.name == name).unwrap().value;
    assert!((value("unanswered")).abs() < 1e-9, "unanswered");
    assert!((value("request_retries") - 2.0).abs() < 1e-9, "request_retries");
    assert!((value("lost_datagrams") - 2.0).abs() < 1e-9, "lost_datagrams");
    assert!(
        (value("mean_response") - (3.0 * 20.0 + 2.0 * 120.0) / 5.0).abs() < 1e-9,
        "mean_response"
    );
    assert!((value("payload_intact") - 1.0).abs() < 1e-9, "payload_intact");
    assert!(all.datagrams.iter().all(|row| row.sent <= Instant::ZERO + Span::from_secs(1)));
}

/// Requests that the server did not read, though copies of others were lost as well.
#[test]
fn lost_datagrams_are_those_that_their_receiver_never_reads() {
    for forward in [
        "loss = \"10 %\"",
        "corrupt = \"10 %\"",
        "stages = [{ duplicate = \"100 %\" }, { loss = \"30 %\" }]",
    ] {
        let (_place, recording) = recording_of(&format!(
            "title = \"Datagrams\"\n[path]\ndelay = \"1 ms\"\n[path.forward]\n{forward}\n\
             [workload.datagrams]\ncount = 200\ntimeout = \"10 ms\"\nretries = 0\n"
        ));
        let server = recording.app().unwrap().server.datagrams.unwrap();
        let unread = 200 - (server.received - server.duplicates);
        let all = read(&recording);
        assert!(unread > 5, "{forward}: {unread}");
        assert_eq!(all.lost() as u64, unread, "{forward}");
        let requests = all.datagrams.iter().filter(|row| row.kind == DatagramKind::Request);
        let whole = requests.filter(|row| row.lost.is_none()).count() as u64;
        assert!(whole >= server.received, "{forward}: {whole}, {} read", server.received);
    }
}
