//! Two runs beside one another.

use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use tcplab_recording::make_private_directories;

use super::from_address::FromQuery;
use super::from_json::FromJson;
use crate::comparisons::Pair;
use crate::error::Refusal;
use crate::jobs::{in_words, wait_unless};
use crate::places::run_directory;
use crate::state::{Ui, aside};

/// Where pages of comparisons are kept, below the directory of all runs.
const COMPARISONS: &str = ".comparisons";
/// The page's name there.
const PAGE: &str = "report.html";
/// The exit code of a command that could not do its work; less is a verdict.
const FAILED: i32 = 2;
/// What is kept of its words, bytes.
const SAID: u64 = 16 << 10;
/// The longest line of an event, bytes.
const LINE: u64 = 64 << 10;

/// How far the comparison of two runs is.
pub(super) async fn progress(
    State(ui): State<Arc<Ui>>,
    FromQuery(pair): FromQuery<Pair>,
) -> Json<Value> {
    Json(json!({ "progress": ui.comparisons.of(&pair) }))
}

/// Compares two runs as `tcplab compare` does, by it; the address of its page. It ends when whoever
/// asked no longer waits for it. An earlier page of the same runs stays until this one is complete.
pub(super) async fn compare(
    State(ui): State<Arc<Ui>>,
    FromJson(pair): FromJson<Pair>,
) -> Result<Json<Value>, Refusal> {
    let asker = Asker::default();
    let has_left = Arc::clone(&asker.has_left);
    aside(move || {
        let Pair { a, b } = &pair;
        let [first, second] = [run_directory(&ui.runs, a)?, run_directory(&ui.runs, b)?];
        let name = format!("{a}--{b}").replace('/', "-");
        let place = ui.runs.join(COMPARISONS).join(name);
        let cannot = |error: io::Error| Refusal::failed(format!("cannot keep it: {error}"));
        make_private_directories(&place).map_err(cannot)?;
        let place = place.canonicalize().map_err(cannot)?;
        let running = ui.comparisons.begin(pair.clone());
        let page = place.join(format!("{}-{}.new", std::process::id(), running.number));
        let mut command = Command::new(&ui.program);
        command.args(["compare", "--control"]).args([&first, &second]).arg("--html").arg(&page);
        let ended = run(command, &has_left, |event| running.tell(event))
            .map_err(|error| Refusal::failed(format!("cannot start tcplab: {error}")));
        let refusal = match ended {
            Ok(Some((Some(code), _))) if code < FAILED => {
                fs::rename(&page, place.join(PAGE)).map_err(cannot)?;
                let report = ui.reports.address(&place);
                let [first, second] = [first, second].map(|run| run.display().to_string());
                let command = in_words(&["compare".into(), first, second]);
                return Ok(Json(json!({ "report": report, "command": command })));
            }
            Ok(Some((_, said))) => {
                let said = said.trim();
                Refusal::bad(said.strip_prefix("error: ").unwrap_or(said))
            }
            Ok(None) => Refusal::failed("stopped"),
            Err(failed) => failed,
        };
        let _ = fs::remove_file(&page);
        // Only where nothing is in it.
        let _ = fs::remove_dir(&place);
        Err(refusal)
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
/// standard error; `hear` gets the lines of JSON from its standard output. None where `has_left`
/// was set before, which ends it.
fn run(
    mut command: Command,
    has_left: &AtomicBool,
    hear: impl Fn(Value) + Sync,
) -> io::Result<Option<(Option<i32>, String)>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    // When this server dies, it ends, and with it the command.
    let input = child.stdin.take();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (status, said) = thread::scope(|scope| {
        scope.spawn(|| output.map(|output| each_line(output, &hear)));
        let reader = scope.spawn(move || {
            let mut said = Vec::new();
            let _ = errors.map(|errors| errors.take(SAID).read_to_end(&mut said));
            String::from_utf8_lossy(&said).into_owned()
        });
        let status = wait_unless(&mut child, || has_left.load(Ordering::Relaxed));
        (status, reader.join().unwrap_or_default())
    });
    drop(input);
    Ok(status?.map(|status| (status.code(), said)))
}

/// Hands over what lines of JSON say; others are left out.
fn each_line(output: ChildStdout, hear: impl Fn(Value)) {
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut lines).take(LINE).read_until(b'\n', &mut line) {
        if let Ok(event) = serde_json::from_slice(&line) {
            hear(event);
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparisons::Comparisons;

    #[test]
    fn command_ends_when_nobody_waits_for_its_answer() {
        let asker = Asker::default();
        let has_left = Arc::clone(&asker.has_left);
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let all = Comparisons::default();
        let pair = Pair { a: "a".into(), b: "b".into() };
        let running = all.begin(pair.clone());
        assert_eq!(all.of(&pair), Value::Null, "nothing was told yet");
        let script = r#"echo no; echo '{"done":3}'; echo no >&2; exit 2"#;
        let ended = run(shell(script), &has_left, |event| running.tell(event)).unwrap();
        assert_eq!(ended, Some((Some(2), "no\n".into())));
        assert_eq!(all.of(&pair), json!({ "done": 3 }));
        let other = Pair { a: "b".into(), b: "a".into() };
        assert_eq!(all.of(&other), Value::Null);
        drop(running);
        assert_eq!(all.of(&pair), Value::Null, "it is over");
        drop(asker);
        assert_eq!(run(shell("exec sleep 1000"), &has_left, |_| ()).unwrap(), None);
    }
}
