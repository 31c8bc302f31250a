//! A row of a table.

use tcplab_units::csv_field;

/// A row of RFC 4180 with Unix line ends.
pub(crate) fn row<const N: usize>(fields: [impl AsRef<str>; N]) -> String {
    fields.map(|field| csv_field(field.as_ref()).into_owned()).join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(row(["plain", "a,b", "=1+1", "-1"]), "plain,\"a,b\",'=1+1,-1\n");
    }
}
