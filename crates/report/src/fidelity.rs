//! The model against the kernel, as text and as a page.

use askama::Template;
use tcplab_plot::{Dots, dots};
use tcplab_results::fidelity::{Compared, Fidelity, Goal, Overall, Packet, Parting};
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_stats::median;
use tcplab_units::rounded::counted;

use crate::grid::{Cell, Grid, Side};
use crate::html::assets::{STYLES, THEME};
use crate::html::error::ReportError;
use crate::html::rendered::rendered;

/// What the tables show, and the decimals of the medians.
const SHOWN: [(&MetricInfo, usize); 5] = [
    (metrics::TRANSFER_TIME, 3),
    (metrics::GOODPUT, 2),
    (metrics::RETRANSMISSIONS, 1),
    (metrics::TIMEOUTS, 1),
    (metrics::MEAN_RTT, 1),
];

/// The comparison as text: ratios by case, by cause where there is one, the summary, the goals.
/// Every line ends in `\n`.
pub fn fidelity_table(found: &Fidelity) -> String {
    let mut text = String::from("model / kernel, medians over trials\n\n");
    text += &aligned(&head(), &rows(found));
    text += "\nretransmissions by cause, kernel > model\n\n";
    for case in &found.cases {
        if let Some(causes) = causes(case) {
            text += &format!("{}: {causes}\n", name(case));
        }
    }
    text += "\nall cases: distance of the ratio from 1\n\n";
    text += &aligned(&SUMMARY.map(String::from), &summary(found));
    text += &partings_table(found);
    text.push('\n');
    for goal in &found.goals {
        text += &format!("{} {}\n", if goal.held { '✓' } else { '✗' }, sentence(goal));
    }
    let failed: usize = found.cases.iter().map(|case| case.failed).sum();
    if failed > 0 {
        let failed = counted(failed, "trial", "trials");
        text += &format!("! not counted: {failed} that failed on the kernel or the model\n");
    }
    let flawed: usize = found.cases.iter().map(|case| case.flawed).sum();
    if flawed > 0 {
        let flawed = counted(flawed, "kernel trial", "kernel trials");
        text += &format!("! the path missed its bounds in {flawed}\n");
    }
    text
}

/// The comparison as a page that needs nothing else.
///
/// # Errors
/// When the page cannot be put together.
pub fn fidelity_page(found: &Fidelity) -> Result<String, ReportError> {
    let row = |case: &Compared| Dots {
        name: name(case),
        values: [("retransmissions", "resent"), ("transfer_time", "trial")]
            .into_iter()
            .filter_map(|(quantity, class)| Some((class, case.quantity(quantity)?.ratio?)))
            .collect(),
        noise: case.quantity("transfer_time").and_then(|quantity| quantity.noise),
    };
    let drawn: Vec<Dots> = found.cases.iter().map(row).collect();
    let causes = found.cases.iter().filter_map(|case| Some((name(case), causes(case)?)));
    let page = Page {
        style: STYLES.concat(),
        theme: THEME,
        picture: dots("model / kernel", &drawn, 0.05),
        head: head().to_vec(),
        rows: rows(found),
        causes: causes.collect(),
        summary_head: SUMMARY.to_vec(),
        summary: summary(found),
        goals: found.goals.iter().map(|goal| (goal.held, sentence(goal))).collect(),
        kernel: found.kernel.as_deref(),
        partings_head: PARTINGS.to_vec(),
        partings: if found.kernel.is_some() { partings(found) } else { Vec::new() },
        environment: &found.environment,
    };
    rendered(&page)
}

#[derive(Template)]
#[template(path = "fidelity.html")]
struct Page<'a> {
    style: String,
    theme: &'static str,
    picture: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    causes: Vec<(String, String)>,
    summary_head: Vec<&'static str>,
    summary: Vec<Vec<String>>,
    goals: Vec<(bool, String)>,
    kernel: Option<&'a str>,
    partings_head: Vec<&'static str>,
    partings: Vec<Vec<String>>,
    environment: &'a [(String, String)],
}

fn name(case: &Compared) -> String {
    format!("{} {}", case.scenario, case.case)
}

/// One column for each.
fn head() -> [String; 9] {
    let [time, goodput, resent, timeouts, trip] = SHOWN.map(|(info, _)| info.label.to_owned());
    let (first, noise) = ("kernel time".into(), "noise".into());
    ["case".into(), first, time, noise, goodput, resent, timeouts, trip, "cwnd".into()]
}

fn rows(found: &Fidelity) -> Vec<Vec<String>> {
    let cell = |case: &Compared, quantity: &str, decimals: usize| match case.quantity(quantity) {
        Some(quantity) => match (quantity.ratio, median(&quantity.kernel), median(&quantity.model))
        {
            (Some(ratio), ..) => format!("{ratio:.decimals$}"),
            (None, Some(kernel), Some(model)) => format!("{kernel} > {model}"),
            _ => "-".into(),
        },
        None => "-".into(),
    };
    let row = |case: &Compared| {
        let time = case.quantity("transfer_time");
        let first = time.and_then(|time| median(&time.kernel));
        let mut row = vec![name(case), first.map_or("-".into(), |time| format!("{time:.3} s"))];
        for (info, decimals) in SHOWN {
            row.push(cell(case, info.name, decimals.clamp(2, 3)));
            if info == metrics::TRANSFER_TIME {
                row.push(share(time.and_then(|time| time.noise)));
            }
        }
        row.push(share(case.cwnd_distance));
        row
    };
    found.cases.iter().map(row).collect()
}

