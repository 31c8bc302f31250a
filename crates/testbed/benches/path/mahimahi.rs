//! Mahimahi's shell, where there is one.
//!
//! The shell makes a namespace behind it and runs this program there, which sends to the program
//! outside. It needs what `mm-delay` needs: to be set-uid root, and IP forwarding.

use std::env;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::delay;
use crate::streams::{self, Kind};

const PORT: u16 = 5203;
const WARM_UP: Duration = Duration::from_millis(300);

/// What the program does inside the shell.
pub(crate) enum Task {
    Stream { seconds: f64 },
    Probes,
}

impl Task {
    pub(crate) fn from_arguments() -> Option<Task> {
        let mut words = env::args().skip(1);
        match words.next()?.as_str() {
            "mahimahi-stream" => Some(Task::Stream { seconds: words.next()?.parse().ok()? }),
            "mahimahi-probes" => Some(Task::Probes),
            _ => None,
        }
    }

    pub(crate) fn run(self) -> io::Result<()> {
        let base = env::var("MAHIMAHI_BASE").map_err(io::Error::other)?;
        let base: Ipv4Addr = base.parse().map_err(io::Error::other)?;
        match self {
            Task::Probes => delay::send(&UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?, base),
            Task::Stream { seconds } => {
                let kind = Kind { congestion: "cubic", pacing: 0, warm_up: WARM_UP };
                let mut stream = streams::connect(SocketAddrV4::new(base, PORT), kind)?;
                let block = vec![0x5a; 256 << 10];
                let until = Instant::now() + WARM_UP + Duration::from_secs_f64(seconds);
                while Instant::now() < until {
                    stream.write_all(&block)?;
                }
                Ok(())
            }
        }
    }
}

/// Gbit/s through `mm-delay 0`.
pub(crate) fn goodput(seconds: f64) -> io::Result<Option<f64>> {
    let Some(shell) = env::var_os("MAHIMAHI") else { return Ok(None) };
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
    let receiver = thread::spawn(move || streams::receive(&listener, WARM_UP));
    let program = env::current_exe()?;
    let seconds = seconds.to_string();
    let status =
        Command::new(shell).arg("0").arg(program).args(["mahimahi-stream", &seconds]).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("mm-delay ended with {status}")));
    }
    let flow = receiver.join().map_err(|_| io::Error::other("the receiver was lost"))??;
    Ok(Some(flow.bits_per_second() / 1e9))
}

/// Errors of `mm-delay 10`, if there is one.
pub(crate) fn delay() -> io::Result<Option<Vec<i64>>> {
    let Some(shell) = env::var_os("MAHIMAHI") else { return Ok(None) };
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, delay::PORT))?;
    let receiver = thread::spawn(move || delay::receive(&socket, Duration::from_millis(10)));
    let program = env::current_exe()?;
    Command::new(shell).arg("10").arg(program).arg("mahimahi-probes").status()?;
    receiver.join().map_err(|_| io::Error::other("the receiver was lost"))?.map(Some)
}
