//! The test as text.

use std::path::PathBuf;

use tcplab_lab::advise::{amount, span};
use tcplab_lab::rfc6349::{Baseline, Row};

/// Columns of a full bar.
const BAR: usize = 30;

/// Steps one to three.
pub(super) fn baseline(title: &str, baseline: &Baseline) -> String {
    let asked = |text: String| format!("   (configured: {text})");
    let of = |field: &dyn Fn(&tcplab_lab::rfc6349::Asked) -> Option<String>| {
        baseline.asked.as_ref().and_then(field).map(asked).unwrap_or_default()
    };
    let bdp = baseline.bdp();
    let scale = (0..14).find(|shift| 65_535_u64 << shift >= bdp.as_u64()).unwrap_or(14);
    let lines = [
        format!("RFC 6349: {title}\n"),
        format!(
            "1. path MTU             {} B{}",
            baseline.mtu.as_u64(),
            of(&|asked| Some(format!("{} B", asked.mtu.as_u64())))
        ),
        format!(
            "2. baseline RTT         {}{}{}",
            span(baseline.rtt),
            if baseline.varies() {
                format!(", in the mean {}", span(baseline.rtt_mean))
            } else {
                String::new()
            },
            of(&|asked| Some(format!("{} in the mean", span(asked.rtt))))
        ),
        format!(
            "   bottleneck           {:.2} Mbit/s{}{}",
            baseline.rate.as_mbit_f64(),
            baseline.peak.map_or(String::new(), |peak| format!(
                " in the mean, at most {:.2} Mbit/s",
                peak.as_mbit_f64()
            )),
            of(&|asked| Some(format!("{:.2} Mbit/s", asked.rate?.as_mbit_f64())))
        ),
        format!(
            "3. bandwidth-delay      {}: minimum window and buffers, with window scale {scale}",
            amount(bdp)
        ),
        format!(
            "   ideal goodput        {:.2} Mbit/s in segments of {} B",
            baseline.best().as_mbit_f64(),
            baseline.segment.as_u64()
        ),
    ];
    lines.join("\n") + "\n\n"
}

/// Step four and the summary.
pub(super) fn outcome(
    baseline: &Baseline,
    rows: &[Row],
    said: &[String],
    reports: &[PathBuf],
) -> String {
    let best = baseline.best().as_mbit_f64();
    let mut text = String::from(
        "4. throughput\n\
         connections   window  offered    ideal  goodput  transfer  efficiency  buffer\n\
        \x20                 each             Mbit/s   Mbit/s  time ratio         %  delay %\n",
    );
    for row in rows {
        let share = |mbit: f64| ((mbit / best * BAR as f64).round() as usize).min(BAR);
        let (got, could) = (share(row.goodput), share(row.ideal.as_mbit_f64()));
        let bar = "█".repeat(got) + &"░".repeat(could.saturating_sub(got));
        text += &format!(
            "{:>11}  {:>7}  {:>7}  {:>7.2}  {:>7.2}  {:>10.2}  {:>8.2}  {:>7.1}  {bar}\n",
            row.connections,
            amount(row.window),
            row.offered.map(amount).unwrap_or_default(),
            row.ideal.as_mbit_f64(),
            row.goodput,
            row.transfer_time_ratio,
            row.efficiency,
            row.buffer_delay,
        );
    }
    text += "█ goodput, ░ ideal for this window; full width: ideal goodput\n\n";
    for sentence in said {
        for line in crate::output::wrapped(sentence, 98) {
            text += &format!("{line}\n");
        }
    }
    for report in reports {
        text += &format!("report: {}\n", report.display());
    }
    text
}
