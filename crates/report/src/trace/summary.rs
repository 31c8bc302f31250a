//! All connections at a glance, sorted by lost time.

use std::collections::BTreeMap;
use std::fmt::Write;
use tcplab_findings::Finding;
use tcplab_quantities as q;
use tcplab_trace::{ConnectionState, Limit};
use tcplab_units::Bytes;
use tcplab_units::rounded::{bytes, counted, grouped, percent, rate};

use super::head::CaptureHead;
use super::numbers::{UNKNOWN, or_unknown, span};
use super::row::{Row, RowDirection, Standing, Summary, SummaryTotals};
use crate::grid::{Cell, Grid, Look, Side, Style};

/// Cells with larger ratios are marked: unusual, bad.
const RETRANSMISSION_RATIOS: [f64; 2] = [0.01, 0.05];
/// More statements of a rule are only counted.
const OF_EACH_RULE: usize = 2;
/// Columns to drop where there is no room, the least important first.
const SPARE: [usize; 2] = [GOODPUT, ROUND_TRIP];
const GOODPUT: usize = 4;
const ROUND_TRIP: usize = 5;

/// The capture, the connections that lost most time ([`Row::lost_by`]), and the findings on the
/// worst few. Two lines for each connection: the client's data above, the server's below.
pub fn summary_text(
    head: &CaptureHead,
    summary: &Summary,
    findings: &[(usize, Vec<Finding>)],
    look: Look,
) -> String {
    let mut out = String::new();
    head.write(&mut out, look);
    let (rows, totals) = (summary.by_loss(), summary.totals());
    if totals.connections == 0 {
        out.push('\n');
        let what = if head.packets == 0 {
            "The capture has no packets."
        } else if head.filter.is_some() {
            "No TCP packet matches the filter."
        } else {
            "No TCP packet found."
        };
        look.paragraph(&mut out, "", what);
        return out;
    }
    out.push('\n');
    table(&rows, look).write(&mut out, 0, look);
    out.push('\n');
    let left = totals.connections - rows.len();
    if left > 0 {
        let text = format!(
            "{} more, which lost less time (--all, --top N).",
            counted(left, "connection", "connections")
        );
        look.paragraph(&mut out, "", &text);
    }
    look.paragraph(&mut out, "", &totals_text(totals));
    let worst = summary.worst();
    for (index, found) in findings.iter().filter(|(_, found)| !found.is_empty()) {
        let Some((_, worst)) = worst.iter().find(|(place, _)| place == index) else { continue };
        out.push('\n');
        look.heading(&mut out, &format!("Connection {index}, {} → {}", worst.client, worst.server));
        let first = first_of_each(found);
        write_findings(&mut out, &first, look);
        if first.len() < found.len() {
            let left = found.len() - first.len();
            let left = counted(left, "more finding", "more findings");
            let text = format!("{left} of these kinds: --connection {index}");
            look.paragraph(&mut out, "  ", &text);
        }
    }
    out
}

/// The first findings of each rule.
fn first_of_each(findings: &[Finding]) -> Vec<&Finding> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let few = |finding: &&Finding| {
        let seen = seen.entry(finding.rule).or_default();
        *seen += 1;
        *seen <= OF_EACH_RULE
    };
    findings.iter().filter(few).collect()
}

/// A paragraph for each finding, with the frames that prove it.
pub(crate) fn write_findings(out: &mut String, findings: &[&Finding], look: Look) {
    for finding in findings {
        let mut text = finding.statement.clone();
        if let Some(remedy) = &finding.remedy {
            let _ = write!(text, " {remedy}");
        }
        if !finding.frames.is_empty() {
            let named: Vec<String> = finding.frames.iter().take(6).map(u64::to_string).collect();
            let more = if finding.frames.len() > 6 { ", …" } else { "" };
            let frames = if finding.frames.len() == 1 { "frame" } else { "frames" };
            let _ = write!(text, " [{frames} {}{more}; {}]", named.join(", "), finding.rule);
        }
        look.paragraph(out, "- ", &text);
    }
}

