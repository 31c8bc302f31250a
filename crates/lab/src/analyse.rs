//! From the recordings of a run to its tables.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tcplab_path::{Cause, Direction, PathSpec};
use tcplab_recording::quality::{self, Measure};
use tcplab_recording::{AppLog, Recording, TrialRecord, TruthRow};
use tcplab_scenario::{METRICS, MetricInfo};
use tcplab_trace::{Connection, Episode, Evidence, Flow, Note, Range, Trace};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_workload::Role;

use crate::claims::Gathered;
use crate::compare::{median_interval, of_scenario};
use crate::ends::{ending, ends};
use crate::kept::Kept;
use crate::metrics::{Sources, named, of_applications};
use crate::{
    Case, Correspondence, EpisodeRow, FindingRow, Ideal, LabError, Metrics, OptionRow, Run,
    RunDirectory, Summary, Trial, TrialData, interruptions, loads, paths, worlds,
};
use crate::{datagrams, flows};

/// Said of each trial whose path was another's.
const UNTOLD: &str = "netem made the path and tells nothing of what it did: losses are those that \
                      the capture shows; how the path differs from the one asked for is in \
                      result.json (world.notes)";

/// Reads what came of every trial of a finished run, and says what came out. `tell` hears of each
/// trial, and may break off.
///
/// # Errors
/// When trials are missing or unreadable, or `tell` broke off.
pub fn analyse(
    run: &RunDirectory,
    mut tell: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Run, LabError> {
    let (plan, scenario, numbers) = (run.plan(), run.scenario(), run.numbers());
    let total = scenario.cases.len() * numbers.clone().count();
    let is_there = |case: &tcplab_scenario::Case| {
        numbers.clone().filter(|&number| run.has_trial(&case.name, number)).count()
    };
    let done = scenario.cases.iter().map(is_there).sum();
    if done < total || (plan.until.is_some() && run.stopping().is_none()) {
        return Err(LabError::Unfinished { path: run.path().into(), done, total });
    }
    let environment = run.environment()?;
    let release = environment.iter().find(|(name, _)| name == "kernel").map(|(_, value)| value);
    let kernel = format!("Linux {}", release.map_or("", String::as_str));
    let mut analysed = 0;
    let mut gathered = Gathered::new(&scenario.expects);
    let (mut cases, mut lists) = (Vec::new(), Vec::new());
    for (index, case) in scenario.cases.iter().enumerate() {
        let (mut kept, mut failures) = (Kept::of(numbers.clone().count()), Vec::new());
        for number in numbers.clone() {
            if let Some(failure) = run.failure(&case.name, number) {
                failures.push(failure);
            } else {
                let trial = run.trial(case, number)?;
                gathered.see(index, &trial);
                kept.add(trial, &mut lists);
            }
            analysed += 1;
            if tell(analysed, total).is_break() {
                return Err(LabError::Stopped);
            }
        }
        let summaries = summarise(&kept.trials);
        cases.push(Case {
            name: case.name.clone(),
            levels: case.levels.clone(),
            world: worlds::of_case(&plan.world, case).into(),
            stacks: worlds::stacks(&plan.world, case, kernel.trim_end()),
            trials: kept.trials,
            failures,
            summaries,
            forgotten: kept.forgotten,
        });
    }
    let claims = gathered.judge(&cases);
    let mut told = Run {
        name: plan.name.clone(),
        title: scenario.title.clone(),
        reference: scenario.reference.clone(),
        scenario: scenario.source.clone(),
        world: plan.world.clone(),
        fallback: plan.fallback.clone(),
        started: plan.started.clone(),
        seed: plan.seed,
        only: plan.only.clone(),
        warm_up: plan.warm_up,
        stopping: run.stopping(),
        path: paths::describe(&scenario.cases),
        environment,
        calibration: run.calibration(),
        cases,
        claims,
        comparisons: Vec::new(),
        plots: scenario.plots.clone(),
    };
    told.comparisons = scenario.compares.iter().map(|it| of_scenario(&told, it)).collect();
    Ok(told)
}

/// The packets and samples of one trial, for looking at.
///
/// # Errors
/// When the recording cannot be read.
pub fn load_trial(run: &RunDirectory, trial: &Trial) -> Result<TrialData, LabError> {
    let recording = Recording::open(&run.path().join(&trial.directory))?;
    let path = run.case_of(trial).map(|case| &case.path);
    load(&recording, path, trial.load.is_some())
}

/// The packets and samples of a recording, wherever it lies; of interruptions it tells nothing.
///
/// # Errors
/// When it cannot be read.
pub fn load_recording(recording: &Recording) -> Result<TrialData, LabError> {
    load(recording, None, false)
}

fn load(
    recording: &Recording,
    path: Option<&PathSpec>,
    is_load: bool,
) -> Result<TrialData, LabError> {
    let record = recording.record()?;
    let most = if is_load { loads::FRAMES } else { u64::MAX };
    let [mut client, mut server] = [
        trace_of(recording, &record, Endpoint::Client, most)?,
        trace_of(recording, &record, Endpoint::Server, most)?,
    ];
    if is_load {
        loads::keep_the_first(&mut client, &mut server);
    }
    let app = recording.app().ok();
    if let Some(app) = &app {
        flows::subject_first(&mut client, app);
        flows::subject_first(&mut server, app);
    }
    Ok(TrialData {
        client,
        server,
        samples: recording.samples()?,
        interruptions: path
            .map(|path| interruption_times(path, record.seed, record.duration))
            .unwrap_or_default(),
        path: path.unwrap_or(&record.path).clone(),
        correspondence: correspondence(recording, &record, app.as_ref())?,
        duration: record.duration,
    })
}

/// What the ends said in datagrams, if they did.
fn correspondence(
    recording: &Recording,
    record: &TrialRecord,
    app: Option<&AppLog>,
) -> Result<Option<Correspondence>, LabError> {
    let report = app.and_then(|app| app.client.datagrams.as_ref());
    report.map(|report| Correspondence::read(recording, record, report)).transpose()
}

/// What the path gives at best, with the round trip that was measured before the trials, if it was.
fn ideal(
    path: &PathSpec,
    direction: Direction,
    record: &TrialRecord,
    round_trip: Option<Span>,
) -> Option<Ideal> {
    let ideal = Ideal::of(path, direction, Instant::ZERO + record.duration, record.seed)?;
    Some(Ideal { base_rtt: round_trip.unwrap_or(ideal.base_rtt), ..ideal })
}

/// When either direction lets nothing through.
fn interruption_times(path: &PathSpec, seed: u64, duration: Span) -> Vec<(Instant, Instant)> {
    let until = Instant::ZERO + duration;
    let links = Direction::BOTH.into_iter().filter_map(|direction| path.link(direction).ok());
    let mut windows: Vec<_> = links.flat_map(|link| link.interruptions(until, seed)).collect();
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// What one recording says, but for its number, seed and place.
/// `round_trip` is that of its idle path as it was measured, if it was.
pub(crate) fn examine(
    recording: &Recording,
    case: &tcplab_scenario::Case,
    round_trip: Option<Span>,
) -> Result<Trial, LabError> {
    let (path, through) = (&case.path, case.workload.through);
    if !through.is_tcp() {
        let metrics = named(of_applications(&recording.app()?)).collect();
        let medium = Some(through.name().into());
        return Ok(Trial { metrics, medium, ..empty_trial(Vec::new()) });
    }
    let (app, record) = (recording.app()?, recording.record()?);
    if let Some(load) = &app.load {
        return loads::examine(recording, path, &app, &record, load);
    }
    let (truth, samples) = (recording.truth()?, recording.samples()?);
    let sending_end = sending_end(&app);
    let direction = Direction::from_sender(sending_end);
    let [client, server] = traces(recording, &record, &app)?;
    let has_truth = record.has_truth();
    let record = &record;
    let ideal = |direction| ideal(path, direction, record, round_trip);
    let traces = [&client, &server];
    let known = flows::Known { recording, app: &app, path, truth: &truth, record, traces };
    let flows = known.examine(&ideal)?;
    let ends = ends(&app, record, traces);
    let trace = match sending_end {
        Endpoint::Client => client,
        Endpoint::Server => server,
    };
    let ending = ending(&trace);
    let flaws = flaws_of(record, path, samples.len());
    let told = OptionRow::of(record);
    let mut warnings = warnings(&trace, sending_end, &app, &told);
    if !has_truth && !path.same_host {
        warnings.push(UNTOLD.into());
    }
    if let Some(all) = correspondence(recording, record, Some(&app))? {
        let metrics = datagrams::metrics(&app, &all).into();
        let trial = Trial { metrics, ends, flaws, options: told, ..empty_trial(warnings) };
        return Ok(trial);
    }
    let Some(connection) = trace.connections.first() else {
        warnings.push("the capture holds no connection".into());
        return Ok(Trial { ends, ending, flaws, options: told, ..empty_trial(warnings) });
    };
    let flow = flow_of(connection, sending_end);
    let drops = drops(flow, &truth, direction);
    let (episodes, contradictions) =
        episode_rows(connection, flow, has_truth.then_some(drops.as_slice()));
    warnings.extend(contradictions);
    let findings = findings_of(connection);
    let lost = has_truth.then_some(drops.len());
    let ideal = ideal(direction);
    let metrics = Sources { app: &app, flow, samples: &samples, lost, ideal }.metrics();
    let interruptions =
        interruptions::costs(flow, &interruption_times(path, record.seed, record.duration));
    let (metrics, flows) = (flows.metrics(metrics).into(), flows.rows);
    let whole = Trial { metrics, episodes, findings, options: told, ..empty_trial(warnings) };
    Ok(Trial { interruptions, ends, ending, flaws, flows, ..whole })
}

/// The episodes of a direction, and where they contradict what the path dropped, if it tells.
fn episode_rows(
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[Dropped]>,
) -> (Vec<EpisodeRow>, Vec<String>) {
    let owned = shared_out(drops.unwrap_or_default(), &flow.episodes);
    let row = |(index, (episode, own)): (usize, (&Episode, &Vec<&Dropped>))| {
        episode_row(index + 1, episode, connection, flow, drops.map(|_| own.as_slice()))
    };
    let rows = flow.episodes.iter().zip(&owned).enumerate().map(row).collect();
    let told = drops.map(|drops| contradictions(&flow.episodes, &owned, drops.len()));
    (rows, told.unwrap_or_default())
}

/// The captures at both ends, explained; the connection that the trial is about is the first.
fn traces(
    recording: &Recording,
    record: &TrialRecord,
    app: &AppLog,
) -> Result<[Trace; 2], LabError> {
    let [mut client, mut server] =
        [trace(recording, record, Endpoint::Client)?, trace(recording, record, Endpoint::Server)?];
    flows::subject_first(&mut client, app);
    flows::subject_first(&mut server, app);
    Ok([client, server])
}

/// What is less than perfect, by what the capture, the applications and the sockets say.
fn warnings(
    trace: &Trace,
    sending_end: Endpoint,
    app: &AppLog,
    options: &[OptionRow],
) -> Vec<String> {
    let notes = trace.notes.iter().map(|note| remark(sending_end, note));
    let limit = |(end, call): (&str, &str)| {
        format!("the {end} still waited in {call} when the trial's time was over")
    };
    let refusals = options.iter().filter_map(OptionRow::refusal);
    notes.chain(unfinished(app).map(limit)).chain(refusals).collect()
}

pub(crate) fn findings_of(connection: &Connection) -> Vec<FindingRow> {
    tcplab_findings::examine(connection)
        .into_iter()
        .map(|finding| FindingRow {
            rule: finding.rule.to_owned(),
            statement: finding.statement,
            remedy: finding.remedy,
            frames: finding.frames,
        })
        .collect()
}

/// The calls that had not returned when the trial's time was over, and whose they were.
fn unfinished(app: &AppLog) -> impl Iterator<Item = (&'static str, &str)> {
    let ends = [("client", &app.client), ("server", &app.server)];
    ends.into_iter().flat_map(|(end, report)| {
        let calls = report.log.iter().filter(|row| row.result == tcplab_workload::WAITING);
        calls.map(move |row| (end, row.call.as_ref()))
    })
}

pub(crate) fn empty_trial(warnings: Vec<String>) -> Trial {
    Trial {
        number: 0,
        seed: 0,
        directory: String::new(),
        metrics: Metrics::default(),
        episodes: Vec::new(),
        interruptions: Vec::new(),
        findings: Vec::new(),
        ends: Vec::new(),
        ending: None,
        load: None,
        options: Vec::new(),
        flaws: Vec::new(),
        put_aside: 0,
        warnings,
        medium: None,
        has_packets: true,
        flows: Vec::new(),
    }
}

/// How the path of a trial misbehaved, given how many samples were taken.
pub(crate) fn flaws_of(record: &TrialRecord, path: &PathSpec, samples: usize) -> Vec<String> {
    let measure = Measure {
        // Each look takes a sample of both sockets.
        looks: samples as u64 / 2,
        may_be_busy: true,
        ..Measure::of(path, record.duration)
    };
    quality::flaws(&record.world, &measure)
}

/// The capture at one end, explained; its times count from the trial's zero.
pub(crate) fn trace(
    recording: &Recording,
    record: &TrialRecord,
    endpoint: Endpoint,
) -> Result<Trace, LabError> {
    trace_of(recording, record, endpoint, u64::MAX)
}

/// The same of so many frames at most.
pub(crate) fn trace_of(
    recording: &Recording,
    record: &TrialRecord,
    endpoint: Endpoint,
    most: u64,
) -> Result<Trace, LabError> {
    let (path, file) = recording.capture(endpoint)?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let reader = tcplab_capture::Reader::new(file).map_err(unreadable)?;
    let mut analyzer = tcplab_trace::Analyzer::new().with_epoch(record.epoch_nanos);
    analyzer.read_at_most(reader, most);
    Ok(analyzer.finish())
}

/// Which end sends the payload.
pub(crate) fn sending_end(app: &AppLog) -> Endpoint {
    match app.client.role {
        Role::Sender => Endpoint::Client,
        Role::Receiver => Endpoint::Server,
    }
}

/// The direction in which the payload goes.
pub(crate) fn flow_of(connection: &Connection, sending_end: Endpoint) -> &Flow {
    match sending_end {
        Endpoint::Client => &connection.forward,
        Endpoint::Server => &connection.reverse,
    }
}

/// A packet of the stream that the path dropped.
struct Dropped {
    /// Its frame in the sender's capture.
    frame: u64,
    range: Range,
    cause: Cause,
}

/// All of them in the order sent. As in [`Episode::lost`], data and FIN count, the handshake's SYN
/// does not.
fn drops(flow: &Flow, truth: &[TruthRow], direction: Direction) -> Vec<Dropped> {
    let stream: BTreeMap<u64, Range> = flow
        .segments
        .iter()
        .filter(|segment| segment.payload > Bytes::ZERO || segment.fin)
        .map(|segment| (segment.frame, segment.range))
        .collect();
    truth
        .iter()
        .filter(|row| row.verdict.direction == direction)
        .filter_map(|row| {
            let frame = row.frame?;
            let (range, cause) = (*stream.get(&frame)?, row.verdict.fate.cause()?);
            Some(Dropped { frame, range, cause })
        })
        .collect()
}

/// Shares the drops out among the episodes, each to one at most: to the one that counts it, or else
/// to the latest in whose time it falls (episodes may overlap).
fn shared_out<'d>(drops: &'d [Dropped], episodes: &[Episode]) -> Vec<Vec<&'d Dropped>> {
    let mut owned = vec![Vec::new(); episodes.len()];
    for dropped in drops {
        let counts = |e: &Episode| e.lost.iter().any(|lost| lost.frame == dropped.frame);
        let spans = |e: &Episode| (e.frames.0..=e.frames.1).contains(&dropped.frame);
        let owner = episodes.iter().position(counts).or_else(|| episodes.iter().rposition(spans));
        if let Some(owner) = owner {
            owned[owner].push(dropped);
        }
    }
    owned
}

