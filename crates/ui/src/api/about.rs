//! What this server is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::error::Refusal;
use crate::state::{Ui, aside};

/// The program and what this machine can do.
pub(super) async fn about(State(ui): State<Arc<Ui>>) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let launcher = tcplab_actions::launcher(ui.program.clone());
        let refused = tcplab_lab::kernel_refused(&launcher);
        Ok(Json(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "runs": ui.runs.display().to_string(),
            "has_kernel": refused.is_none(),
            "why_no_kernel": refused.as_ref().map(|it| &it.why),
            "kernel_remedy": refused.as_ref().and_then(|it| it.remedy.as_ref()),
        })))
    })
    .await
}