fn table(rows: &[&Row], look: Look) -> Grid {
    use Side::{Left, Right};
    let mut grid = Grid::new(&[Right, Left, Left, Right, Right, Right, Right, Left]);
    let [client, server] = [q::CLIENT_ADDRESS.label, q::SERVER_ADDRESS.label];
    let [data_rate, rtt] = [q::GOODPUT.label, q::RTT_MIN.label];
    let median = q::RTT_MEDIAN.label_under("RTT");
    grid.head(&["#", client, q::STATE.label, "sent", data_rate, rtt, "retrans", "largest limit"]);
    grid.head(&["time", server, "", "received", "", median, "%", "longest stall"]);
    grid.head(&["lost", "", "", "", "", "", "", ""]);
    for row in rows {
        let (state, style) = state(row);
        let busier = if row.reverse.data > row.forward.data { &row.reverse } else { &row.forward };
        let (limit, stall) = (limit(busier), stall(busier));
        grid.row([
            Cell::styled(row.index.to_string(), Style::Strong),
            row.client.to_string().into(),
            Cell::styled(state, style),
            bytes(row.forward.data).into(),
            goodput(&row.forward).into(),
            or_unknown(busier.rtt_min, span).into(),
            retransmissions(&row.forward),
            limit,
        ]);
        // What orders the rows counts more than time: a reset, both directions.
        let lost = Some(row.lost_time).filter(|lost| !lost.is_zero());
        grid.row([
            lost.map_or_else(Cell::default, |lost| span(lost).into()),
            row.server.to_string().into(),
            span(row.duration()).into(),
            bytes(row.reverse.data).into(),
            goodput(&row.reverse).into(),
            or_unknown(busier.rtt_median, span).into(),
            retransmissions(&row.reverse),
            stall,
        ]);
    }
    for column in SPARE {
        if grid.width() > look.width {
            grid.drop_column(column);
        }
        if column == GOODPUT && grid.width() > look.width {
            // The column has moved by one.
            grid.drop_column(ROUND_TRIP - 1);
            break;
        }
    }
    grid
}

fn goodput(way: &RowDirection) -> String {
    match way.goodput {
        Some(goodput) if way.data > Bytes::ZERO => rate(goodput),
        _ => UNKNOWN.into(),
    }
}

fn retransmissions(way: &RowDirection) -> Cell {
    let Some(share) = way.retransmission_ratio() else { return UNKNOWN.into() };
    let style = match share {
        share if share >= RETRANSMISSION_RATIOS[1] => Style::Bad,
        share if share >= RETRANSMISSION_RATIOS[0] => Style::Odd,
        _ => Style::Plain,
    };
    Cell::styled(percent(share), style)
}

fn limit(way: &RowDirection) -> Cell {
    let Some((limit, share)) = way.limit else { return UNKNOWN.into() };
    let style = match limit {
        Limit::Application | Limit::Path => Style::Plain,
        Limit::Timeout => Style::Bad,
        _ => Style::Odd,
    };
    Cell::styled(format!("{} {}", way.limit_name, percent(f64::from(share))), style)
}

fn stall(way: &RowDirection) -> Cell {
    let text =
        |(cause, time): (tcplab_trace::StallCause, _)| format!("{} {}", span(time), cause.name());
    or_unknown(way.stall, text).into()
}

impl Row {
    /// Its state in a word or two.
    pub fn state_name(&self) -> &'static str {
        state(self).0
    }
}

/// The state of the connection.
fn state(row: &Row) -> (&'static str, Style) {
    use ConnectionState::{Oth, Rej, Rsto, Rstos0, Rstr, Rstrh, S0, S1, S2, S3, Sf, Sh, Shr};
    if row.is_reset {
        return ("reset", Style::Odd);
    }
    match row.standing {
        Standing::Midstream => return ("midstream", Style::Dim),
        Standing::OneWay => return ("one way", Style::Odd),
        Standing::Failed | Standing::Whole => {}
    }
    match row.state {
        S0 => ("no answer", Style::Bad),
        S1 => ("open", Style::Plain),
        S2 | S3 => ("half closed", Style::Plain),
        Sf => ("closed", Style::Plain),
        Rej => ("refused", Style::Bad),
        // Returned above; the match names every state.
        Rsto | Rstr => ("reset", Style::Odd),
        Rstos0 | Sh => ("given up", Style::Bad),
        Rstrh | Shr => ("not opened", Style::Bad),
        Oth => ("midstream", Style::Dim),
    }
}

fn totals_text(totals: &SummaryTotals) -> String {
    let &SummaryTotals { connections, segments, retransmissions, .. } = totals;
    let mut states: Vec<String> = Vec::new();
    for (number, what) in [
        (totals.closed, "closed"),
        (totals.reset, "reset"),
        (totals.failed, "never opened"),
        (totals.one_way, "one direction only"),
    ] {
        if number > 0 {
            states.push(format!("{} {what}", grouped(number as u64)));
        }
    }
    let [sent, received] = totals.data.map(bytes);
    let mut text = counted(connections, "connection", "connections");
    if !states.is_empty() {
        text += &format!(" ({})", states.join(", "));
    }
    text += &format!(", {sent} sent, {received} received");
    if segments > 0 {
        let share = percent(retransmissions as f64 / segments as f64);
        text += &format!(
            ", {} of {} retransmitted ({share})",
            grouped(retransmissions),
            counted(segments as usize, "segment", "segments")
        );
    }
    text + "."
}
