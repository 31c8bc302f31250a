//! IP inside IP: what tunnels carry.

use crate::link::{Carried, Headers};
use crate::{Anomaly, Fragment, IpPacket, protocol};

/// The ports of UDP behind which tunnels are looked for (IANA; 8472 is Linux's first for VXLAN).
const VXLAN: [u16; 2] = [4789, 8472];
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const GRE_IN_UDP: u16 = 4754;
const TEREDO: u16 = 3544;
const L2TP: u16 = 1701;
const MPLS_IN_UDP: u16 = 6635;
const AYIYA: u16 = 5072;
const LISP: u16 = 4341;
const CAPWAP_DATA: u16 = 5247;

/// The IP packet inside an IP packet whose payload begins at `headers.at`; none if it carries no
/// tunnel that is known, or something other than IP in it.
pub(crate) fn inner(ip: &IpPacket<'_>, headers: Headers<'_>) -> Option<Carried> {
    if ip.fragment() != Fragment::default() {
        return None;
    }
    let mut headers = headers;
    let carried = match ip.protocol() {
        protocol::IPV4 => Ok(headers.ip(Some(4))),
        protocol::IPV6 => Ok(headers.ip(Some(6))),
        protocol::GRE => gre(&mut headers),
        // RFC 3378: two bytes.
        protocol::ETHER_IP => headers.take::<2>().and_then(|_| headers.ethernet()),
        // RFC 4023.
        protocol::MPLS => headers.labels(),
        protocol::UDP => udp(&mut headers),
        _ => return None,
    };
    carried.ok().filter(|carried| matches!(carried, Carried::Ip { .. }))
}

const NONE: Carried = Carried::Other { protocol: 0 };

/// RFC 2784, RFC 2890; version 1 is PPTP's (RFC 2637 section 4.1).
fn gre(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const ERSPAN: u16 = 0x88be;
    // MikroTik's Ethernet over IP: the key is the frame's length and the tunnel's number.
    const EOIP: u16 = 0x6400;
    const ERSPAN_3: u16 = 0x22eb;
    let [f0, f1, p0, p1] = headers.take()?;
    let (flags, protocol) = (u16::from_be_bytes([f0, f1]), u16::from_be_bytes([p0, p1]));
    let version = flags & 7;
    if version > 1 || flags & ROUTING != 0 {
        return Ok(NONE);
    }
    for field in [CHECKSUM, KEY, SEQUENCE] {
        if flags & field != 0 {
            headers.take::<4>()?;
        }
    }
    if (flags, protocol) == (KEY | 1, EOIP) {
        return headers.ethernet();
    }
    if version == 1 {
        if flags & ACKNOWLEDGMENT != 0 {
            headers.take::<4>()?;
        }
        return headers.ppp();
    }
    match protocol {
        // Cisco: type I has no header of its own, and no sequence number.
        ERSPAN if flags & SEQUENCE == 0 => headers.ethernet(),
        ERSPAN => {
            headers.take::<8>()?;
            headers.ethernet()
        }
        ERSPAN_3 => {
            if headers.take::<12>()?[11] & 1 != 0 {
                headers.take::<8>()?;
            }
            headers.ethernet()
        }
        // WCCP: a header of four bytes, in version 1 none.
        0x883e => {
            if headers.bytes.get(headers.at).is_none_or(|first| first >> 4 != 4) {
                headers.take::<4>()?;
            }
            Ok(headers.ip(Some(4)))
        }
        // What Aruba's access points send to their controller: 802.11.
        0x8200..=0x84ff | 0x9000 => headers.wifi(),
        ether_type => headers.typed(ether_type),
    }
}

fn udp(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    let [s0, s1, d0, d1, ..] = headers.take::<8>()?;
    let (from, to) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
    let behind = *headers;
    for port in [to, from] {
        *headers = behind;
        let carried = match port {
            port if VXLAN.contains(&port) => vxlan(headers)?,
            VXLAN_GPE => vxlan_gpe(headers)?,
            GENEVE => geneve(headers)?,
            GTP_U => gtp(headers)?,
            GRE_IN_UDP => gre(headers)?,
            TEREDO => teredo(headers)?,
            L2TP => l2tp(headers)?,
            MPLS_IN_UDP => headers.labels()?,
            AYIYA => ayiya(headers)?,
            // RFC 9300 section 5.1: flags and nonce, then IP.
            LISP => headers.take::<8>().map(|_| headers.ip(None))?,
            CAPWAP_DATA => capwap(headers)?,
            _ => continue,
        };
        return Ok(carried);
    }
    Ok(NONE)
}

/// RFC 7348 section 5: the flag "I" and a network identifier, then Ethernet.
fn vxlan(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    let is_one = headers.take::<8>()?[0] & 0x08 != 0;
    if is_one { headers.ethernet() } else { Ok(NONE) }
}