/// Causes with a median above zero in either world.
fn causes(case: &Compared) -> Option<String> {
    let one = |quantity: &tcplab_results::fidelity::Quantity| {
        let key = quantity.name.strip_prefix("cause.")?;
        let cause = tcplab_quantities::all().find(|it| it.key == key).map_or(key, |it| it.label);
        let (kernel, model) = (median(&quantity.kernel)?, median(&quantity.model)?);
        (kernel > 0.0 || model > 0.0).then(|| format!("{cause} {kernel} > {model}"))
    };
    let causes: Vec<String> = case.quantities.iter().filter_map(one).collect();
    (!causes.is_empty()).then(|| causes.join(", "))
}

const PARTINGS: [&str; 7] =
    ["case", "trial", "alike", "first to differ", "time", "kernel", "model"];

/// Where trials part, as text: nothing where no two trials can be the same.
fn partings_table(found: &Fidelity) -> String {
    let Some(kernel) = &found.kernel else { return String::new() };
    let trials: usize = found.cases.iter().map(|case| case.trials).sum();
    let rows = partings(found);
    let mut text = format!(
        "\npacket by packet with {kernel}: {} of {trials} trials are the same in every data segment\n",
        trials - rows.len()
    );
    if !rows.is_empty() {
        text +=
            &format!("\nwhere the others part\n\n{}", aligned(&PARTINGS.map(String::from), &rows));
    }
    text
}

/// A row for each trial that parts.
fn partings(found: &Fidelity) -> Vec<Vec<String>> {
    let row = |case: &Compared, parting: &Parting| {
        let first = parting.kernel.or(parting.model);
        let who = match first {
            Some(Packet::Data { .. }) => "data",
            Some(Packet::Ack { .. }) => "acknowledgement",
            None => "-",
        };
        let at = first.map_or("-".into(), |packet| format!("{:.6} s", at_of(packet)));
        let alike = format!("{} of {}", parting.segments_alike, parting.segments);
        let shown = |packet: Option<Packet>| packet.map_or("nothing more".into(), packet_text);
        let (kernel, model) = (shown(parting.kernel), shown(parting.model));
        vec![name(case), parting.trial.to_string(), alike, who.into(), at, kernel, model]
    };
    let each = found.cases.iter().flat_map(|case| case.partings.iter().map(move |it| (case, it)));
    each.map(|(case, parting)| row(case, parting)).collect()
}

fn at_of(packet: Packet) -> f64 {
    match packet {
        Packet::Data { at_s, .. } | Packet::Ack { at_s, .. } => at_s,
    }
}

/// As in listings of `tcplab trace`.
fn packet_text(packet: Packet) -> String {
    match packet {
        Packet::Data { sequence, length_bytes, .. } => {
            format!("{sequence}:{}({length_bytes})", sequence + length_bytes)
        }
        Packet::Ack { acknowledgement, window_bytes, .. } => {
            let window = window_bytes.map_or(String::new(), |window| format!(" win {window}"));
            format!("ack {acknowledgement}{window}")
        }
    }
}

const SUMMARY: [&str; 7] = [
    "quantity",
    "cases",
    "in one world only",
    "median",
    "90th percentile",
    "kernel against kernel: median",
    "90th percentile",
];

fn summary(found: &Fidelity) -> Vec<Vec<String>> {
    let row = |overall: &Overall| {
        vec![
            overall.name.replace("cause.", "cause: ").replace('_', " "),
            overall.cases.to_string(),
            overall.undefined.to_string(),
            share(overall.median),
            share(overall.most),
            share(overall.noise_median),
            share(overall.noise_most),
        ]
    };
    found.summary.iter().map(row).collect()
}

fn sentence(goal: &Goal) -> String {
    let Some(quantile) = goal.quantile else {
        let (at_most, found) = (share(Some(goal.at_most)), share(goal.found));
        return format!("at most {at_most} of trials differ in a data segment: {found}");
    };
    let of = if quantile <= 0.5 { "median case" } else { "90th percentile of cases" };
    let quantity = goal.name.replace('_', " ");
    let found = share(goal.found);
    format!("{quantity} within {} in the {of}: {found}", share(Some(goal.at_most)))
}

fn share(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{:.1} %", value * 100.0))
}

/// Text in the first column, numbers in the others.
fn aligned(head: &[String], rows: &[Vec<String>]) -> String {
    let mut sides = vec![Side::Right; head.len()];
    sides[0] = Side::Left;
    let mut grid = Grid::new(&sides);
    for row in std::iter::once(head).chain(rows.iter().map(Vec::as_slice)) {
        grid.row(row.iter().map(Cell::new));
    }
    grid.plain()
}
