//! Two runs beside one another.

use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_recording::make_private_directories;

use super::from_json::FromJson;
use crate::error::Refusal;
use crate::jobs::in_words;
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// Where pages of comparisons are kept, below the directory of all runs.
const COMPARISONS: &str = ".comparisons";
/// The exit code of a command that could not do its work; less is a verdict.
const FAILED: i32 = 2;

/// Which runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    a: String,
    b: String,
}

/// Compares two runs as `tcplab compare` does, by it; the address of its page.
pub(super) async fn compare(
    State(ui): State<Arc<Ui>>,
    FromJson(Pair { a, b }): FromJson<Pair>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let [first, second] = [run_directory(&ui.runs, &a)?, run_directory(&ui.runs, &b)?];
        let name = format!("{a}--{b}").replace('/', "-");
        let place = ui.runs.join(COMPARISONS).join(name);
        let cannot = |error: std::io::Error| Refusal::failed(format!("cannot keep it: {error}"));
        make_private_directories(&place).map_err(cannot)?;
        let place = place.canonicalize().map_err(cannot)?;
        let page = place.join("report.html");
        let mut command = Command::new(&ui.program);
        command.arg("compare").args([&first, &second]).arg("--html").arg(&page);
        let ended = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Refusal::failed(format!("cannot start tcplab: {error}")))?;
        if ended.status.code().is_none_or(|code| code >= FAILED) {
            return Err(Refusal::bad(String::from_utf8_lossy(&ended.stderr)));
        }
        let report = ui.reports.address(&place);
        let [first, second] = [first, second].map(|run| run.display().to_string());
        let command = in_words(&["compare".into(), first, second]);
        Ok(Json(json!({ "report": report, "command": command })))
    })
    .await
}
