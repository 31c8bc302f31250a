//! A trial while it runs, and later.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
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

use super::from_address::FromQuery;
use super::plain_words::in_plain_words;
use crate::error::Refusal;
use crate::places::{TrialName, need_packets, run_directory};
use crate::state::{Ui, aside};

/// How often a page is told, at most.
pub(super) const TOLD_EVERY: Duration = Duration::from_millis(100);
/// After so many times [`TOLD_EVERY`] a trial that is run again has begun.
const AGAIN_WITHIN: usize = 20;
/// Trials of one stream of events.
const SEVERAL: usize = 12;
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
    let what = "was not begun, or was stopped before its end, and nothing of it was kept";
    Refusal::missing(format!("trial {} of {} {what}", name.trial, name.case))
}

/// A trial that is watched, by the name that its events have.
struct Told {
    name: Value,
    places: Places,
    /// Which recording it is.
    began: Option<u64>,
    trial: Arc<WatchedTrial>,
    cursor: Cursor,
    /// The ports of the connection whose sockets are sampled.
    sampled: Option<[u16; 2]>,
}

impl Told {
    fn of(ui: &Ui, name: &TrialName) -> Result<Told, Refusal> {
        let places = places(ui, name)?;
        let now = places.now().ok_or_else(|| not_begun(name))?;
        need_packets(&now)?;
        let began = places.identity();
        let trial = ui.watched.trial(&places, &now)?;
        let sampled = tcplab_lab::sampled_ports(&places.run, &name.case, name.trial);
        let name = json!({ "case": name.case, "trial": name.trial });
        Ok(Told { name, places, began, trial, cursor: Cursor::default(), sampled })
    }
}

/// What happens in a trial, as it happens.
pub(super) async fn events(
    State(ui): State<Arc<Ui>>,
    FromQuery(name): FromQuery<TrialName>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let trial = aside(move || Told::of(&ui, &name)).await?;
    Ok(stream(vec![trial]))
}

/// Several trials of a run.
#[derive(Debug, Deserialize)]
pub(super) struct Several {
    run: String,
    /// Which, as JSON: `[["CASE", NUMBER], …]`.
    trials: String,
}

/// What happens in several trials: a browser has few connections to a server at a time.
pub(super) async fn several(
    State(ui): State<Arc<Ui>>,
    FromQuery(Several { run, trials }): FromQuery<Several>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let names: Vec<(String, u32)> = serde_json::from_slice(trials.as_bytes()).map_err(|error| {
        let why = in_plain_words(&error.to_string());
        Refusal::bad(format!("trials is no list of cases and numbers: {why}"))
    })?;
    if names.is_empty() || names.len() > SEVERAL {
        return Err(Refusal::bad(format!("1 to {SEVERAL} trials are watched at once")));
    }
    let names =
        names.into_iter().map(move |(case, trial)| TrialName { run: run.clone(), case, trial });
    let told = aside(move || names.map(|name| Told::of(&ui, &name)).collect()).await?;
    Ok(stream(told))
}

fn stream(trials: Vec<Told>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // One on the way: a slow page is told less often, and then more at once.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(pass_on(trials, sender));
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default())
}

async fn pass_on(mut trials: Vec<Told>, sender: mpsc::Sender<Result<Event, Infallible>>) {
    loop {
        let mut are_over = true;
        for Told { name, trial, cursor, sampled, .. } in &mut trials {
            let told = {
                let history = trial.history();
                are_over &= history.is_over();
                history.since(cursor)
            };
            if let Some(mut told) = told {
                told["of"] = name.clone();
                told["sampled"] = json!(sampled);
                let event = Event::default().event("history").data(told.to_string());
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
        }
        if are_over {
            let over = json!({ "is_run_again": are_run_again(&trials).await });
            let event = Event::default().event("over").data(over.to_string());
            let _ = sender.send(Ok(event)).await;
            return;
        }
        sleep(TOLD_EVERY).await;
        if sender.is_closed() {
            return;
        }
    }
}

/// Whether one of them is run again, as something was wrong with it.
async fn are_run_again(trials: &[Told]) -> bool {
    for _ in 0..AGAIN_WITHIN {
        if trials.iter().all(|it| it.places.identity().is_some()) {
            break;
        }
        // Between two attempts there is none.
        sleep(TOLD_EVERY).await;
    }
    trials.iter().any(|it| it.places.identity().is_some_and(|now| Some(now) != it.began))
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
    pub(super) last: bool,
}

impl Wanted {
    /// The first and the last moment.
    pub(super) fn between(&self) -> [Instant; 2] {
        [self.from_ns, self.until_ns.unwrap_or(u64::MAX)].map(Instant::from_nanos)
    }
    pub(super) fn most(&self) -> usize {
        self.most.unwrap_or(PACKETS).min(PACKETS)
    }
}

/// Packets of a trial, one by one.
pub(super) async fn packets(
    State(ui): State<Arc<Ui>>,
    FromQuery(name): FromQuery<TrialName>,
    FromQuery(wanted): FromQuery<Wanted>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let place = places(&ui, &name)?.now().ok_or_else(|| not_begun(&name))?;
        need_packets(&place)?;
        let (between, most) = (wanted.between(), wanted.most());
        let rows: Vec<PacketRow> = tcplab_watch::packets(&place, between, most, wanted.last)?;
        Ok(Json(json!({ "packets": rows })))
    })
    .await
}
