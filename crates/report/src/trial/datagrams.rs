//! Requests in datagrams: a table with the fate of each datagram, and a ladder of the requests with
//! retries, loss or no answer.

use std::collections::BTreeMap;
use tcplab_plot::{LadderScene, ladder};
use tcplab_results::RequestReport;
use tcplab_results::{Correspondence, DatagramKind, DatagramRow, TrialData};
use tcplab_trace::{Fate, LadderLine};
use tcplab_units::rounded::{counted, decimal, figures};
use tcplab_units::{Endpoint, Instant, Span};

/// The recording has the other requests.
const ROWS_MAX: usize = 200;
/// The most packets of a ladder.
const RUNGS_MAX: usize = 40;

/// The datagrams of a trial.
pub(crate) struct DatagramsView {
    pub(crate) story: String,
    pub(crate) rows: Vec<RequestView>,
    pub(crate) left_out: usize,
    /// None if each request was answered at once.
    pub(crate) ladder: Option<String>,
    /// What the ladder shows.
    pub(crate) shown: String,
}

pub(crate) struct RequestView {
    pub(crate) number: usize,
    pub(crate) asked: String,
    pub(crate) tries: usize,
    pub(crate) outcome: String,
    /// `answered`, `retried` or `unanswered`, for its colour.
    pub(crate) class: &'static str,
    pub(crate) response: String,
    /// The fate of each datagram, in order of time.
    pub(crate) fates: Vec<FateView>,
}

pub(crate) struct FateView {
    pub(crate) text: String,
    pub(crate) lost: bool,
}

impl DatagramsView {
    /// None of a trial with a connection.
    pub(crate) fn of(data: &TrialData) -> Option<DatagramsView> {
        let all = data.correspondence.as_ref()?;
        let mut by_request: BTreeMap<usize, Vec<&DatagramRow>> = BTreeMap::new();
        for row in &all.datagrams {
            let number = row.mark.map_or(0, |mark| mark.request as usize);
            by_request.entry(number).or_default().push(row);
        }
        let of = |number: usize| by_request.get(&number).map_or(&[][..], Vec::as_slice);
        let numbered = || all.requests.iter().enumerate().map(|(index, it)| (index + 1, it));
        let rows = numbered().take(ROWS_MAX).map(|(number, it)| request(number, it, of(number)));
        let (lines, shown) = rungs(all, of);
        let title = "Ladder diagram of requests with retries, loss or no answer";
        let drawn = |lines: &[LadderLine]| {
            ladder(&LadderScene {
                title,
                sender: "client",
                receiver: "server",
                flow: None,
                lines,
                interruptions: &data.interruptions,
            })
        };
        Some(DatagramsView {
            story: story(all),
            rows: rows.collect(),
            left_out: all.requests.len().saturating_sub(ROWS_MAX),
            ladder: (!lines.is_empty()).then(|| drawn(&lines)),
            shown,
        })
    }
}

fn request(number: usize, it: &RequestReport, datagrams: &[&DatagramRow]) -> RequestView {
    let tries = it.tries.len();
    let (mut outcome, class) = match (it.answered, &it.error, it.answer_to) {
        (Some(_), _, Some(attempt)) if tries > 1 => {
            (format!("answered, by the answer to try {attempt}"), "retried")
        }
        (Some(_), ..) => ("answered".into(), "answered"),
        (None, Some(error), _) => (error.clone(), "unanswered"),
        (None, None, _) => ("no answer in time".into(), "unanswered"),
    };
    for (count, what) in [(it.late, "late answer"), (it.duplicates, "duplicate answer")] {
        match count {
            0 => {}
            1 => outcome += &format!("; 1 {what}"),
            count => outcome += &format!("; {count} {what}s"),
        }
    }
    RequestView {
        number,
        asked: seconds(it.asked),
        tries,
        outcome,
        class,
        response: it.response_time().map_or(String::new(), |span| decimal(span.as_millis_f64(), 2)),
        fates: datagrams.iter().map(|row| fate(row, it.asked)).collect(),
    }
}

/// Such as `try 1 lost (random loss)`.
fn fate(row: &DatagramRow, asked: Instant) -> FateView {
    let attempt = row.mark.map_or(0, |mark| mark.attempt);
    let copy = if row.is_copy { "copy of " } else { "" };
    let what = match row.kind {
        DatagramKind::Request => format!("{copy}try {attempt}"),
        DatagramKind::Answer => format!("{copy}answer {attempt}"),
        DatagramKind::Unreachable => format!("{copy}port unreachable"),
    };
    let text = match (row.arrived, &row.lost) {
        (_, Some(why)) => format!("{what} lost: {why}"),
        (Some(at), None) => {
            let after = Span::from_nanos(at.as_nanos().saturating_sub(asked.as_nanos()));
            format!("{what} arrived after {} ms", decimal(after.as_millis_f64(), 1))
        }
        (None, None) => what,
    };
    FateView { text, lost: row.lost.is_some() }
}

