//! The sockets of both ends for those who watch: looked at, and told through a pipe.

use std::net::IpAddr;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use tcplab_recording::Sample;
use tcplab_units::{Endpoint, Instant};

use super::subnet::Block;
use crate::json_lines::send;
use crate::sock_diag::{Lister, TcpSocket};
use crate::steering_link::SteeredEnd;
use crate::{EndSocket, EndSockets, TrialError, threads};

/// How often they are looked at.
const EVERY: Duration = Duration::from_millis(100);
/// Sockets of an end that are told.
const MOST: usize = 200;
/// include/net/tcp_states.h.
const LISTEN: u8 = 10;
/// The slow start threshold before there is one (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u64 = 0x7fff_ffff;

/// Looks at the sockets until it is dropped.
#[derive(Debug)]
pub(super) struct SeenSockets {
    _end: Sender<()>,
}

impl SeenSockets {
    /// Looks at those of the near and the far end. The thread is not waited for: where nobody
    /// reads the pipe, it may never come back.
    pub(super) fn begin(
        ends: [Lister; 2],
        watcher: &SteeredEnd,
    ) -> Result<SeenSockets, TrialError> {
        let mut pipe = watcher.sockets()?;
        let (end, ended) = mpsc::channel::<()>();
        threads::start("the thread that looks at sockets", move || {
            let mut told = EndSockets::default();
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let now = EndSockets(ends.each_ref().map(look));
                if now != told && send(&mut pipe, &now).is_err() {
                    return;
                }
                told = now;
            }
        })?;
        Ok(SeenSockets { _end: end })
    }
}

/// The connections of an end through the path; none where the kernel lists nothing.
fn look(lister: &Lister) -> Vec<EndSocket> {
    let mut found = Vec::new();
    let _ = lister.with_info(|socket, info| {
        if found.len() < MOST && is_through_path(socket) {
            found.push(end_socket(socket, info));
        }
    });
    found
}

/// Whether it is between two addresses, one of them a shell's.
fn is_through_path(socket: &TcpSocket) -> bool {
    let (local, remote) = (socket.local.ip(), socket.remote.ip());
    let is_shells = |address: IpAddr| match address {
        IpAddr::V4(address) => Block::has(address),
        IpAddr::V6(_) => false,
    };
    socket.state != LISTEN && local != remote && (is_shells(local) || is_shells(remote))
}

fn end_socket(socket: &TcpSocket, info: Option<&[u8]>) -> EndSocket {
    let info = info.map(|bytes| Sample::of_tcp_info(bytes, Instant::ZERO, Endpoint::Client));
    let of = |value: fn(&Sample) -> u64| info.as_ref().map(value);
    let threshold = info.as_ref().filter(|info| info.ssthresh_segments < NO_THRESHOLD);
    EndSocket {
        local: socket.local,
        remote: socket.remote,
        state: socket.state,
        ca_state: of(|info| info.ca_state).and_then(|it| u8::try_from(it).ok()),
        cwnd_bytes: of(|info| info.cwnd_segments.saturating_mul(info.snd_mss_bytes)),
        ssthresh_bytes: threshold
            .map(|info| info.ssthresh_segments.saturating_mul(info.snd_mss_bytes)),
        srtt_ns: of(|info| info.rtt_us.saturating_mul(1_000)).filter(|it| *it > 0),
        in_flight_bytes: of(|info| info.unacked_segments.saturating_mul(info.snd_mss_bytes)),
        send_queue_bytes: socket.send_queue,
        receive_queue_bytes: socket.receive_queue,
    }
}
