//! Texts as fields of comma-separated values.

use std::borrow::Cow;

/// A text as a field of RFC 4180. Names in captures and scenarios are foreign: one that a
/// spreadsheet would take for a formula gets a `'` before it, as OWASP advises ("CSV injection").
/// Numbers stay numbers.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text = if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) };
    if text.contains(['"', ',', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_disarmed() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\""),
            ("@SUM(1+1)", "'@SUM(1+1)"),
            ("+1+1", "'+1+1"),
            ("-1+1", "'-1+1"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("-1.5", "-1.5"),
            ("+3", "+3"),
            ("-2e-9", "-2e-9"),
            ("", ""),
        ] {
            assert_eq!(csv_field(text), field, "{text:?}");
        }
    }
}
