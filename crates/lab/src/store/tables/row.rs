//! A row of a table.

/// A row of RFC 4180 with Unix line ends.
pub(crate) fn row<const N: usize>(fields: [&str; N]) -> String {
    let quoted = fields.map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    });
    quoted.join(",") + "\n"
}
