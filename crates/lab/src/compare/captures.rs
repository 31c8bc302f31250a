//! Two captures compared: what differs between their connections.
//!
//! There is one of each, so nothing is said of chance: what differs is listed, not judged.

use tcplab_quantities::{self as q, Quantity};
use tcplab_results::comparison::{Fact, Value};
use tcplab_scenario::Better;
use tcplab_trace::{CapturePoint, Causes, Connection, Flow, Limit, SynOptions};
use tcplab_units::{Bytes, Span};

/// Which connection of B belongs to each of A, by places: the first with the first to the same port
/// of a server, and so on; then what is left, in order.
pub fn matched(a: &[Connection], b: &[Connection]) -> Vec<(usize, usize)> {
    let mut rest: Vec<usize> = (0..b.len()).collect();
    let mut pairs = Vec::new();
    let mut alone = Vec::new();
    for (place, connection) in a.iter().enumerate() {
        let port = connection.server.port();
        match rest.iter().position(|other| b[*other].server.port() == port) {
            Some(found) => pairs.push((place, rest.remove(found))),
            None => alone.push(place),
        }
    }
    pairs.extend(alone.into_iter().zip(rest));
    pairs.sort_unstable();
    pairs
}

/// Everything that is compared of two connections, in the order to show.
pub fn facts(a: &Connection, b: &Connection) -> Vec<Fact> {
    let [first, mut second] = [a, b].map(facts_of);
    let mut facts = Vec::new();
    for (key, value) in first {
        let place = second.iter().position(|(other, _)| *other == key);
        // What only one has is none in the other, if it is a count.
        let other = place.map_or_else(|| key.nothing(), |place| second.remove(place).1);
        facts.push(key.fact([value, other]));
    }
    for (key, value) in second {
        let nothing = key.nothing();
        facts.push(key.fact([nothing, value]));
    }
    facts.retain(|fact| {
        let is_cut = fact.values.contains(&Some(Value::Text(NOT_CAPTURED.into())));
        // Of a count that one capture lacks, none in the other is no news.
        let is_news = |value: &Value| matches!(value, Value::Number(count) if *count > 0.0);
        let mut known = fact.values.iter().flatten();
        if is_cut { known.any(is_news) } else { known.next().is_some() }
    });
    facts
}

#[derive(Debug, Clone, PartialEq)]
struct Key {
    about: String,
    name: String,
    unit: &'static str,
    better: Better,
}

impl Key {
    /// What a connection has of what is listed only where there is some: stalls, limits.
    fn nothing(&self) -> Option<Value> {
        ["stalled", "limited by"]
            .iter()
            .any(|word| self.name.starts_with(word))
            .then_some(Value::Number(0.0))
    }

    fn fact(self, values: [Option<Value>; 2]) -> Fact {
        let Key { about, name, unit, better } = self;
        Fact { about, name, unit, better, values }
    }
}

type FactList = Vec<(Key, Option<Value>)>;

/// What one connection is like.
fn facts_of(connection: &Connection) -> FactList {
    let mut facts = Vec::new();
    let mut all = Facts { about: "connection".into(), facts: &mut facts };
    all.time(q::DURATION_NS.label, Better::Lower, Some(connection.last.since(connection.first)));
    all.time(q::HANDSHAKE_RTT_NS.label, Better::Lower, connection.handshake.round_trip);
    all.count(q::PACKETS.label, Better::Neither, connection.packets);
    all.count(q::SYN_RETRANSMISSIONS.label, Better::Lower, connection.handshake.client_repeats);
    for (end, options) in
        [("client", &connection.handshake.client), ("server", &connection.handshake.server)]
    {
        Facts { about: format!("SYN of the {end}"), facts: &mut facts }.options(options);
    }
    let handshake = &connection.handshake;
    let signs = match handshake.agreed(|syn| syn.sack_permitted) {
        Some(false) => Signs::WithoutSack,
        // What cut off the options of a SYN cut off SACK blocks, too.
        _ if handshake.client.cut || handshake.server.cut => Signs::Cut,
        _ => Signs::All,
    };
    for (about, flow) in
        [("data to the server", &connection.forward), ("data to the client", &connection.reverse)]
    {
        if flow.totals.unique.as_u64() > 0 {
            Facts { about: about.into(), facts: &mut facts }.flow(flow, signs);
        }
    }
    facts
}

/// What is said of counts that need options which the capture cut off.
const NOT_CAPTURED: &str = "not captured";

/// By what a sender's reasons to retransmit show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signs {
    All,
    /// The connection has no SACK.
    WithoutSack,
    /// It may have, but the capture has not.
    Cut,
}

