//! The files of the page, which are in the program: nothing is fetched from elsewhere.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use tcplab_embedded::embedded;

use crate::error::Refusal;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

embedded! {
    /// What `build.rs` names.
    FILES
}

/// A file that the program carries.
pub(crate) fn carried(name: &str) -> &'static str {
    FILES.get(name).unwrap_or_else(|| panic!("`build.rs` packs {name}"))
}

/// The source of an example program in a language: `rust` or `c`.
pub(crate) fn program_source(name: &str, language: &str) -> Option<&'static str> {
    let ending = match language {
        "rust" => "rs",
        "c" => "c",
        _ => return None,
    };
    FILES.get(&format!("{language}/{name}.{ending}"))
}

/// The page.
pub(crate) async fn index() -> Response {
    ([(CONTENT_TYPE, HTML)], carried("page/index.html")).into_response()
}

/// The page of a shell or a bridge.
pub(crate) async fn traffic() -> Response {
    ([(CONTENT_TYPE, HTML)], carried("page/traffic.html")).into_response()
}

/// A file of it.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    if name == "style.css" {
        // The reports' own, and what only this page has.
        let all = [&tcplab_report::STYLES.concat(), carried("page/ui.css")].concat();
        return Ok(([(CONTENT_TYPE, STYLE)], all).into_response());
    }
    if name == "icon.svg" {
        return Ok(([(CONTENT_TYPE, "image/svg+xml")], carried("page/icon.svg")).into_response());
    }
    if name == "dump.js" {
        return Ok(([(CONTENT_TYPE, SCRIPT)], tcplab_report::dump_module()).into_response());
    }
    let script = name.strip_suffix(".js").and_then(|it| FILES.get(&format!("page/{it}.js")));
    let text = script.ok_or_else(|| Refusal::missing(format!("there is no {name}")))?;
    Ok(([(CONTENT_TYPE, SCRIPT)], text).into_response())
}
