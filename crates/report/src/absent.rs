//! What has no values, named in notes.

/// Names in a note; more are counted.
const NAMED_MOST: usize = 4;

/// A note on the names that a figure leaves out as they have no values, each with whether that is
/// because all of its trials failed.
pub(crate) fn without_values(absent: &[(String, bool)]) -> Vec<String> {
    let note = |is_failed: bool| {
        let of = absent.iter().filter(|(_, failed)| *failed == is_failed);
        let names: Vec<&str> = of.map(|(name, _)| name.as_str()).collect();
        let why = if is_failed { " (all trials failed)" } else { "" };
        (!names.is_empty()).then(|| format!("no values: {}{why}", listed(&names)))
    };
    [true, false].into_iter().filter_map(note).collect()
}

/// The first names, and how many more there are.
pub(crate) fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(NAMED_MOST).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED_MOST {
        shown.push(format!("{} more", names.len() - NAMED_MOST));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_values_are_told_by_their_reason() {
        let absent = ["a", "b", "c", "d", "e"].map(|name| (name.to_owned(), name != "b"));
        assert_eq!(
            without_values(&absent),
            ["no values: `a`, `c`, `d`, `e` (all trials failed)", "no values: `b`"]
        );
        assert!(without_values(&[]).is_empty());
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f"]), "`a`, `b`, `c`, `d`, 2 more");
    }
}
