//! The files of reports, each page in a sandbox.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path as Parts, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::error::Refusal;
use crate::places::below;
use crate::state::{Ui, aside};
use crate::token::Token;

/// The first page of a run's report, and the folder of one that has many.
const PAGES: [&str; 2] = ["report.html", "report"];
/// What a report may do: run the scripts in it, and nothing else.
const POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; \
                      script-src 'nonce-NONCE' blob:; style-src 'nonce-NONCE'; img-src data: blob:; \
                      worker-src blob:";

/// A file of a report.
pub(super) async fn file(
    State(ui): State<Arc<Ui>>,
    Parts((key, name)): Parts<(String, String)>,
) -> Result<Response, Refusal> {
    aside(move || {
        let missing = || Refusal::missing("there is no such report: open it from its run");
        let run = ui.reports.run_of(&key).ok_or_else(missing)?;
        let is_page = PAGES.iter().any(|page| Path::new(&name).starts_with(page));
        if !is_page {
            return Err(missing());
        }
        let file = below(&run, &name)?;
        let bytes = fs::read(&file).map_err(|_| missing())?;
        let nonce = Token::random().map_err(|error| Refusal::failed(error.to_string()))?;
        let nonce = nonce.as_str();
        let headers = [
            (CONTENT_SECURITY_POLICY, POLICY.replace("NONCE", nonce)),
            (CONTENT_TYPE, "text/html; charset=utf-8".into()),
        ];
        Ok((headers, Body::from(with_nonce(&bytes, nonce))).into_response())
    })
    .await
}

/// The page with this nonce in its scripts and style sheets. Foreign text is escaped in it, so it
/// holds none of these elements.
fn with_nonce(page: &[u8], nonce: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(page);
    let attribute = |element: &str| format!("<{element} nonce=\"{nonce}\"");
    let text = text.replace("<script", &attribute("script")).replace("<style", &attribute("style"));
    text.into_bytes()
}
