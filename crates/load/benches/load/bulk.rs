//! Data one way: `tcplab load --bulk` and our servers beside iperf3.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{self, Running, Side};
use crate::servers::own;
use crate::{middle, say};

/// Who carries, which way.
const WAYS: [(&str, &str); 2] = [("upload", "discard"), ("download", "chargen")];
const DESIGNS: [&str; 3] = ["thread", "epoll", "io-uring"];

pub(crate) fn compare(rounds: usize, seconds: f64) -> io::Result<Value> {
    let has_iperf3 = process::is_installed("iperf3");
    if !has_iperf3 {
        say("SKIPPED: iperf3 is not installed");
    }
    say(&format!(
        "\nOne connection, one way, {seconds} s, median of {rounds}\n{:<10} {:<16} {:>8} {:>9}",
        "", "", "Gbit/s", "× iperf3"
    ));
    let mut rows = Vec::new();
    for (way, service) in WAYS {
        let mut rates = vec![Vec::new(); DESIGNS.len() + 1];
        for _ in 0..rounds {
            if has_iperf3 {
                rates[0].push(iperf3(way, seconds)?);
            }
            for (design, rates) in DESIGNS.iter().zip(&mut rates[1..]) {
                rates.push(ours(design, way, service, seconds)?);
            }
        }
        let names = ["iperf3"].into_iter().chain(DESIGNS);
        let theirs = middle(rates[0].clone());
        for (name, rates) in names.zip(rates).filter(|(_, rates)| !rates.is_empty()) {
            let rate = middle(rates);
            let times = rate / theirs;
            say(&format!("{way:<10} {name:<16} {:>8.2} {times:>9.2}", rate / 1e9));
            rows.push(json!({ "way": way, "who": name, "bits_per_second": rate }));
        }
    }
    Ok(Value::from(rows))
}

/// Bits a second that `tcplab load` counts.
fn ours(design: &str, way: &str, service: &str, seconds: f64) -> io::Result<f64> {
    let server = own(&["--design", design, "--service", service])?;
    let mut command = process::command(&process::tcplab()?, Side::Generator);
    command.args(["load", &server.address().to_string(), "--bulk", way, "--json", "-q"]);
    command.args(["--duration", &format!("{seconds}s")]);
    let (output, _) = process::finish(&mut command)?;
    let outcome: Value = serde_json::from_str(&output)?;
    outcome["bits_per_second"].as_f64().ok_or_else(|| io::Error::other("no rate"))
}

/// Bits a second that iperf3's receiver counts.
fn iperf3(way: &str, seconds: f64) -> io::Result<f64> {
    let program = process::found("iperf3").ok_or(io::ErrorKind::NotFound)?;
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let port = address.port().to_string();
    let mut server = process::command(&program, Side::Server);
    server.args(["-s", "-p", &port, "-B", "127.0.0.1"]);
    let _server = Running(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let begin = Instant::now();
    while TcpStream::connect(address).is_err() {
        if begin.elapsed() > Duration::from_secs(5) {
            return Err(io::Error::other("iperf3 does not come up"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // It takes the look whether it is there for a client, and needs a moment to be rid of it.
    std::thread::sleep(Duration::from_millis(200));
    let mut client = process::command(&program, Side::Generator);
    client.args(["-c", "127.0.0.1", "-p", &port, "--json", "-t", &seconds.ceil().to_string()]);
    if way == "download" {
        client.arg("-R");
    }
    let (output, _) = process::finish(&mut client)?;
    let outcome: Value = serde_json::from_str(&output)?;
    let rate = outcome["end"]["sum_received"]["bits_per_second"].as_f64();
    rate.ok_or_else(|| {
        io::Error::other(format!("unexpected output of iperf3: {}", outcome["error"]))
    })
}
