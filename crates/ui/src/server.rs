//! The server: it listens, bounds what it takes, and ends with what it started.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::api;
use crate::config::{Config, PORT};
use crate::error::UiError;
use crate::guard::{self, Guard};
use crate::state::Ui;
use crate::token::Token;

/// Connections at a time: a browser opens six for each page. More wait in the kernel's queue.
const CONNECTIONS: usize = 256;
/// Who has not sent a request's head by then is cut off.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The longest body that is no capture: a scenario file has at most 1 MB.
const BODY: usize = 2 << 20;
/// How soon a flag that was set elsewhere is seen.
const LOOK: Duration = Duration::from_millis(50);
/// How long answers that were begun may take when the server ends.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// Serves until `stop` is set, then ends what it started. `ready` is told the link.
///
/// # Errors
/// When it cannot listen there.
pub fn serve(config: Config, ready: impl FnOnce(&str), stop: &AtomicBool) -> Result<(), UiError> {
    let start = |source| UiError::Start { source };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(start)?;
    let token = match &config.token_file {
        // A cache that cannot be written is no reason to have no page.
        Some(file) => Token::of_user(file).or_else(|_| Token::random()),
        None => Token::random(),
    };
    let token = token.map_err(start)?;
    let served = runtime.block_on(async {
        let listener = listen(&config).await?;
        let at = listener.local_addr().map_err(start)?;
        let guard = Arc::new(Guard::new(token, at, &config.names));
        ready(&guard.link());
        let ui = Arc::new(Ui::new(config));
        let app = router(Arc::clone(&ui), guard);
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

fn router(ui: Arc<Ui>, guard: Arc<Guard>) -> Router {
    let checked = middleware::from_fn_with_state(guard, guard::check);
    api::routes(ui).layer(DefaultBodyLimit::max(BODY)).layer(checked)
}

async fn listen(config: &Config) -> Result<TcpListener, UiError> {
    let usual = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
    let at = config.listen.unwrap_or(usual);
    if !at.ip().is_loopback() && !config.without_encryption {
        return Err(UiError::Exposed { at });
    }
    let first = TcpListener::bind(at).await;
    let bound = match first {
        Err(_) if config.listen.is_none() => TcpListener::bind(SocketAddr::new(at.ip(), 0)).await,
        first => first,
    };
    bound.map_err(|source| UiError::Listen { at, source })
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
