//! What takes time: processes of the same program, whose commands the page shows.
//!
//! A job's standard input is a pipe that takes changes of the path: when this server dies, it
//! ends, and with it the job (`--control`). Its events are kept, so that a page that comes back
//! sees all of them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;
use tcplab_units::visible_line;
use tokio::sync::watch;

use crate::error::Refusal;
use crate::places::{TrialName, name_of};

/// The most jobs at a time: trials on the kernel need the machine for themselves, and those in
/// virtual time take all processors.
const AT_A_TIME: usize = 1;
/// The most jobs beside these that only wait, such as probes to other hosts for a day.
const BESIDE: usize = 4;
/// Jobs that are remembered, the newest.
const REMEMBERED: usize = 100;
/// Events of a job that are kept, without progress within a trial: a run of 10,000 trials has three
/// for each.
const EVENTS: usize = 40_000;
/// What is kept of its words to people, bytes.
const SAID: u64 = 64 << 10;
/// How often a command is looked at that may be left.
const LOOK: Duration = Duration::from_millis(20);
/// The longest line of an event, bytes.
const LINE: u64 = 1 << 20;

/// All jobs of this server.
#[derive(Debug)]
pub(crate) struct Jobs {
    program: PathBuf,
    runs: PathBuf,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    last: u64,
    jobs: BTreeMap<u64, Arc<Job>>,
    threads: Vec<JoinHandle<()>>,
}

/// A process, and what it told.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// The arguments, without the program.
    arguments: Vec<String>,
    runs: PathBuf,
    inner: Mutex<Inner>,
    /// Counts changes.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Inner {
    events: Vec<Value>,
    /// The run that began last, and the trial of it that runs.
    run: String,
    trial: Option<TrialName>,
    said: String,
    has_ended: bool,
    /// None while it runs, and if a signal ended it.
    exit_code: Option<i32>,
    input: Option<ChildStdin>,
}

/// A job as the page sees it.
#[derive(Debug, Serialize)]
pub(crate) struct JobState {
    id: u64,
    /// The command's name: `run`, `advise` and others.
    kind: String,
    /// What to type for the same.
    command: String,
    /// The first run's place below that of all runs, once it is known.
    run: Option<String>,
    is_running: bool,
    /// Whether it came to its end.
    is_finished: bool,
    exit_code: Option<i32>,
    /// The trial that runs.
    trial: Option<TrialName>,
    /// Its latest event.
    latest: Option<Value>,
    /// What it said to people.
    said: String,
}

impl Jobs {
    pub(crate) fn new(program: PathBuf, runs: PathBuf) -> Jobs {
        // Another server's jobs have other numbers: a page that is left open never means them.
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let list = List { last: began.as_millis() as u64, ..List::default() };
        Jobs { program, runs, list: Mutex::new(list) }
    }

