//! # Small MSS
//!
//! **What it says.** The ends agreed on an MSS so small that headers take much of the path.
//!
//! **Why it matters.** 536 bytes per segment need nearly three times as many packets as 1460, and
//! congestion control, which counts segments, grows as much more slowly.
//!
//! **Evidence.** The MSS options of both SYNs, and segments of the smaller size: the mean is at
//! least half of it. The sender's own MSS counts, too: most systems send no more than they
//! announce.
//!
//! **False positives.** Some radio and serial links. Tunnels and PPPoE are not reported.
//!
//! **Reference.** RFC 9293 section 3.7.1; RFC 6691.

use tcplab_trace::SynOptions;
use tcplab_units::Bytes;

use crate::words::percent;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("segment-size", in_direction);

/// The smallest size that any path of IPv6 carries: 1280 less 60 of headers. Less is worth a word.
const USUAL: u16 = 1_220;
/// What Ethernet carries.
const ETHERNET: u64 = 1_460;
/// Headers of IPv4 and TCP without options, bytes.
const HEADERS: u64 = 40;
/// What a SYN without the option means with IPv4 and with IPv6 (RFC 9293 section 3.7.1).
const DEFAULTS: (u16, u16) = (536, 1_220);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let default = if direction.connection.client.is_ipv4() { DEFAULTS.0 } else { DEFAULTS.1 };
    let of = |syn: &SynOptions| match syn.mss {
        None if !syn.seen || syn.cut => None,
        mss => Some(mss.unwrap_or(default)),
    };
    // What the receiver of the data can take, and what its sender can.
    let (takes, sends) = (of(direction.receiver_offers)?, of(direction.sender_offers));
    let (size, whose, syn) = match sends.filter(|&sends| sends < takes) {
        Some(sends) => (sends, direction.sender, direction.sender_offers),
        None => (takes, direction.receiver, direction.receiver_offers),
    };
    if size >= USUAL || !direction.is_transfer() {
        return None;
    }
    let totals = &direction.flow.totals;
    let data = totals.data.as_u64();
    // Packets between the two sizes are segments of an end that this SYN does not bind.
    let mean = data / totals.data_segments.max(1);
    let larger = takes.max(sends.unwrap_or(takes));
    if (u64::from(size) + 1..=u64::from(larger)).contains(&mean) {
        return None;
    }
    // What the application writes in small pieces does not get smaller by it.
    if data * 2 < direction.wire_segments() * u64::from(size) {
        return None;
    }
    let why = match syn.mss {
        None => "has no MSS option, so the MSS is",
        Some(_) => "announces an MSS of",
    };
    let headers = |size: u64| data.div_ceil(size.max(1)) * HEADERS;
    let spent = headers(u64::from(size));
    let statement = format!(
        "The {whose}'s SYN {why} {size} B: at least {} packets instead of {} of {ETHERNET} B, {} of \
         the bytes are headers.",
        data.div_ceil(u64::from(size.max(1))),
        data.div_ceil(ETHERNET),
        percent(spent, spent + data),
    );
    let remedy = format!(
        "Check the MTU of the {whose}'s interface and routes (`ip link`, `ip route … advmss`), \
         TCP_MAXSEG in its program, and firewalls that set the option (TCPMSS).",
    );
    let shown = Shown::by_offers(direction.connection);
    let cost = Cost::bytes(Bytes::new(spent.saturating_sub(headers(ETHERNET))));
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(statement, remedy))
}
