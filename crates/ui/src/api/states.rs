//! TCP's state diagram, and how both ends of a trial's connection walked it.

use std::path::Path;
use std::ptr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tcplab_lab::load_recording;
use tcplab_plot::{StateDiagram, state_diagram};
use tcplab_recording::Recording;
use tcplab_report::states::walks_of_trial;
use tcplab_results::TrialData;
use tcplab_trace::{Connection, Edge, StateWalk, StateWalks};
use tcplab_units::Instant;

use super::from_address::FromQuery;
use super::live::{not_begun, places};
use crate::error::Refusal;
use crate::places::{TrialName, need_packets};
use crate::state::{Ui, aside};

/// Connections in a list to choose from.
const CONNECTIONS: usize = 200;
const TITLE: &str = "TCP's states (RFC 9293, figure 5)";

/// Which connection.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    /// Its place in the client's capture; none: the one with most data.
    connection: Option<usize>,
}

/// The transitions of a trial that is over, each with the packet that shows it. While it runs the
/// diagram alone: samples tell the states.
pub(super) async fn states(
    State(ui): State<Arc<Ui>>,
    FromQuery(name): FromQuery<TrialName>,
    FromQuery(wanted): FromQuery<Wanted>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let places = places(&ui, &name)?;
        let place = places.now().ok_or_else(|| not_begun(&name))?;
        if !places.is_done() {
            let picture = state_diagram(&StateDiagram { title: TITLE, walks: None });
            return Ok(Json(json!({
                "is_over": false,
                "connections": [],
                "connection": null,
                "picture": picture,
                "ends": null,
                "story": [],
            })));
        }
        let data = recorded(&place).or_else(|refusal| match places.now() {
            // It was put where it stays meanwhile.
            Some(now) if now != place => recorded(&now),
            _ => Err(refusal),
        })?;
        let (connection, walks) = walks_of_trial(&data, wanted.connection)
            .ok_or_else(|| Refusal::missing("its captures have no such connection"))?;
        let all = &data.client.connections;
        let name = |it: &Connection| json!({ "client": it.client, "server": it.server });
        let picture = state_diagram(&StateDiagram { title: TITLE, walks: Some(&walks) });
        Ok(Json(json!({
            "is_over": true,
            "connections": all.iter().take(CONNECTIONS).map(name).collect::<Vec<_>>(),
            "connection": all.iter().position(|it| ptr::eq(it, connection)),
            "picture": picture,
            "ends": ends(&walks, data.vanished),
            "story": walks.story(),
        })))
    })
    .await
}

fn recorded(place: &Path) -> Result<TrialData, Refusal> {
    need_packets(place)?;
    let recording = Recording::open(place).map_err(|error| Refusal::missing(error.to_string()))?;
    load_recording(&recording).map_err(|error| Refusal::missing(error.to_string()))
}

fn ends(walks: &StateWalks, vanished: [Option<Instant>; 2]) -> Value {
    let all = walks
        .both()
        .map(|walk| (walk.end.name().to_owned(), of_end(walk, vanished[walk.end.index()])));
    Value::Object(Map::from_iter(all))
}

/// The machine of an end may lose its power, which no packet shows.
fn of_end(walk: &StateWalk, vanished: Option<Instant>) -> Value {
    let edges: Vec<Value> = walk.edges.iter().map(|edge| of_edge(walk, edge)).collect();
    json!({
        "start": walk.start,
        "edges": edges,
        "vanished_ns": vanished.map(Instant::as_nanos),
    })
}

fn of_edge(walk: &StateWalk, edge: &Edge) -> Value {
    let packet = edge.packet.map(|packet| {
        json!({
            "frame": packet.frame,
            "flags": packet.flags.to_string(),
            "is_sent": packet.by == walk.end,
        })
    });
    json!({
        "step": edge.step,
        "from": edge.from,
        "to": edge.to,
        "event": edge.event.words(),
        "at_ns": edge.at.map(Instant::as_nanos),
        "packet": packet,
        "remark": edge.basis.remark(),
        "waits_for": edge.to.waits_for(),
    })
}
