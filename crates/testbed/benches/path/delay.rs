//! How exactly packets are delayed.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tcplab_testbed::workbench::{ADDRESSES, Room, receive_stamped, stamp_arrivals};
use tcplab_testbed::{DeviceKind, Tuning};
use tcplab_units::Span;

use crate::setting::{Joint, Setting, path};
use crate::streams::{Kind, Stream};
use crate::{Arguments, mahimahi, say};

const PROBES: u64 = 2000;
const EVERY: Duration = Duration::from_millis(1);
const DELAY: Duration = Duration::from_millis(10);
pub(crate) const PORT: u16 = 5202;
/// Far above what is to be measured: a probe not back by then is lost.
const PATIENCE: Duration = Duration::from_millis(500);
/// 500 Mbit/s, in bytes per second.
const LOAD: u64 = 500_000_000 / 8;

/// An ordinary user's means, root's, and both with the fixed part compensated.
fn tunings() -> Vec<(&'static str, Tuning, bool)> {
    let plain = Tuning { real_time: false, ..Tuning::default() };
    vec![
        ("unprivileged", plain, false),
        ("processors kept awake", plain, true),
        ("real time, kept awake", Tuning { real_time: true, ..plain }, true),
    ]
}

pub(crate) fn measure(arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    say("\nDelay of 10 ms, error of UDP probes, us: p50 / p99 / p99.9");
    let mut rows = Vec::new();
    for (name, tuning, awake) in tunings() {
        for device in [DeviceKind::Tun, DeviceKind::PacketSocket] {
            // What calibration would find: the idle path's own median.
            let mut lead = Span::ZERO;
            for leads in [false, true] {
                for loaded in [false, true] {
                    let label = format!(
                        "delay, {name}, {device:?}, {}, {}",
                        if leads {
                            format!("lead {} us", lead.as_micros())
                        } else {
                            "no lead".into()
                        },
                        if loaded { "500 Mbit/s" } else { "idle" }
                    );
                    if !arguments.wants(&label) && !arguments.wants("delay") {
                        continue;
                    }
                    let tuning = Tuning { lead: if leads { lead } else { Span::ZERO }, ..tuning };
                    let mut joint = path(device, r#"{ "delay": "10 ms" }"#);
                    (joint.tuning, joint.awake) = (tuning, awake);
                    let errors = probe(&Joint::Path(joint), loaded)?;
                    let at = |per_mille| quantile(&errors, per_mille);
                    if !leads && !loaded {
                        lead = Span::from_nanos(at(500).max(0).cast_unsigned());
                    }
                    say(&row(&label, &errors));
                    rows.push(json!({ "name": label, "p50_ns": at(500), "p99_ns": at(990),
                                      "p999_ns": at(999), "probes": errors.len() }));
                }
            }
        }
    }
    if let Some(errors) = mahimahi::delay()? {
        say(&row("delay, mm-delay 10", &errors));
    }
    Ok(Value::from(rows))
}

fn row(label: &str, errors: &[i64]) -> String {
    let at = |per_mille| quantile(errors, per_mille) as f64 / 1000.0;
    format!(
        "  {label:62} {:6.1} / {:6.1} / {:6.1}  ({} probes)",
        at(500),
        at(990),
        at(999),
        errors.len()
    )
}

fn quantile(sorted: &[i64], per_mille: usize) -> i64 {
    let index = (sorted.len() * per_mille / 1000).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default()
}

fn probe(joint: &Joint, loaded: bool) -> Result<Vec<i64>, Box<dyn Error>> {
    let setting = Setting::new(joint)?;
    let load = if loaded {
        let kind = Kind { congestion: "cubic", pacing: LOAD, warm_up: Duration::ZERO };
        let stream = Stream::start(&setting.rooms, kind)?;
        thread::sleep(Duration::from_millis(500));
        Some(stream)
    } else {
        None
    };
    let errors = between(&setting.rooms)?;
    if let Some(stream) = load {
        stream.end()?;
    }
    setting.end()?;
    Ok(errors)
}

/// Sends probes from one room to the other.
fn between(rooms: &[Room; 2]) -> io::Result<Vec<i64>> {
    let receiver = rooms[1].beside(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)))?;
    let errors = thread::spawn(move || receive(&receiver, DELAY));
    // Threads of the rooms may be busy with a stream; sockets keep the namespace they are made in.
    let sender = rooms[0].beside(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    send(&sender, ADDRESSES[1])?;
    errors.join().map_err(|_| io::Error::other("the receiver was lost"))?
}

/// Sends probes that say when they were sent.
pub(crate) fn send(socket: &UdpSocket, to: Ipv4Addr) -> io::Result<()> {
    for _ in 0..PROBES {
        thread::sleep(EVERY);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        socket.send_to(&(now.as_nanos() as u64).to_be_bytes(), (to, PORT))?;
    }
    Ok(())
}

/// Receives them; each one's delay less the one asked for, in nanoseconds, sorted.
pub(crate) fn receive(socket: &UdpSocket, asked: Duration) -> io::Result<Vec<i64>> {
    stamp_arrivals(socket.as_fd())?;
    let mut errors = Vec::new();
    let mut buffer = [0; 64];
    // The first may be long in coming.
    socket.set_read_timeout(Some(PATIENCE * 10))?;
    for _ in 0..PROBES {
        match receive_stamped(socket.as_fd(), &mut buffer) {
            Ok((8, Some(stamp))) => {
                let sent = u64::from_be_bytes(buffer[..8].try_into().map_err(io::Error::other)?);
                errors.push(stamp as i64 - sent as i64 - asked.as_nanos() as i64);
            }
            Ok(_) => return Err(io::Error::other("a datagram without stamp")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
        socket.set_read_timeout(Some(PATIENCE))?;
    }
    errors.sort_unstable();
    Ok(errors)
}
