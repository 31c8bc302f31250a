//! The path of a shell or a bridge, while it is used.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use serde_json::{Value, json};
use tcplab_path::PathChange;
use tcplab_watch::Cursor;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use super::from_address::FromQuery;
use super::from_json::FromJson;
use super::live::{TOLD_EVERY, Wanted};
use crate::error::Refusal;
use crate::state::aside;
use crate::traffic::TrafficPage;

/// What is used, and how its path has changed.
pub(super) async fn state(State(traffic): State<Arc<TrafficPage>>) -> Json<Value> {
    Json(traffic.state())
}

/// What happens on the path, as it happens.
pub(super) async fn live(
    State(traffic): State<Arc<TrafficPage>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // One on the way: a slow page is told less often, and then more at once.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(pass_on(traffic, sender));
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default())
}

async fn pass_on(traffic: Arc<TrafficPage>, sender: mpsc::Sender<Result<Event, Infallible>>) {
    let _watching = traffic.begin_to_watch();
    let (mut cursor, mut changes, mut connections) = (Cursor::default(), 0, Value::Null);
    loop {
        let is_ended = traffic.is_over();
        let (history, is_read) = {
            let history = traffic.trial.history();
            (history.since(&mut cursor), history.is_over())
        };
        let mut told: Vec<(&str, Value)> = history.map(|it| ("history", it)).into_iter().collect();
        if traffic.changes() > changes {
            changes = traffic.changes();
            told.push(("path", traffic.state()));
        }
        let met = traffic.connections();
        if met != connections {
            connections = met.clone();
            told.push(("connections", met));
        }
        let is_over = is_ended && is_read;
        if is_over {
            told.push(("over", traffic.state()));
        }
        for (name, data) in told {
            let event = Event::default().event(name).data(data.to_string());
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if is_over {
            return;
        }
        sleep(TOLD_EVERY).await;
        if sender.is_closed() {
            return;
        }
    }
}

/// The latest connections, and where both ends of each are.
pub(super) async fn connections(State(traffic): State<Arc<TrafficPage>>) -> Json<Value> {
    Json(traffic.connections())
}

/// The latest packets, one by one.
pub(super) async fn packets(
    State(traffic): State<Arc<TrafficPage>>,
    FromQuery(wanted): FromQuery<Wanted>,
) -> Json<Value> {
    let history = traffic.trial.history();
    let rows = history.packets(wanted.between(), wanted.most(), wanted.last);
    Json(json!({ "packets": rows }))
}

/// Changes the path at once.
pub(super) async fn change(
    State(traffic): State<Arc<TrafficPage>>,
    FromJson(change): FromJson<PathChange>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let refused = |why| Refusal::new(StatusCode::CONFLICT, why);
        Ok(Json(json!({ "path_events": traffic.change(change).map_err(refused)? })))
    })
    .await
}
