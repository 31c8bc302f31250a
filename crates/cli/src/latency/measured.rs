//! What hosts measured, read from `tcplab latency --json=FILE`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcplab_load::{Clock, Phase, SeriesPoint};
use tcplab_quantities::LATENCY_DOCUMENT;
use tcplab_units::{Span, rounded};

/// Longer files are no results; these have at most 4,096 points.
const LONGEST: u64 = 16 << 20;

/// What one host measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Measured {
    /// What to call it.
    #[serde(skip)]
    pub(super) name: String,
    pub(super) began_unix_ns: i64,
    pub(super) sent: u64,
    pub(super) answered: u64,
    pub(super) lost: u64,
    pub(super) lost_there: Option<u64>,
    pub(super) lost_unknown: u64,
    pub(super) clock: Option<Clock>,
    pub(super) phases: Vec<Phase>,
    pub(super) series: Vec<SeriesPoint>,
}

#[derive(Deserialize)]
struct Header {
    schema: String,
    version: u64,
}

#[derive(Deserialize)]
struct WithThird {
    third: Option<Third>,
}

#[derive(Deserialize)]
struct Third {
    host: String,
    result: Value,
}

impl Measured {
    /// A result; `wrong` says of which one that it is none.
    ///
    /// # Errors
    /// If it is none, or has no answered probe.
    pub(super) fn of(text: &[u8], name: &str, wrong: impl Fn() -> String) -> Result<Measured> {
        let header: Header = serde_json::from_slice(text).with_context(&wrong)?;
        if (header.schema.as_str(), header.version)
            != (LATENCY_DOCUMENT.schema, LATENCY_DOCUMENT.version)
        {
            bail!("{}", wrong());
        }
        let mut measured: Measured = serde_json::from_slice(text).with_context(&wrong)?;
        if measured.clock.is_none() {
            bail!("{name} has no answered probe: measure again");
        }
        if !measured.series.iter().all(|point| (0.0..1e9).contains(&point.at_seconds)) {
            bail!("{}: its times are wrong", wrong());
        }
        name.clone_into(&mut measured.name);
        Ok(measured)
    }

    /// When its last point is over, seconds after it began: points are equally wide.
    pub(super) fn end_seconds(&self) -> f64 {
        let gaps = self.series.windows(2).map(|it| it[1].at_seconds - it[0].at_seconds);
        // Points without a probe are left out.
        let width = gaps.filter(|gap| *gap > 0.0).reduce(f64::min).unwrap_or(0.1);
        self.series.last().map_or(0.0, |last| last.at_seconds + width)
    }

    /// When its last point is over by the server's clock, nanoseconds since the Unix epoch.
    fn ended_by_server(&self) -> i64 {
        self.began_by_server().saturating_add((self.end_seconds() * 1e9) as i64)
    }

    /// When it began by the server's clock, nanoseconds since the Unix epoch.
    pub(super) fn began_by_server(&self) -> i64 {
        self.began_unix_ns.saturating_add(self.clock.map_or(0, |clock| clock.offset_ns))
    }
}

/// Says where one measurement ended before the next began: what they show did not happen at the
/// same time.
pub(super) fn gaps(hosts: &[Measured]) -> Vec<String> {
    let mut hosts: Vec<&Measured> = hosts.iter().collect();
    hosts.sort_by_key(|host| host.began_by_server());
    let Some((mut last, later)) = hosts.split_first().map(|(first, later)| (*first, later)) else {
        return Vec::new();
    };
    let mut gaps = Vec::new();
    for host in later {
        let gap = host.began_by_server().saturating_sub(last.ended_by_server());
        if gap > 0 {
            gaps.push(format!(
                "{} and {} do not overlap in time: by the server's clock, {} began {} after {} ended",
                last.name,
                host.name,
                host.name,
                rounded::span(Span::from_nanos(gap.unsigned_abs())),
                last.name
            ));
        }
        if host.ended_by_server() > last.ended_by_server() {
            last = host;
        }
    }
    gaps
}

/// Reads results; each is called by the name of its file, and what a third host measured by its
/// address, too.
///
/// # Errors
/// If a file cannot be read, or is no result with answered probes.
pub(super) fn read_all(places: &[PathBuf]) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    for place in places {
        all.extend(read(place)?);
    }
    Ok(all)
}

