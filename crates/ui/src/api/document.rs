//! The interface for programs, described.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::assets::carried;

/// The file in docs/schemas, where it can be read without a server, too.
pub(super) async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], carried("openapi.json")).into_response()
}
