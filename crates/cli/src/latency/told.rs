//! A measurement of latency as lines of JSON, told by a thread of its own: what it computes and
//! writes must not delay probes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tcplab_load::{
    Clock, LatencyConfig, LatencyOutcome, LatencyProgress, LiveLatency, SeriesPoint,
};
use tcplab_quantities::LATENCY_DOCUMENT;

use super::third::{ThirdResult, Whole};
use crate::control::Control;

/// How often the progress is told: at first, and after a minute.
const OFTEN: Duration = Duration::from_millis(250);
const SELDOM: Duration = Duration::from_secs(1);
/// Looks that may wait for a reader who reads slowly; there are about ten a second.
const WAITING: usize = 600;
/// Who measures longer stops it by hand.
const ENDLESS: Duration = Duration::from_secs(366 * 86_400);

/// A thread that tells.
pub(super) struct Teller {
    sender: SyncSender<LatencyProgress>,
    thread: JoinHandle<Control>,
}

impl Teller {
    /// Begins to tell of a measurement.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn start(control: Control, config: &LatencyConfig) -> Result<Teller> {
        let (sender, receiver) = sync_channel(WAITING);
        let told = Told::new(control, config);
        let thread = Builder::new().spawn(move || told.run(&receiver));
        Ok(Teller { sender, thread: thread.context("cannot start a thread")? })
    }

    /// Takes the progress, without waiting. A reader that reads nothing for a minute misses what
    /// comes then; the result has all.
    pub(super) fn progress(&self, progress: &LatencyProgress) {
        match self.sender.try_send(progress.clone()) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    /// Tells what it came to: what `--json` has, without the series, which may be very long, and
    /// the file that has all.
    pub(super) fn finished(
        self,
        outcome: &LatencyOutcome,
        third: Option<ThirdResult>,
        file: Option<&Path>,
    ) {
        drop(self.sender);
        let mut control = self.thread.join().expect("it does not die");
        let without = LatencyOutcome { series: Vec::new(), ..outcome.clone() };
        let third = third.map(|mut third| {
            third.result["series"] = json!([]);
            third
        });
        control.tell(&json!({
            "event": "finished",
            "result": LATENCY_DOCUMENT.of(Whole { outcome: &without, third: third.as_ref() }),
            "file": file.map(|it| it.display().to_string()),
        }));
    }
}

struct Told {
    control: Control,
    live: LiveLatency,
    /// How long all takes, and when load begins.
    time: Duration,
    loaded_from: Option<Duration>,
    /// Parts that were told.
    parts: usize,
    last: Option<Duration>,
}

impl Told {
    fn new(control: Control, config: &LatencyConfig) -> Told {
        let loaded_from = config.beside.as_ref().map(|beside| beside.after);
        let live = LiveLatency::new(config.interval);
        Told { control, live, time: config.time, loaded_from, parts: 0, last: None }
    }

    fn run(mut self, receiver: &Receiver<LatencyProgress>) -> Control {
        let mut latest = None;
        while let Ok(progress) = receiver.recv() {
            let progress = self.take(progress, receiver);
            if self.is_due(&progress) {
                self.tell(&progress);
                latest = None;
            } else {
                latest = Some(progress);
            }
        }
        if let Some(progress) = latest.filter(|it| !it.elapsed.is_zero()) {
            self.tell(&progress);
        }
        self.control
    }

    /// Takes all that waits, and gives the latest.
    fn take(
        &mut self,
        progress: LatencyProgress,
        receiver: &Receiver<LatencyProgress>,
    ) -> LatencyProgress {
        let mut latest = progress;
        self.live.take(&latest.events);
        while let Ok(next) = receiver.try_recv() {
            self.live.take(&next.events);
            latest = next;
        }
        latest
    }

    fn is_due(&self, progress: &LatencyProgress) -> bool {
        // At zero the server has not answered.
        let each = if progress.elapsed < Duration::from_secs(60) { OFTEN } else { SELDOM };
        !progress.elapsed.is_zero() && self.last.is_none_or(|last| progress.elapsed >= last + each)
    }