fn read(place: &Path) -> Result<Vec<Measured>> {
    let shown = place.display();
    let mut text = Vec::new();
    let file = File::open(place).with_context(|| format!("cannot read {shown}"))?;
    let read = file.take(LONGEST + 1).read_to_end(&mut text);
    read.with_context(|| format!("cannot read {shown}"))?;
    let wrong = || format!("{shown} is not a result of `tcplab latency --json={shown}`");
    if text.len() as u64 > LONGEST {
        bail!("{}: it is too long", wrong());
    }
    let name = place.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut all = vec![Measured::of(&text, &name, wrong)?];
    let WithThird { third } = serde_json::from_slice(&text).with_context(wrong)?;
    if let Some(Third { host, result }) = third {
        let text = serde_json::to_vec(&result).with_context(wrong)?;
        all.push(Measured::of(&text, &format!("{name}, {host}"), wrong)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.json");
        let good = r#"{"schema": "tcplab.latency", "version": 1, "began_unix_ns": 5,
            "clock": {"offset_ns": 7, "bound_ns": 1, "drift_ppb": null, "drift_bound_ppb": null,
            "is_same": false}, "phases": [], "series": [{"at_seconds": 0.0, "sent": 1, "lost": 1,
            "rtt_min_ms": null, "rtt_mean_ms": null, "rtt_max_ms": null, "there_mean_ms": null,
            "back_mean_ms": null}]}"#;
        let read = |text: &str| {
            std::fs::write(&place, text).unwrap();
            super::read(&place).map_err(|error| format!("{error:#}"))
        };
        let names = |text: &str| -> Vec<(String, i64)> {
            let all = read(text).unwrap();
            all.iter().map(|it| (it.name.clone(), it.began_by_server())).collect()
        };
        assert_eq!(names(good), [("a".into(), 12)]);
        let third = format!(r#"{{"third": {{"host": "b:1", "result": {good}}}, {}"#, &good[1..]);
        assert_eq!(names(&third), [("a".into(), 12), ("a, b:1".into(), 12)]);
        for (bad, why) in [
            ("", "is not a result"),
            ("[]", "is not a result"),
            (&good.replace("tcplab.latency", "tcplab.load"), "is not a result"),
            (&good.replace("\"version\": 1", "\"version\": 2"), "is not a result"),
            (&good.replace("\"at_seconds\": 0.0", "\"at_seconds\": -1e300"), "its times are wrong"),
            (&good[..200], "is not a result"),
            (&third.replacen("tcplab.latency", "tcplab.load", 1), "is not a result"),
        ] {
            let said = read(bad).unwrap_err();
            assert!(said.contains(why), "{bad}: {said}");
        }
        let none = Path::new("/no/such/file");
        assert!(format!("{:#}", super::read(none).unwrap_err()).contains("cannot read"));
    }

    #[test]
    fn measurements_that_do_not_overlap_are_named() {
        // When it began by its own clock, how far the server's is ahead, how long it took; seconds.
        let of = |(name, began, ahead, took): (&str, i64, i64, f64)| {
            let at = |at_seconds| SeriesPoint { at_seconds, ..SeriesPoint::default() };
            Measured {
                name: name.into(),
                began_unix_ns: began * 1_000_000_000,
                clock: Some(Clock { offset_ns: ahead * 1_000_000_000, ..Clock::same() }),
                series: vec![at(0.0), at(took / 2.0)],
                ..Measured::default()
            }
        };
        let gaps = |hosts: &[(&str, i64, i64, f64)]| {
            super::gaps(&hosts.iter().copied().map(of).collect::<Vec<_>>())
        };
        let none: [String; 0] = [];
        assert_eq!(gaps(&[]), none);
        assert_eq!(gaps(&[("a", 0, 0, 10.0), ("b", 9, 0, 10.0)]), none);
        let said =
            "a and b do not overlap in time: by the server's clock, b began 2 s after a ended";
        assert_eq!(gaps(&[("b", 12, 0, 10.0), ("a", 0, 0, 10.0)]), [said]);
        // Their own clocks do not count.
        assert_eq!(gaps(&[("a", 0, 3600, 10.0), ("b", 3605, 0, 10.0)]), none);
        assert_eq!(gaps(&[("a", 0, -7, 10.0), ("b", 5, 0, 10.0)]), [said]);
        // A long one bridges short ones.
        let all = [("a", 0, 0, 100.0), ("b", 10, 0, 5.0), ("c", 50, 0, 5.0), ("d", 200, 0, 5.0)];
        assert_eq!(gaps(&all).len(), 1, "{:?}", gaps(&all));
    }
}
