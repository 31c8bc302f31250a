//! How exactly a rate is kept.

use std::error::Error;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tcplab_testbed::DeviceKind;

use crate::say;
use crate::setting::{Joint, Setting, path};
use crate::streams::{Kind, Stream};

/// Ample data always waits at the bottleneck, and none is lost there: the receive window is the
/// limit, four times what is under way in 20 ms.
const WINDOW_SECONDS: f64 = 0.08;
/// Goal: 0.2 %.
const GOAL: f64 = 0.002;

pub(crate) fn measure() -> Result<Value, Box<dyn Error>> {
    say("\nRate, of a TCP stream with 1448 B of data in 1500 B: error against theory");
    let mut rows = Vec::new();
    for mbits in [10, 100, 1000] {
        rows.push(at(mbits, Duration::from_secs(3))?);
    }
    rows.insert(0, at(1, Duration::from_secs(10))?);
    Ok(Value::from(rows))
}

fn at(mbits: u32, lasting: Duration) -> Result<Value, Box<dyn Error>> {
    let spec =
        format!(r#"{{ "rate": "{mbits} Mbit/s", "delay": "10 ms", "queue": "100000 packets" }}"#);
    let joint = path(DeviceKind::Tun, &spec);
    let setting = Setting::new(&Joint::Path(joint))?;
    let window = (f64::from(mbits) * 1e6 / 8.0 * WINDOW_SECONDS).max(65_536.0) as u64 * 2;
    setting.rooms[1].set("net/ipv4/tcp_rmem", &format!("4096 {window} {window}"))?;
    let kind = Kind { congestion: "cubic", pacing: 0, warm_up: Duration::from_secs(2) };
    let stream = Stream::start(&setting.rooms, kind)?;
    thread::sleep(kind.warm_up + lasting);
    let flow = stream.end()?;
    let moved = setting.end()?;
    let theory = f64::from(mbits) * 1e6 * 1448.0 / 1500.0;
    let error = flow.bits_per_second() / theory - 1.0;
    let verdict = if error.abs() <= GOAL { "ok" } else { "MISSED" };
    let busy = moved.map_or(0.0, |moved| moved.mover.busy);
    say(&format!(
        "  {mbits:5} Mbit/s: {:+.3} % (goal 0.2 %) {verdict}; the bridge busy {busy:.2}",
        error * 100.0
    ));
    Ok(json!({ "mbit_per_s": mbits, "error": error, "busy": busy }))
}
