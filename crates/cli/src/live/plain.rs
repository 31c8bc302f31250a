//! A line a second, for logs.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tcplab_units::{Bytes, rounded};
use tcplab_watch::Overview;

use super::run_picture::{RunFollower, RunPicture};
use super::run_screen::{drops, newest, nothing_read, queue, recent_rate};
use crate::output::print_note;

const EVERY: Duration = Duration::from_secs(1);

/// Prints lines until it is dropped.
#[derive(Debug)]
pub(super) struct Lines {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Lines {
    pub(super) fn of(mut follower: RunFollower) -> Lines {
        let (end, ended) = mpsc::channel::<()>();
        let print = move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                follower.refresh();
                print_note(&line(follower.picture()));
            }
        };
        // Without a thread there are no lines.
        let thread = thread::Builder::new().spawn(print).ok();
        Lines { running: thread.map(|thread| (end, thread)) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.running.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

pub(super) fn line(picture: &RunPicture) -> String {
    let RunPicture { phase, trial, overview, .. } = picture;
    let Some(trial) = trial else { return phase.clone() };
    if overview.steps.is_empty() {
        return format!("{phase}  {trial}  {}", nothing_read(overview));
    }
    let last = newest(overview);
    let mut line = format!(
        "{phase}  {trial}  {:.1} s  → {}  ← {}",
        overview.at.as_secs_f64(),
        recent_rate(overview, 0),
        recent_rate(overview, 1),
    );
    if let Some(rtt) = last.rtt {
        line += &format!("  RTT {}", rounded::span(rtt));
    }
    if let Some(cwnd) = last.cwnd {
        line += &format!("  cwnd {}", rounded::bytes(Bytes::new(cwnd)));
    }
    line += &format!("  queue {}  {}", queue(overview, last), drops(overview));
    line += &format!("  retransmissions {}", overview.retransmissions);
    if let Overview { is_over: true, .. } = overview {
        line += "  finished";
    }
    line
}
