//! Traffic through a path of `tcplab shell` or `tcplab bridge`, as text.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tcplab_quantities::TRAFFIC_DOCUMENT;
use tcplab_recording::{DirectionTraffic, Summary, Traffic};
use tcplab_units::rounded::counted;
use tcplab_units::{Bytes, Instant, Rate, Span, rounded};

use crate::arguments::{LineMode, UseArguments};
use crate::expectations::{self, Judged};
use crate::output::{LiveLine, check_outputs, in_document, print_note, refuse_shared, write_file};

/// The name of the world whose time is virtual.
const VIRTUAL: &str = "virtual";

/// Refuses places of output that cannot be written, or of which two are one.
///
/// # Errors
/// As [`check_outputs`].
pub(crate) fn check_places(using: &UseArguments) -> Result<()> {
    check_outputs([&using.json.place], using.capture.as_deref())?;
    // The log grows where it is; the other file is replaced.
    let places: Vec<&PathBuf> =
        [&using.json.place, &using.live_log].into_iter().flatten().collect();
    refuse_shared(&places)
}

/// Shows the traffic on standard error: a changing line on a terminal, elsewhere a line per second.
pub(crate) struct Display {
    is_live: bool,
    /// Where lines are appended in place of standard error.
    log: Option<Log>,
    line: LiveLine,
    last: Option<Traffic>,
}

impl Display {
    /// # Errors
    /// If the log cannot be opened.
    pub(crate) fn new(arguments: &UseArguments) -> Result<Display> {
        let log = arguments.live_log.as_deref().map(Log::open).transpose()?;
        let line = line_of(arguments.live);
        Ok(Display { is_live: arguments.live.is_some(), log, line, last: None })
    }

    /// Called once per second.
    pub(crate) fn show(&mut self, traffic: &Traffic) {
        if !self.is_live && self.log.is_none() {
            return;
        }
        let line = live_line(self.last.as_ref(), traffic);
        self.last = Some(traffic.clone());
        match &mut self.log {
            Some(log) => log.add(&line),
            None => self.line.show(&line),
        }
    }

    /// Erases the line of `show` on a terminal, and warns of what is missing in the log.
    pub(crate) fn end(&self) {
        if self.is_live {
            self.line.clear();
        }
        if let Some(warning) = self.log.as_ref().and_then(Log::warning) {
            print_note(&format!("tcplab: warning: {warning}"));
        }
    }
}

/// The file of `--live-log`. The program goes on when the disk is full.
struct Log {
    file: File,
    name: PathBuf,
    lost: u64,
    /// The first.
    error: Option<io::Error>,
}

impl Log {
    fn open(path: &Path) -> Result<Log> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Log { file, name: path.to_owned(), lost: 0, error: None })
    }

    fn add(&mut self, line: &str) {
        if let Err(error) = self.file.write_all(format!("{line}\n").as_bytes()) {
            self.lost += 1;
            self.error.get_or_insert(error);
        }
    }

    fn warning(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        let lines = counted(self.lost as usize, "line is", "lines are");
        Some(format!("cannot write {}: {error}; {lines} missing", self.name.display()))
    }
}

fn line_of(live: Option<LineMode>) -> LiveLine {
    if live == Some(LineMode::Plain) { LiveLine::plain() } else { LiveLine::new() }
}

/// The exit codes of a shell's programs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Codes {
    /// Of the command.
    pub(crate) command: Option<u8>,
    /// Of the far program, if it ended before the command did.
    pub(crate) far: Option<u8>,
}

