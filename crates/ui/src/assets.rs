//! The files of the page, which are in the program: nothing is fetched from elsewhere.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::error::Refusal;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! scripts {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../assets/", $name)))),+]
    };
}

/// The modules of the page.
const SCRIPTS: &[(&str, &str)] = scripts![
    "app.js",
    "api.js",
    "dom.js",
    "runs.js",
    "several.js",
    "experiment.js",
    "editor.js",
    "fields.js",
    "path_choice.js",
    "follow.js",
    "figure.js",
    "advice.js",
    "rfc6349.js",
    "load.js",
    "knobs.js",
    "live.js",
    "multiples.js",
    "traffic.js",
    "both_ends.js",
    "packet_table.js",
    "chart.js",
    "ladder.js",
    "learn.js",
    "learner.js",
    "lesson.js",
    "options.js",
    "programs.js",
    "states.js",
    "walk.js",
    "capture.js",
    "connections.js",
    "products.js",
    "upload.js",
    "theme.js",
];

/// The page.
pub(crate) async fn index() -> Response {
    ([(CONTENT_TYPE, HTML)], include_str!("../assets/index.html")).into_response()
}

/// The page of a shell or a bridge.
pub(crate) async fn traffic() -> Response {
    ([(CONTENT_TYPE, HTML)], include_str!("../assets/traffic.html")).into_response()
}

/// A file of it.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    if name == "style.css" {
        // The reports' own, and what only this page has.
        let all = [&tcplab_report::STYLES.concat(), include_str!("../assets/ui.css")].concat();
        return Ok(([(CONTENT_TYPE, STYLE)], all).into_response());
    }
    if name == "icon.svg" {
        let icon = include_str!("../assets/icon.svg");
        return Ok(([(CONTENT_TYPE, "image/svg+xml")], icon).into_response());
    }
    let script = SCRIPTS.iter().find(|(known, _)| *known == name);
    let (_, text) = script.ok_or_else(|| Refusal::missing(format!("there is no {name}")))?;
    Ok(([(CONTENT_TYPE, SCRIPT)], *text).into_response())
}
