//! This host as the third one: it measures to a server of its own choice, when another host asks.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use tcplab_load::{LatencyConfig, LatencyOutcome, notice_vanished};
use tcplab_quantities::LATENCY_DOCUMENT;
use tcplab_units::visible_line;

use super::request::{Answer, Lines, REQUEST_MOST, Request, line};
use crate::output::{counted, print_note};
use crate::print_error::print_error;
use crate::signals::stop_on_signals;

/// How often it looks for who asks, and whether it is stopped.
const LOOK: Duration = Duration::from_millis(50);
/// Who has not asked in this time is sent away; who does not take the result, too.
const LONGEST_REQUEST: Duration = Duration::from_secs(2);
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Waits at `address` for requests, and measures as `config` says, with their times. One at a time.
pub(super) fn serve(address: &str, config: &LatencyConfig) -> Result<ExitCode> {
    let listener = TcpListener::bind(address)
        .with_context(|| format!("cannot wait for requests at {}", visible_line(address)))?;
    listener.set_nonblocking(true)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let here = listener.local_addr()?;
    print_note(&format!("waiting at {here} for who measures to {}", config.address));
    let mut measuring: Option<JoinHandle<()>> = None;
    while !stop.load(Ordering::Relaxed) {
        let Ok((stream, from)) = listener.accept() else {
            thread::sleep(LOOK);
            continue;
        };
        let is_busy = measuring.as_ref().is_some_and(|it| !it.is_finished());
        let mut lines = Lines::of(stream);
        match asked(&mut lines, is_busy) {
            Ok(request) => {
                let (config, stop) = (of(config, &request), Arc::clone(&stop));
                let measure = move || measure(lines.stream(), from, &config, &stop);
                measuring = Some(Builder::new().spawn(measure).context("cannot start a thread")?);
            }
            Err(error) => {
                print_note(&format!("{from} was refused: {}", visible_line(&format!("{error:#}"))));
                let _ = fail(lines.stream(), &format!("{error:#}"));
            }
        }
    }
    if let Some(thread) = measuring {
        let _ = thread.join();
    }
    Ok(ExitCode::SUCCESS)
}

/// What is asked, if it can be done.
fn asked(lines: &mut Lines, is_busy: bool) -> Result<Request> {
    let stream = lines.stream();
    // Whatever the listener's flag is: not all systems pass it on.
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(LONGEST_ANSWER))?;
    // A host that has vanished asks for nothing any more.
    notice_vanished(stream)?;
    let request: Request = lines.receive(REQUEST_MOST, LONGEST_REQUEST)?;
    let request = request.checked()?;
    anyhow::ensure!(!is_busy, "it measures for another host at present");
    Ok(request)
}

fn of(config: &LatencyConfig, request: &Request) -> LatencyConfig {
    LatencyConfig {
        interval: request.interval(),
        time: request.duration(),
        timeout: request.timeout(),
        beside: None,
        ..config.clone()
    }
}

fn fail(mut stream: &TcpStream, message: &str) -> std::io::Result<()> {
    stream.write_all(&line(&Answer::Failed { message: message.to_owned() }))
}

/// Measures until its time is over, or who asked ends the connection's direction.
fn measure(mut stream: &TcpStream, from: SocketAddr, config: &LatencyConfig, stop: &AtomicBool) {
    let mut has_begun = false;
    let measured = tcplab_load::latency(config, &mut |progress| {
        if !has_begun && !progress.elapsed.is_zero() {
            has_begun = true;
            if stream.write_all(&line(&Answer::Began)).is_err() {
                return ControlFlow::Break(());
            }
        }
        if stop.load(Ordering::Relaxed) || has_ended(stream) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let told = match &measured {
        Ok(outcome) => tell(stream, outcome),
        Err(error) => {
            print_error(&anyhow::anyhow!("{error}"));
            fail(stream, &error.to_string())
        }
    };
    if let (Ok(outcome), Ok(())) = (&measured, &told) {
        let (sent, lost) = (counted(outcome.sent, "probe"), outcome.lost);
        print_note(&format!("for {from}: {sent}, {lost} lost"));
    } else if told.is_err() {
        print_note(&format!("{from} left before it had the result"));
    }
}

fn tell(mut stream: &TcpStream, outcome: &LatencyOutcome) -> std::io::Result<()> {
    let result =
        serde_json::to_value(LATENCY_DOCUMENT.of(outcome)).map_err(std::io::Error::other)?;
    stream.write_all(&line(&Answer::Finished { result: Box::new(result) }))
}

/// Whether who asked ended its direction of the connection; what else it says is ignored.
fn has_ended(mut stream: &TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    let read = stream.read(&mut [0; 64]);
    let _ = stream.set_nonblocking(false);
    match read {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    }
}
