//! A row of a table.

/// A row of RFC 4180 with Unix line ends.
pub(crate) fn row<const N: usize>(fields: [impl AsRef<str>; N]) -> String {
    let quoted = fields.map(|field| {
        let field = field.as_ref();
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    });
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(row(["plain", "a,b", "say \"hi\""]), "plain,\"a,b\",\"say \"\"hi\"\"\"\n");
    }
}
