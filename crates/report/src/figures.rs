//! The figures of a run by name, each as a file of its own.

use tcplab_plot::pgf;
use tcplab_results::{Case, Run, Trial, TrialData};

use crate::compare::pictures;
use crate::html::assets::STYLES;
use crate::html::figure::PageFigure;
use crate::plain_svg::{attribute, plain};
use crate::summary::question::Question;
use crate::summary::trends::trends;
use crate::trial::view::TrialView;

/// A figure of a report, for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFigure {
    /// Such as `factor/loss/mean-of-each-level`; unique in the run.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// One `<svg>` element without style sheet; see [`figure_file`].
    pub svg: String,
    /// Its numbers; none of a graph of packets.
    pub csv: Option<String>,
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
        found.add(&format!("trend/{}", words(&group.name)), group.pictures);
    }
    found.0
}

/// The graphs of a trial, named `CASE/NUMBER/…`.
pub fn trial_figures(case: &Case, trial: &Trial, data: &TrialData) -> Vec<RunFigure> {
    let view = TrialView::new(&case.name, 0, trial, data, true);
    let mut found = Figures::default();
    for figure in view.figures {
        let name = format!("{}/{}/{}", case.name, trial.number, words(&figure.title));
        found.push(
            name,
            RunFigure { name: String::new(), title: figure.title, svg: figure.svg, csv: None },
        );
    }
    found.0
}

/// The figure as an SVG file, light on white, for programs that know no style sheets.
pub fn figure_file(figure: &RunFigure) -> String {
    // The plots' own, the page's colours, and those of intervals.
    let svg = plain(&figure.svg, &[STYLES[0], STYLES[1], STYLES[4]]);
    let (tag, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    let size: Vec<&str> = attribute(tag, "viewBox").unwrap_or_default().split(' ').collect();
    let size = match size[..] {
        [_, _, width, height] => format!(r#" width="{width}" height="{height}""#),
        _ => String::new(),
    };
    let tag = tag.replacen("<svg", r#"<svg xmlns="http://www.w3.org/2000/svg""#, 1);
    let surface = r#"<rect width="100%" height="100%" fill="white"/>"#;
    format!("{tag}{size}>{surface}{rest}\n")
}

/// The figure as a `tikzpicture` of pgfplots; none without numbers for axes.
pub fn figure_pgf(figure: &RunFigure) -> Option<String> {
    pgf(&figure.title, figure.csv.as_ref()?)
}

#[derive(Default)]
struct Figures(Vec<RunFigure>);

impl Figures {
    fn add(&mut self, room: &str, figures: impl IntoIterator<Item = PageFigure>) {
        for figure in figures {
            let PageFigure { title, svg, csv } = figure;
            let of = words(&title);
            let is_alone = of.is_empty() || room == "answer";
            let name = if is_alone { room.to_owned() } else { format!("{room}/{of}") };
            self.push(name, RunFigure { name: String::new(), title, svg, csv: Some(csv) });
        }
    }

    /// Those of one name are numbered from the second on.
    fn push(&mut self, name: String, figure: RunFigure) {
        let is_taken = |name: &String| self.0.iter().any(|it| it.name == *name);
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
        self.0.push(RunFigure { name: free.unwrap_or(name), ..figure });
    }
}

/// Small letters and digits, joined by `-`.
fn words(text: &str) -> String {
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
        let figure = || PageFigure { title: "Mean".into(), svg: String::new(), csv: String::new() };
        let mut found = Figures::default();
        found.add("factor/loss", [figure(), figure(), figure()]);
        let names: Vec<&str> = found.0.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["factor/loss/mean", "factor/loss/mean-2", "factor/loss/mean-3"]);
    }

    /// A file needs a name space, a size, and no style sheet.
    #[test]
    fn figure_file_stands_alone() {
        let figure = RunFigure {
            name: "x".into(),
            title: "x".into(),
            svg: r#"<svg class="layers" viewBox="0 0 60 40"><path class="data"/></svg>"#.into(),
            csv: None,
        };
        let text = figure_file(&figure);
        let head = r#"<svg xmlns="http://www.w3.org/2000/svg" class="layers" viewBox="0 0 60 40""#;
        assert!(text.starts_with(head) && text.contains(r#" width="60" height="40">"#), "{text}");
        assert!(text.contains("stroke: #0072b2; ") && text.ends_with("</svg>\n"), "{text}");
        for absent in ["var(", "light-dark(", "<style", "system-ui"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
    }
}
