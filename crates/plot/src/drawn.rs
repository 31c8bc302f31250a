//! A picture and the numbers in it.

use tcplab_units::csv_field;

use crate::svg::escape;

/// A picture with its numbers as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// One `<svg>` element that needs the style sheet only.
    pub svg: String,
    /// Comma-separated values (RFC 4180) with the names of the columns.
    pub csv: String,
}

/// A table as comma-separated values (RFC 4180, but with `\n` at the end of a line).
pub fn csv<R: AsRef<[String]>>(columns: &[&str], rows: impl IntoIterator<Item = R>) -> String {
    let mut text = columns.iter().map(|column| csv_field(column)).collect::<Vec<_>>().join(",");
    text.push('\n');
    for row in rows {
        text += &row.as_ref().iter().map(|cell| csv_field(cell)).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// The cells of a [`csv`], row by row, the names of the columns first.
pub fn csv_rows(table: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut letters = table.trim_end_matches('\n').chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        let row = rows.last_mut().expect("there is a row from the start");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                row.last_mut().expect("a row has a cell").push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            letter => row.last_mut().expect("a row has a cell").push(letter),
        }
    }
    rows
}

/// A number for [`csv`]; empty if it is not finite.
pub fn csv_number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// The first tag of a scene: kind, size in pixels, label.
pub(crate) fn opening(kind: &str, (width, height): (f64, f64), label: &str) -> String {
    format!(
        r#"<svg class="scene {kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(label)
    )
}

/// Text of a class at a place.
pub(crate) fn text(svg: &mut String, class: &str, (x, y): (f64, f64), text: &str) {
    svg.push_str(&format!(
        r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#,
        escape(text)
    ));
}

/// Text of a class that stands upright and ends below a place.
pub(crate) fn upright(svg: &mut String, class: &str, (x, y): (f64, f64), text: &str) {
    svg.push_str(&format!(
        r#"<text class="{class} upright" transform="translate({x:.1} {y}) rotate(-90)">{}</text>"#,
        escape(text)
    ));
}

/// A path of a class.
pub(crate) fn path(svg: &mut String, class: &str, d: &str) {
    svg.push_str(&format!(r#"<path class="{class}" d="{d}"/>"#));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_are_quoted() {
        let rows = [["a, b".to_owned(), csv_number(1.5)], ["\"c\"".into(), csv_number(f64::NAN)]];
        assert_eq!(csv(&["name", "value"], rows), "name,value\n\"a, b\",1.5\n\"\"\"c\"\"\",\n");
    }
}
