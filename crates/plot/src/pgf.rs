//! Figures for LaTeX: a `tikzpicture` with the axes of pgfplots, from the numbers of a figure.

use tcplab_units::visible_line;

use crate::drawn::csv_rows;

/// More labels overlap.
const LABELS_MAX: usize = 40;

/// A column of a table.
struct Column {
    name: String,
    cells: Vec<String>,
}

/// The text of a `tikzpicture` that draws a figure's table (see [`csv`](crate::csv)): a line for
/// each text in its first column, or the values of each such text in a row. None if the table has
/// no numbers to draw so.
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
        ([over, values, ..], None) => lines(first, (&over.name, &over.numbers()), values, interval),
        ([values, ..], Some(over)) => {
            let (labels, places) = over.ranked();
            let ticks = ticks("x", &labels);
            let text = lines(first, (&over.name, &places), values, interval);
            text.replacen("\\begin{axis}[\n", &format!("\\begin{{axis}}[\n{ticks}"), 1)
        }
        ([values], None) => rows(first, values),
        _ => return None,
    };
    let title = escape(title);
    Some(format!(
        "% \\usepackage{{pgfplots}} \\pgfplotsset{{compat=1.18}}\n\\begin{{tikzpicture}}\n\
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
    for (index, name) in series.iter().enumerate() {
        let options =
            if ends.is_some() { "+[error bars/.cd, y dir=both, y explicit]" } else { "+" };
        let head = if ends.is_some() { "[x=x, y=y, y error plus=p, y error minus=m]" } else { "" };
        text += &format!("\\addplot{options} table{head} {{\n");
        text += if ends.is_some() { "x y p m\n" } else { "x y\n" };
        for row in 0..names.cells.len() {
            let (true, Some(x), Some(y)) =
                (which[row] == Some(index as f64), places[row], numbers[row])
            else {
                continue;
            };
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
        if let (Some(place), Some(value)) = (place, value) {
            text += &format!("{value} {place}\n");
        }
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
    fn ranked(&self) -> (Vec<String>, Vec<Option<f64>>) {
        let mut labels: Vec<String> = Vec::new();
        let place = |cell: &String| {
            let known = labels.iter().position(|label| label == cell);
            let place = known.unwrap_or(labels.len());
            if known.is_none() {
                labels.push(cell.clone());
            }
            Some(place as f64)
        };
        let places = self.cells.iter().map(place).collect();
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
    fn no_text_becomes_a_command() {
        let safe = r"\textbackslash{}input\{x\}\textasciicircum{}\textasciitilde{}\$\_";
        assert_eq!(escape(r"\input{x}^~$_"), safe);
        for none in ["", "a", "a,b\nx,y\n", "a,b,c\n"] {
            assert_eq!(pgf("t", none), None, "{none}");
        }
    }
}
