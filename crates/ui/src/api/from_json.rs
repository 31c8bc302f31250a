//! The body of a request, read as JSON.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::plain_words::in_plain_words;
use crate::error::Refusal;

/// What the body of a request says, which has to be called JSON: a form of another site can send
/// text, but nothing called so.
#[derive(Debug)]
pub(super) struct FromJson<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for FromJson<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<FromJson<T>, Refusal> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case("application/json") {
            let what = "send JSON, with the header `Content-Type: application/json`";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|refused| Refusal::new(refused.status(), refused.body_text()))?;
        // A list of values in their order is no object, though it could be read as one.
        if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            let what = "send a JSON object, not an array";
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, what));
        }
        serde_json::from_slice(&body).map(FromJson).map_err(|error| {
            let words = in_plain_words(&error.to_string());
            match error.classify() {
                Category::Data => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, words),
                _ => Refusal::bad(format!("this is not JSON: {words}")),
            }
        })
    }
}
