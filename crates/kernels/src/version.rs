//! Names that are versions.

/// Whether a text is a version whose source Debian may have, such as `6.12`.
pub(crate) fn is_version(text: &str) -> bool {
    text.split_once('.').is_some_and(|(major, minor)| {
        [major, minor]
            .iter()
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    })
}
