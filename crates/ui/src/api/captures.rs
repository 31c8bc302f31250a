//! Captures of the user's: brought, read, explained and saved.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_trace::Filter;

use super::from_address::FromQuery;
use super::from_json::FromJson;
use super::saved::saved;
use crate::captures::{LARGEST, Product, Uploaded, Wish};
use crate::error::Refusal;
use crate::state::{Ui, aside};

/// Rows of an answer, unless more are asked for.
const ROWS: usize = 200;

pub(super) async fn list(State(ui): State<Arc<Ui>>) -> Result<Json<Value>, Refusal> {
    aside(move || Ok(Json(json!({ "captures": ui.captures.all(), "largest_bytes": LARGEST }))))
        .await
}

/// What a file is called, and the capture that it belongs to; none makes a new one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewFile {
    name: String,
    id: Option<String>,
}

/// Takes a file, which is the body.
pub(super) async fn upload(
    State(ui): State<Arc<Ui>>,
    FromQuery(NewFile { name, id }): FromQuery<NewFile>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Uploaded>, Refusal> {
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    Ok(Json(ui.captures.take(id.as_deref(), &name, length, body).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    id: String,
    most: Option<usize>,
}

/// A capture, and what is known of it so far.
pub(super) async fn one(
    State(ui): State<Arc<Ui>>,
    FromQuery(Named { id, most }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let capture = ui.captures.capture(&id)?;
        let reading = capture.reading().clone();
        let reading = reading.map(|reading| reading.shown(most.unwrap_or(ROWS)));
        Ok(Json(json!({ "id": id, "files": capture.files(), "reading": reading })))
    })
    .await
}

pub(super) async fn remove(
    State(ui): State<Arc<Ui>>,
    FromQuery(Named { id, .. }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        ui.captures.remove(&id)?;
        Ok(Json(json!({ "removed": id })))
    })
    .await
}

/// How to read a capture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    id: String,
    #[serde(default)]
    filter: String,
}

/// Reads a capture, or says what is wrong with the filter, and where.
pub(super) async fn read(
    State(ui): State<Arc<Ui>>,
    FromJson(Asked { id, filter }): FromJson<Asked>,
) -> Result<Json<Value>, Refusal> {
    let filter = match filter.trim() {
        "" => None,
        text => match Filter::parse(text) {
            Ok(filter) => Some(filter),
            Err(error) => {
                // As a page counts.
                let units = |end: usize| text[..end].encode_utf16().count();
                let [from, until] = [error.place().start, error.place().end].map(units);
                let what = error.message();
                return Ok(Json(json!({
                    "mistake": { "what": what, "filter": text, "from": from, "until": until },
                })));
            }
        },
    };
    let capture = ui.captures.capture(&id)?;
    ui.captures.read(&capture, filter)?;
    Ok(Json(json!({ "mistake": null })))
}

/// What to make of a capture.
#[derive(Debug, Deserialize)]
pub(super) struct Making {
    id: String,
    #[serde(flatten)]
    wish: Wish,
}

pub(super) async fn make(
    State(ui): State<Arc<Ui>>,
    FromJson(Making { id, wish }): FromJson<Making>,
) -> Result<Json<Value>, Refusal> {
    let capture = ui.captures.capture(&id)?;
    let product = ui.captures.make(&capture, &wish)?;
    Ok(Json(shown(&ui, &product)))
}

fn shown(ui: &Ui, product: &Product) -> Value {
    let mut shown = json!(product.shown());
    let is_done = shown["is_running"] == false && shown["error"].is_null();
    shown["page"] = json!(is_done.then(|| ui.reports.address(&product.place)).flatten());
    shown
}

/// What was made.
#[derive(Debug, Deserialize)]
pub(super) struct Made {
    id: String,
    number: u64,
    name: Option<String>,
}

pub(super) async fn product(
    State(ui): State<Arc<Ui>>,
    FromQuery(made): FromQuery<Made>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let product = ui.captures.capture(&made.id)?.products().product(made.number)?;
        Ok(Json(shown(&ui, &product)))
    })
    .await
}

/// Stops what makes it, and removes it.
pub(super) async fn discard(
    State(ui): State<Arc<Ui>>,
    FromQuery(made): FromQuery<Made>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        ui.captures.capture(&made.id)?.products().discard(made.number)?;
        Ok(Json(json!({ "removed": made.number })))
    })
    .await
}

/// A file that was made, to be saved.
pub(super) async fn file(
    State(ui): State<Arc<Ui>>,
    FromQuery(made): FromQuery<Made>,
) -> Result<Response, Refusal> {
    aside(move || {
        let product = ui.captures.capture(&made.id)?.products().product(made.number)?;
        saved(&product.file(&made.name.unwrap_or_default())?)
    })
    .await
}
