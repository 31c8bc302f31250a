//! The interface for programs, described.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// As a file, so that it can be read without a server, too.
pub(super) const OPENAPI: &str = include_str!("../../../../docs/schemas/ui-openapi.json");

pub(super) async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
