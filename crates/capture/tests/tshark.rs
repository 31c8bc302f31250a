//! An independent reader must see in our files what was written. Wireshark's tools are that reader;
//! where they are not installed, the tests say so and pass.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use tcplab_capture::{
    Direction, Interface, Packet, PcapWriter, PcapngWriter, Section, Statistics, UnixTime,
};

/// A SYN from 10.98.0.1:52188 to 10.98.0.2:5201.
const SYN: [u8; 60] = [
    0x45, 0x00, 0x00, 0x3c, 0x5f, 0x1f, 0x40, 0x00, 0x40, 0x06, 0xc6, 0xd6, 0x0a, 0x62, 0x00, 0x01,
    0x0a, 0x62, 0x00, 0x02, 0xcb, 0xdc, 0x14, 0x51, 0xb8, 0x21, 0x08, 0x4d, 0x00, 0x00, 0x00, 0x00,
    0xa0, 0x02, 0xfa, 0xf0, 0xb5, 0xba, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a,
    0xd4, 0x06, 0x0d, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03, 0x03, 0x0a,
];
const RAW_IP: u16 = 101;
const START: UnixTime = UnixTime::from_nanos(1_700_000_000_123_456_789);

/// What a program prints; `None` if it is not installed.
fn output(program: &str, arguments: &[&str], file: &Path) -> Option<String> {
    // Wireshark's tools write times and numbers as the locale has them.
    let ran = Command::new(program)
        .args(arguments)
        .arg(file)
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .output();
    let output = match ran {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip(program);
            return None;
        }
        ran => ran.unwrap(),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skip(program: &str) {
    eprintln!("SKIPPED: {program} is not installed, so our files were not shown to it");
}

fn interface(name: &str) -> Interface {
    Interface {
        name: Some(name.into()),
        description: Some(format!("the {name}'s end of the path")),
        link_type: RAW_IP,
        snap_len: 52,
    }
}

fn two_ends() -> Vec<u8> {
    let section = Section {
        hardware: Some("two cores"),
        os: Some("Linux 6.18"),
        application: Some("tcplab"),
    };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    for (name, nanos, comments, direction) in [
        ("client", 0, &["dropped by the path: interruption"][..], Some(Direction::Outbound)),
        ("server", 1_000_000_001, &["one", "µ-two"], Some(Direction::Inbound)),
        ("nobody", 2, &[], None),
    ] {
        let interface = writer.add_interface(&interface(name)).unwrap();
        let time = UnixTime::from_nanos(START.as_nanos() + nanos);
        let packet =
            Packet { interface, time, captured: &SYN, original_len: 60, direction, comments };
        writer.write_packet(&packet).unwrap();
        let counted = Statistics {
            start: Some(START),
            end: Some(time),
            received: Some(11),
            dropped: Some(7),
            dropped_by_os: None,
        };
        writer.write_statistics(interface, &counted).unwrap();
    }
    writer.finish().unwrap()
}

fn on_disk(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

/// One line for each packet, of these fields.
fn fields<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let chosen = names.iter().flat_map(|name| ["-e", name]);
    ["-T", "fields", "-E", "separator=;", "-E", "aggregator=|"]
        .into_iter()
        .chain(chosen)
        .chain(["-r"])
        .collect()
}

#[test]
fn tshark_sees_interfaces_nanoseconds_and_comments() {
    let file = on_disk(&two_ends());
    let arguments = fields(&[
        "frame.interface_name",
        "frame.interface_description",
        "frame.time_epoch",
        "frame.cap_len",
        "frame.len",
        "frame.packet_flags_direction",
        "frame.comment",
        "tcp.dstport",
    ]);
    let Some(printed) = output("tshark", &arguments, file.path()) else { return };
    assert_eq!(
        printed.lines().collect::<Vec<_>>(),
        [
            "client;the client's end of the path;1700000000.123456789;52;60;0x00000002;dropped by \
             the path: interruption;5201",
            "server;the server's end of the path;1700000001.123456790;52;60;0x00000001;one|µ-two;\
             5201",
            "nobody;the nobody's end of the path;1700000000.123456791;52;60;;;5201",
        ]
    );
}

#[test]
fn capinfos_sees_the_section_and_its_counts() {
    let file = on_disk(&two_ends());
    let Some(printed) = output("capinfos", &["-M"], file.path()) else { return };
    for line in [
        "Capture hardware:    two cores",
        "Capture oper-sys:    Linux 6.18",
        "Capture application: tcplab",
        "Number of packets:   3",
        "Number of interfaces in file: 3",
        "Name = client",
        "Time precision = nanoseconds (9)",
        "Capture length = 52",
        "Number of stat entries = 1",
    ] {
        assert!(printed.contains(line), "`{line}` is missing in\n{printed}");
    }
}

#[test]
fn tshark_sees_nanoseconds_in_the_older_format() {
    let mut writer = PcapWriter::new(Vec::new(), RAW_IP, 128).unwrap();
    writer.write_packet(START, &SYN, 60).unwrap();
    let file = on_disk(&writer.finish().unwrap());
    let arguments = fields(&["frame.time_epoch", "frame.len", "tcp.srcport"]);
    let Some(printed) = output("tshark", &arguments, file.path()) else { return };
    assert_eq!(printed, "1700000000.123456789;60;52188\n");
}