/// Where what the analyser found in the capture is not what the path did.
///
/// Data counts, not frames: when a segment was sent twice and one of the two was lost, the sender
/// cannot always tell which.
fn contradictions(episodes: &[Episode], owned: &[Vec<&Dropped>], dropped: usize) -> Vec<String> {
    let mut told = Vec::new();
    for (index, (episode, own)) in episodes.iter().zip(owned).enumerate() {
        let (found, truth) = (episode.lost.len(), own.len());
        let real = |range: Range| own.iter().any(|dropped| dropped.range.overlaps(range));
        let known = |range: Range| episode.lost.iter().any(|lost| lost.range.overlaps(range));
        let wrong = episode.lost.iter().filter(|lost| !real(lost.range)).count();
        let missed = own.iter().filter(|dropped| !known(dropped.range)).count();
        if found != truth || wrong + missed > 0 {
            told.push(format!(
                "episode {}: the analyser finds {found} lost segments, the path dropped {truth} \
                 ({wrong} not dropped, {missed} not found)",
                index + 1
            ));
        }
    }
    let outside = dropped - owned.iter().map(Vec::len).sum::<usize>();
    if outside > 0 {
        told.push(format!("the path dropped {outside} segments that no episode tells of"));
    }
    told
}

fn episode_row(
    number: usize,
    episode: &Episode,
    connection: &Connection,
    flow: &Flow,
    drops: Option<&[&Dropped]>,
) -> EpisodeRow {
    let interruption = drops.unwrap_or_default().iter().find_map(|dropped| match dropped.cause {
        Cause::Interruption { number, .. } => Some(number),
        _ => None,
    });
    EpisodeRow {
        number,
        kind: episode.kind.name().into(),
        evidence: match episode.evidence {
            Evidence::Sack { .. } => "sack",
            Evidence::DuplicateAcks { .. } => "duplicate acks",
            Evidence::PacketTooBig { .. } => "icmp",
            Evidence::Timeout { .. } => "timeout",
            Evidence::Probe { .. } => "probe",
        }
        .into(),
        start_s: episode.evidence_at.as_secs_f64(),
        duration_s: episode.duration(connection.last).as_secs_f64(),
        silence_s: episode.silence.as_secs_f64(),
        lost_segments: episode.lost.len(),
        retransmissions: episode.retransmissions,
        retransmitted_bytes: episode.retransmitted.as_u64(),
        timeouts: episode.timeouts,
        repaired: episode.repaired_at.is_some(),
        truth_lost: drops.map(<[_]>::len),
        interruption,
        story: tcplab_findings::story(episode, flow),
    }
}

