//! Two runs beside one another.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_recording::make_private_directories;

use super::from_json::FromJson;
use crate::error::Refusal;
use crate::jobs::{in_words, wait_unless};
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// Where pages of comparisons are kept, below the directory of all runs.
const COMPARISONS: &str = ".comparisons";
/// The exit code of a command that could not do its work; less is a verdict.
const FAILED: i32 = 2;
/// What is kept of its words, bytes.
const SAID: u64 = 16 << 10;

/// Which runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    a: String,
    b: String,
}

/// Compares two runs as `tcplab compare` does, by it; the address of its page. It ends when whoever
/// asked no longer waits for it.
pub(super) async fn compare(
    State(ui): State<Arc<Ui>>,
    FromJson(Pair { a, b }): FromJson<Pair>,
) -> Result<Json<Value>, Refusal> {
    let asker = Asker::default();
    let has_left = Arc::clone(&asker.has_left);
    aside(move || {
        let [first, second] = [run_directory(&ui.runs, &a)?, run_directory(&ui.runs, &b)?];
        let name = format!("{a}--{b}").replace('/', "-");
        let place = ui.runs.join(COMPARISONS).join(name);
        let cannot = |error: io::Error| Refusal::failed(format!("cannot keep it: {error}"));
        make_private_directories(&place).map_err(cannot)?;
        let place = place.canonicalize().map_err(cannot)?;
        let page = place.join("report.html");
        let mut command = Command::new(&ui.program);
        command.arg("compare").args([&first, &second]).arg("--html").arg(&page);
        let ended = run(command, &has_left)
            .map_err(|error| Refusal::failed(format!("cannot start tcplab: {error}")))?;
        let Some((code, said)) = ended else {
            let _ = fs::remove_dir_all(&place);
            return Err(Refusal::failed("stopped"));
        };
        if code.is_none_or(|code| code >= FAILED) {
            return Err(Refusal::bad(said));
        }
        let report = ui.reports.address(&place);
        let [first, second] = [first, second].map(|run| run.display().to_string());
        let command = in_words(&["compare".into(), first, second]);
        Ok(Json(json!({ "report": report, "command": command })))
    })
    .await
}

/// Who waits for an answer: dropped with the request, as when its connection ends.
#[derive(Default)]
struct Asker {
    has_left: Arc<AtomicBool>,
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.has_left.store(true, Ordering::Relaxed);
    }
}

/// Runs a command to its end: its exit code, none if a signal ended it, and what it said on
/// standard error. None where `has_left` was set before, which ends it.
fn run(mut command: Command, has_left: &AtomicBool) -> io::Result<Option<(Option<i32>, String)>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let errors = child.stderr.take();
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = errors.map(|errors| errors.take(SAID).read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    let status = wait_unless(&mut child, || has_left.load(Ordering::Relaxed));
    let said = reader.join().unwrap_or_default();
    Ok(status?.map(|status| (status.code(), said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_ends_when_nobody_waits_for_its_answer() {
        let asker = Asker::default();
        let has_left = Arc::clone(&asker.has_left);
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let ended = run(shell("echo no >&2; exit 2"), &has_left).unwrap();
        assert_eq!(ended, Some((Some(2), "no\n".into())));
        drop(asker);
        assert_eq!(run(shell("exec sleep 1000"), &has_left).unwrap(), None);
    }
}