    /// Starts the program with these arguments.
    ///
    /// # Errors
    /// When too many run, or no process can be made.
    pub(crate) fn start(&self, arguments: Vec<String>) -> Result<Arc<Job>, Refusal> {
        let mut list = self.list.lock().expect("no thread panics while it holds the jobs");
        let is_beside = runs_beside(&arguments);
        let running = list.jobs.values().filter(|job| job.is_running());
        let running = running.filter(|job| runs_beside(&job.arguments) == is_beside).count();
        if running >= if is_beside { BESIDE } else { AT_A_TIME } {
            let what = if is_beside {
                "four measurements of latency run: stop one"
            } else {
                "another experiment runs: stop it, or wait for its end"
            };
            return Err(Refusal::new(axum::http::StatusCode::CONFLICT, what));
        }
        let mut command = Command::new(&self.program);
        // It follows the subcommand: arguments may end with names.
        let (kind, rest) = arguments.split_first().expect("a job is a command");
        command.arg(kind).arg("--control").args(rest);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Refusal::failed(format!("cannot start tcplab: {error}")))?;
        list.last += 1;
        let inner = Inner { input: child.stdin.take(), ..Inner::default() };
        let (id, changes) = (list.last, watch::Sender::new(0));
        let (runs, inner) = (self.runs.clone(), Mutex::new(inner));
        let job = Arc::new(Job { id, arguments, runs, inner, changes });
        let follower = Arc::clone(&job);
        list.threads.retain(|thread| !thread.is_finished());
        list.threads.push(thread::spawn(move || follow(&follower, child)));
        list.jobs.insert(id, Arc::clone(&job));
        let ended = |(_, job): &(&u64, &Arc<Job>)| !job.is_running();
        while list.jobs.len() > REMEMBERED
            && let Some(oldest) = list.jobs.iter().find(ended).map(|(id, _)| *id)
        {
            list.jobs.remove(&oldest);
        }
        Ok(job)
    }

    /// A job of this number.
    pub(crate) fn job(&self, id: u64) -> Result<Arc<Job>, Refusal> {
        let list = self.list.lock().expect("no thread panics while it holds the jobs");
        list.jobs
            .get(&id)
            .cloned()
            .ok_or_else(|| Refusal::missing(format!("this server has no job {id}: see the runs")))
    }

    /// All jobs, the newest first.
    pub(crate) fn all(&self) -> Vec<Arc<Job>> {
        let list = self.list.lock().expect("no thread panics while it holds the jobs");
        list.jobs.values().rev().cloned().collect()
    }

    /// Asks all to stop.
    pub(crate) fn stop_all(&self) {
        self.all().iter().for_each(|job| job.stop());
    }

    /// Waits until all have ended.
    pub(crate) fn wait_for_all(&self) {
        let threads = {
            let mut list = self.list.lock().expect("no thread panics while it holds the jobs");
            std::mem::take(&mut list.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Job {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("no thread panics while it holds a job")
    }
    pub(crate) fn is_running(&self) -> bool {
        !self.inner().has_ended
    }
    /// Asks it to stop: what is finished is kept.
    pub(crate) fn stop(&self) {
        drop(self.inner().input.take());
    }
    /// Sends it a line, which is meant for this trial, or for whichever runs.
    ///
    /// # Errors
    /// When it has ended, or another trial runs.
    pub(crate) fn tell(&self, line: &Value, meant: Option<&TrialName>) -> Result<(), Refusal> {
        let refused = |what: String| Refusal::new(axum::http::StatusCode::CONFLICT, what);
        let over = || refused("it does not run any more".into());
        let mut inner = self.inner();
        if let Some(TrialName { case, trial, .. }) =
            meant.filter(|it| inner.trial.as_ref() != Some(it))
        {
            let name = visible_line(case);
            return Err(refused(format!("{name}, trial {trial}, does not run any more")));
        }
        let input = inner.input.as_mut().ok_or_else(over)?;
        input.write_all(format!("{line}\n").as_bytes()).map_err(|_| over())
    }
    /// The events from this number on.
    pub(crate) fn events(&self, from: usize) -> Vec<Value> {
        self.inner().events.get(from..).unwrap_or_default().to_vec()
    }
    /// Counts up with each change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
    pub(crate) fn state(&self) -> JobState {
        let inner = self.inner();
        let begun = inner.events.iter().find(|it| it["event"] == "begun");
        let run = begun.and_then(|it| it["run"].as_str()).map(str::to_owned);
        JobState {
            id: self.id,
            kind: self.arguments[0].clone(),
            command: in_words(&self.arguments),
            run,
            is_running: !inner.has_ended,
            is_finished: inner.events.iter().any(|it| it["event"] == "finished"),
            trial: inner.trial.clone(),
            exit_code: inner.exit_code,
            latest: inner.events.last().cloned(),
            said: inner.said.clone(),
        }
    }

    fn add(&self, mut event: Value) {
        if let Some(directory) = event["directory"].as_str() {
            event["run"] = name_of(&self.runs, Path::new(directory)).into();
        }
        let mut inner = self.inner();
        inner.follow_trials(&event);
        let is_progress = |event: &Value| event["event"] == "progress";
        // Of progress within a trial the latest says all.
        if is_progress(&event)
            && let Some(last) = inner.events.last_mut().filter(|last| is_progress(last))
        {
            *last = event;
        } else if inner.events.len() < EVENTS {
            inner.events.push(event);
        } else if let Some(last) = inner.events.last_mut() {
            *last = event;
        }
        drop(inner);
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl Inner {
    /// Notes which trial runs.
    fn follow_trials(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("begun") => {
                event["run"].as_str().unwrap_or_default().clone_into(&mut self.run);
                self.trial = None;
            }
            Some("started") => {
                let case = event["case"].as_str().unwrap_or_default().to_owned();
                let trial = event["trial"].as_u64().unwrap_or_default() as u32;
                self.trial = Some(TrialName { run: self.run.clone(), case, trial });
            }
            Some("stored" | "skipped" | "analysing" | "finished") => self.trial = None,
            _ => {}
        }
    }
}

/// Takes what a process tells until it has ended.
fn follow(job: &Arc<Job>, mut child: Child) {
    let errors = child.stderr.take();
    let listener = {
        let job = Arc::clone(job);
        thread::spawn(move || {
            let Some(errors) = errors else { return };
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut inner = job.inner();
                if (inner.said.len() + line.len()) as u64 <= SAID {
                    inner.said += &line;
                    inner.said.push('\n');
                }
            }
        })
    };
    if let Some(output) = child.stdout.take() {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while let Ok(1..) = (&mut lines).take(LINE).read_until(b'\n', &mut line) {
            if let Ok(event) = serde_json::from_slice(&line) {
                job.add(event);
            }
            line.clear();
        }
    }
    let _ = listener.join();
    let code = child.wait().ok().and_then(|status| status.code());
    let mut inner = job.inner();
    (inner.has_ended, inner.exit_code) = (true, code);
    (inner.input, inner.trial) = (None, None);
    drop(inner);
    job.changed();
}

/// Whether a command leaves the machine to others: probes without load.
fn runs_beside(arguments: &[String]) -> bool {
    let is_load = |it: &String| it.starts_with("--upload=") || it.starts_with("--download=");
    arguments[0] == "latency" && !arguments.iter().any(is_load)
}

/// How a command ended; none where it was left, which ends it.
///
/// # Errors
/// When it cannot be waited for.
pub(crate) fn wait_unless(
    child: &mut Child,
    is_left: impl Fn() -> bool,
) -> std::io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if !is_left() => thread::sleep(LOOK),
            None => {
                let _ = child.kill();
                return child.wait().map(|_| None);
            }
        }
    }
}

