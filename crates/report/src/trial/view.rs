//! One trial: its graphs and its episodes.

use tcplab_plot::{Band, Figure, View};
use tcplab_results::{FindingRow, MetricValue, Trial, TrialData, remark};
use tcplab_scenario::{MetricInfo, metric as metric_info};
use tcplab_units::rounded::with_unit;
use tcplab_units::{Endpoint, Instant};

use super::calls::{self, CallView};
use super::datagrams::DatagramsView;
use super::ends::{BothEnds, both_ends};
use super::episode::EpisodeView;
use super::flows::FlowsView;
use super::graphs::{brief, figures_of};
use super::interruption::{CloseUp, Interruption, close_ups, interruptions, seconds};
use super::limits::LimitsView;
use super::load::LoadView;
use super::queues::{QueueChart, queue_notes};
use super::stalls::Stalls;
use super::transfer::Transfer;
use super::warnings::warnings_of;
use crate::html::anchor::anchor;
use crate::html::packets::PacketsView;
use crate::states;
use crate::summary::metrics::{is_truth, is_yes, rank};
use crate::summary::subject::part;
use crate::title::title;

pub(crate) struct TrialView<'a> {
    pub(crate) id: String,
    pub(crate) open: bool,
    pub(crate) case: &'a str,
    pub(crate) trial: &'a Trial,
    pub(crate) warnings: Vec<String>,
    pub(crate) metrics: Vec<(String, String)>,
    /// For reference.
    pub(crate) more_metrics: Vec<(String, String)>,
    pub(crate) has_connection: bool,
    pub(crate) ends: Vec<BothEnds>,
    pub(crate) figures: Vec<Figure>,
    /// The right edge of figures.
    pub(crate) until: Instant,
    /// What figures do not show of the path's queues.
    pub(crate) queue_notes: Vec<String>,
    /// Instead of figures where there was no connection.
    pub(crate) datagrams: Option<DatagramsView>,
    pub(crate) bands: Vec<Band>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) close_ups: Vec<CloseUp<'a>>,
    /// Below the first figure.
    pub(crate) limits: Option<LimitsView>,
    pub(crate) stalls: Option<Stalls>,
    /// The walks of both endpoints through the state diagram, drawn and in sentences.
    pub(crate) states: Option<(String, Vec<String>)>,
    /// Without the episodes.
    pub(crate) findings: Vec<&'a FindingRow>,
    pub(crate) episodes: Vec<EpisodeView<'a>>,
    /// Read when the rest of the view is made.
    pub(crate) packets: Option<PacketsView>,
    pub(crate) calls: Vec<CallView>,
    pub(crate) calls_left_out: usize,
    /// A load's captures show the first connection only.
    pub(crate) load: Option<LoadView>,
    /// If there are several; everything else is about the first.
    pub(crate) flows: Option<FlowsView>,
    /// The connection that episodes, findings and graphs show, where there are several.
    pub(crate) part: Option<String>,
    pub(crate) has_load: bool,
}

pub(crate) struct Stop {
    pub(crate) label: String,
    pub(crate) from: String,
    pub(crate) until: String,
}

/// Of graphs of which no part has a name.
pub(crate) const NO_STOPS: &[Stop] = &[];

