//! What is wrong with a request, without the names of this program's types.

/// The words of serde, and of the standard library where it reads numbers, for people: "expected a
/// whole number, not `1.5`" in place of "invalid type: floating point `1.5`, expected u32".
pub(super) fn in_plain_words(error: &str) -> String {
    let (error, place) = match error.rfind(" at line ") {
        Some(at) => {
            (&error[..at], format!(" ({})", error[at + 4..].replace(" column", ", column")))
        }
        None => (error, String::new()),
    };
    format!("{}{place}", of_value(error))
}

fn of_value(error: &str) -> String {
    let invalid = ["invalid type: ", "invalid value: "];
    let found = invalid.iter().find_map(|it| error.strip_prefix(it));
    if let Some((found, wanted)) = found.and_then(|it| it.rsplit_once(", expected ")) {
        return format!("expected {}, not {}", type_in_words(wanted), value_in_words(found));
    }
    if let Some((value, kind)) =
        error.strip_prefix("Cannot parse ").and_then(|it| it.rsplit_once(" to a "))
    {
        let value = value.rsplit_once(" with value ").map_or(value, |(_, value)| value);
        return format!("expected {}, not {value}", type_in_words(kind.trim_matches('`')));
    }
    if let Some(rest) = error.strip_prefix("unknown variant ") {
        return format!("unknown value {rest}");
    }
    if let Some(what) = error.strip_prefix("EOF while parsing ") {
        return format!("it ends within {what}");
    }
    let length = error.strip_prefix("invalid length ");
    if let Some((found, size)) = length.and_then(|it| it.split_once(", expected a tuple of size "))
    {
        return format!("expected a list of {size}, not of {found}");
    }
    let of_key = error.split_once(": ").filter(|(_, what)| NUMBERS.iter().any(|it| it.0 == *what));
    let (key, what) =
        of_key.map_or((String::new(), error), |(key, what)| (format!("`{key}`: "), what));
    let known = NUMBERS.iter().find(|(from, _)| *from == what);
    format!("{key}{}", known.map_or(what, |(_, plain)| plain))
}

/// What the standard library says of a text that is no number.
const NUMBERS: [(&str, &str); 7] = [
    ("invalid digit found in string", "expected a whole number that is not negative"),
    ("cannot parse integer from empty string", "a number is missing"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "expected a number"),
    ("cannot parse float from empty string", "a number is missing"),
    ("provided string was not `true` or `false`", "expected `true` or `false`"),
];

fn type_in_words(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "string" | "a string" | "a borrowed string" => "text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if wanted.starts_with("struct ") || wanted.contains("tagged enum ") => "an object",
        _ if wanted.starts_with("enum ") || wanted.starts_with("variant ") => "one of its values",
        _ if wanted.starts_with("a tuple ") || wanted.starts_with("tuple ") => "a list",
        _ => wanted,
    }
}

fn value_in_words(found: &str) -> &str {
    let kinds = ["floating point ", "integer ", "boolean ", "string ", "character "];
    match found {
        "map" => "an object",
        "sequence" => "a list",
        "unit value" => "null",
        _ => kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_no_type_of_this_program() {
        for (error, plain) in [
            (
                "invalid type: floating point `1.5`, expected u32 at line 1 column 213",
                "expected a whole number that is not negative, not `1.5` (line 1, column 213)",
            ),
            ("invalid type: string \"x\", expected struct Draft", "expected an object, not \"x\""),
            (
                "invalid type: null, expected internally tagged enum Wish",
                "expected an object, not null",
            ),
            ("invalid type: map, expected a string", "expected text, not an object"),
            ("missing field `run`", "missing field `run`"),
            (
                "trial: invalid digit found in string",
                "`trial`: expected a whole number that is not negative",
            ),
            (
                "Cannot parse `abc` to a `u64`",
                "expected a whole number that is not negative, not `abc`",
            ),
            ("unknown variant `a`, expected `b`", "unknown value `a`, expected `b`"),
            ("invalid length 1, expected a tuple of size 2", "expected a list of 2, not of 1"),
            ("EOF while parsing an object", "it ends within an object"),
            ("unknown field `a`, expected `b` or `c`", "unknown field `a`, expected `b` or `c`"),
        ] {
            assert_eq!(in_plain_words(error), plain);
        }
    }
}
