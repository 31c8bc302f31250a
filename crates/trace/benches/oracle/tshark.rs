//! tshark's analysis.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};

use super::found::{Found, FrameFacts, Oddity, Packet};
use super::names::NAMES;

/// The fields asked for before the names.
const FIELDS: [&str; 13] = [
    "frame.number",
    "tcp.stream",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
    "tcp.len",
    "tcp.flags.reset",
    "pppoe.payload_length",
    "ip.len",
    "frame.protocols",
];

/// Such as `4.0.17`; none if it is not installed.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("tshark").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version =
        text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_numeric()))?;
    Some(version.trim_end_matches('.').to_owned())
}

/// What it finds; none if it cannot read the file from the beginning.
pub(crate) fn find(path: &Path) -> Option<Found> {
    let names = NAMES.map(|(name, _)| format!("tcp.analysis.{name}"));
    let output = Command::new("tshark")
        .args(["-n", "-Y", "tcp", "-T", "fields"])
        .args(["-E", "separator=;", "-E", "occurrence=l"])
        .args(FIELDS.into_iter().chain(names.iter().map(String::as_str)).flat_map(|it| ["-e", it]))
        .arg("-r")
        .arg(path)
        .env("LC_ALL", "C.UTF-8")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() && text.is_empty() {
        return None;
    }
    Some(Found::of(text.lines().filter_map(packet).collect::<BTreeMap<_, _>>()))
}

fn packet(line: &str) -> Option<(u64, Packet)> {
    let fields: Vec<&str> = line.split(';').collect();
    let (values, names) = fields.split_at_checked(FIELDS.len())?;
    // The header that ICMP quotes or sFlow samples is no packet.
    if values[12].split(':').any(|it| ["icmp", "icmpv6", "sflow"].contains(&it)) {
        return None;
    }
    let end = |v4: &str, v6: &str, port: &str| {
        let address: IpAddr = if v4.is_empty() { v6.parse() } else { v4.parse() }.ok()?;
        Some(SocketAddr::new(address, port.parse().ok()?))
    };
    // The two bytes of PPP's protocol number are part of PPPoE's length.
    let length = |value: &str| value.parse::<u32>().ok();
    let beyond_session =
        length(values[10]).zip(length(values[11])).is_some_and(|(session, ip)| session < ip + 2);
    let is_of = |name: &&str| *name == "tcp";
    let mut protocols = values[12].split(':');
    let oddity = if beyond_session {
        Some(Oddity::BeyondSession)
    } else if protocols.clone().filter(is_of).count() > 1 {
        Some(Oddity::SeveralSegments)
    } else {
        protocols.any(|it| it == "cfp").then_some(Oddity::FabricPath)
    };
    let name = NAMES.iter().zip(names).find(|(_, value)| !value.is_empty());
    let name = name.map_or("nothing special", |((_, name), _)| name);
    let packet = Packet {
        connection: values[1].parse().ok()?,
        from: end(values[2], values[3], values[4])?,
        to: end(values[5], values[6], values[7])?,
        bytes: values[8].parse().unwrap_or(0),
        is_reset: values[9] == "1",
        is_retransmission: name.ends_with("retransmission"),
        name,
        evidence: String::new(),
        frame: FrameFacts { oddity, ..FrameFacts::default() },
    };
    Some((values[0].parse().ok()?, packet))
}
