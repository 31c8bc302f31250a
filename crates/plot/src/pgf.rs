//! Figures for LaTeX: a `tikzpicture` with axes of pgfplots that shows what the SVG shows.

mod over_time;

use std::collections::BTreeSet;

use tcplab_units::visible_line;

use crate::axis::Axis;
use crate::boxes::{BoxRow, boxes_axis};
use crate::clip::Edges;
use crate::ecdf::{EcdfLine, ecdf_steps};
use crate::letters::width;
use crate::line_style::{COLOURS, DASHES, form, styles};
use crate::looks::{AxisLooks, Colour, Looks};
use crate::mean_bars::{BarRow, bars_axis};
use crate::picture::{Content, Picture};
use crate::rows::are_named;
use crate::spread::{SpreadRow, spread_axis};
use crate::trend::{TrendLine, TrendPoint, TrendScale, levels_axis, trend_axis};

pub use over_time::chart_pgf;

/// What the colours by name are on a light page, as `plot.css` has them.
const LIGHT: [&str; 8] =
    ["0072b2", "b35000", "007655", "b0005f", "856300", "8a4fa6", "30363d", "5f6872"];
/// The dashes of `plot.css`, the first for a solid line.
const DASHED: [&str; DASHES] = [
    "",
    "on 6pt off 3pt",
    "on 1.5pt off 2.5pt",
    "on 9pt off 3pt on 2pt off 3pt",
    "on 14pt off 4pt",
    "on 8pt off 2pt on 2pt off 2pt on 2pt off 2pt",
];
const MARKS: [&str; 4] = ["*", "square*", "diamond*", "triangle*"];
/// Centimetres of an axis, and of a row with a name, of many and without.
const ACROSS: f64 = 10.0;
const UPWARDS: f64 = 6.0;
const ROW: f64 = 0.7;
const ROW_OF_MANY: f64 = 0.45;
const ROW_WITHOUT_NAME: f64 = 0.1;
const ROWS_WIDE: usize = 30;
/// Room at the ends of an axis of levels, as a share of it.
const INSET: f64 = 0.05;
/// Between points at a level that is a text, as a share of a level's room.
const POINTS_SHARE: f64 = 0.6;
const POINTS_APART: f64 = 0.12;
/// The pixels of an axis over which levels are written side by side.
const LEVELS_ROOM: f64 = 370.0;

impl Picture {
    /// The text of a `tikzpicture` that shows what [`Self::drawn`] shows: the same axes with the
    /// same ends, scales and labels, and of the values those that lie inside.
    pub fn pgf(&self, title: &str, looks: &Looks) -> String {
        let mut tex = Tex::default();
        tex.option(&format!("title={{{}}}", escape(title)));
        let values = &self.values;
        match &self.content {
            Content::Trend { over, levels, is_numeric, lines, scale } => {
                let trend = Trend { over, levels, is_numeric: *is_numeric, values, lines };
                tex.trend(&trend, *scale, looks);
            }
            Content::Ecdf(lines) => tex.ecdf(values, lines, looks, self.is_unnamed()),
            Content::Spread(rows) | Content::Means { rows, .. } => {
                tex.spread(values, rows, looks);
            }
            Content::Boxes(rows) => tex.boxes(values, rows, looks),
            Content::Bars(rows) => tex.bars(values, rows, looks),
        }
        tex.whole()
    }
}

/// What lines over levels show.
struct Trend<'a> {
    over: &'a str,
    levels: &'a [(f64, String)],
    is_numeric: bool,
    values: &'a str,
    lines: &'a [TrendLine],
}

/// An axis while it is written.
#[derive(Default)]
struct Tex {
    colours: BTreeSet<String>,
    options: String,
    plots: String,
}

impl Tex {
    fn whole(&self) -> String {
        let is_boxed = self.plots.contains("boxplot");
        let library = if is_boxed { " \\usepgfplotslibrary{statistics}" } else { "" };
        let mut text = format!(
            "% \\usepackage{{pgfplots}}{library} \\pgfplotsset{{compat=1.18}}\n\
             \\begin{{tikzpicture}}\n"
        );
        for colour in &self.colours {
            text +=
                &format!("\\definecolor{{tcplab{colour}}}{{HTML}}{{{}}}\n", colour.to_uppercase());
        }
        let Tex { options, plots, .. } = self;
        text + &format!(
            "\\begin{{axis}}[\n{options}]\n{plots}\\end{{axis}}\n\\end{{tikzpicture}}\n"
        )
    }

    fn option(&mut self, option: &str) {
        self.options += &format!("  {option},\n");
    }

    /// The ends and the scale of an axis.
    fn axis(&mut self, name: char, axis: Axis) {
        if axis.is_log {
            self.option(&format!("{name}mode=log"));
            self.option("log ticks with fixed point");
        }
        let (low, high) = (number(axis.low), number(axis.high));
        self.option(&format!("{name}min={low}, {name}max={high}"));
    }

