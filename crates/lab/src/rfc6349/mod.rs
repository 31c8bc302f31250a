//! The procedure of RFC 6349, "Framework for TCP Throughput Testing", step by step: path MTU,
//! baseline round trip and bottleneck, bandwidth-delay product, and TCP's throughput with one and
//! with several connections.

mod outcome;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tcplab_path::{Direction, PathSpec};
use tcplab_units::{Bytes, Rate, Span};

use crate::{Ideal, LabError, Run, RunDirectory, load_trial};

pub use outcome::{Row, Told, row, rows, sum_up};

/// A test as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Between the ends.
    pub path: PathSpec,
    /// Which way data goes.
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

/// What is known of the path after the first two steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Baseline {
    /// The largest packet that went through (section 3.1).
    pub mtu: Bytes,
    /// The payload of a segment.
    pub segment: Bytes,
    /// The shortest round trip on the idle path (section 3.2).
    pub rtt: Span,
    /// The rate of the bottleneck (section 3.2), in bits of IP packets a second, by the spacing of
    /// what was acknowledged.
    pub rate: Rate,
    /// What the path was asked for: none of a path nobody asked for.
    pub asked: Option<Asked>,
}

/// A path as its plan has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    /// Of a small packet.
    pub rtt: Span,
    /// Of the bottleneck.
    pub rate: Option<Rate>,
    /// Of the link.
    pub mtu: Bytes,
}

/// Windows in the sweep, in eighths of the bandwidth-delay product (section 3.3.2 and figure 3
/// there: below one, throughput is in proportion; above, it is not better).
const WINDOWS: [u64; 6] = [1, 2, 4, 6, 8, 16];
/// No window is less than two segments: else a delayed acknowledgement stops the sender.
const FEWEST_SEGMENTS: u64 = 2;

impl Test {
    /// The first run: requests on the idle path for its round trip, and a transfer for the rest.
    pub fn baseline(&self) -> String {
        let idle = json!({ "workload.requests":
            { "count": 30, "request": "1 B", "response": "1 B", "think": "20 ms" } });
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

/// At least a few segments, and whole ones.
fn window(bytes: u64, baseline: &Baseline) -> u64 {
    let segment = baseline.segment.as_u64().max(1);
    (bytes / segment).max(FEWEST_SEGMENTS) * segment
}

/// Two, four… up to that many.
pub fn counts(most: u64) -> Vec<u64> {
    let doubled = std::iter::successors(Some(2), |count| Some(count * 2));
    doubled.take_while(|count| *count < most).chain([most]).filter(|count| *count > 1).collect()
}

impl Baseline {
    /// The windows of the sweep.
    pub fn windows(&self) -> Vec<Bytes> {
        let product = self.bdp().as_u64();
        WINDOWS.iter().map(|eighths| Bytes::new(window(product * eighths / 8, self))).collect()
    }

    /// The window of each of several connections.
    pub fn shared_window(&self, connections: u64) -> Bytes {
        Bytes::new(window(self.bdp().as_u64() / connections.max(1), self))
    }

    /// What the run of [`Test::baseline`] shows; none where a step showed nothing.
    ///
    /// # Errors
    /// When a recording cannot be read.
    pub fn of(
        test: &Test,
        directory: &RunDirectory,
        run: &Run,
    ) -> Result<Option<Baseline>, LabError> {
        let [Some(idle), Some(full)] = [run.cases.first(), run.cases.get(1)] else {
            return Ok(None);
        };
        let least = idle.trials.first().and_then(|trial| trial.metrics.value("rtt.min"));
        let Some(trial) = full.trials.first() else { return Ok(None) };
        let data = load_trial(directory, trial)?;
        let trace = match test.direction {
            Direction::Forward => &data.client,
            Direction::Reverse => &data.server,
        };
        let Some(connection) = trace.connections.first() else { return Ok(None) };
        let flow = match test.direction {
            Direction::Forward => &connection.forward,
            Direction::Reverse => &connection.reverse,
        };
        let [client, server] = [&connection.handshake.client, &connection.handshake.server];
        // With options of 12 B where both use timestamps (RFC 7323 section 3.2).
        let headers = if client.timestamps && server.timestamps { 52 } else { 40 };
        // The first may have been larger than the path takes (RFC 1191).
        let found = flow.marks.mss_changes.last().map(|change| change.to);
        let segment = found.unwrap_or(flow.marks.largest).as_u64();
        let (Some(least), Some(capacity), 1..) = (least, flow.transfer.capacity, segment) else {
            return Ok(None);
        };
        let whole = (segment + headers) as f64 / segment as f64;
        let until = tcplab_units::Instant::ZERO + test.lasting;
        Ok(Some(Baseline {
            mtu: Bytes::new(segment + headers),
            segment: Bytes::new(segment),
            rtt: Span::from_secs_f64(least / 1e3),
            rate: Rate::from_bits_per_second((capacity.bits_per_second() as f64 * whole) as u64),
            asked: Ideal::of(&test.path, test.direction, until, 1).map(|ideal| Asked {
                rtt: ideal.base_rtt,
                rate: ideal.rate,
                mtu: ideal.mtu,
            }),
        }))
    }

    /// The bandwidth-delay product (section 3.3.1).
    pub fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }

    /// The most payload a second: all of each packet but its headers.
    pub fn best(&self) -> Rate {
        let share = self.segment.as_u64() as f64 / self.mtu.as_u64().max(1) as f64;
        Rate::from_bits_per_second((self.rate.bits_per_second() as f64 * share).max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests;
