//! A capture with comments on what is to be explained, as other programs read it.

use std::fs::File;
use std::io::Read;
use std::process::Command;

use tcplab_capture::{Reader, Source, annotate};
use tcplab_trace::{Analyzer, Explanations};

#[test]
fn annotated_capture_readable_by_tshark() {
    let packed = super::corpus().join("loss1_cubic.snd.pcap.zst");
    let mut capture = Vec::new();
    Source::open(&packed).unwrap().read_to_end(&mut capture).unwrap();
    let mut analyzer = Analyzer::with_sink(Explanations::new());
    analyzer.read(Reader::new(&capture[..]).unwrap());
    let (trace, explanations) = analyzer.finish_into();
    let path = std::env::temp_dir().join(format!("tcplab-annotate-{}.pcapng", std::process::id()));
    let out = File::create(&path).unwrap();
    let copied = annotate(&capture[..], out, |frame| explanations.of(frame)).unwrap();
    assert_eq!(copied.packets, trace.packets);
    assert_eq!(copied.annotated, explanations.len() as u64);
    let shown = Command::new("tshark")
        .arg("-r")
        .arg(&path)
        .args(["-Y", "frame.comment", "-T", "fields", "-e", "frame.number", "-e", "frame.comment"])
        .output();
    std::fs::remove_file(&path).unwrap();
    let Ok(shown) = shown else {
        eprintln!("SKIPPED: tshark is not installed, so the copy was not shown to it");
        return;
    };
    let complaints = String::from_utf8_lossy(&shown.stderr).into_owned();
    let complaints = complaints.lines().filter(|line| !line.contains("as user"));
    assert_eq!(complaints.collect::<Vec<_>>(), Vec::<&str>::new());
    let lines = String::from_utf8_lossy(&shown.stdout).into_owned();
    let lines: Vec<(u64, &str)> = lines
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(frame, comment)| (frame.parse().unwrap(), comment))
        .collect();
    assert_eq!(lines.len() as u64, copied.annotated);
    for (frame, comment) in &lines {
        assert_eq!(explanations.of(*frame).as_deref(), Some(*comment));
    }
    // The kernel counted 33 retransmissions; one of them is of the control connection.
    let again = lines.iter().filter(|(_, comment)| comment.contains("retransmission of #"));
    assert_eq!(again.count(), 33);
}
