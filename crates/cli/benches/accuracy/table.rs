//! The table: truth, tcplab and other analysers, case by case.

use tcplab_trace::CapturePoint;

use crate::counted::Counted;
use crate::found::{Cause, Score, Sums};
use crate::peers::Flags;

/// Retransmissions of 1,000 that must be found.
const FOUND: usize = 995;
/// Retransmissions of 1,000 found that must have the right cause.
const RIGHT: usize = 970;
/// The largest difference of a limit's share, percentage points.
const APART: f64 = 5.0;

/// One capture with its truth.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) tap: &'a str,
    /// For complete captures at the sender.
    pub(crate) counted: Option<&'a Counted>,
    pub(crate) sums: Sums,
    pub(crate) score: Option<Score>,
    pub(crate) proven: bool,
    pub(crate) places: Vec<CapturePoint>,
    pub(crate) tshark: Option<Flags>,
    /// Retransmissions and out-of-order packets.
    pub(crate) tcptrace: Option<(usize, usize)>,
}

/// Totals over the captures.
#[derive(Debug, Default)]
pub(crate) struct Table {
    again: usize,
    found: usize,
    invented: usize,
    judged: usize,
    wrong: usize,
    out_of_order: (usize, usize),
    copies: (usize, usize),
    /// Differences from the kernels' counters of retransmissions, timeouts, probes and keep-alives.
    off: u64,
    skipped: u64,
    /// Frames that arrived and were reported lost.
    wrongly_lost: usize,
    /// Shares of limits farther than [`APART`] from the kernel's.
    apart: usize,
    frames: bool,
}

