//! The question of a run and its answer: the beginning of the page.

use std::collections::BTreeSet;
use tcplab_plot::{Content, Picture, SpreadRow};
use tcplab_results::Run;
use tcplab_units::rounded::counted;

use super::answer::{answer, answered_factor, without_metric};
use super::boxes::{BARS_EXPLAINED, BOXES_EXPLAINED, DOTS_EXPLAINED, bars_of_cases, named_boxes};
use super::factors::{Factors, row, shares};
use super::measure::{Measured, response_times, values};
use super::trends::Trends;
use crate::html::figure::PageFigure;
use crate::title::short;
use tcplab_results::main_metric;

/// With more variants the picture of the factors is shown.
const MOST_ROWS: usize = 12;

/// The first part of the page.
pub(crate) struct Question {
    /// The factors and the metric that judges them.
    pub(crate) text: String,
    /// Empty where there is no main metric, no claim asked for and no failed trial.
    pub(crate) answer: String,
    /// Unless a trend of the main metric shows it.
    pub(crate) figure: Option<PageFigure>,
    /// Whether it has a dot for each trial, else means.
    pub(crate) are_dots: bool,
    pub(crate) factors: Option<Factors>,
}

/// What a run asked, in the scenario's words if it has some, and the answer, a sentence each; an
/// empty one where there is none.
pub fn question_and_answer(run: &Run) -> (String, String) {
    let Question { text, answer, .. } = Question::of(run, None);
    (run.question.clone().unwrap_or(text), answer)
}

impl Question {
    pub(crate) fn of(run: &Run, trends: Option<&Trends>) -> Question {
        let Some(info) = main_metric(run) else {
            return Question {
                text: varied(run).map(|it| format!("{it}.")).unwrap_or_default(),
                answer: without_metric(run),
                figure: None,
                are_dots: false,
                factors: None,
            };
        };
        let measured = Measured::of(run, info);
        let shares = shares(&measured);
        let responses: Vec<Vec<f64>> = run.cases.iter().map(response_times).collect();
        let answered = answered_factor(run, &measured, shares.as_ref());
        let factors = Factors::of(&measured, shares.as_ref(), &responses, answered);
        let is_drawn = trends.and_then(|trends| trends.main(run)).is_some();
        let judged = format!("main metric: {}", measured.title());
        let question = match varied(run) {
            Some(varied) => format!("{varied}; {judged}."),
            None => format!("Nothing varied; {judged}."),
        };
        Question {
            text: question,
            answer: answer(run, &measured, shares.as_ref()),
            figure: picture(run, &measured, factors.as_ref()).filter(|_| !is_drawn),
            are_dots: run.cases.len() <= MOST_ROWS,
            factors,
        }
    }
}

/// Such as `Varied: congestion (reno, cubic) and loss (0.1 %, 1 %)`.
fn varied(run: &Run) -> Option<String> {
    let first = run.cases.first()?;
    let factor = |(key, _): &(String, String)| {
        let mut levels: Vec<&str> = Vec::new();
        let all = run.cases.iter().flat_map(|case| &case.levels).filter(|(own, _)| own == key);
        for (_, level) in all {
            if !levels.contains(&level.as_str()) {
                levels.push(level);
            }
        }
        let text = match levels.len() {
            0 | 1 => return None,
            2..=6 => levels.join(", "),
            many => format!("{many} levels"),
        };
        Some(format!("{} ({text})", short(key)))
    };
    let factors: Vec<String> = first.levels.iter().filter_map(factor).collect();
    (!factors.is_empty()).then(|| format!("Varied: {}", factors.join("; ")))
}

/// Every trial of every variant, with medians and intervals; of many variants the pair of factors
/// that explains most, or the only factor.
fn picture(run: &Run, measured: &Measured, factors: Option<&Factors>) -> Option<PageFigure> {
    if run.cases.len() > MOST_ROWS {
        let pair = factors?.pairs.first().and_then(|pair| pair.figures.first());
        let figure = pair.or_else(|| factors?.mains.first()?.figures.first())?;
        let title = match factors?.pairs.first() {
            Some(pair) => format!("{}: {}", measured.title(), pair.title),
            None => figure.title.clone(),
        };
        return Some(PageFigure { title, ..figure.clone() });
    }
    // The answer says what a single trial came to.
    if measured.points.len() < 2 {
        return None;
    }
    let seen: BTreeSet<usize> = measured.points.iter().map(|point| point.case).collect();
    let of = |case: &usize| {
        let case = &run.cases[*case];
        let all: Vec<f64> =
            values(case, measured.info.name).into_iter().map(|(_, value)| value).collect();
        row(&case.name, &all)
    };
    let rows: Vec<SpreadRow> = seen.iter().map(of).collect();
    let name = measured.title();
    let heading = format!("{name} of {}", counted(measured.points.len(), "trial", "trials"));
    let drawn = |heading: &str, title: &str, content| {
        let picture = Picture { title: title.into(), values: measured.name(), content };
        PageFigure::of(heading, picture)
    };
    let boxes = named_boxes(rows.iter().map(|row| (&row.name, &row.values)));
    let boxes = drawn(&format!("{heading}, as box plots"), "Box plots", boxes);
    let mut others = vec![("Boxes", boxes.explained(BOXES_EXPLAINED))];
    if let Some(means) = bars_of_cases(&run.cases, measured.info.name) {
        let bars = drawn(&format!("{name}, mean of each variant"), "Means", means);
        others.push(("Bars", bars.explained(BARS_EXPLAINED)));
    }
    let dots = drawn(&heading, "Every trial", Content::Spread(rows)).explained(DOTS_EXPLAINED);
    Some(dots.or("Dots", others))
}
