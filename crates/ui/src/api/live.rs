//! A trial while it runs, and later.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_units::Instant;
use tcplab_watch::{Cursor, PacketRow, Places, WatchedTrial};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use crate::error::Refusal;
use crate::places::{TrialName, run_directory};
use crate::state::{Ui, aside};

/// How often a page is told, at most.
const TOLD_EVERY: Duration = Duration::from_millis(100);
/// Packets of an answer.
const PACKETS: usize = 2_000;

pub(super) fn places(ui: &Ui, name: &TrialName) -> Result<Places, Refusal> {
    let run = run_directory(&ui.runs, &name.run)?;
    // A case is one name, below the run.
    if name.case.contains(['/', '\0']) || name.case.starts_with('.') {
        return Err(Refusal::bad("a case's name has no slash and does not begin with a point"));
    }
    Ok(Places { run, case: name.case.clone(), number: name.trial })
}

pub(super) fn not_begun(name: &TrialName) -> Refusal {
    Refusal::missing(format!("trial {} of {} was not begun", name.trial, name.case))
}

/// What happens in a trial, as it happens.
pub(super) async fn events(
    State(ui): State<Arc<Ui>>,
    Query(name): Query<TrialName>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let trial = aside(move || {
        let places = places(&ui, &name)?;
        let now = places.now().ok_or_else(|| not_begun(&name))?;
        Ok(ui.watched.trial(&places, &now)?)
    })
    .await?;
    // One on the way: a slow page is told less often, and then more at once.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(pass_on(trial, sender));
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()))
}

async fn pass_on(trial: Arc<WatchedTrial>, sender: mpsc::Sender<Result<Event, Infallible>>) {
    let mut cursor = Cursor::default();
    loop {
        let (told, is_over) = {
            let history = trial.history();
            (history.since(&mut cursor), history.is_over())
        };
        if let Some(told) = told {
            let event = Event::default().event("history").data(told.to_string());
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if is_over {
            let _ = sender.send(Ok(Event::default().event("over").data("{}"))).await;
            return;
        }
        sleep(TOLD_EVERY).await;
        if sender.is_closed() {
            return;
        }
    }
}

/// Which packets.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    from_ns: u64,
    until_ns: Option<u64>,
    most: Option<usize>,
    /// The last ones before the end, in place of the first.
    #[serde(default)]
    last: bool,
}

/// Packets of a trial, one by one.
pub(super) async fn packets(
    State(ui): State<Arc<Ui>>,
    Query(name): Query<TrialName>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let place = places(&ui, &name)?.now().ok_or_else(|| not_begun(&name))?;
        let until = wanted.until_ns.unwrap_or(u64::MAX);
        let between = [wanted.from_ns, until].map(Instant::from_nanos);
        let most = wanted.most.unwrap_or(PACKETS).min(PACKETS);
        let rows: Vec<PacketRow> = tcplab_watch::packets(&place, between, most, wanted.last)?;
        Ok(Json(json!({ "packets": rows })))
    })
    .await
}
