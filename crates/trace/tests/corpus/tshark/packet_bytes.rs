//! Each field of a packet, its place and value, against tshark's description of it (PDML).

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use tcplab_capture::{PcapWriter, Source, UnixTime};
use tcplab_trace::{ConnectionNumbers, Frame, PacketBytes, analyze};
use tcplab_units::Instant;
use tcplab_wire::{
    Ecn, Field, FieldLayer, IpRepr, Ipv6Repr, LinkType, SackBlock, SeqNumber, TcpFlags, TcpRepr,
};

use super::{captures, oracle};

/// Packets of each capture that are compared.
const PACKETS: usize = 300;

/// Dumps of "TCP Socket Options in Android": keep-alive, RST, urgent data, SYN and SYN-ACK.
const DUMPS: [&str; 5] = [
    "001a73f6f36e6cb7f471141508004500003438e5400040067fbfc0a8006ac0a80065a199226b2e4664289b5e\
     ec7e801000e5ec5100000101080a02a260000852be21",
    "001a73f6f36e6cb7f4711415080045000028000040004006b8b0c0a8006ac0a80065dee7226b7f0e59420000\
     000050040000541d0000",
    "001a73f6f36e6cb7f4711415080045000035d8a140004006e001c0a8006ac0a8006593fe226bcfe468995b84\
     f43c803800e58fea00010101080a025bbbc6075f5e7a01",
    "001a73f6f36e00265acafa1708004500003cdb9240003f0611d2185674f4c0a80065c73c226be7f583e50000\
     0000a002390810440000020405b40402080a026358770000000001030306",
    "00265acafa17001a73f6f36e08004500003c000040004006ec64c0a80065185674f4226bcb1f14b490e5bdf2\
     34b5a0120b504e860000020405b40402080a07f4f0d802799a2501030300",
];

/// tshark's name of a field of ours.
fn tshark_name(field: &Field) -> Option<&'static str> {
    use FieldLayer::{Ipv4, Ipv6, Link, Tcp, TcpOption};
    Some(match (field.layer, field.name) {
        (Link, "destination") => "eth.dst",
        (Link, "source") => "eth.src",
        (Ipv4, "version") => "ip.version",
        (Ipv4, "header length") => "ip.hdr_len",
        (Ipv4, "DSCP") => "ip.dsfield.dscp",
        (Ipv4, "ECN") => "ip.dsfield.ecn",
        (Ipv4, "total length") => "ip.len",
        (Ipv4, "identification") => "ip.id",
        (Ipv4, "reserved bit") => "ip.flags.rb",
        (Ipv4, "don't fragment") => "ip.flags.df",
        (Ipv4, "more fragments") => "ip.flags.mf",
        (Ipv4, "fragment offset") => "ip.frag_offset",
        (Ipv4, "TTL") => "ip.ttl",
        (Ipv4, "protocol") => "ip.proto",
        (Ipv4, "header checksum") => "ip.checksum",
        (Ipv4, "source") => "ip.src",
        (Ipv4, "destination") => "ip.dst",
        (Ipv6, "payload length") => "ipv6.plen",
        (Ipv6, "next header") => "ipv6.nxt",
        (Ipv6, "hop limit") => "ipv6.hlim",
        (Ipv6, "source") => "ipv6.src",
        (Ipv6, "destination") => "ipv6.dst",
        (Tcp, "source port") => "tcp.srcport",
        (Tcp, "destination port") => "tcp.dstport",
        (Tcp, "sequence number") => "tcp.seq_raw",
        (Tcp, "acknowledgement number") => "tcp.ack_raw",
        (Tcp, "data offset") => "tcp.hdr_len",
        (Tcp, "flags") => "tcp.flags",
        (Tcp, "CWR") => "tcp.flags.cwr",
        (Tcp, "ECE") => "tcp.flags.ece",
        (Tcp, "URG") => "tcp.flags.urg",
        (Tcp, "ACK") => "tcp.flags.ack",
        (Tcp, "PSH") => "tcp.flags.push",
        (Tcp, "RST") => "tcp.flags.reset",
        (Tcp, "SYN") => "tcp.flags.syn",
        (Tcp, "FIN") => "tcp.flags.fin",
        (Tcp, "window") => "tcp.window_size_value",
        (Tcp, "checksum") => "tcp.checksum",
        (Tcp, "urgent pointer") => "tcp.urgent_pointer",
        (TcpOption, "option kind" | "no operation") => "tcp.option_kind",
        (TcpOption, "option length") => "tcp.option_len",
        (TcpOption, "MSS") => "tcp.options.mss_val",
        (TcpOption, "window scale") => "tcp.options.wscale.shift",
        (TcpOption, "SACK left edge") => "tcp.options.sack_le",
        (TcpOption, "SACK right edge") => "tcp.options.sack_re",
        (TcpOption, "timestamp value") => "tcp.options.timestamp.tsval",
        (TcpOption, "timestamp echo reply") => "tcp.options.timestamp.tsecr",
        _ => return None,
    })
}

