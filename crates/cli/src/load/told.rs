//! A load as lines of JSON.

use std::time::Duration;

use serde_json::{Value, json};
use tcplab_load::{Outcome, Progress};

use crate::control::Control;
use crate::live::{LoadPicture, STEP};

/// How often the progress is told.
const EACH: Duration = Duration::from_millis(200);

/// What is told of one load.
pub(super) struct Told<'a> {
    control: &'a mut Control,
    picture: LoadPicture,
    /// How long it takes, if that is known.
    length: Option<Duration>,
    /// How long an answer may take.
    timeout: Duration,
    last: Duration,
}

impl<'a> Told<'a> {
    pub(super) fn new(
        control: &'a mut Control,
        target: &str,
        length: Option<Duration>,
        timeout: Duration,
    ) -> Told<'a> {
        Told { control, picture: LoadPicture::of(target), length, timeout, last: Duration::ZERO }
    }

    pub(super) fn progress(&mut self, progress: &Progress) {
        self.picture.take(progress);
        if progress.elapsed < self.last + EACH {
            return;
        }
        self.last = progress.elapsed;
        let mut event = of_picture(&self.picture);
        event["event"] = json!("progress");
        if let Some(length) = self.length {
            // Answers may come until the last request times out.
            let end = if progress.has_sent_all() { length + self.timeout } else { length };
            let left = end.saturating_sub(progress.elapsed).as_secs_f64();
            event["left_seconds"] = json!((left * 10.0).round() / 10.0);
        }
        self.control.tell(&event);
    }

    pub(super) fn loaded(mut self, name: &str, outcome: &Outcome) {
        self.picture.end();
        let mut event = of_picture(&self.picture);
        event["event"] = json!("loaded");
        event["name"] = json!(name);
        event["outcome"] = json!(outcome);
        self.control.tell(&event);
    }
}

fn of_picture(picture: &LoadPicture) -> Value {
    let LoadPicture { target, progress, rates, .. } = picture;
    let nanos = |duration: Duration| duration.as_nanos() as u64;
    let latencies = &progress.latencies;
    let quantile = |share| latencies.quantile(share).map(nanos);
    let buckets: Vec<(u64, u64)> =
        latencies.buckets().map(|(end, count)| (nanos(end), count)).collect();
    json!({
        "target": target,
        "elapsed_ns": nanos(progress.elapsed),
        "sending_ns": nanos(progress.sending),
        "has_sent_all": progress.has_sent_all(),
        "waiting": progress.waiting,
        "is_warming_up": progress.is_warming_up,
        "requests": progress.requests,
        "errors": progress.errors,
        "bytes": progress.bytes,
        "connected": progress.connected,
        "step_ns": nanos(STEP),
        "requests_per_second": rates,
        "latency_p50_ns": quantile(0.5),
        "latency_p90_ns": quantile(0.9),
        "latency_p99_ns": quantile(0.99),
        "latency_buckets": buckets,
    })
}