/// A summary in a few sentences.
fn story(all: &Correspondence) -> String {
    let answered = |it: &&RequestReport| it.answered.is_some();
    let first = all.requests.iter().filter(answered).filter(|it| it.tries.len() == 1).count();
    let later = all.requests.iter().filter(answered).count() - first;
    let never = all.requests.len() - first - later;
    let copies = all.datagrams.iter().filter(|row| row.is_copy).count();
    let unreachable =
        all.datagrams.iter().filter(|row| row.kind == DatagramKind::Unreachable).count();
    let mut text = format!(
        "No TCP connection: the endpoints exchanged UDP datagrams. Of {}, {} answered at the first \
         try, {} after a retransmission, {} never. Of {} on the path, {} lost",
        counted(all.requests.len(), "request", "requests"),
        were(first),
        figures(later as f64),
        figures(never as f64),
        counted(all.datagrams.len(), "datagram", "datagrams"),
        were(all.lost()),
    );
    if copies > 0 {
        text += &format!(", and {} duplicates that the path made", were(copies));
    }
    if unreachable > 0 {
        text += &format!(", and {} ICMP “port unreachable”", were(unreachable));
    }
    text + "."
}

fn were(count: usize) -> String {
    format!("{} {}", figures(count as f64), if count == 1 { "was" } else { "were" })
}

/// The datagrams of requests with retries or losses, in order of time and as far as there is room,
/// with those of others folded; and which these are.
fn rungs<'a>(
    all: &'a Correspondence,
    of: impl Fn(usize) -> &'a [&'a DatagramRow],
) -> (Vec<LadderLine>, String) {
    let numbered = || all.requests.iter().enumerate().map(|(index, it)| (index + 1, it));
    let odd: Vec<usize> =
        numbered().filter(|(number, it)| !is_smooth(it, of(*number))).map(|it| it.0).collect();
    let mut room = RUNGS_MAX;
    let shown = odd.iter().take_while(|number| {
        let fits = of(**number).len() <= room;
        room = room.saturating_sub(of(**number).len());
        fits
    });
    let shown: Vec<usize> = shown.copied().collect();
    let mut own: Vec<(usize, LadderLine)> = numbered()
        .flat_map(|(number, _)| of(number).iter().map(move |it| (number, rung(it))))
        .collect();
    for number in &shown {
        let last = own.iter_mut().filter(|(of, _)| of == number).max_by_key(|(_, line)| line.at);
        if let Some((_, line)) = last.filter(|_| all.requests[number - 1].answered.is_none()) {
            let text = format!("request {number} gets no answer");
            line.note = Some(line.note.take().map_or(text.clone(), |why| format!("{why}; {text}")));
        }
    }
    own.sort_by_key(|(_, line)| line.at);
    let mut lines: Vec<LadderLine> = Vec::new();
    let mut left = shown.iter().map(|number| of(*number).len()).sum::<usize>();
    for (number, line) in own {
        if left == 0 {
            break;
        }
        if shown.contains(&number) {
            left -= 1;
            lines.push(line);
            continue;
        }
        match lines.last_mut().filter(|last| last.folded > 0) {
            Some(last) => (last.folded, last.until) = (last.folded + 1, line.at),
            None => lines.push(LadderLine { frame: 0, note: None, folded: 1, ..line }),
        }
    }
    for line in lines.iter_mut().filter(|line| line.folded > 0) {
        let what = counted(line.folded as usize, "datagram", "datagrams");
        (line.label, line.fate) = (format!("{what} of other requests"), Fate::Arrived);
    }
    let what = counted(odd.len(), "request", "requests");
    let text = if shown.len() < odd.len() {
        format!("The first {} of {what} with retries, loss or no answer", shown.len())
    } else {
        format!("{what} with retries, loss or no answer")
    };
    (lines, text)
}

/// Sent once and answered once.
fn is_smooth(it: &RequestReport, rows: &[&DatagramRow]) -> bool {
    it.answered.is_some() && it.tries.len() == 1 && rows.len() == 2
}

fn rung(row: &DatagramRow) -> LadderLine {
    let from_sender = row.from == Endpoint::Client;
    let number = row.mark.map_or(0, |mark| mark.request);
    let attempt = row.mark.map_or(0, |mark| mark.attempt);
    let copy = if row.is_copy { ", a copy" } else { "" };
    let label = match row.kind {
        DatagramKind::Request => format!("request {number}, try {attempt}{copy}"),
        DatagramKind::Answer => format!("answer to request {number}, try {attempt}{copy}"),
        DatagramKind::Unreachable => format!("ICMP port unreachable, request {number}"),
    };
    // Times are the client's; a datagram that never arrived there has the time it was sent.
    let at = match row.arrived {
        Some(arrived) if !from_sender => arrived,
        _ => row.sent,
    };
    LadderLine {
        at,
        until: at,
        frame: row.frame.unwrap_or(0),
        from_sender,
        label,
        fate: if row.lost.is_some() { Fate::Lost } else { Fate::Arrived },
        note: row.lost.clone(),
        folded: 0,
    }
}

fn seconds(at: Instant) -> String {
    format!("{:.4}", at.as_secs_f64())
}

#[cfg(test)]
mod tests;