/// A field as tshark describes it: offset, length and value.
type Described = (usize, usize, String);

/// What tshark says of each of the first packets of a capture, by name of field.
fn described(capture: &Path) -> Vec<BTreeMap<String, Vec<Described>>> {
    let output = Command::new("tshark")
        .args(["-n", "-T", "pdml", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"])
        .args(["-c", &PACKETS.to_string(), "-r"])
        .arg(capture)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let packets = text.split("<packet>").skip(1);
    packets.map(|packet| packet.split("<field ").skip(1).fold(BTreeMap::new(), add)).collect()
}

fn add(
    mut fields: BTreeMap<String, Vec<Described>>,
    field: &str,
) -> BTreeMap<String, Vec<Described>> {
    let attribute = |name: &str| {
        let (_, rest) = field.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    let number = |name: &str| attribute(name).and_then(|it| it.parse().ok()).unwrap_or(0);
    if let (Some(name), Some(show)) = (attribute("name"), attribute("show")) {
        let described = (number("pos"), number("size"), show.to_owned());
        fields.entry(name.to_owned()).or_default().push(described);
    }
    fields
}

/// Numbers as numbers, however they are written.
fn normal(value: &str) -> String {
    match (value, value.strip_prefix("0x")) {
        ("True", _) => "1".to_owned(),
        ("False", _) => "0".to_owned(),
        (_, Some(digits)) => u64::from_str_radix(digits, 16).unwrap().to_string(),
        _ => value.to_owned(),
    }
}

/// Compares the first packets of a capture; returns how many fields were alike.
fn compare(capture: &Path) -> usize {
    let trace = analyze(tcplab_capture::open(capture).unwrap());
    let numbers: Vec<ConnectionNumbers> = trace
        .connections
        .iter()
        .enumerate()
        .map(|(index, connection)| ConnectionNumbers::new(index, connection))
        .collect();
    let mut reader = tcplab_capture::open(capture).unwrap();
    let mut alike = 0;
    for (place, theirs) in described(capture).iter().enumerate() {
        let (captured, original_len) = {
            let record = reader.next_record().unwrap().unwrap();
            (record.captured.to_vec(), record.original_len)
        };
        let link = LinkType::from_number(reader.interfaces()[0].link_type);
        let frame = Frame { original_len, ..Frame::whole(0, link, &captured) };
        let frame_number = place as u64 + 1;
        let packet = PacketBytes::new((frame_number, Instant::ZERO), &frame, &numbers);
        for field in &packet.fields {
            let at = format!("{}: frame {frame_number}: {field:?}", capture.display());
            alike += usize::from(is_described(field, theirs, &at));
        }
    }
    alike
}

/// Whether tshark knows the field; panics if it says something else of it.
fn is_described(field: &Field, theirs: &BTreeMap<String, Vec<Described>>, at: &str) -> bool {
    let Some(name) = tshark_name(field) else { return false };
    let all = theirs.get(name).map(Vec::as_slice).unwrap_or_default();
    let same = all.iter().find(|(offset, ..)| *offset == field.offset);
    let Some((_, length, shown)) = same else { panic!("{at}: {name} is {all:?}") };
    // tshark gives flags of a byte the two bytes that all flags have.
    let is_of_bits = field.length == 1 && *length == 2;
    assert!(field.length == *length || is_of_bits, "{at}: {length} bytes");
    let is_sack = name.starts_with("tcp.options.sack_");
    if is_sack {
        assert_eq!(field.meaning, format!("relative {shown}"), "{at}");
    } else {
        assert_eq!(normal(&field.value), normal(shown), "{at}");
    }
    let meant = |name: &str| theirs.get(name).map(|all| all[0].2.clone());
    match name {
        // A RST alone says nothing of where its connection began.
        "tcp.seq_raw" if !field.meaning.is_empty() => {
            assert_eq!(Some(field.meaning.replace("relative ", "")), meant("tcp.seq"), "{at}");
        }
        "tcp.window_size_value" if field.meaning.contains("scale") => {
            let bytes = field.meaning.split(' ').next().unwrap().to_owned();
            let known = bytes.parse::<u64>().is_ok();
            assert!(!known || Some(bytes) == meant("tcp.window_size"), "{at}");
        }
        "tcp.checksum" | "ip.checksum" => {
            let status = meant(&format!("{name}.status"));
            // 1 is good, 0 bad; tshark takes what offloading left for good.
            let expected = match field.meaning.as_str() {
                right if right == "right" || right.starts_with("offloaded") => "1",
                _ if field.meaning.starts_with("not verified") => "2",
                _ => "0",
            };
            let offloaded = field.meaning.starts_with("offloaded");
            assert!(offloaded || status.as_deref() == Some(expected), "{at}: {status:?}");
        }
        _ => {}
    }
    true
}

fn bytes(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(digit).collect()
}

/// A segment with SACK blocks over IPv6, behind a VLAN tag.
fn tagged() -> Vec<u8> {
    let ip = IpRepr::from(Ipv6Repr {
        src: "2001:db8::1".parse().unwrap(),
        dst: "2001:db8::2".parse().unwrap(),
        hop_limit: 63,
        ecn: Ecn::Ect0,
    });
    let block =
        |left, right| SackBlock { left: SeqNumber::new(left), right: SeqNumber::new(right) };
    let tcp = TcpRepr {
        src_port: 40_000,
        dst_port: 443,
        seq: SeqNumber::new(0xffff_fff0),
        ack: SeqNumber::new(77),
        flags: TcpFlags::ACK | TcpFlags::ECE,
        window: 501,
        timestamps: Some((1, 2)),
        sack: [block(100, 200), block(300, 400)].into_iter().collect(),
        ..TcpRepr::default()
    };
    let mut frame = bytes("0200000000020200000000018100600786dd");
    frame.extend(tcp.to_packet(&ip, b"data"));
    frame
}

#[test]
fn each_field_is_where_tshark_finds_it() {
    if oracle::version().is_none() {
        eprintln!("skipped: tshark is not installed, no field was compared");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("dumps.pcap");
    let mut writer = PcapWriter::new(std::fs::File::create(&file).unwrap(), 1, 65_535).unwrap();
    let whole = DUMPS.map(bytes).into_iter().chain([tagged()]);
    for (place, frame) in whole.enumerate() {
        // Whole, and as short snap lengths keep it.
        for kept in [frame.len(), 54, 40, 20] {
            let captured = &frame[..kept.min(frame.len())];
            let time = UnixTime::from_nanos(place as u64 * 1_000_000);
            writer.write_packet(time, captured, frame.len() as u32).unwrap();
        }
    }
    writer.finish().unwrap();
    let mut alike = compare(&file);
    assert!(alike > 300, "{alike} fields");
    for capture in captures() {
        let mut unpacked = Vec::new();
        Source::open(&capture).unwrap().read_to_end(&mut unpacked).unwrap();
        let file = place.path().join("capture.pcap");
        std::fs::write(&file, unpacked).unwrap();
        alike += compare(&file);
    }
    assert!(alike > 100_000, "{alike} fields");
}
