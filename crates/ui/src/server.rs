//! The server: it listens, bounds what it takes, and ends with what it started.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::api;
use crate::config::{Config, PORT, TRAFFIC_PORT, TrafficConfig};
use crate::error::UiError;
use crate::guard::{self, Guard};
use crate::state::Ui;
use crate::token::Token;
use crate::traffic::TrafficPage;

/// Connections at a time: a browser opens six for each page. More wait in the kernel's queue.
const CONNECTIONS: usize = 256;
/// Who has not sent a request's head by then is cut off.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The longest body that is no capture: a scenario file has at most 1 MB.
const BODY: usize = 2 << 20;
/// How soon a flag that was set elsewhere is seen.
const LOOK: Duration = Duration::from_millis(50);
/// How long pages may take to read the rest of a history when the server ends,
const LAST_HISTORY: Duration = Duration::from_secs(2);
/// and how long answers that were begun may take.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// Serves until `stop` is set, then ends what it started. `ready` is told the link.
///
/// # Errors
/// When it cannot listen there.
pub fn serve(config: Config, ready: impl FnOnce(&str), stop: &AtomicBool) -> Result<(), UiError> {
    let usual = config.listen.is_none().then_some(PORT);
    let at = config.listen.unwrap_or(local(PORT));
    if !at.ip().is_loopback() && !config.without_encryption {
        return Err(UiError::Exposed { at });
    }
    let bound = Bound::new(at, usual.is_some(), &config.names, config.token_file.as_deref())?;
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (listener, guard) = bound.listen()?;
        ready(&guard.link());
        let ui = Arc::new(Ui::new(config));
        let app = checked(api::routes(Arc::clone(&ui)), guard);
        accept(&listener, &app, stop).await;
        ui.jobs.stop_all();
        ui.captures.stop_all();
        sleep(LAST_ANSWERS).await;
        ui.jobs.wait_for_all();
        Ok(())
    });
    runtime.shutdown_timeout(LAST_ANSWERS);
    served
}

/// A port that is taken, and the token, before there is a second thread.
#[derive(Debug)]
pub struct Bound {
    listener: std::net::TcpListener,
    guard: Guard,
}

impl Bound {
    /// A port of this machine for the page of a shell or a bridge, beside that of [`serve`].
    ///
    /// # Errors
    /// When there is none.
    pub fn local(token_file: Option<&Path>) -> Result<Bound, UiError> {
        Bound::new(local(TRAFFIC_PORT), true, &[], token_file)
    }

    fn new(
        at: SocketAddr,
        or_any: bool,
        names: &[String],
        token_file: Option<&Path>,
    ) -> Result<Bound, UiError> {
        let bound = match std::net::TcpListener::bind(at) {
            Err(_) if or_any => std::net::TcpListener::bind(SocketAddr::new(at.ip(), 0)),
            first => first,
        };
        let listener = bound.map_err(|source| UiError::Listen { at, source })?;
        let token = match token_file {
            // A cache that cannot be written is no reason to have no page.
            Some(file) => Token::of_user(file).or_else(|_| Token::random()),
            None => Token::random(),
        };
        let at = listener.local_addr().map_err(start)?;
        let guard = Guard::new(token.map_err(start)?, at, names);
        Ok(Bound { listener, guard })
    }

    /// The address with the token.
    pub fn link(&self) -> String {
        self.guard.link()
    }

    fn listen(self) -> Result<(TcpListener, Arc<Guard>), UiError> {
        self.listener.set_nonblocking(true).map_err(start)?;
        let listener = TcpListener::from_std(self.listener).map_err(start)?;
        Ok((listener, Arc::new(self.guard)))
    }
}

/// Serves the page of a shell or a bridge until `is_over` is set, and tells pages that are open.
///
/// # Errors
/// When its threads cannot be started.
pub fn serve_traffic(
    bound: Bound,
    config: TrafficConfig,
    is_over: &Arc<AtomicBool>,
) -> Result<(), UiError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (listener, guard) = bound.listen()?;
        let traffic = Arc::new(TrafficPage::new(config, is_over));
        let app = checked(api::traffic_routes(Arc::clone(&traffic)), guard);
        let looks = tokio::spawn(Arc::clone(&traffic).look_at_sockets());
        accept(&listener, &app, is_over).await;
        looks.abort();
        let ended = tokio::time::Instant::now();
        while traffic.is_watched() && ended.elapsed() < LAST_HISTORY {
            sleep(LOOK).await;
        }
        if traffic.was_watched() {
            sleep(LAST_ANSWERS).await;
        }
        Ok(())
    });
    runtime.shutdown_timeout(LAST_ANSWERS);
    served
}

fn start(source: io::Error) -> UiError {
    UiError::Start { source }
}

fn runtime() -> Result<Runtime, UiError> {
    let builder = &mut tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().map_err(start)
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

fn checked(routes: Router, guard: Arc<Guard>) -> Router {
    let checked = middleware::from_fn_with_state(guard, guard::check);
    routes.layer(DefaultBodyLimit::max(BODY)).layer(checked)
}

/// Takes connections until `stop` is set.
async fn accept(listener: &TcpListener, app: &Router, stop: &AtomicBool) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while !stop.load(Ordering::Relaxed) {
        let Ok(place) = timeout(LOOK, Arc::clone(&places).acquire_owned()).await else { continue };
        let Ok(accepted) = timeout(LOOK, listener.accept()).await else { continue };
        let Ok((stream, _)) = accepted else {
            // No descriptors are left; some will be.
            sleep(LOOK).await;
            continue;
        };
        let app = app.clone();
        tokio::spawn(async move {
            carry(stream, app).await;
            drop(place);
        });
    }
}

/// Answers the requests of one connection.
async fn carry(stream: TcpStream, app: Router) {
    let _ = stream.set_nodelay(true);
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
    let service = TowerToHyperService::new(app);
    // What is wrong with a connection is the other's affair.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