    fn tell(&mut self, progress: &LatencyProgress) {
        self.last = Some(progress.elapsed);
        let total = self.loaded_from.map(|_| 2);
        let part = if progress.is_loaded { 2 } else { 1 };
        if self.parts < part {
            self.parts = part;
            let name = if progress.is_loaded { "under load" } else { "idle" };
            self.control.part(part, total, name);
        }
        let line = event(&self.live, progress, self.left(progress));
        self.control.tell(&line);
    }

    /// How much of this part is left; none where it is stopped by hand.
    fn left(&self, progress: &LatencyProgress) -> Option<Duration> {
        let end = self.loaded_from.filter(|from| progress.elapsed < *from).unwrap_or(self.time);
        (end < ENDLESS).then(|| end.saturating_sub(progress.elapsed))
    }
}

fn event(live: &LiveLatency, progress: &LatencyProgress, left: Option<Duration>) -> Value {
    let clock = live.clock().map(|it| if progress.is_same_clock { Clock::same() } else { it });
    let series = live.series(&clock.unwrap_or(Clock::same()));
    let mut event = json!({
        "event": "progress",
        "elapsed_seconds": progress.elapsed.as_secs_f64(),
        "sent": progress.sent,
        "lost": progress.lost,
        "lost_there": progress.lost_there,
        "lost_unknown": progress.lost_unknown,
        "is_loaded": progress.is_loaded,
        "silence_seconds": progress.silence.as_secs_f64(),
        "clock": clock,
        "rtt": live.rtts(),
        "phases": clock.map_or_else(Vec::new, |clock| live.phases(&clock)),
        "series": columns(&series),
    });
    if let Some(left) = left {
        event["left_seconds"] = json!((left.as_secs_f64() * 10.0).round() / 10.0);
    }
    event
}

/// The series as a list for each quantity, which takes less room than a name for each number.
fn columns(series: &[SeriesPoint]) -> BTreeMap<&'static str, Vec<Value>> {
    let list = |value: &dyn Fn(&SeriesPoint) -> Value| series.iter().map(value).collect();
    // A tenth of a microsecond is less than these clocks tell.
    let short = |value: Option<f64>| value.map(|it| (it * 1e4).round() / 1e4);
    BTreeMap::from([
        ("at_seconds", list(&|it| json!(short(Some(it.at_seconds))))),
        ("sent", list(&|it| json!(it.sent))),
        ("lost", list(&|it| json!(it.lost))),
        ("lost_there", list(&|it| json!(it.lost_there))),
        ("lost_back", list(&|it| json!(it.lost_back))),
        ("rtt_min_ms", list(&|it| json!(short(it.rtt_min_ms)))),
        ("rtt_mean_ms", list(&|it| json!(short(it.rtt_mean_ms)))),
        ("rtt_max_ms", list(&|it| json!(short(it.rtt_max_ms)))),
        ("there_mean_ms", list(&|it| json!(short(it.there_mean_ms)))),
        ("back_mean_ms", list(&|it| json!(short(it.back_mean_ms)))),
        ("upload_bits_per_second", list(&|it| json!(it.upload_bits_per_second.map(f64::round)))),
        (
            "download_bits_per_second",
            list(&|it| json!(it.download_bits_per_second.map(f64::round))),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use tcplab_load::{ProbeEvent, Sample};

    use super::*;

    #[test]
    fn longest_event_is_a_line_that_the_page_reads() {
        let interval = Duration::from_millis(100);
        let mut live = LiveLatency::new(interval);
        for number in 0..400_000_i64 {
            let there = 123_456_789 + number % 1_000;
            let at = number * 100_000_000;
            live.take(&[ProbeEvent::Answered(Sample { at, there, back: 98_765_432 })]);
        }
        let progress = LatencyProgress {
            elapsed: Duration::from_secs(40_000),
            sent: 400_000,
            ..LatencyProgress::default()
        };
        let told = event(&live, &progress, Some(Duration::from_secs(60)));
        let points = told["series"]["at_seconds"].as_array().unwrap().len();
        assert!(points > 900 && told.to_string().len() < 300_000, "{points}");
        assert!(
            told["series"]
                .as_object()
                .unwrap()
                .values()
                .all(|it| it.as_array().unwrap().len() == points)
        );
        assert_eq!(told["left_seconds"], 60.0);
        assert_eq!(told["series"]["upload_bits_per_second"][0], Value::Null);
    }
}
