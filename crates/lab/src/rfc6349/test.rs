//! A test as it is asked for, and the scenarios that it takes.

use serde_json::{Map, Value, json};
use tcplab_path::{Direction, PathSpec};
use tcplab_units::{Bytes, Span};

use super::baseline::Baseline;
use crate::analysis::Ideal;
use crate::analysis::WITH_TIMESTAMPS;

/// Round trips that are measured on the idle path.
const IDLE_SAMPLES: u64 = 30;
/// Where the path is none.
const ETHERNET_MTU: Bytes = Bytes::new(1500);

/// A test as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Between the ends.
    pub path: PathSpec,
    /// The direction of the data.
    pub direction: Direction,
    /// How long each transfer takes where the path is full (RFC 6349 section 3.3 asks for 30 s at
    /// least where results are to be steady).
    pub lasting: Span,
    /// Trials of each.
    pub trials: u32,
    /// Connections at once in the largest test of several.
    pub connections: u64,
    /// The congestion control of the sender; the system's own where none is named.
    pub congestion: Option<String>,
}

impl Test {
    /// The first run: full segments on the idle path for its round trip, each on a connection of
    /// its own, so that its ACK is not delayed; and a transfer for the rest.
    pub fn baseline(&self) -> String {
        let [sender, receiver] = self.ends();
        // Not behind the last packet of the handshake.
        let sends = [
            "sleep 20 ms".into(),
            format!("write {} B", self.full_segment().as_u64()),
            "close".into(),
        ];
        let idle = json!({
            (format!("workload.{sender}")): sends,
            (format!("workload.{receiver}")): ["read to end", "close"],
            "workload.connections": { "total": IDLE_SAMPLES, "at_once": 1 },
        });
        let full = json!({ (format!("workload.{}", self.workload())): self.payload(self.lasting) });
        let mut file = self.file("Baseline of the path", &json!({}));
        file["matrix"] = json!({ "step": { "1-round-trip": idle, "2-bottleneck": full } });
        file["repeat"] = json!({ "trials": 1 });
        tcplab_scenario::compose(&file)
    }

    /// The sweep over the window of one connection.
    pub fn windows(&self, baseline: &Baseline) -> String {
        let mut levels = Map::new();
        for window in baseline.windows().into_iter().map(Bytes::as_u64) {
            levels.insert(format!("{window} B"), self.bounded(window));
        }
        let mut file =
            self.transfer("One connection with windows around the bandwidth-delay product");
        file["matrix"] = json!({ "window": levels });
        file["plot"] = json!([{ "metric": "goodput" }, { "metric": "buffer_delay" }]);
        tcplab_scenario::compose(&file)
    }

    /// Several connections that share the bandwidth-delay product.
    ///
    /// None where one is all there may be: that is in the sweep.
    pub fn several(&self, baseline: &Baseline) -> Option<String> {
        if self.connections < 2 {
            return None;
        }
        let mut levels = Map::new();
        for connections in counts(self.connections) {
            let window = baseline.shared_window(connections).as_u64();
            let mut level = self.bounded(window);
            level["workload.connections"] = json!({ "total": connections, "at_once": connections });
            let each = self.payload(self.lasting).as_u64() / connections;
            level[format!("workload.{}", self.workload())] = json!(Bytes::new(each.max(1)));
            levels.insert(connections.to_string(), level);
        }
        let mut file = self.transfer("Several connections that share the bandwidth-delay product");
        file["matrix"] = json!({ "connections": levels });
        Some(tcplab_scenario::compose(&file))
    }

    fn workload(&self) -> &'static str {
        match self.direction {
            Direction::Forward => "upload",
            Direction::Reverse => "download",
        }
    }

    fn ends(&self) -> [&'static str; 2] {
        match self.direction {
            Direction::Forward => ["client", "server"],
            Direction::Reverse => ["server", "client"],
        }
    }

    /// As much as the path carries in that time; something where nothing bounds it.
    fn payload(&self, lasting: Span) -> Bytes {
        const UNBOUNDED: Bytes = Bytes::new(100_000_000);
        let until = tcplab_units::Instant::ZERO + lasting;
        let ideal = Ideal::of(&self.path, self.direction, until, 1);
        let goodput = ideal.and_then(|ideal| ideal.goodput());
        goodput.map_or(UNBOUNDED, |rate| rate.bytes_in(lasting)).max(Bytes::new(100_000))
    }

    /// The payload of a full segment with timestamps (RFC 7323 section 3.2).
    fn full_segment(&self) -> Bytes {
        let ideal = Ideal::of(&self.path, self.direction, tcplab_units::Instant::ZERO, 1);
        ideal.map_or(ETHERNET_MTU, |ideal| ideal.mtu).saturating_sub(WITH_TIMESTAMPS)
    }

    fn transfer(&self, title: &str) -> Value {
        let workload = json!({ (self.workload()): self.payload(self.lasting) });
        self.file(title, &workload)
    }

    fn file(&self, title: &str, workload: &Value) -> Value {
        let [sender, _] = self.ends();
        let mut file = json!({
            "title": format!("RFC 6349: {title}"),
            "reference": "RFC 6349",
            "path": self.path,
            "workload": workload,
            "repeat": { "trials": self.trials },
            // The smallest window takes eight times as long, and loss makes it longer.
            "limits": { "trial": Span::from_nanos(self.lasting.as_nanos() * 100).max(Span::from_secs(120)) },
        });
        if let Some(congestion) = &self.congestion {
            file[sender] = json!({ "socket": { "congestion": congestion } });
        }
        file
    }

    /// A window of that size: Linux takes half of a buffer for the window at first
    /// (`TCP_DEFAULT_SCALING_RATIO` in include/net/tcp.h), and tunes nothing where its default is
    /// its maximum. The send buffer is four times as large, so that it bounds nothing.
    fn bounded(&self, window: u64) -> Value {
        let [sender, receiver] = self.ends();
        let (buffer, room) = (window * 2, (window * 8).max(65_536));
        json!({
            (format!("{receiver}.sysctl.'net.ipv4.tcp_rmem'")): format!("4096 {buffer} {buffer}"),
            (format!("{sender}.sysctl.'net.ipv4.tcp_wmem'")): format!("4096 {room} {room}"),
        })
    }
}

/// Two, four… up to that many.
pub fn counts(most: u64) -> Vec<u64> {
    let doubled = std::iter::successors(Some(2), |count| Some(count * 2));
    doubled.take_while(|count| *count < most).chain([most]).filter(|count| *count > 1).collect()
}