impl Signs {
    /// Whether causes of this kind are counted rightly.
    fn show(self, cause: Quantity) -> bool {
        let by_sack = [
            q::RETRANSMISSIONS_BY_SACK,
            q::RETRANSMISSIONS_BY_RACK,
            q::RETRANSMISSIONS_SPURIOUS_BY_DSACK,
        ];
        // What SACK blocks would explain counts as these.
        let instead = [
            q::RETRANSMISSIONS_BY_DUPLICATE_ACKS,
            q::RETRANSMISSIONS_UNEXPLAINED,
            q::RETRANSMISSIONS_AFTER_TIMEOUT,
        ];
        let is_in = |quantities: [Quantity; 3]| quantities.iter().any(|it| it.key == cause.key);
        match self {
            Signs::All => true,
            Signs::WithoutSack => !is_in(by_sack),
            Signs::Cut => !is_in(by_sack) && !is_in(instead),
        }
    }
}

struct Facts<'a> {
    about: String,
    facts: &'a mut FactList,
}

impl Facts<'_> {
    fn add(&mut self, name: &str, unit: &'static str, better: Better, value: Option<Value>) {
        let key = Key { about: self.about.clone(), name: name.into(), unit, better };
        self.facts.push((key, value));
    }

    fn count(&mut self, name: &str, better: Better, count: u64) {
        self.add(name, "", better, Some(Value::Number(count as f64)));
    }

    fn bytes(&mut self, name: &str, bytes: Option<u64>) {
        self.add(name, "bytes", Better::Neither, bytes.map(|bytes| Value::Number(bytes as f64)));
    }

    fn time(&mut self, name: &str, better: Better, span: Option<Span>) {
        self.add(name, "s", better, span.map(|span| Value::Number(span.as_secs_f64())));
    }

    fn text(&mut self, name: &str, text: Option<String>) {
        self.add(name, "", Better::Neither, text.map(Value::Text));
    }

    fn options(&mut self, options: &SynOptions) {
        if !options.seen {
            return;
        }
        let or_unknown = |found: bool, text: String| {
            Some(options.known(found).map_or_else(|| "unknown".to_owned(), |_| text))
        };
        let yes = |is: bool| or_unknown(is, if is { "yes" } else { "no" }.to_owned());
        let of = |quantity: Quantity| quantity.label_under("client's");
        let or_none = |value: Option<String>| {
            or_unknown(value.is_some(), value.unwrap_or_else(|| "none".into()))
        };
        self.text(of(q::CLIENT_MSS_BYTES), or_none(options.mss.map(|mss| mss.to_string())));
        self.text(
            of(q::CLIENT_WINDOW_SCALE),
            or_none(options.window_scale.map(|shift| shift.to_string())),
        );
        self.text(of(q::CLIENT_SACK_PERMITTED), yes(options.sack_permitted));
        self.text(of(q::CLIENT_TIMESTAMPS), yes(options.timestamps));
        self.bytes(of(q::CLIENT_SYN_WINDOW_BYTES), Some(options.window.into()));
    }

    fn flow(&mut self, flow: &Flow, signs: Signs) {
        use Better::{Higher, Lower, Neither};
        self.bytes(q::UNIQUE_BYTES.label, Some(flow.totals.unique.as_u64()));
        let transfer = &flow.transfer;
        self.time(q::TRANSFER_NS.label, Lower, Some(transfer.time));
        let goodput = transfer.goodput.map(|rate| Value::Number(rate.as_mbit_f64()));
        self.add(q::GOODPUT.label, "Mbit/s", Higher, goodput);
        let round_trips = &flow.round_trips;
        for (quantity, value) in [
            (q::RTT_MIN, round_trips.min),
            (q::RTT_MEDIAN, round_trips.median),
            (q::RTT_P95, round_trips.p95),
        ] {
            // Beside the receiver: only how soon it acknowledges.
            let name = match flow.capture_point {
                CapturePoint::Receiver => quantity.label.replace("RTT", "ACK time"),
                _ => quantity.label.into(),
            };
            self.time(&name, Lower, value);
        }
        self.count(q::DATA_SEGMENTS.label, Neither, flow.totals.data_segments);
        self.count(q::RETRANSMISSIONS.label, Lower, flow.totals.retransmissions);
        self.causes(&flow.causes, signs);
        self.count("recovery episodes", Lower, flow.episodes.len() as u64);
        for stall in &flow.stall_sums {
            let name = format!("stalled: {}", stall.cause.name());
            self.time(&name, Lower, Some(stall.time));
        }
        for limit in Limit::ALL {
            let share = flow.shares.share(limit);
            if share > 0.0 {
                let name = format!("limited by {}", limit.name());
                self.add(
                    &name,
                    "% of the time",
                    Neither,
                    Some(Value::Number(tenth(share * 100.0))),
                );
            }
        }
        self.bytes(q::BYTES_IN_FLIGHT_MAX.label, Some(flow.totals.max_in_flight.as_u64()));
        self.bytes(q::WINDOW_MAX.label, flow.windows.max.map(Bytes::as_u64));
        self.count(q::ZERO_WINDOWS.label, Lower, flow.windows.zero_windows.count);
        self.bytes(q::SEGMENT_MAX_BYTES.label, Some(flow.marks.largest.as_u64()));
        self.count(q::PURE_ACKS.label, Neither, flow.acking.acks);
        self.count(q::DELAYED_ACKS.label, Neither, flow.acking.delayed.count);
        self.count(q::STRETCH_ACKS.label, Neither, flow.acking.stretch.count);
        self.count(q::NAGLE_WAITS.label, Lower, flow.marks.nagle_waits.count);
    }

    fn causes(&mut self, causes: &Causes, signs: Signs) {
        for (quantity, seen) in [
            (q::RETRANSMISSIONS_BY_DUPLICATE_ACKS, &causes.by_duplicate_acks),
            (q::RETRANSMISSIONS_BY_SACK, &causes.by_sack),
            (q::RETRANSMISSIONS_BY_RACK, &causes.by_rack),
            (q::RETRANSMISSIONS_BY_ICMP, &causes.by_icmp),
            (q::TAIL_LOSS_PROBES, &causes.tail_loss_probes),
            (q::TIMEOUTS, &causes.timeouts),
            (q::RETRANSMISSIONS_AFTER_TIMEOUT, &causes.after_timeout),
            (q::CONTROL_REPEATED, &causes.control_repeated),
            (q::RETRANSMISSIONS_UNEXPLAINED, &causes.retransmissions_unexplained),
            (q::RETRANSMISSIONS_SPURIOUS_BY_DSACK, &causes.spurious_by_dsack),
        ] {
            let count = match signs {
                _ if signs.show(quantity) => Some(Value::Number(seen.count as f64)),
                Signs::Cut => Some(Value::Text(NOT_CAPTURED.into())),
                _ => None,
            };
            self.add(quantity.label, "", Better::Lower, count);
        }
        self.count(q::OUT_OF_ORDER.label, Better::Lower, causes.out_of_order.count);
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transfer with five retransmissions by SACK, its SYNs `cut`.
    fn connection(cut: bool) -> Connection {
        let ends = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
        let mut connection = Connection::between(ends[0], ends[1]);
        let (mss, window_scale) = if cut { (None, None) } else { (Some(1_460), None) };
        let whole = SynOptions { seen: true, mss, window_scale, ..SynOptions::default() };
        let syn = SynOptions { cut, sack_permitted: !cut, ..whole };
        (connection.handshake.client, connection.handshake.server) = (syn.clone(), syn);
        let flow = &mut connection.forward;
        flow.totals.unique = Bytes::new(100_000);
        let causes = &mut flow.causes;
        let found = if cut { &mut causes.by_duplicate_acks } else { &mut causes.by_sack };
        found.count = 5;
        connection
    }

    /// What was cut off is unknown, neither absent nor better.
    #[test]
    fn options_that_were_cut_are_unknown() {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        let facts = facts(&connection(false), &connection(true));
        let of = |name: &str| {
            let found = facts.iter().find(|fact| fact.name == name);
            found.unwrap_or_else(|| panic!("{name}")).values.clone()
        };
        assert_eq!(of("MSS"), [text("1460"), text("unknown")]);
        assert_eq!(of("window scale"), [text("none"), text("unknown")]);
        assert_eq!(of("SACK permitted"), [text("yes"), text("unknown")]);
        let by_sack = of(q::RETRANSMISSIONS_BY_SACK.label);
        assert_eq!(by_sack, [Some(Value::Number(5.0)), text(NOT_CAPTURED)]);
        let by_acks = q::RETRANSMISSIONS_BY_DUPLICATE_ACKS.label;
        assert!(!facts.iter().any(|fact| fact.name == by_acks), "0 beside what is not known");
        let both = super::facts(&connection(true), &connection(true));
        assert!(!both.iter().any(|fact| fact.name == q::RETRANSMISSIONS_BY_SACK.label));
    }
}