/// Prints and writes the summary.
pub(crate) fn finish(
    arguments: &UseArguments,
    names: [&str; 2],
    summary: &Summary,
    codes: Codes,
    judged: &[Judged<'_>],
) -> Result<()> {
    if let Some(code) = codes.far.filter(|code| *code != 0) {
        print_note(&format!(
            "tcplab: the far program ended before the command: {}",
            in_words(code)
        ));
    }
    if !arguments.quiet {
        for line in lines(names, summary) {
            print_note(&line);
        }
        if let Some(directory) = &arguments.capture {
            print_note(&format!("tcplab: recorded in {}", directory.display()));
        }
    }
    for line in expectations::lines(judged, arguments.quiet) {
        print_note(&line);
    }
    if let Some(place) = &arguments.json.place {
        let mut value = serde_json::to_value(summary)?;
        for (key, code) in [("exit_code", codes.command), ("far_exit_code", codes.far)] {
            if let Some(code) = code {
                value[key] = code.into();
            }
        }
        if !judged.is_empty() {
            value["expectations"] = judged.iter().map(Judged::document).collect();
        }
        write_file(place, &in_document(&TRAFFIC_DOCUMENT, &value)?)?;
    }
    Ok(())
}

/// An exit code as shells give it, of a signal by its number.
fn in_words(code: u8) -> String {
    match code.checked_sub(128) {
        Some(signal @ 1..=64) => format!("exit code {code} (signal {signal})"),
        _ => format!("exit code {code}"),
    }
}

fn live_line(last: Option<&Traffic>, now: &Traffic) -> String {
    let since = now.at.since(last.map_or(Instant::ZERO, |last| last.at));
    let way = |arrow, now: &DirectionTraffic, last: Option<&DirectionTraffic>| {
        let bytes = now.bytes_out - last.map_or(0, |last| last.bytes_out);
        let rate = Rate::of(Bytes::new(bytes), since);
        let rate = rate.map_or(0.0, Rate::as_mbit_f64);
        let mut text = format!("{arrow} {rate:.2} Mbit/s, {} packets", now.packets_out);
        if now.dropped > 0 {
            text += &format!(", {} dropped", now.dropped);
        }
        text
    };
    format!(
        "{:.0} s  {}  {}",
        now.at.as_secs_f64(),
        way("→", &now.forward, last.map(|last| &last.forward)),
        way("←", &now.reverse, last.map(|last| &last.reverse)),
    )
}

fn lines([near, far]: [&str; 2], summary: &Summary) -> Vec<String> {
    let Traffic { at, forward, reverse } = &summary.traffic;
    let way = |name: String, way: &DirectionTraffic| {
        let DirectionTraffic { packets_in, packets_out, made_out, made_dropped, .. } = way;
        let sent_out = packets_out - made_out;
        let mut text = format!("tcplab: {name}: {sent_out} of {packets_in} packets delivered");
        if *made_out > 0 {
            text += &format!(", and {made_out} that the path made");
        }
        let amount = Bytes::new(way.bytes_out);
        if let Some(rate) = Rate::of(amount, at.since(Instant::ZERO))
            && way.packets_out > 0
        {
            text += &format!(", {}, {}", rounded::bytes(amount), rounded::rate(rate));
        }
        if way.dropped > 0 {
            let each: Vec<String> =
                way.dropped_for.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
            text += &format!("; dropped: {}", each.join(", "));
            if *made_dropped > 0 {
                text += &format!(", of which the path made {made_dropped}");
            }
        }
        text
    };
    let mut lines = if forward.packets_in + reverse.packets_in == 0 {
        let far = if far == "far" { "; the far end is $TCPLAB_FAR, not 127.0.0.1" } else { "" };
        vec![format!("tcplab: no packet crossed the path{far}")]
    } else {
        vec![way(format!("{near} → {far}"), forward), way(format!("{far} → {near}"), reverse)]
    };
    if summary.world.name == VIRTUAL {
        let kernels = summary.world.notes.join("; ");
        lines.push(format!("tcplab: {:.1} s of virtual time; {kernels}", at.as_secs_f64()));
    }
    let late = summary.world.lateness;
    if late.packets > 0 {
        lines.push(format!(
            "tcplab: {:.1} s via {}; p99 timing error {}",
            at.as_secs_f64(),
            summary.world.device,
            in_micros(late.p99),
        ));
    }
    let warning = |text: &String| format!("tcplab: warning: {text}");
    lines.extend(summary.warnings.iter().map(warning));
    lines
}

/// Rounded up to microseconds.
fn in_micros(span: Span) -> Span {
    Span::from_micros(span.as_nanos().div_ceil(1000))
}

#[cfg(test)]
mod tests {
    use tcplab_units::Instant;

    use super::*;

    fn traffic(seconds: u64, bytes: u64, dropped: u64) -> Traffic {
        let forward = DirectionTraffic {
            packets_in: 10 + dropped,
            bytes_in: bytes,
            packets_out: 10,
            bytes_out: bytes,
            made_out: 0,
            dropped,
            made_dropped: 0,
            dropped_for: [("loss", dropped)].into_iter().filter(|(_, n)| *n > 0).collect(),
        };
        let at = Instant::from_nanos(seconds * 1_000_000_000);
        Traffic { at, forward, reverse: DirectionTraffic::default() }
    }

    #[test]
    fn live_line_shows_rate_since_last_line() {
        assert_eq!(
            live_line(Some(&traffic(1, 1_000_000, 0)), &traffic(2, 2_000_000, 3)),
            "2 s  → 8.00 Mbit/s, 10 packets, 3 dropped  ← 0.00 Mbit/s, 0 packets"
        );
        assert_eq!(
            live_line(None, &traffic(2, 1_000_000, 0)),
            "2 s  → 4.00 Mbit/s, 10 packets  ← 0.00 Mbit/s, 0 packets"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_that_the_log_did_not_take_are_counted() {
        let mut log = Log::open(Path::new("/dev/full")).unwrap();
        assert_eq!(log.warning(), None);
        log.add("1 s");
        log.add("2 s");
        let warning = log.warning().unwrap();
        assert!(warning.starts_with("cannot write /dev/full: No space left"), "{warning}");
        assert!(warning.ends_with("; 2 lines are missing"), "{warning}");
    }

    #[test]
    fn exit_code_of_a_signal_names_it() {
        assert_eq!(in_words(3), "exit code 3");
        assert_eq!(in_words(128), "exit code 128");
        assert_eq!(in_words(139), "exit code 139 (signal 11)");
    }

    #[test]
    fn summary_has_a_line_per_direction() {
        let summary = Summary {
            traffic: traffic(2, 1_000_000, 3),
            world: tcplab_recording::WorldRecord::default(),
            warnings: vec!["the clock was set".into()],
        };
        assert_eq!(
            lines(["near", "far"], &summary),
            [
                "tcplab: near → far: 10 of 13 packets delivered, 1.00 MB, 4.00 Mbit/s; \
                 dropped: loss 3",
                "tcplab: far → near: 0 of 0 packets delivered",
                "tcplab: warning: the clock was set",
            ]
        );
        let way = &summary.traffic.forward;
        let made = DirectionTraffic { made_out: 4, made_dropped: 2, ..way.clone() };
        let doubled = DirectionTraffic { packets_out: 14, ..made };
        let traffic = Traffic { forward: doubled, ..summary.traffic.clone() };
        assert_eq!(
            lines(["near", "far"], &Summary { traffic, ..summary.clone() })[0],
            "tcplab: near → far: 10 of 13 packets delivered, and 4 that the path made, 1.00 MB, \
             4.00 Mbit/s; dropped: loss 3, of which the path made 2"
        );
        let no_traffic = Traffic { forward: DirectionTraffic::default(), ..summary.traffic };
        let nothing = Summary { traffic: no_traffic, warnings: Vec::new(), ..summary };
        assert_eq!(
            lines(["near", "far"], &nothing),
            ["tcplab: no packet crossed the path; the far end is $TCPLAB_FAR, not 127.0.0.1"]
        );
        assert_eq!(lines(["eth1", "eth2"], &nothing), ["tcplab: no packet crossed the path"]);
    }
}
