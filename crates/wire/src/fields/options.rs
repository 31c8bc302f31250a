//! Fields of TCP options.

use super::cursor::Cursor;
use super::field::{Numbering, Said, relative};
use crate::options::{kind, read};
use crate::{AccEcnOption, TcpOption};

/// The options, up to the end of the header or of what was captured of it (`complete`: all was).
pub(super) fn tcp_options(cursor: &mut Cursor<'_>, numbering: &Numbering, complete: bool) {
    while let Some(&kind) = cursor.rest().first() {
        match kind {
            kind::END => {
                cursor.block("end of options", 1, |_| Said::value(kind));
                cursor.block("padding", usize::MAX, Said::bytes);
            }
            kind::NO_OPERATION => cursor.block("no operation", 1, |_| Said::value(kind)),
            _ => {
                let rest = cursor.rest();
                let length = rest.get(1).map_or(rest.len(), |&length| usize::from(length));
                let is_whole = rest.len() > 1 && (2..=rest.len()).contains(&length);
                if !is_whole {
                    let (name, why) = if complete || length < 2 {
                        ("malformed option", ": impossible length")
                    } else {
                        ("truncated option", "")
                    };
                    let meaning = format!("{}{why}", option_name(kind));
                    cursor.block(name, usize::MAX, |bytes| Said::bytes(bytes).meaning(meaning));
                    return;
                }
                option(cursor, numbering, &rest[..length]);
            }
        }
    }
}

/// An option of valid length.
fn option(cursor: &mut Cursor<'_>, numbering: &Numbering, bytes: &[u8]) {
    let (kind, length) = (bytes[0], bytes.len());
    let body = &bytes[2..];
    let known = read(kind, body);
    cursor.block("option kind", 1, |_| Said::value(kind).meaning(option_name(kind)));
    let is_wrong = if known.is_none() { ": not the length of this option" } else { "" };
    cursor.block("option length", 1, |_| Said::value(length).meaning(format!("bytes{is_wrong}")));
    match known {
        Some(TcpOption::Mss(mss)) => {
            cursor.block("MSS", 2, |_| Said::value(mss).meaning("largest segment, bytes"));
        }
        Some(TcpOption::WindowScale(shift)) => cursor.block("window scale", 1, |_| {
            let most = if shift > 14 { ": 14 at most counts" } else { "" };
            let factor = 1_u32 << shift.min(14);
            Said::value(shift).meaning(format!("windows × {factor}{most}"))
        }),
        Some(TcpOption::Sack(blocks)) => {
            for block in &blocks {
                let edge = |number: u32| relative(number, numbering.ack);
                cursor.block("SACK left edge", 4, |_| edge(block.left.as_u32()));
                cursor.block("SACK right edge", 4, |_| edge(block.right.as_u32()));
            }
        }
        Some(TcpOption::Timestamps { value, echo }) => {
            cursor.block("timestamp value", 4, |_| Said::value(value));
            cursor.block("timestamp echo reply", 4, |_| Said::value(echo));
        }
        Some(TcpOption::FastOpen(cookie)) => fast_open(cursor, cookie),
        Some(TcpOption::Mptcp(body)) => multipath(cursor, body),
        Some(TcpOption::Unknown { kind, bytes }) => other(cursor, kind, bytes),
        _ => cursor.block("option data", body.len(), Said::bytes),
    }
}

fn fast_open(cursor: &mut Cursor<'_>, cookie: &[u8]) {
    cursor.block("Fast Open cookie", cookie.len(), Said::bytes);
}

/// RFC 8684 section 3: the subtype stands in the first four bits.
fn multipath(cursor: &mut Cursor<'_>, body: &[u8]) {
    const SUBTYPES: [&str; 9] = [
        "MP_CAPABLE",
        "MP_JOIN",
        "DSS",
        "ADD_ADDR",
        "REMOVE_ADDR",
        "MP_PRIO",
        "MP_FAIL",
        "MP_FASTCLOSE",
        "MP_TCPRST",
    ];
    let Some(first) = body.first() else { return };
    let subtype = first >> 4;
    cursor.block("MPTCP subtype", 1, |_| {
        let name = SUBTYPES.get(usize::from(subtype)).copied().unwrap_or("unknown");
        Said::value(subtype).meaning(format!("{name}, low bits {:#x}", first & 0xf))
    });
    cursor.block("MPTCP data", body.len() - 1, Said::bytes);
}

fn other(cursor: &mut Cursor<'_>, kind: u8, body: &[u8]) {
    if let Some(option) = AccEcnOption::of(kind, body) {
        return accurate_ecn(cursor, &option, body);
    }
    let mut rest = body;
    if matches!(kind, kind::EXPERIMENT | 253)
        && let [high, low, behind @ ..] = body
    {
        let id = u16::from_be_bytes([*high, *low]);
        let is_fast_open = id == kind::FAST_OPEN_EXPERIMENT;
        cursor.block("experiment", 2, |_| {
            Said::hex16(id).meaning(if is_fast_open { "Fast Open" } else { "" })
        });
        if is_fast_open {
            return fast_open(cursor, behind);
        }
        rest = behind;
    }
    cursor.block("option data", rest.len(), Said::bytes);
}

fn accurate_ecn(cursor: &mut Cursor<'_>, option: &AccEcnOption, body: &[u8]) {
    let [first, last] = if option.ect1_first { ["ECT(1)", "ECT(0)"] } else { ["ECT(0)", "ECT(1)"] };
    let count = usize::from(option.count);
    for (counter, name) in option.counters.iter().zip([first, "CE", last]).take(count) {
        let meaning = format!("bytes received with {name}, modulo 2²⁴");
        cursor.block("AccECN counter", 3, |_| Said::value(counter).meaning(meaning));
    }
    cursor.block("option data", body.len() - 3 * count, Said::bytes);
}

/// The name of an option (IANA's registry of TCP option kinds).
fn option_name(kind: u8) -> &'static str {
    match kind {
        kind::MSS => "maximum segment size",
        kind::WINDOW_SCALE => "window scale",
        kind::SACK_PERMITTED => "SACK permitted",
        kind::SACK => "SACK",
        kind::TIMESTAMPS => "timestamps",
        19 => "MD5 signature",
        27 => "quick start",
        28 => "user timeout",
        29 => "TCP-AO",
        kind::MPTCP => "Multipath TCP",
        kind::FAST_OPEN => "Fast Open",
        172 | 174 => "Accurate ECN",
        253 | kind::EXPERIMENT => "experiment",
        _ => "unknown",
    }
}
