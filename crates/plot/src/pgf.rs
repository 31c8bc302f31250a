//! Figures for LaTeX: a `tikzpicture` with the axes of pgfplots, from the numbers of a figure.

use std::collections::BTreeMap;

use tcplab_units::visible_line;

use crate::boxes::{PART, PARTS};
use crate::drawn::csv_rows;
use crate::mean_bars::BAR;

/// More labels overlap.
const LABELS_MAX: usize = 40;

/// A column of a table.
struct Column {
    name: String,
    cells: Vec<String>,
}

/// The text of a `tikzpicture` that draws a figure's table (see [`csv`](crate::csv)): a line for
/// each text in its first column, or the values of each such text in a row, as marks, boxes or
/// bars. None if the table has no numbers to draw so.
pub fn pgf(title: &str, table: &str) -> Option<String> {
    let columns = columns(table);
    let first = columns.first()?;
    let numeric = |column: &&Column| column.numbers().iter().any(Option::is_some);
    let bounds = ["low", "high"];
    let values: Vec<&Column> = columns[1..]
        .iter()
        .filter(|it| it.is_numeric() && numeric(it) && !bounds.contains(&it.name.as_str()))
        .collect();
    let over_texts = columns.get(1).filter(|it| !it.is_numeric());
    let bound = |name: &str| columns.iter().find(|it| it.name == name && it.is_numeric());
    let interval = bound("low").zip(bound("high"));
    let drawn = match (&values[..], over_texts) {
        ([values], Some(part)) if first.name == "name" && part.name == PART => {
            boxes(first, part, values)
        }
        ([values], None) if first.name == BAR => bars(first, values, interval?),
        ([over, values, ..], None) => lines(first, (&over.name, &over.numbers()), values, interval),
        ([values, ..], Some(over)) => {
            let (labels, places) = over.ranked();
            let places: Vec<Option<f64>> = places.iter().map(|it| Some(*it as f64)).collect();
            let ticks = ticks("x", &labels);
            let text = lines(first, (&over.name, &places), values, interval);
            text.replacen("\\begin{axis}[\n", &format!("\\begin{{axis}}[\n{ticks}"), 1)
        }
        ([values], None) => rows(first, values),
        _ => return None,
    };
    let title = escape(title);
    let library = if drawn.contains("boxplot") { " \\usepgfplotslibrary{statistics}" } else { "" };
    Some(format!(
        "% \\usepackage{{pgfplots}}{library} \\pgfplotsset{{compat=1.18}}\n\\begin{{tikzpicture}}\n\
         {}\\end{{tikzpicture}}\n",
        drawn.replacen("\\begin{axis}[\n", &format!("\\begin{{axis}}[\n  title={{{title}}},\n"), 1)
    ))
}

/// One `\addplot` for each text in the first column, with intervals where there are some.
fn lines(
    names: &Column,
    (over, places): (&str, &[Option<f64>]),
    values: &Column,
    interval: Option<(&Column, &Column)>,
) -> String {
    let mut text = format!(
        "\\begin{{axis}}[\n  xlabel={{{}}},\n  ylabel={{{}}},\n  legend pos=outer north east,\n]\n",
        escape(over),
        escape(&values.name)
    );
    let (series, which) = names.ranked();
    let numbers = values.numbers();
    let ends = interval.map(|(low, high)| (low.numbers(), high.numbers()));
    let mut rows_of = vec![Vec::new(); series.len()];
    for (row, place) in which.iter().enumerate() {
        rows_of[*place].push(row);
    }
    for (name, rows) in series.iter().zip(rows_of) {
        let options =
            if ends.is_some() { "+[error bars/.cd, y dir=both, y explicit]" } else { "+" };
        let head = if ends.is_some() { "[x=x, y=y, y error plus=p, y error minus=m]" } else { "" };
        text += &format!("\\addplot{options} table{head} {{\n");
        text += if ends.is_some() { "x y p m\n" } else { "x y\n" };
        for row in rows {
            let (Some(x), Some(y)) = (places[row], numbers[row]) else { continue };
            text += &format!("{x} {y}");
            if let Some((low, high)) = &ends {
                let (plus, minus) = (high[row].map(|it| it - y), low[row].map(|it| y - it));
                text += &format!(" {} {}", plus.unwrap_or(0.0), minus.unwrap_or(0.0));
            }
            text.push('\n');
        }
        text += &format!("}};\n\\addlegendentry{{{}}}\n", escape(name));
    }
    text + "\\end{axis}\n"
}

