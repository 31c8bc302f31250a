//! The figures of a run by name, each as a file of its own.

use tcplab_plot::{Looks, Picture, Table, View, number_cell};
use tcplab_recording::Queues;
use tcplab_results::{Case, Run, Trial, TrialData};
use tcplab_trace::{Edge, StateWalk, StateWalks};
use tcplab_units::Instant;

use crate::compare::pictures;
use crate::html::assets::STYLES;
use crate::html::figure::{FigureGroup, PageFigure};
use crate::plain_svg::{attribute, plain};
use crate::states::walks_of_trial;
use crate::summary::question::Question;
use crate::summary::trends::trends;
use crate::title::free_name;
use crate::trial::queues::QueueChart;
use crate::trial::view::TrialView;
use crate::unscaled_svg::unscaled;

/// A figure of a report, for a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFigure {
    /// Such as `factor/loss/mean-of-each-level`; unique in the run.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// One `<svg>` element without style sheet; see [`figure_file`].
    pub svg: String,
    /// Its numbers; none of a graph of packets.
    pub table: Option<Table>,
    /// For LaTeX, where it is no picture.
    pub pgf: Option<String>,
    /// To draw it otherwise, where it can be: see [`FigureLooks`](crate::FigureLooks).
    pub picture: Option<Picture>,
    /// How `svg` draws the picture.
    pub looks: Looks,
    /// What it leaves out, in sentences.
    pub notes: Vec<String>,
}

/// The figures that show all trials of a run, in the order of its report.
pub fn run_figures(run: &Run) -> Vec<RunFigure> {
    let trends = trends(run);
    let asked = Question::of(run, trends.as_ref());
    let mut found = Figures::default();
    found.add("answer", asked.figure);
    for compared in &run.comparisons {
        found.add("verdicts", pictures(compared));
    }
    if let Some(factors) = asked.factors {
        for factor in factors.mains {
            found.add(&format!("factor/{}", words(&factor.key)), factor.figures);
        }
        for pair in factors.pairs {
            found.add(&format!("pair/{}", words(&pair.title)), pair.figures);
        }
    }
    for group in trends.into_iter().flat_map(|trends| trends.groups) {
        found.add_group(group);
    }
    found.0
}

/// The figures of a trial, named `CASE/NUMBER/…`: its graphs, the ladder diagrams of its episodes
/// or requests, and the state diagram of its connection.
pub fn trial_figures(case: &Case, trial: &Trial, data: &TrialData) -> Vec<RunFigure> {
    let view = TrialView::new(&case.name, 0, trial, data, true);
    let mut found = Figures::default();
    let queues = queue_figures(&data.queues, view.until);
    let mut add = |name: &str, figure: RunFigure| {
        let name = format!("{}/{}/{name}", case.name, trial.number);
        found.push(RunFigure { name, ..figure });
    };
    let drawn = |title: String, svg: String| RunFigure { title, svg, ..RunFigure::default() };
    let of_flows = view.flows.map(|flows| flows.figure);
    for figure in of_flows.into_iter().chain(view.figures) {
        let svg = figure.svg_with_keys();
        // A queue has numbers, too. The page's picture has the interruptions.
        let queue = queues.iter().find(|it| it.title == figure.title).cloned();
        let name = words(&figure.title);
        add(
            &name,
            RunFigure { svg, ..queue.unwrap_or_else(|| drawn(figure.title, String::new())) },
        );
    }
    for episode in view.episodes {
        let (number, kind) = (episode.row.number, &episode.row.kind);
        let title = format!("Ladder diagram of episode {number}: {kind}");
        if let Some(svg) = episode.ladder {
            add(&format!("episode-{number}"), drawn(title, svg));
        }
    }
    if let Some(svg) = view.datagrams.and_then(|datagrams| datagrams.ladder) {
        let title = "Ladder diagram of requests with retries, loss or no answer";
        add("requests", drawn(title.into(), svg));
    }
    if let (Some((svg, _)), Some((_, walks))) = (view.states, walks_of_trial(data, None)) {
        let title = "States of both endpoints (RFC 9293, figure 5)";
        let table = Some(transitions(&walks));
        add("state-diagram", RunFigure { table, ..drawn(title.into(), svg) });
    }
    found.0
}

/// The figures of a path's queues, from zero to a time: of a recording, whatever it is of.
pub fn queue_figures(queues: &Queues, until: Instant) -> Vec<RunFigure> {
    let view = View { from: Instant::ZERO, until, bands: &[] };
    let of = |chart: &QueueChart<'_>| RunFigure {
        name: words(chart.title()),
        title: chart.title().to_owned(),
        svg: chart.figure(&view).svg_with_keys(),
        table: Some(chart.table()),
        pgf: Some(chart.pgf(&view)),
        ..RunFigure::default()
    };
    QueueChart::all(queues).iter().map(of).collect()
}