    fn label(&mut self, name: char, looks: &AxisLooks, own: &str) {
        let label = escape(looks.label.as_deref().unwrap_or(own));
        self.option(&format!("{name}label={{{label}}}"));
    }

    fn ticks(&mut self, name: char, ticks: impl Iterator<Item = (f64, String)>) {
        let (at, labels): (Vec<String>, Vec<String>) =
            ticks.map(|(at, label)| (number(at), format!("{{{}}}", escape(&label)))).unzip();
        self.option(&format!("{name}tick={{{}}}", at.join(",")));
        self.option(&format!("{name}ticklabels={{{}}}", labels.join(",")));
    }

    /// The name of a colour in the text.
    fn colour(&mut self, colour: Colour) -> String {
        let digits = match colour {
            Colour::Named(index) => LIGHT[index.min(LIGHT.len() - 1)].to_owned(),
            Colour::Own([red, green, blue]) => format!("{red:02x}{green:02x}{blue:02x}"),
        };
        self.colours.insert(digits.clone());
        format!("tcplab{digits}")
    }

    /// The size of an axis of lines, with their names beside it.
    fn lines_room(&mut self) {
        self.option(&format!("scale only axis, width={ACROSS}cm, height={UPWARDS}cm"));
        self.option("legend pos=outer north east, legend cell align=left");
    }

    /// Colour, dashes and mark of each line.
    fn lines(&mut self, names: &[&str], looks: &Looks) -> Vec<(String, String)> {
        let of = |(index, (dash, own)): (usize, (usize, Option<Colour>))| {
            let colour = self.colour(own.unwrap_or(Colour::Named(index % COLOURS)));
            let dashes = match DASHED[dash % DASHES] {
                "" => String::new(),
                dashes => format!(", dash pattern={dashes}"),
            };
            let (form, is_open) = form(index);
            let fill = if is_open { ", fill=white" } else { "" };
            let mark = format!("mark={}, mark options={{solid{fill}}}", MARKS[form]);
            (format!("color={colour}, thick{dashes}"), mark)
        };
        styles(names.iter().copied(), looks).into_iter().enumerate().map(of).collect()
    }

    fn legend(&mut self, style: &str, name: &str) {
        self.plots +=
            &format!("\\addlegendimage{{{style}}}\n\\addlegendentry{{{}}}\n", escape(name));
    }

    fn plot(&mut self, style: &str, places: &[(f64, f64)]) {
        if places.is_empty() {
            return;
        }
        self.plots += &format!("\\addplot[{style}, forget plot] coordinates {{\n");
        for (x, y) in places {
            self.plots += &format!("({},{})\n", number(*x), number(*y));
        }
        self.plots += "};\n";
    }

    fn trend(&mut self, trend: &Trend<'_>, scale: TrendScale, looks: &Looks) {
        let up = trend_axis(trend.lines, scale, looks);
        let count = trend.levels.len();
        let (across, places) = if trend.is_numeric {
            let numbers: Vec<f64> = trend.levels.iter().map(|(number, _)| *number).collect();
            (axis_of_levels(&numbers, &looks.across), numbers)
        } else {
            let places: Vec<f64> = (0..count).map(|it| it as f64).collect();
            (Axis { low: -0.5, high: count as f64 - 0.5, is_log: false }, places)
        };
        self.axis('x', across);
        self.axis('y', up);
        self.label('x', &looks.across, trend.over);
        self.label('y', &looks.up, trend.values);
        let shown = places.iter().zip(trend.levels).filter(|(place, _)| across.holds(**place));
        let ticks: Vec<(f64, String)> =
            shown.map(|(place, (_, text))| (*place, text.clone())).collect();
        if are_crowded(&ticks, across) {
            self.option("xticklabel style={rotate=90, anchor=east}");
        }
        self.ticks('x', ticks.into_iter());
        self.lines_room();
        let names: Vec<&str> = trend.lines.iter().map(|line| line.name.as_str()).collect();
        let styles = self.lines(&names, looks);
        let many = trend.lines.len() as f64;
        let apart = if trend.is_numeric { 0.0 } else { POINTS_APART.min(POINTS_SHARE / many) };
        for (index, (line, style)) in trend.lines.iter().zip(styles).enumerate() {
            let aside = (index as f64 - (many - 1.0) / 2.0) * apart;
            let points = line.points.iter().filter(|it| it.mean.is_finite());
            let points: Vec<(f64, &TrendPoint)> =
                points.map(|it| (places[it.level] + aside, it)).collect();
            if !line.name.is_empty() {
                let only = if trend.is_numeric { "" } else { ", only marks" };
                self.legend(&format!("{}, {}{only}", style.0, style.1), &line.name);
            }
            if trend.is_numeric {
                let all: Vec<(f64, f64)> = points.iter().map(|(x, it)| (*x, it.mean)).collect();
                for piece in cut(&all, across, up) {
                    self.plot(&format!("{}, mark=none", style.0), &piece);
                }
            }
            self.points(&points, (across, up), &style);
        }
    }