/// A row of marks for each text in the first column.
fn rows(names: &Column, values: &Column) -> String {
    let (labels, places) = names.ranked();
    let mut text = format!(
        "\\begin{{axis}}[\n{}  y dir=reverse,\n  xlabel={{{}}},\n]\n\
         \\addplot[only marks] table {{\nx y\n",
        ticks("y", &labels),
        escape(&values.name)
    );
    for (place, value) in places.iter().zip(values.numbers()) {
        if let Some(value) = value {
            text += &format!("{value} {place}\n");
        }
    }
    text + "};\n\\end{axis}\n"
}

/// A box for each text in the first column, with its outliers; a row without a box has marks.
fn boxes(names: &Column, part: &Column, values: &Column) -> String {
    const KEYS: [&str; 5] =
        ["lower whisker", "lower quartile", "median", "upper quartile", "upper whisker"];
    let (labels, places) = names.ranked();
    let mut rows = vec![(Vec::new(), Vec::new()); labels.len()];
    for ((place, part), value) in places.iter().zip(&part.cells).zip(values.numbers()) {
        let Some(value) = value else { continue };
        let (parts, dots) = &mut rows[*place];
        match PARTS.iter().position(|it| it == part) {
            Some(index) => parts.push(format!("{}={value}", KEYS[index])),
            None => dots.push(value),
        }
    }
    let mut text = format!(
        "\\begin{{axis}}[\n  boxplot/draw direction=x,\n{}  y dir=reverse,\n  xlabel={{{}}},\n]\n",
        ticks("y", &labels),
        escape(&values.name)
    );
    for (place, (parts, dots)) in rows.iter().enumerate() {
        if parts.is_empty() {
            let dots: Vec<String> = dots.iter().map(|it| format!("({it},{place})")).collect();
            text += "\\addplot[only marks, mark=*] coordinates {";
            text += &format!("{}}};\n", dots.join(" "));
            continue;
        }
        let (parts, dots) = (parts.join(", "), dots.iter().map(|it| format!("{it}\\\\ ")));
        text +=
            &format!("\\addplot[mark=*, boxplot prepared={{{parts}, draw position={place}}}]\n");
        text +=
            &format!("  table[row sep=\\\\, y index=0] {{x\\\\ {}}};\n", dots.collect::<String>());
    }
    text + "\\end{axis}\n"
}

/// A bar for each text in the first column, with its interval.
fn bars(names: &Column, values: &Column, (low, high): (&Column, &Column)) -> String {
    let (labels, places) = names.ranked();
    let mut text = format!(
        "\\begin{{axis}}[\n  xbar,\n{}  y dir=reverse,\n  xlabel={{{}}},\n]\n\\addplot+[error \
         bars/.cd, x dir=both, x explicit] table[x=x, y=y, x error plus=p, x error minus=m] {{\n\
         x y p m\n",
        ticks("y", &labels),
        escape(&values.name)
    );
    let (values, low, high) = (values.numbers(), low.numbers(), high.numbers());
    for (row, place) in places.iter().enumerate() {
        let Some(value) = values[row] else { continue };
        let (plus, minus) = (high[row].map(|it| it - value), low[row].map(|it| value - it));
        text += &format!("{value} {place} {} {}\n", plus.unwrap_or(0.0), minus.unwrap_or(0.0));
    }
    text + "};\n\\end{axis}\n"
}

