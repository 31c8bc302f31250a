//! What the address of a request says; what is wrong with it is told in JSON, as all else.

use std::error::Error;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::plain_words::in_plain_words;
use crate::error::Refusal;

/// The part behind `?`.
#[derive(Debug)]
pub(super) struct FromQuery<T>(pub(super) T);

/// A part of the path that has a name in the route.
#[derive(Debug)]
pub(super) struct FromPath<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for FromQuery<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<FromQuery<T>, Refusal> {
        let Query(query) = Query::from_request_parts(parts, state).await.map_err(|refused| {
            Refusal::new(refused.status(), in_plain_words(&cause_of(&refused)))
        })?;
        Ok(FromQuery(query))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for FromPath<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<FromPath<T>, Refusal> {
        let Path(path) = Path::from_request_parts(parts, state).await.map_err(|refused| {
            Refusal::new(refused.status(), in_plain_words(&cause_of(&refused)))
        })?;
        Ok(FromPath(path))
    }
}

/// The innermost error: those around it say which part of the server met it.
fn cause_of(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause_of)
}