/// A command as a shell takes it.
pub(crate) fn in_words(arguments: &[String]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_./=:,".contains(&it))
    };
    let mut text = String::from("tcplab");
    for word in arguments {
        text.push(' ');
        if is_plain(word) {
            text += word;
        } else {
            text += &format!("'{}'", word.replace('\'', r"'\''"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trial_that_runs_is_known_from_its_start_to_its_end() {
        let mut inner = Inner::default();
        let mut after = |event: Value| {
            inner.follow_trials(&event);
            inner.trial.as_ref().map(|it| format!("{} {} {}", it.run, it.case, it.trial))
        };
        let started =
            |case, trial| json!({ "event": "started", "case": case, "trial": trial, "index": 1 });
        assert_eq!(after(json!({ "event": "begun", "run": "a/1" })), None);
        assert_eq!(after(started("reno", 1)).as_deref(), Some("a/1 reno 1"));
        assert_eq!(
            after(json!({ "event": "failed", "again": true })).as_deref(),
            Some("a/1 reno 1")
        );
        assert_eq!(after(json!({ "event": "progress" })).as_deref(), Some("a/1 reno 1"));
        assert_eq!(after(json!({ "event": "stored" })), None);
        assert_eq!(after(started("cubic", 2)).as_deref(), Some("a/1 cubic 2"));
        assert_eq!(after(started("reno", 2)).as_deref(), Some("a/1 reno 2"));
        // Of a series, the next part.
        assert_eq!(after(json!({ "event": "begun", "run": "b/1" })), None);
        assert_eq!(after(started("reno", 1)).as_deref(), Some("b/1 reno 1"));
        assert_eq!(after(json!({ "event": "finished" })), None);
    }

    #[test]
    fn command_can_be_typed() {
        let words = ["run", "a b.toml", "it's", ""].map(str::to_owned);
        assert_eq!(in_words(&words), r"tcplab run 'a b.toml' 'it'\''s' ''");
    }
}
