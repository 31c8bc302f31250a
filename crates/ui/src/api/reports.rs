//! The files of reports: each page in a sandbox, those that pages link to be saved.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path as Parts, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use tcplab_report::{SCRIPT_FILE, STYLE_FILE, link_to_script, link_to_style};
use tcplab_units::visible_line;

use super::saved::saved;
use crate::error::Refusal;
use crate::places::below;
use crate::state::{Ui, aside};
use crate::token::Token;

/// What a report may do: run the scripts in it, and nothing else.
const POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; \
                      script-src 'nonce-NONCE' blob:; style-src 'nonce-NONCE'; img-src data: blob:; \
                      worker-src blob:";

/// A file of a report: one of its pages, or one that they link.
pub(super) async fn file(
    State(ui): State<Arc<Ui>>,
    Parts((key, name)): Parts<(String, String)>,
) -> Result<Response, Refusal> {
    aside(move || {
        let missing = || Refusal::missing("there is no such report: open it from its run");
        let run = ui.reports.run_of(&key).ok_or_else(missing)?;
        match kind_of(&name).ok_or_else(missing)? {
            Kind::Page => page(&run, &name),
            Kind::Saved => saved(&below(&run, &name)?),
        }
    })
    .await
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Page,
    Saved,
}

/// What a file of this name in a run's directory is: a page of the report (one file, or a folder of
/// many), a table, the scenario or a capture; none of all else.
fn kind_of(name: &str) -> Option<Kind> {
    let ends = |file: &str, endings: &[&str]| {
        let ending = Path::new(file).extension().and_then(OsStr::to_str);
        ending.is_some_and(|it| endings.contains(&it))
    };
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        ["report.html"] => Some(Kind::Page),
        ["report", .., page] if ends(page, &["html"]) => Some(Kind::Page),
        [table] if ends(table, &["json", "csv", "toml"]) => Some(Kind::Saved),
        ["trials", _, capture] if ends(capture, &["pcapng"]) => Some(Kind::Saved),
        _ => None,
    }
}

/// A page, alone in a sandbox.
fn page(run: &Path, name: &str) -> Result<Response, Refusal> {
    let missing = |_| Refusal::missing(format!("there is no {}", visible_line(name)));
    let page = fs::read(below(run, name)?).map_err(missing)?;
    let nonce = Token::random().map_err(|error| Refusal::failed(error.to_string()))?;
    let nonce = nonce.as_str();
    let page = with_shared_files(&String::from_utf8_lossy(&page), &run.join("report"));
    let headers = [
        (CONTENT_SECURITY_POLICY, POLICY.replace("NONCE", nonce)),
        (CONTENT_TYPE, "text/html; charset=utf-8".into()),
    ];
    Ok((headers, Body::from(with_nonce(&page, nonce))).into_response())
}

/// The page with the style and the scripts that all pages of a folder share in it: a page without
/// an origin may fetch nothing.
fn with_shared_files(page: &str, folder: &Path) -> String {
    let shared = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let mut page = page.to_owned();
    for to in ["", "../"] {
        let (style, script) = (link_to_style(to), link_to_script(to));
        if page.contains(&style) {
            page = page.replace(&style, &format!("<style>{}</style>", shared(STYLE_FILE)));
        }
        if page.contains(&script) {
            page = page.replace(&script, &format!("<script>{}</script>", shared(SCRIPT_FILE)));
        }
    }
    page
}

/// The page with this nonce in its scripts and style sheets. Foreign text is escaped in it, so it
/// holds none of these elements.
fn with_nonce(page: &str, nonce: &str) -> String {
    let attribute = |element: &str| format!("<{element} nonce=\"{nonce}\"");
    page.replace("<script", &attribute("script")).replace("<style", &attribute("style"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_report_links_are_told_from_all_else() {
        for name in ["report.html", "report/index.html", "report/trials/a-1.html"] {
            assert_eq!(kind_of(name), Some(Kind::Page), "{name}");
        }
        for name in ["run.json", "metrics.csv", "scenario.toml", "trials/reno-1/client.pcapng"] {
            assert_eq!(kind_of(name), Some(Kind::Saved), "{name}");
        }
        for name in
            ["", "a.html", "trials/reno-1/app.log", "a/b.json", "../run.json", "report/x.js"]
        {
            assert_eq!(kind_of(name), None, "{name}");
        }
    }

    #[test]
    fn pages_of_a_folder_have_its_style_and_scripts_in_them() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(STYLE_FILE), "p { color: red }").unwrap();
        fs::write(folder.path().join(SCRIPT_FILE), "go();").unwrap();
        for to in ["", "../"] {
            let page = format!("{}<p>x</p>{}", link_to_style(to), link_to_script(to));
            let page = with_nonce(&with_shared_files(&page, folder.path()), "N");
            let wanted = "<style nonce=\"N\">p { color: red }</style><p>x</p>\
                          <script nonce=\"N\">go();</script>";
            assert_eq!(page, wanted);
        }
    }
}
