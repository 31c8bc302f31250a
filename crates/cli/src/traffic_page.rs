//! `--ui` of `tcplab shell` and `tcplab bridge`.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use serde_json::Value;
use tcplab_testbed::{
    EndSockets, Moving, SteeredTrial, Steering, SteeringEnd, ToldSockets, steering_link,
};
use tcplab_ui::{Bound, TrafficConfig};

use crate::arguments::PageMode;
use crate::output::print_note;
use crate::passing::PassingDirectory;
use crate::remedied::Remedied;
use crate::ui::{open_browser, token_file};

/// A page whose port is taken, and that serves nothing yet: a shell splits into two processes
/// before there is a second thread.
pub(crate) struct TrafficPage {
    bound: Bound,
    config: TrafficConfig,
    steering: Steering,
    changes: SteeringEnd,
    sockets: ToldSockets,
    directory: Option<PassingDirectory>,
}

/// A page that is served; dropped, it tells those who look at it that it is over.
pub(crate) struct ServedPage {
    is_over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
    _steered: Option<SteeredTrial>,
    _directory: Option<PassingDirectory>,
}

impl TrafficPage {
    /// Prepares what is moved to be watched, and prints the link.
    ///
    /// # Errors
    /// When nothing can listen, or there is no place for a recording.
    pub(crate) fn prepare(
        mode: PageMode,
        moving: &mut Moving,
        name: &str,
        ends: [String; 2],
    ) -> Result<TrafficPage> {
        if env::var_os("TCPLAB_SHELL").is_some() {
            let said = "a browser does not reach a page in the network of a `tcplab shell`";
            return Err(Remedied::error(said, "give --ui to the outermost shell"));
        }
        let bound = Bound::local(token_file().as_deref())?;
        let directory = PassingDirectory::of(moving)?;
        let recording = moving.capture.clone().unwrap_or_default();
        let (changes, steered) = steering_link()?;
        moving.steered = Some(steered);
        let steering = Steering::default();
        let sent = steering.clone();
        let sockets = ToldSockets::default();
        let told = sockets.clone();
        let link = bound.link();
        print_note(&format!("tcplab: {link}"));
        if mode == PageMode::Browser {
            open_browser(&link);
        }
        let config = TrafficConfig {
            command: env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect(),
            name: name.into(),
            path: moving.path.clone(),
            ends,
            recording,
            is_kept: !moving.is_passing,
            snaplen: moving.snaplen,
            change: Box::new(move |change| sent.change(change)),
            sockets: Box::new(move || told.latest().map(as_json)),
        };
        Ok(TrafficPage { bound, config, steering, changes, sockets, directory })
    }

    /// Serves it in threads of their own. The path does its work without it, too.
    pub(crate) fn begin(self) -> ServedPage {
        let TrafficPage { bound, config, steering, changes, sockets, directory } = self;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let failed =
            |error: &dyn std::fmt::Display| print_note(&format!("tcplab: no page: {error}"));
        let serve = move || {
            if let Err(error) = tcplab_ui::serve_traffic(bound, config, &over) {
                failed(&error);
            }
        };
        let _ = changes.hear_of_sockets(&sockets).inspect_err(|error| failed(error));
        let steered = changes.connect(&steering).inspect_err(|error| failed(error)).ok();
        let server = thread::Builder::new().name("the page's server".into()).spawn(serve);
        let server = server.inspect_err(|error| failed(error)).ok();
        ServedPage { is_over, server, _steered: steered, _directory: directory }
    }
}

fn as_json(EndSockets(ends): EndSockets) -> [Vec<Value>; 2] {
    ends.map(|sockets| {
        sockets.iter().filter_map(|socket| serde_json::to_value(socket).ok()).collect()
    })
}

impl Drop for ServedPage {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}