/// draft-ietf-nvo3-vxlan-gpe section 3: the flag "P" announces a number of what is inside.
fn vxlan_gpe(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    match headers.take::<8>()? {
        [flags, _, _, 1, ..] if flags & 4 != 0 => Ok(headers.ip(Some(4))),
        [flags, _, _, 2, ..] if flags & 4 != 0 => Ok(headers.ip(Some(6))),
        [flags, _, _, 3, ..] if flags & 4 != 0 => headers.ethernet(),
        _ => Ok(NONE),
    }
}

/// RFC 8926 section 3.4: version and the length of the options, an `EtherType`.
fn geneve(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    let [first, _, high, low, ..] = headers.take::<8>()?;
    if first >> 6 != 0 {
        return Ok(NONE);
    }
    headers.at += usize::from(first & 0x3f) * 4;
    headers.typed(u16::from_be_bytes([high, low]))
}

/// 3GPP TS 29.281 section 5: a packet of a user (G-PDU), perhaps with extension headers. Only the
/// session knows whether it is IP, PPP or Ethernet; its first byte shows it.
fn gtp(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    const G_PDU: u8 = 255;
    let [flags, kind, ..] = headers.take::<8>()?;
    if flags >> 4 != 0b0011 || kind != G_PDU {
        return Ok(NONE);
    }
    if flags & 7 != 0 {
        let [.., mut next] = headers.take::<4>()?;
        while flags & 4 != 0 && next != 0 {
            let length = usize::from(headers.take::<1>()?[0]) * 4;
            if length == 0 {
                return Ok(NONE);
            }
            headers.at += length - 2;
            next = headers.take::<1>()?[0];
        }
    }
    match headers.bytes.get(headers.at..).unwrap_or_default() {
        [first, ..] if matches!(first >> 4, 4 | 6) => Ok(headers.ip(None)),
        [0xff, 0x03, ..] => headers.ppp(),
        _ => headers.ethernet(),
    }
}

/// RFC 4380 section 5.1.1: perhaps an authentication and an origin, then IPv6.
fn teredo(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    loop {
        match headers.bytes.get(headers.at..).unwrap_or_default() {
            [0, 1, id, authentication, ..] => {
                headers.at += 13 + usize::from(*id) + usize::from(*authentication);
            }
            [0, 0, ..] => headers.at += 8,
            _ => return Ok(headers.ip(Some(6))),
        }
    }
}

/// RFC 2661 section 3.1: data, then PPP.
fn l2tp(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = u16::from_be_bytes(headers.take()?);
    if flags & CONTROL != 0 || flags & 0xf != 2 {
        return Ok(NONE);
    }
    if flags & LENGTH != 0 {
        headers.take::<2>()?;
    }
    headers.take::<4>()?;
    if flags & SEQUENCE != 0 {
        headers.take::<4>()?;
    }
    if flags & OFFSET != 0 {
        headers.at += usize::from(u16::from_be_bytes(headers.take()?));
    }
    headers.ppp()
}

/// draft-massar-v6ops-ayiya-02 section 4: lengths of identity and signature, what to do (1: forward
/// what is inside), the protocol inside, a time; then identity and signature.
fn ayiya(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    const FORWARD: u8 = 1;
    let [identity, signature, operation, protocol, ..] = headers.take::<8>()?;
    headers.at += (1 << (identity >> 4)) + usize::from(signature >> 4) * 4;
    Ok(match protocol {
        _ if operation & 0xf != FORWARD => NONE,
        protocol::IPV4 => headers.ip(Some(4)),
        protocol::IPV6 => headers.ip(Some(6)),
        _ => NONE,
    })
}

/// RFC 5415 section 4.3: what access points send to their controller in clear text, 802.11 or
/// 802.3. Fragments of it are not put together.
fn capwap(headers: &mut Headers<'_>) -> Result<Carried, Anomaly> {
    const IS_NATIVE: u32 = 0x100;
    const FRAGMENT: u32 = 0x80;
    const KEEP_ALIVE: u32 = 0x08;
    const WIFI: u32 = 1;
    let [b0, b1, b2, b3, ..] = headers.take::<8>()?;
    let first = u32::from_be_bytes([b0, b1, b2, b3]);
    let (length, binding) = ((first >> 19 & 0x1f) as usize * 4, first >> 9 & 0x1f);
    // Version 0, not encrypted.
    if first >> 24 != 0 || first & (FRAGMENT | KEEP_ALIVE) != 0 || length < 8 {
        return Ok(NONE);
    }
    headers.at += length - 8;
    match (first & IS_NATIVE != 0, binding) {
        (false, _) => headers.ethernet(),
        (true, WIFI) => match headers.bytes.get(headers.at) {
            Some(control) if control & 0xf == 8 => headers.wifi(),
            _ => headers.swapped_wifi(),
        },
        _ => Ok(NONE),
    }
}