    /// The marks of those inside, with their intervals.
    fn points(
        &mut self,
        points: &[(f64, &TrendPoint)],
        (across, up): (Axis, Axis),
        (stroke, mark): &(String, String),
    ) {
        let mut marks = Vec::new();
        for (x, point) in points.iter().filter(|(x, it)| across.holds(*x) && up.holds(it.mean)) {
            marks.push((*x, point.mean));
            if let Some((low, high)) = point.ends() {
                let begin = if up.holds(low) { "" } else { "<" };
                let end = if up.holds(high) { "" } else { ">" };
                let ends = [low, high].map(|end| (*x, end.clamp(up.low, up.high)));
                let style = format!("{begin}-{end}, {stroke}, solid, opacity=0.55, mark=none");
                self.plot(&style, &ends);
            }
        }
        self.plot(&format!("{stroke}, only marks, {mark}"), &marks);
    }

    fn ecdf(&mut self, values: &str, lines: &[EcdfLine], looks: &Looks, is_unnamed: bool) {
        let steps = ecdf_steps(lines, looks);
        let (low, high) = (steps.shares.0 * 100.0, steps.shares.1 * 100.0);
        self.axis('x', steps.axis);
        self.axis('y', Axis { low, high, is_log: false });
        self.label('x', &looks.across, values);
        self.label('y', &looks.up, "share of values, %");
        self.lines_room();
        let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
        let styles = self.lines(&names, looks);
        for ((line, (stroke, _)), name) in steps.lines.iter().zip(styles).zip(names) {
            if lines.len() > 1 && !is_unnamed {
                self.legend(&stroke, name);
            }
            // TeX has no numbers for what is far outside.
            let near = |share: f64| (share * 100.0).clamp(2.0 * low - high, 2.0 * high - low);
            let places: Vec<(f64, f64)> =
                line.iter().map(|(value, share)| (*value, near(*share))).collect();
            self.plot(&format!("const plot, {stroke}, mark=none"), &places);
        }
    }

    /// Rows from the top with their names beside them, on one axis.
    fn rows(&mut self, values: &str, names: &[&str], axis: Axis, looks: &Looks) {
        let count = names.len();
        let high = match count {
            _ if !are_named(count) => ROW_WITHOUT_NAME,
            count if count > ROWS_WIDE => ROW_OF_MANY,
            _ => ROW,
        };
        self.axis('x', axis);
        self.label('x', &looks.across, values);
        let tall = number(high * (count as f64 + 0.2));
        self.option(&format!("scale only axis, width={ACROSS}cm, height={tall}cm"));
        self.option(&format!("y dir=reverse, ymin=-0.6, ymax={}", number(count as f64 - 0.4)));
        if are_named(count) {
            let names = names.iter().enumerate().map(|(at, name)| (at as f64, (*name).to_owned()));
            self.ticks('y', names);
        } else {
            self.option("ytick=\\empty");
        }
    }

    /// The colour of a row: the reader's, or one of those by name.
    fn of_row(&mut self, name: &str, looks: &Looks, named: usize) -> String {
        let colour = looks.colour_of(name).unwrap_or(Colour::Named(named));
        self.colour(colour)
    }

    /// A line from one value to another, with an arrowhead where it goes on.
    fn interval(&mut self, ends: Option<(f64, f64)>, axis: Axis, y: f64, colour: &str) {
        let Some((low, high)) = ends.filter(|(low, high)| *low <= axis.high && *high >= axis.low)
        else {
            return;
        };
        let begin = if axis.holds(low) { "|" } else { "<" };
        let end = if axis.holds(high) { "|" } else { ">" };
        let places = [low, high].map(|value| (value.clamp(axis.low, axis.high), y));
        self.plot(&format!("{begin}-{end}, color={colour}, thick, mark=none"), &places);
    }