/// A remark on the capture at one end, as a warning.
pub fn remark(endpoint: Endpoint, note: &Note) -> String {
    let place = note.frame.map_or(String::new(), |frame| format!(", frame {frame}"));
    format!("capture at the {}{place}: {}", endpoint.name(), note.text)
}

fn summarise(trials: &[Trial]) -> Vec<Summary> {
    METRICS
        .iter()
        .filter_map(|info| {
            let values: Vec<f64> = trials
                .iter()
                .flat_map(|trial| trial.metrics.iter())
                .filter(|metric| metric.name == info.name)
                .map(|metric| metric.value)
                .collect();
            summary(info, &values)
        })
        .collect()
}

/// One metric over trials.
pub(crate) fn summary(info: &MetricInfo, values: &[f64]) -> Option<Summary> {
    let summary = tcplab_stats::Summary::of(values)?;
    Some(Summary {
        name: info.name.into(),
        unit: info.unit.into(),
        count: summary.count,
        mean: summary.mean,
        median: Some(summary.median),
        median_interval: median_interval(values, info.name),
        standard_deviation: summary.standard_deviation,
        interval: summary.interval.map(|interval| (interval.low, interval.high)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_of_either_direction_are_shaded_once() {
        let every = r#""interruption": { "every": "1 s", "lasting": "100 ms", "offset": "500 ms""#;
        for (direction, expected) in [("both", 2), ("forward", 2), ("reverse", 2)] {
            let text = format!(r#"{{ {every}, "direction": "{direction}" }} }}"#);
            let path: PathSpec = serde_json::from_str(&text).unwrap();
            let windows = interruption_times(&path, 1, Span::from_secs(2));
            assert_eq!(windows.len(), expected, "{direction}");
            assert_eq!(windows[0].0, Instant::ZERO + Span::from_millis(500), "{direction}");
        }
    }
}
