//! What the page and programs may ask, under `/api`: JSON in and out.
//!
//! `docs/ui.md` tells people, `/api/openapi.json` tells programs.

mod about;
mod captures;
mod comparisons;
mod document;
mod drafts;
mod figures;
mod from_address;
mod from_json;
mod jobs;
mod latency;
mod learn;
mod live;
mod paths;
mod plain_words;
mod reports;
mod runs;
mod saved;
mod states;
mod traffic;
mod wishes;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};

use crate::assets;
use crate::error::Refusal;
use crate::state::Ui;
use crate::traffic::TrafficPage;

/// All there is to ask.
pub(crate) fn routes(ui: Arc<Ui>) -> Router {
    Router::new()
        .route("/api/openapi.json", get(document::openapi))
        .route("/api/about", get(about::about))
        .route("/api/scenarios", get(drafts::scenarios))
        .route("/api/scenario", get(drafts::scenario))
        .route("/api/paths", get(paths::paths))
        .route("/api/schema", get(drafts::schema))
        .route("/api/check", post(drafts::check))
        .route("/api/estimate", post(drafts::estimate))
        .route("/api/outlook", post(drafts::outlook))
        .route("/api/events", post(drafts::events))
        .route("/api/runs", get(runs::list))
        .route("/api/run", get(runs::one).delete(runs::remove))
        .route("/api/compare", get(comparisons::progress).post(comparisons::compare))
        .route("/api/figures", post(figures::figures))
        .route("/api/jobs", get(jobs::list).post(jobs::start))
        .route("/api/jobs/{id}", get(jobs::one))
        .route("/api/jobs/{id}/stop", post(jobs::stop))
        .route("/api/jobs/{id}/change", post(jobs::change))
        .route("/api/jobs/{id}/events", get(jobs::events))
        .route("/api/latencies", get(latency::list))
        .route("/api/latency", get(latency::one).delete(latency::remove))
        .route("/api/latency/file", get(latency::file))
        .route("/api/live", get(live::events))
        .route("/api/live/several", get(live::several))
        .route("/api/live/packets", get(live::packets))
        .route("/api/live/states", get(states::states))
        .route("/api/captures", get(captures::list).post(captures::upload))
        .route("/api/capture", get(captures::one).delete(captures::remove))
        .route("/api/capture/read", post(captures::read))
        .route("/api/capture/products", post(captures::make))
        .route("/api/capture/product", get(captures::product).delete(captures::discard))
        .route("/api/capture/file", get(captures::file))
        .route("/api/lessons", get(learn::lessons))
        .route("/api/lesson/answer", get(learn::answer))
        .route("/api/options", get(learn::options))
        .route("/api/programs", get(learn::programs))
        .route("/api/program", get(learn::program))
        .route("/reports/{key}/{*file}", get(reports::file))
        .route("/", get(assets::index))
        .route("/{*file}", get(assets::file))
        .method_not_allowed_fallback(wrong_method)
        .with_state(ui)
}

/// All there is to ask of the server of a shell or a bridge.
pub(crate) fn traffic_routes(traffic: Arc<TrafficPage>) -> Router {
    Router::new()
        .route("/api/traffic", get(traffic::state))
        .route("/api/traffic/live", get(traffic::live))
        .route("/api/traffic/connections", get(traffic::connections))
        .route("/api/traffic/packets", get(traffic::packets))
        .route("/api/traffic/change", post(traffic::change))
        .route("/api/openapi.json", get(document::openapi))
        .route("/", get(assets::traffic))
        .route("/{*file}", get(assets::file))
        .method_not_allowed_fallback(wrong_method)
        .with_state(traffic)
}

/// There is something at this address, asked for in another way.
async fn wrong_method() -> Refusal {
    let what = "not with this method: /api/openapi.json says which";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, what)
}