fn ticks(axis: &str, labels: &[String]) -> String {
    if labels.len() > LABELS_MAX {
        return String::new();
    }
    let places: Vec<String> = (0..labels.len()).map(|it| it.to_string()).collect();
    let labels: Vec<String> = labels.iter().map(|it| format!("{{{}}}", escape(it))).collect();
    format!(
        "  {axis}tick={{{}}},\n  {axis}ticklabels={{{}}},\n",
        places.join(","),
        labels.join(",")
    )
}

impl Column {
    fn numbers(&self) -> Vec<Option<f64>> {
        let number = |cell: &String| cell.parse().ok().filter(|it: &f64| it.is_finite());
        self.cells.iter().map(number).collect()
    }

    /// Whether all cells that are not empty are numbers.
    fn is_numeric(&self) -> bool {
        self.numbers().iter().zip(&self.cells).all(|(it, cell)| it.is_some() || cell.is_empty())
    }

    /// The texts in the order in which they come, and the place of each cell's among them.
    fn ranked(&self) -> (Vec<String>, Vec<usize>) {
        let mut labels: Vec<String> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut places = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let place = *known.entry(cell).or_insert(labels.len());
            if place == labels.len() {
                labels.push(cell.clone());
            }
            places.push(place);
        }
        (labels, places)
    }
}

/// The columns of a table of comma-separated values; all have as many cells.
fn columns(table: &str) -> Vec<Column> {
    let mut rows = csv_rows(table);
    let names = rows.remove(0);
    let cell = |row: &Vec<String>, index: usize| row.get(index).cloned().unwrap_or_default();
    let column =
        |(index, name)| Column { name, cells: rows.iter().map(|row| cell(row, index)).collect() };
    names.into_iter().enumerate().map(column).collect()
}

/// Text that LaTeX sets as it is.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible_line(text).chars() {
        match letter {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => safe.extend(['\\', letter]),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_intervals_and_legends() {
        let table = "line,over,time,low,high\nreno,1,2,1.5,2.5\nreno,2,4,,\n\
                     \"a, \"\"b\"\"\",1,3,2,5\n";
        insta::assert_snapshot!(pgf("50 % of _x_", table).unwrap());
    }

    #[test]
    fn values_without_an_axis_are_rows_of_marks() {
        insta::assert_snapshot!(pgf("Every trial", "name,ms\na,1\na,2\nb,\nb,3\n").unwrap());
    }

    #[test]
    fn levels_in_words_are_ticks() {
        insta::assert_snapshot!(pgf("Means", "line,queue,ms\nx,codel,1\nx,pie,2\n").unwrap());
    }

    #[test]
    fn boxes_and_bars_are_those_of_pgfplots() {
        let parts = ["1", "2", "3", "5", "9"].into_iter().zip(PARTS);
        let parts: Vec<String> = parts.map(|(value, part)| format!("a,{part},{value}")).collect();
        let table = format!(
            "name,{PART},ms\n{}\na,outlier,11\na,outlier,12\nfew,value,4\nfew,value,6\n",
            parts.join("\n")
        );
        let boxes = pgf("Boxes", &table).unwrap();
        let bars = pgf("Bars", "bar,ms,low,high\na_b,4,3,5.5\nc,6,,\n").unwrap();
        insta::assert_snapshot!(format!("{boxes}{bars}"));
    }

    #[test]
    fn no_text_becomes_a_command() {
        let safe = r"\textbackslash{}input\{x\}\textasciicircum{}\textasciitilde{}\$\_";
        assert_eq!(escape(r"\input{x}^~$_"), safe);
        for none in ["", "a", "a,b\nx,y\n", "a,b,c\n"] {
            assert_eq!(pgf("t", none), None, "{none}");
        }
    }
}