impl<'a> TrialView<'a> {
    pub(crate) fn new(
        case: &'a str,
        case_index: usize,
        trial: &'a Trial,
        data: &TrialData,
        is_first: bool,
    ) -> TrialView<'a> {
        let id = anchor(case_index, Some(trial.number), None);
        let transfer = Transfer::of(data).map(|transfer| {
            // Calls may return after the last packet.
            let until = transfer.until.max(calls::last(trial));
            Transfer { until, ..transfer }
        });
        let met = transfer.as_ref().map_or(vec![], |t| interruptions(trial, data, t));
        let bands: Vec<Band> = met.iter().map(|i| i.band.clone()).collect();
        let is_load = trial.load.is_some();
        let mut figures = transfer.as_ref().map_or(vec![], |t| figures_of(&id, t, data, &bands));
        if is_load {
            // Of thousands of connections the graphs show one, once for each case.
            figures.truncate(usize::from(is_first));
        }
        let until = right_edge(transfer.as_ref(), trial, data);
        // Below the graphs of sequence numbers.
        let packets = figures.len().min(2);
        figures.splice(packets..packets, calls::figure(trial, until, &brief(&bands)));
        if !is_load || is_first {
            let view = View { from: Instant::ZERO, until, bands: &brief(&bands) };
            figures.extend(QueueChart::all(&data.queues).iter().map(|it| it.figure(&view)));
        }
        let close = match (&transfer, figures.first()) {
            (Some(transfer), Some(figure)) => close_ups(&met, transfer, &figure.plane),
            _ => vec![],
        };
        let episode = |row: &'a tcplab_results::EpisodeRow| {
            let id = anchor(case_index, Some(trial.number), Some(row.number));
            EpisodeView::new(id, row, transfer.as_ref(), data)
        };
        let (calls, calls_left_out) = calls::calls(trial);
        let states = states::picture(data).filter(|_| !is_load || is_first);
        TrialView {
            id,
            open: is_first && !is_load,
            case,
            trial,
            warnings: warnings(trial, data),
            metrics: metrics(trial, false),
            more_metrics: metrics(trial, true),
            has_connection: transfer.is_some(),
            ends: both_ends(trial),
            figures,
            until,
            queue_notes: queue_notes(&data.queues),
            datagrams: DatagramsView::of(data),
            bands,
            stops: met.iter().map(stop).collect(),
            close_ups: close,
            limits: transfer.as_ref().and_then(limits),
            stalls: transfer.as_ref().and_then(|it| Stalls::of(it.at_sender)),
            states,
            findings: findings(trial),
            episodes: trial.episodes.iter().map(episode).collect(),
            packets: None,
            calls,
            calls_left_out,
            load: LoadView::of(trial),
            flows: FlowsView::of(trial),
            part: part(trial),
            has_load: is_load,
        }
    }
}

/// Where figures end.
fn right_edge(transfer: Option<&Transfer<'_>>, trial: &Trial, data: &TrialData) -> Instant {
    let until = transfer.map_or(calls::last(trial), |transfer| transfer.until);
    // A trial without packets and calls still lasted.
    if until > Instant::ZERO { until } else { Instant::ZERO + data.duration }
}

fn limits(transfer: &Transfer<'_>) -> Option<LimitsView> {
    let view = View { from: Instant::ZERO, until: transfer.until, bands: &[] };
    LimitsView::of(transfer.at_sender, &view)
}

fn stop(interruption: &Interruption<'_>) -> Stop {
    let (from, until) = interruption.window;
    let label = format!("Interruption {}", interruption.number);
    Stop { label, from: seconds(from), until: seconds(until) }
}

fn findings(trial: &Trial) -> Vec<&FindingRow> {
    let is_story =
        |finding: &FindingRow| trial.episodes.iter().any(|e| e.story == finding.statement);
    trial.findings.iter().filter(|finding| !is_story(finding)).collect()
}

/// Of the trial and of its captures.
fn warnings(trial: &Trial, data: &TrialData) -> Vec<String> {
    let mut warnings = warnings_of(trial);
    for (endpoint, trace) in Endpoint::BOTH.into_iter().zip([&data.client, &data.server]) {
        // The trial's warnings include those of the sender's capture.
        let notes = trace.notes.iter().map(|note| remark(endpoint, note));
        warnings.extend(notes.filter(|text| !trial.warnings.contains(text)));
    }
    warnings
}

/// Key metrics first, then in the run's order; or the metrics for reference.
fn metrics(trial: &Trial, details: bool) -> Vec<(String, String)> {
    let is_detail =
        |metric: &MetricValue<'_>| metric_info(metric.name).is_some_and(MetricInfo::is_detail);
    let mut metrics: Vec<MetricValue<'_>> =
        trial.metrics.iter().filter(|metric| is_detail(metric) == details).collect();
    metrics.sort_by_key(|m| rank(m.name));
    let text = |m: &MetricValue<'_>| match is_truth(m.name) {
        true if is_yes(m.value) => "yes".to_string(),
        true => "no".to_string(),
        false => with_unit(m.value, m.unit),
    };
    metrics.iter().map(|m| (title(m.name), text(m))).collect()
}