/// A row for each transition of both ends.
fn transitions(walks: &StateWalks) -> Table {
    let of_edge = |walk: &StateWalk, edge: &Edge| {
        let frame = edge.packet.map(|packet| packet.frame.to_string());
        let at = edge.at.map(|at| number_cell(at.as_nanos() as f64 / 1e9));
        [
            walk.end.name().to_owned(),
            edge.step.to_string(),
            edge.from.name().to_owned(),
            edge.to.name().to_owned(),
            edge.event.words().to_owned(),
            at.unwrap_or_default(),
            frame.unwrap_or_default(),
        ]
    };
    let rows = walks.both().into_iter();
    let rows = rows.flat_map(|walk| walk.edges.iter().map(move |edge| of_edge(walk, edge)));
    Table::new(&["end", "step", "from", "to", "event", "time, s", "frame"], rows)
}

/// An `<svg>` of a page as a file, light on white, for programs that know no style sheets.
pub fn figure_file(svg: &str) -> String {
    // The plots' own, the page's colours, and those of intervals.
    let svg = plain(&unscaled(svg), &[STYLES[0], STYLES[1], STYLES[4]]);
    let (tag, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    let size: Vec<&str> = attribute(tag, "viewBox").unwrap_or_default().split(' ').collect();
    let size = match size[..] {
        [_, _, width, height] if attribute(tag, "width").is_none() => {
            format!(r#" width="{width}" height="{height}""#)
        }
        _ => String::new(),
    };
    let tag = tag.replacen("<svg", r#"<svg xmlns="http://www.w3.org/2000/svg""#, 1);
    let surface = r#"<rect width="100%" height="100%" fill="white"/>"#;
    format!("{tag}{size}>{surface}{rest}\n")
}

/// The figure as a `tikzpicture` of pgfplots; none of one that pgfplots cannot draw.
pub fn figure_pgf(figure: &RunFigure) -> Option<String> {
    let of_picture = |picture: &Picture| picture.pgf(&figure.title, &figure.looks);
    figure.picture.as_ref().map(of_picture).or_else(|| figure.pgf.clone())
}

/// Figures with unique names.
#[derive(Default)]
pub(crate) struct Figures(pub(crate) Vec<RunFigure>);

impl Figures {
    fn add(&mut self, room: &str, figures: impl IntoIterator<Item = PageFigure>) {
        for figure in figures {
            let PageFigure { title, svg, table, picture, .. } = figure;
            let of = words(&title);
            let is_alone = of.is_empty() || room == "answer";
            let name = if is_alone { room.to_owned() } else { format!("{room}/{of}") };
            let table = Some(table);
            self.push(RunFigure { name, title, svg, table, picture, ..RunFigure::default() });
        }
    }

    pub(crate) fn add_group(&mut self, group: FigureGroup) {
        let FigureGroup { name, pictures, .. } = group;
        let first = self.0.len();
        self.add(&format!("trend/{}", words(&name)), pictures);
        for figure in &mut self.0[first..] {
            figure.title = match figure.title.as_str() {
                "" => name.clone(),
                common => format!("{name} ({common})"),
            };
        }
    }

    /// Those of one name are numbered from the second on.
    fn push(&mut self, figure: RunFigure) {
        let name = free_name(&figure.name, '-', |name| self.0.iter().any(|it| it.name == name));
        self.0.push(RunFigure { name, ..figure });
    }
}

/// Small letters and digits, joined by `-`.
pub(crate) fn words(text: &str) -> String {
    let is_split = |letter: char| !letter.is_alphanumeric();
    let words: Vec<&str> = text.split(is_split).filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        assert_eq!(words("goodput (KB/s) over <loss>"), "goodput-kb-s-over-loss");
        let figure = || PageFigure::new("Mean", String::new(), Table::default());
        let mut found = Figures::default();
        found.add("factor/loss", [figure(), figure(), figure()]);
        let names: Vec<&str> = found.0.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["factor/loss/mean", "factor/loss/mean-2", "factor/loss/mean-3"]);
    }

    /// A file needs a name space, a size, and no style sheet.
    #[test]
    fn figure_file_stands_alone() {
        let svg = r#"<svg class="layers" viewBox="0 0 60 40"><path class="data"/></svg>"#;
        let text = figure_file(svg);
        let head = r#"<svg xmlns="http://www.w3.org/2000/svg" class="layers" viewBox="0 0 60 40""#;
        assert!(text.starts_with(head) && text.contains(r#" width="60" height="40">"#), "{text}");
        assert!(text.contains("stroke: #0072b2; ") && text.ends_with("</svg>\n"), "{text}");
        for absent in ["var(", "light-dark(", "<style", "system-ui"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
    }
}
