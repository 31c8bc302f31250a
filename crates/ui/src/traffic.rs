//! The path of a shell or a bridge, while it is used.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tcplab_capture::UnixTime;
use tcplab_path::{PathChange, PathEvent};
use tcplab_scenario::compose;
use tcplab_units::{Bytes, Endpoint, Span};
use tcplab_watch::{MetConnection, SenderSocket, WatchedTrial};
use tokio::time::sleep;

use crate::config::TrafficConfig;
use crate::jobs::in_words;

/// As often as the other end looks at them.
const LOOK_AT_SOCKETS: Duration = Duration::from_millis(100);

/// What its page is told.
#[derive(Debug)]
pub(crate) struct TrafficPage {
    config: TrafficConfig,
    /// Read from the beginning, whether or not somebody watches: it may not stay.
    pub(crate) trial: Arc<WatchedTrial>,
    is_over: Arc<AtomicBool>,
    events: Mutex<Vec<PathEvent>>,
    /// One for each page that watches, and this one.
    pages: Arc<AtomicBool>,
}

impl TrafficPage {
    pub(crate) fn new(config: TrafficConfig, is_over: &Arc<AtomicBool>) -> TrafficPage {
        TrafficPage {
            trial: WatchedTrial::of_recording(&config.recording, Arc::clone(is_over)),
            is_over: Arc::clone(is_over),
            config,
            events: Mutex::default(),
            pages: Arc::default(),
        }
    }

    /// What it is, and how its path has changed.
    pub(crate) fn state(&self) -> Value {
        let TrafficConfig { command, name, ends, recording, is_kept, snaplen, .. } = &self.config;
        let events = self.events();
        let path = self.config.path.with_events(&events);
        let path = serde_json::to_value(path).unwrap_or_default();
        json!({
            "command": in_words(command),
            "path": name,
            "ends": ends,
            "recording": is_kept.then(|| recording.display().to_string()),
            "snaplen_bytes": snaplen,
            "is_running": !self.is_over(),
            "path_events": *events,
            "path_file": compose(&path),
        })
    }

    /// The latest connections: the states of both ends, by their packets and by their sockets.
    pub(crate) fn connections(&self) -> Value {
        let sockets = (self.config.sockets)();
        let of = |end: usize, own: SocketAddr, other: SocketAddr| {
            let all = sockets.as_ref().map(|both| &both[end]).into_iter().flatten();
            let (own, other) = (own.to_string(), other.to_string());
            { all }.find(|it| it["local"] == *own && it["remote"] == *other).cloned()
        };
        let row = |met: MetConnection| {
            let [near, far] = met.ends;
            json!({
                "connection": met.connection,
                "ends": met.ends,
                "states": met.states,
                "sockets": [of(0, near, far), of(1, far, near)],
            })
        };
        let met = self.trial.history().connections();
        let rows: Vec<Value> = met.into_iter().map(row).collect();
        json!({ "connections": rows, "has_sockets": sockets.is_some() })
    }

    /// Has what the sockets say in the curves of their connections, from now on, and time go on
    /// while no packet passes.
    pub(crate) async fn look_at_sockets(self: Arc<Self>) {
        loop {
            self.add_sockets();
            if !self.is_over() {
                self.trial.history().reach(now());
            }
            sleep(LOOK_AT_SOCKETS).await;
        }
    }

    fn add_sockets(&self) {
        let Some(both) = (self.config.sockets)() else { return };
        let mut history = self.trial.history();
        for (end, sockets) in Endpoint::BOTH.into_iter().zip(&both) {
            for (ends, says) in sockets.iter().filter_map(sender_socket) {
                history.socket(end, ends, says);
            }
        }
    }

    /// Changes the path at once.
    pub(crate) fn change(&self, change: PathChange) -> Result<Vec<PathEvent>, String> {
        let made = (self.config.change)(change)?;
        self.events().extend_from_slice(&made);
        Ok(made)
    }

    /// How often the path has changed.
    pub(crate) fn changes(&self) -> usize {
        self.events().len()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// A page watches until what is returned is dropped.
    pub(crate) fn begin_to_watch(&self) -> Arc<AtomicBool> {
        self.pages.store(true, Ordering::Relaxed);
        Arc::clone(&self.pages)
    }

    pub(crate) fn is_watched(&self) -> bool {
        Arc::strong_count(&self.pages) > 1
    }

    pub(crate) fn was_watched(&self) -> bool {
        self.pages.load(Ordering::Relaxed)
    }

    fn events(&self) -> MutexGuard<'_, Vec<PathEvent>> {
        self.events.lock().expect("no thread panics while it holds the events")
    }
}

fn now() -> UnixTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixTime::from_nanos(now.as_nanos() as u64)
}

/// Its addresses, the own one first, and what it says of itself; none of one that only closes.
fn sender_socket(socket: &Value) -> Option<([SocketAddr; 2], SenderSocket)> {
    let address = |key: &str| socket[key].as_str()?.parse().ok();
    let says = SenderSocket {
        cwnd: Bytes::new(socket["cwnd_bytes"].as_u64()?),
        ssthresh: socket["ssthresh_bytes"].as_u64().map(Bytes::new),
        srtt: socket["srtt_ns"].as_u64().map(Span::from_nanos),
    };
    Some(([address("local")?, address("remote")?], says))
}
