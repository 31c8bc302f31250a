//! What tshark says of each packet.

use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_capture::Source;
use tempfile::NamedTempFile;

/// The requested fields, in the order of [`Row`].
const FIELDS: [&str; 19] = [
    "frame.number",
    "frame.len",
    "ip.src",
    "ip.dst",
    "ip.id",
    "ip.ttl",
    "ip.len",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.window_size",
    "tcp.hdr_len",
    "tcp.len",
    "tcp.checksum",
    "tcp.urgent_pointer",
    "tcp.stream",
];
const OPTIONS: [&str; 8] = [
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.sack_perm",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.option_kind",
];
/// What tshark may call a packet, without `tcp.analysis.`.
pub(super) const FLAGS: [&str; 12] = [
    "retransmission",
    "fast_retransmission",
    "spurious_retransmission",
    "out_of_order",
    "keep_alive",
    "keep_alive_ack",
    "zero_window_probe",
    "zero_window_probe_ack",
    "duplicate_ack",
    "lost_segment",
    "ack_lost_segment",
    "reused_ports",
];

/// One packet. Texts are as tshark prints them; several values are parted by `|`.
#[derive(Debug)]
pub(super) struct Row {
    /// As in `FIELDS`.
    pub(super) fields: Vec<String>,
    /// As in `OPTIONS`.
    pub(super) options: Vec<String>,
    /// Those of [`FLAGS`] that it gave.
    pub(super) flags: Vec<&'static str>,
}

/// Such as `4.0.17`; none if tshark is not installed.
pub(super) fn version() -> Option<String> {
    let output = match Command::new("tshark").arg("--version").output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_numeric()));
    Some(version.expect("a version").trim_end_matches('.').to_owned())
}

/// A compressed capture, for programs that read none.
pub(super) fn unpacked(capture: &Path) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let mut bytes = Vec::new();
    Source::open(capture).unwrap().read_to_end(&mut bytes).unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

/// Its rows for all packets of a compressed capture.
pub(super) fn rows(capture: &Path) -> Vec<Row> {
    let file = unpacked(capture);
    let flags = FLAGS.map(|flag| format!("tcp.analysis.{flag}"));
    let names = FIELDS.into_iter().chain(OPTIONS).chain(flags.iter().map(String::as_str));
    let output = Command::new("tshark")
        .args(["-n", "-o", "tcp.relative_sequence_numbers:FALSE"])
        .args(["-T", "fields", "-E", "separator=;", "-E", "aggregator=|"])
        .args(names.flat_map(|name| ["-e", name]))
        .arg("-r")
        .arg(file.path())
        .env("LC_ALL", "C.UTF-8")
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark: {errors}");
    String::from_utf8(output.stdout).unwrap().lines().map(row).collect()
}

fn row(line: &str) -> Row {
    let mut values = line.split(';').map(str::to_owned);
    let fields = values.by_ref().take(FIELDS.len()).collect();
    let options = values.by_ref().take(OPTIONS.len()).collect();
    let flags = FLAGS.into_iter().zip(values).filter(|(_, value)| !value.is_empty());
    Row { fields, options, flags: flags.map(|(flag, _)| flag).collect() }
}