impl Table {
    /// With `frames` it names frames with a wrong cause.
    pub(crate) fn begin(frames: bool) -> Table {
        println!(
            "case                        tap            again made       fast  slow st.       RTO       \
             TLP    (new) wrong  reordered  copies  probes D-SACKs missed     place  tshark        tcptrace"
        );
        println!(
            "                                        is/found   up  each: the kernel's count (or -) / \
             tcplab's; tshark: again+out of order+keep-alives; tcptrace: again+out of order"
        );
        Table { frames, ..Table::default() }
    }

    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        println!("{name:<27} SKIPPED: {why}");
    }

    pub(crate) fn row(&mut self, row: &Row<'_>) {
        let Row { sums, counted, .. } = row;
        let kernel = |count: fn(&Counted) -> u64| counted.map(count);
        let beside = |truth: Option<u64>, found: u64| match truth {
            Some(truth) => format!("{truth}/{found}"),
            None => format!("-/{found}"),
        };
        let wrong = self.wrong_causes(row);
        let probes = |counted: &Counted| counted.window_probes() + counted.keep_alives();
        let own_probes = sums.window_probes + sums.keep_alives;
        if let Some(counted) = counted {
            self.off += sums.retransmissions.abs_diff(counted.retransmissions());
            self.off += own_probes.abs_diff(probes(counted));
            self.off += sums.timeouts.abs_diff(counted.timeouts());
            self.off += sums.probes.abs_diff(counted.repeating_probes());
        }
        let (again, made_up, out_of_order, copies) = self.frames(row);
        let tshark = row.tshark.map_or("-".into(), |flags| {
            let keep = flags.keep_alives + flags.window_probes;
            format!("{}+{}+{keep}", flags.retransmissions, flags.out_of_order)
        });
        let tcptrace = row.tcptrace.map_or("-".into(), |(again, late)| format!("{again}+{late}"));
        println!(
            "{:<27} {:<10} {:>9} {:>4}  {:>9} {:>9} {:>9} {:>9} {:>7} {:>5}  {:>9} {:>7} {:>7} {:>7} {:>6}  {:>8}  {:<13} {}{}",
            row.name,
            row.tap,
            again,
            made_up,
            beside(kernel(Counted::fast), sums.fast),
            beside(kernel(Counted::after_timeout), sums.after_timeout),
            beside(kernel(Counted::timeouts), sums.timeouts),
            beside(kernel(Counted::repeating_probes), sums.probes),
            beside(kernel(Counted::new_probes), sums.new_probes),
            wrong.map_or("-".into(), |wrong| wrong.to_string()),
            out_of_order,
            copies,
            beside(kernel(probes), own_probes),
            beside(kernel(Counted::dsacks), sums.spurious_by_dsack),
            sums.acked_not_captured,
            place(&row.places),
            tshark,
            tcptrace,
            if row.proven { "" } else { "  without proof!" },
        );
        if let Some(score) = row.score.as_ref().filter(|_| self.frames) {
            for (what, frames) in [("made up", &score.invented), ("not found", &score.missed)] {
                if !frames.is_empty() {
                    println!("    {what}: {frames:?}");
                }
            }
            show_other_causes(&score.other_cause);
        }
    }

    /// The sender's limits by its kernel and by the analyser. For a sender with pacing they differ
    /// in meaning ([`tcplab_trace::Limit::ReceiveWindow`]) and are only shown.
    pub(crate) fn limits(
        &mut self,
        name: &str,
        tap: &str,
        shares: &[(&str, f64, f64)],
        paced: bool,
    ) {
        let apart =
            shares.iter().filter(|(_, kernels, ours)| (kernels - ours).abs() > APART).count();
        self.apart += if paced { 0 } else { apart };
        let words =
            shares.iter().map(|(what, kernels, ours)| format!("{what} {kernels:.1}/{ours:.1} %"));
        let words: Vec<String> = words.collect();
        let far = match (apart, paced) {
            (0, _) => "",
            (_, true) => "  (a pacing timer's time is left out by the kernel)",
            (_, false) => "  too far apart!",
        };
        println!("{name:<27} …limits at the {tap}: {}{far}", words.join(", "));
    }

    /// Packets that were captured twice.
    pub(crate) fn twice(&mut self, name: &str, once: Sums, twice: Sums) {
        let more = twice.retransmissions.saturating_sub(once.retransmissions);
        let (again, copies) = (twice.retransmissions, twice.capture_duplicates);
        self.invented += more as usize;
        println!("{name:<27} …twice     {again:>9} {more:>4}  {copies} captured twice");
    }

    /// Frames that never arrived, and frames that the sender's capture reports lost.
    pub(crate) fn lost(&mut self, name: &str, truth: &[u64], found: &[u64]) {
        let right = found.iter().filter(|frame| truth.binary_search(frame).is_ok()).count();
        let (lost, wrong) = (truth.len(), found.len() - right);
        self.wrongly_lost += wrong;
        println!("{name:<27} …lost      {lost}/{right} lost, {wrong} wrongly said to be");
    }

    /// The distance of the causes from the kernel's counters, each wrong one counted once. At the
    /// receiver: causes that differ from those at the sender.
    fn wrong_causes(&mut self, row: &Row<'_>) -> Option<u64> {
        let sums = row.sums;
        let wrong = if let Some(counted) = row.counted {
            let off = sums.fast.abs_diff(counted.fast())
                + sums.after_timeout.abs_diff(counted.after_timeout())
                + sums.timeouts.abs_diff(counted.timeouts())
                + sums.probes.abs_diff(counted.repeating_probes());
            off.div_ceil(2) + sums.unknown
        } else if row.tap == "receiver" {
            row.score.as_ref()?.other_cause.len() as u64
        } else {
            return None;
        };
        self.judged += row.score.as_ref().map_or(0, |score| score.found);
        self.wrong += wrong as usize;
        Some(wrong)
    }

    /// The results by frame.
    fn frames(&mut self, row: &Row<'_>) -> (String, String, String, String) {
        let Some(score) = &row.score else {
            let unknown = || "-".to_owned();
            return (format!("-/{}", row.sums.retransmissions), unknown(), unknown(), unknown());
        };
        self.again += score.again;
        self.found += score.found;
        self.invented += score.invented.len();
        for (all, one) in
            [(&mut self.out_of_order, score.out_of_order), (&mut self.copies, score.copies)]
        {
            all.0 += one.0;
            all.1 += one.1;
        }
        (
            format!("{}/{}", score.again, score.found),
            score.invented.len().to_string(),
            format!("{}/{}", score.out_of_order.0, score.out_of_order.1),
            format!("{}/{}", score.copies.0, score.copies.1),
        )
    }

    /// The sums, and whether the goals are met.
    pub(crate) fn end(&self) -> bool {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let right = self.judged - self.wrong.min(self.judged);
        println!(
            "\nfound {} of {} retransmissions ({:.2} %, goal 99.5), false positives {} (goal 0); cause right \
             in {right} of {} ({:.2} %, goal 97)\nout of order {} of {}, copies {} of {} (goal: all); \
             off the kernels' sums of retransmissions, timeouts and probes by {} (goal 0); {} frames wrongly marked lost; \
             {} shares of limits more than {APART} points apart (goal 0); {} skipped",
            self.found,
            self.again,
            share(self.found, self.again),
            self.invented,
            self.judged,
            share(right, self.judged),
            self.out_of_order.1,
            self.out_of_order.0,
            self.copies.1,
            self.copies.0,
            self.off,
            self.wrongly_lost,
            self.apart,
            self.skipped,
        );
        self.found * 1_000 >= self.again * FOUND
            && self.invented == 0
            && right * 1_000 >= self.judged * RIGHT
            && self.out_of_order.0 == self.out_of_order.1
            && self.copies.0 == self.copies.1
            && self.off == 0
            && self.apart == 0
    }
}

/// The common capture point of all connections, if they have one.
fn place(places: &[CapturePoint]) -> &'static str {
    let Some((first, rest)) = places.split_first() else { return "-" };
    if rest.iter().any(|place| place != first) {
        return "several";
    }
    match first {
        CapturePoint::Unknown => "unknown",
        CapturePoint::Sender => "sender",
        CapturePoint::Middle => "middle",
        CapturePoint::Receiver => "receiver",
    }
}

/// Frames with another cause than at the sender, consecutive ones together.
fn show_other_causes(frames: &[(u64, Cause, Cause)]) {
    for run in frames.chunk_by(|one, next| (one.1, one.2) == (next.1, next.2)) {
        let [(first, there, here), ..] = run else { continue };
        let (last, count) = (run[run.len() - 1].0, run.len());
        println!("    {count} from {first} to {last}: {there:?} at the sender, {here:?} here");
    }
}
