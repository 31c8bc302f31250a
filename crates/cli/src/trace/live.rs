//! Capturing from an interface of this machine.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use tcplab_capture::{Direction, Interface, Packet, PcapngWriter, Section, Statistics, UnixTime};
use tcplab_testbed::{CapturedFrame, LiveCapture};
use tcplab_trace::{Analyzer, Filter, Frame, Note, Sink};
use tcplab_units::Span;
use tcplab_wire::LinkType;

use super::frames::name_of_link;
use crate::arguments::LiveArguments;
use crate::output::{LiveLine, PRIVATE, has_seen_notes, new_file, print_note};
use crate::signals::stop_on_signals;
use tcplab_units::rounded::grouped;

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(250);
/// How long to wait for a packet before checking the clock.
const LOOK: Duration = Duration::from_millis(100);

/// Captures until the requested end or Ctrl-C. Returns the analyser and the link type.
pub(super) fn capture<S: Sink>(
    interface: &str,
    wish: &LiveArguments,
    filter: Option<&Filter>,
    mut analyzer: Analyzer<S>,
) -> Result<(Analyzer<S>, String)> {
    let mut listener = LiveCapture::open(interface)?;
    let link = listener.link();
    // A capture that was begun is completed.
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut output =
        wish.write.as_ref().map(|_| CaptureWriter::new(interface, link, wish)).transpose()?;
    let mut progress = Progress::new(interface, wish);
    let (started, mut first, mut taken) = (Instant::now(), None, 0);
    let duration = wish.duration.map(Span::to_std);
    while !stop.load(Ordering::Relaxed) && wish.packets.is_none_or(|most| taken < most) {
        let left = duration.map(|duration| duration.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        progress.update(taken);
        let patience = left.map_or(LOOK, |left| left.min(LOOK));
        let Some(heard) = listener.next(patience)? else { continue };
        let time_ns = heard.at_nanos.unwrap_or_else(now);
        let at = Span::from_nanos(time_ns.saturating_sub(*first.get_or_insert(time_ns)));
        let CapturedFrame { captured, original_len, .. } = heard;
        let frame = Frame { time_ns, link, captured, original_len, comment: None };
        if filter.is_none_or(|filter| filter.admits_frame(&frame, at)) {
            taken += 1;
            progress.bytes += u64::from(original_len);
            analyzer.packet(&frame);
            if let Some(output) = &mut output {
                output.write(&heard, time_ns).with_context(|| unwritten(wish))?;
            }
        }
    }
    progress.clear();
    let dropped = listener.dropped();
    if let Some(output) = output {
        output.finish(dropped).with_context(|| unwritten(wish))?;
    }
    if dropped > 0 {
        analyzer.note(Note::of_dropped("the kernel", dropped));
    }
    Ok((analyzer, name_of_link(link)))
}

fn unwritten(wish: &LiveArguments) -> String {
    format!("cannot write {}", wish.write.as_deref().unwrap_or("".as_ref()).display())
}

/// The system clock, for a packet without a kernel timestamp.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Writes the captured packets to a file.
struct CaptureWriter {
    writer: PcapngWriter<BufWriter<File>>,
    interface: u32,
    snap_len: usize,
}

impl CaptureWriter {
    fn new(interface: &str, link: LinkType, wish: &LiveArguments) -> Result<CaptureWriter> {
        let path = wish.write.as_deref().context("there is a file to write")?;
        let mut wanted = new_file(PRIVATE);
        let wanted = wanted.write(true).create(true).truncate(true);
        let file = wanted.open(path).with_context(|| unwritten(wish))?;
        let section = Section {
            application: Some(concat!("tcplab ", env!("CARGO_PKG_VERSION"))),
            ..Section::default()
        };
        let snap_len = wish.snaplen.unwrap_or(0);
        let about = Interface {
            name: Some(interface.to_owned()),
            description: None,
            link_type: link.number(),
            snap_len,
        };
        let made = PcapngWriter::new(BufWriter::with_capacity(1 << 18, file), &section);
        let mut writer = made.with_context(|| unwritten(wish))?;
        let interface = writer.add_interface(&about).with_context(|| unwritten(wish))?;
        let snap_len = if snap_len == 0 { usize::MAX } else { snap_len as usize };
        Ok(CaptureWriter { writer, interface, snap_len })
    }

    fn write(&mut self, heard: &CapturedFrame<'_>, time_ns: u64) -> std::io::Result<()> {
        let direction = if heard.is_sent { Direction::Outbound } else { Direction::Inbound };
        self.writer.write_packet(&Packet {
            interface: self.interface,
            time: UnixTime::from_nanos(time_ns),
            captured: &heard.captured[..heard.captured.len().min(self.snap_len)],
            original_len: heard.original_len,
            direction: Some(direction),
            comments: &[],
        })
    }

    fn finish(mut self, dropped: u64) -> std::io::Result<()> {
        let counted = Statistics { dropped_by_os: Some(dropped), ..Statistics::default() };
        self.writer.write_statistics(self.interface, &counted)?;
        self.writer.finish()?.flush()
    }
}

/// A progress line on the terminal.
struct Progress {
    line: Option<LiveLine>,
    started: Instant,
    shown: Option<Instant>,
    bytes: u64,
}

impl Progress {
    fn new(interface: &str, wish: &LiveArguments) -> Progress {
        let line = has_seen_notes().then(LiveLine::new);
        if line.is_some() {
            let until = match (wish.duration, wish.packets) {
                (Some(duration), _) => format!("for {duration}, or until Ctrl-C"),
                (None, Some(most)) => format!("until {most} packets or Ctrl-C"),
                (None, None) => "until Ctrl-C".to_owned(),
            };
            print_note(&format!("capturing on {interface} {until}"));
        }
        Progress { line, started: Instant::now(), shown: None, bytes: 0 }
    }

    fn update(&mut self, packets: u64) {
        let Some(line) = &self.line else { return };
        if self.shown.is_some_and(|shown| shown.elapsed() < SHOW_EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        line.show(&format!(
            "{:.0} s, {} packets, {:.1} MB",
            self.started.elapsed().as_secs_f64(),
            grouped(packets),
            self.bytes as f64 / 1e6
        ));
    }

    fn clear(&self) {
        if let Some(line) = &self.line {
            line.clear();
        }
    }
}
