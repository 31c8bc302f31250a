//! Why the server does not start, or what it answers in place of what was asked for.

use std::io;
use std::net::SocketAddr;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tcplab_watch::WatchError;

/// Why the server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// Nothing can listen there.
    #[error("cannot listen on {at}: {source}")]
    Listen {
        /// The address.
        at: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Others on the network could see it, and nothing says that they may.
    #[error("{at} is an address that others on the network can reach, without encryption")]
    Exposed {
        /// The address.
        at: SocketAddr,
    },
    /// Its threads could not be started.
    #[error("cannot start the server: {source}")]
    Start {
        /// Why.
        source: io::Error,
    },
}

impl UiError {
    /// What to do about it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            UiError::Listen { .. } => {
                Some("another program has this port: leave --listen out, or choose another port")
            }
            UiError::Exposed { .. } => Some(
                "forward a port by ssh -L 9293:127.0.0.1:9293, or say --without-encryption where \
                 everybody on the network may see and start experiments",
            ),
            UiError::Start { .. } => None,
        }
    }
}

/// An answer that is none: a status, what is wrong, and what to do if that is not in it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) what: String,
    pub(crate) remedy: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, what: impl Into<String>) -> Refusal {
        Refusal { status, what: what.into(), remedy: None }
    }
    pub(crate) fn missing(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, what)
    }
    pub(crate) fn bad(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, what)
    }
    pub(crate) fn failed(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }
}

impl From<WatchError> for Refusal {
    fn from(error: WatchError) -> Refusal {
        let status = match error {
            WatchError::TooMany => StatusCode::CONFLICT,
            WatchError::NoPackets => StatusCode::NOT_FOUND,
        };
        Refusal::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, what, remedy } = self;
        let mut said = json!({ "error": what });
        if let Some(remedy) = remedy {
            said["remedy"] = json!(remedy);
        }
        (status, Json(said)).into_response()
    }
}