    fn spread(&mut self, values: &str, rows: &[SpreadRow], looks: &Looks) {
        let axis = spread_axis(rows, looks);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        self.rows(values, &names, axis, looks);
        for (row, y) in rows.iter().zip((0..).map(f64::from)) {
            let colour = self.of_row(&row.name, looks, BLUE);
            let ink = self.of_row(&row.name, looks, INK);
            let quartiles = row.quartiles.filter(|(q1, _, q3)| *q1 <= axis.high && *q3 >= axis.low);
            if let Some((first, _, third)) = quartiles {
                let places = [first, third].map(|value| (value.clamp(axis.low, axis.high), y));
                self.plot("color=gray, opacity=0.25, line width=8pt, mark=none", &places);
            }
            let shown = row.values.iter().filter(|value| axis.holds(**value));
            let dots: Vec<(f64, f64)> = shown.map(|value| (*value, y)).collect();
            self.plot(&format!("only marks, mark=*, opacity=0.5, color={colour}"), &dots);
            self.interval(row.interval, axis, y, &ink);
            if let Some(middle) = row.middle.filter(|it| axis.holds(*it)) {
                let style = format!("only marks, mark=|, mark size=5pt, ultra thick, color={ink}");
                self.plot(&style, &[(middle, y)]);
            }
        }
    }

    fn boxes(&mut self, values: &str, rows: &[BoxRow], looks: &Looks) {
        let axis = boxes_axis(rows, looks);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        self.option("boxplot/draw direction=x");
        self.rows(values, &names, axis, looks);
        // TeX has no numbers for what is far outside.
        let near = |value: f64| number(value.clamp(axis.value(-1.0), axis.value(2.0)));
        for (row, y) in rows.iter().zip((0..).map(f64::from)) {
            let colour = self.of_row(&row.name, looks, BLUE);
            if let Some(shape) = row.shape {
                let ((first, middle, third), (low, high)) = (shape.quartiles, shape.whiskers);
                let [low, first, middle, third, high] = [low, first, middle, third, high].map(near);
                self.plots += &format!(
                    "\\addplot[color={colour}, solid, boxplot prepared={{lower whisker={low}, lower \
                     quartile={first}, median={middle}, upper quartile={third}, upper \
                     whisker={high}, draw position={y}}}] coordinates {{}};\n"
                );
            }
            let shown = row.dots.iter().filter(|value| axis.holds(**value));
            let dots: Vec<(f64, f64)> = shown.map(|value| (*value, y)).collect();
            self.plot(&format!("only marks, mark=*, opacity=0.7, color={colour}"), &dots);
        }
    }

    fn bars(&mut self, values: &str, rows: &[BarRow], looks: &Looks) {
        let axis = bars_axis(rows, looks);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        self.rows(values, &names, axis, looks);
        for (row, y) in rows.iter().zip((0..).map(f64::from)) {
            let colour = self.of_row(&row.name, looks, BLUE);
            let style = format!("xbar, bar shift=0pt, fill={colour}, fill opacity=0.6, draw=none");
            self.plot(&style, &[(row.mean.clamp(axis.low, axis.high), y)]);
            let ink = self.colour(Colour::Named(INK));
            self.interval(row.interval, axis, y, &ink);
        }
    }
}

/// The indices of the colours by name of what rows have.
const BLUE: usize = 0;
const INK: usize = 6;

/// That of levels that are numbers, with room at the ends that the reader has not set.
fn axis_of_levels(numbers: &[f64], looks: &AxisLooks) -> Axis {
    let axis = levels_axis(numbers, looks);
    if axis.low >= axis.high || !axis.low.is_finite() {
        return Axis::reaching(numbers.iter().copied(), looks);
    }
    let low = if looks.from.is_some() { axis.low } else { axis.value(-INSET) };
    let high = if looks.until.is_some() { axis.high } else { axis.value(1.0 + INSET) };
    Axis { low, high, ..axis }
}

/// Whether the labels of levels do not fit side by side.
fn are_crowded(ticks: &[(f64, String)], across: Axis) -> bool {
    let place = |at: f64| across.share(at) * LEVELS_ROOM;
    ticks.windows(2).any(|pair| {
        let room = f64::midpoint(width(&pair[0].1), width(&pair[1].1)) + 6.0;
        place(pair[1].0) - place(pair[0].0) < room
    })
}

/// The pieces of a line that lie inside.
fn cut(points: &[(f64, f64)], across: Axis, up: Axis) -> Vec<Vec<(f64, f64)>> {
    let edges = Edges { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };
    let places: Vec<(f64, f64)> =
        points.iter().map(|(x, y)| (across.share(*x), up.share(*y))).collect();
    let mut pieces = edges.pieces(&places);
    for (x, y) in pieces.iter_mut().flatten() {
        (*x, *y) = (across.value(*x), up.value(*y));
    }
    pieces
}

/// In as many figures as TeX has use for.
fn number(value: f64) -> String {
    format!("{value:.8e}").parse::<f64>().unwrap_or(value).to_string()
}

/// Text that LaTeX sets as it is.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible_line(text).chars() {
        match letter {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '<' => safe.push_str("\\textless{}"),
            '>' => safe.push_str("\\textgreater{}"),
            '|' => safe.push_str("\\textbar{}"),
            '−' => safe.push_str("\\textminus{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => safe.extend(['\\', letter]),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
