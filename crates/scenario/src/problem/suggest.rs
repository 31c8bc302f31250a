//! Suggests the word that the user meant.

use std::cmp::Reverse;

/// The most similar of the `known` words, and all of them.
pub(super) fn suggest(word: &str, known: &[String], list: &str) -> String {
    let all = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let meant = known.iter().map(String::as_str).find(|known| *known == meant(word));
    match meant.or_else(|| nearest(word, known.iter().map(String::as_str))) {
        Some(near) => format!("did you mean `{near}`? {list} {all}"),
        None => format!("{list} {all}"),
    }
}

/// The most similar of the `known` words, if one is similar enough; of several, the one that begins
/// alike.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let like = known
        .map(|known| (distance(word, known), known))
        .filter(|(distance, known)| *distance <= (known.chars().count() / 3).max(1))
        .min_by_key(|(distance, known)| (*distance, Reverse(common_letters(word, known))));
    like.map(|(_, near)| near)
}

/// Words that people write for a key, and the key.
const MEANT: [(&str, &str); 16] = [
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("latency", "delay"),
    ("ping", "rtt"),
    ("packet_loss", "loss"),
    ("loss_rate", "loss"),
    ("buffer", "queue"),
    ("limit", "queue"),
    ("cc", "congestion"),
    ("cca", "congestion"),
    ("congestion_control", "congestion"),
    ("mss", "maxseg"),
    ("runs", "trials"),
    ("repetitions", "trials"),
];

/// The key that people mean by a word: the word itself, if they mean no other.
pub(crate) fn meant(word: &str) -> &str {
    let other = MEANT.iter().find(|(written, _)| word.eq_ignore_ascii_case(written));
    other.map_or(word, |(_, key)| key)
}

/// How many letters two words have in common at their beginnings.
fn common_letters(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
}

/// The restricted edit distance (Damerau 1964), ignoring case: how many letters must be added,
/// removed, changed or swapped with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|word| word.to_lowercase().chars().collect::<Vec<_>>());
    // rows[i][j] is the distance of the first i letters of one to the first j of the other.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, expected) in [
            ("delay", "delay", 0),
            ("dealy", "delay", 1),
            ("dlay", "delay", 1),
            ("Delay", "delay", 0),
            ("", "rate", 4),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn word_that_begins_alike_is_nearest() {
        assert_eq!(nearest("rat", ["rtt", "rate"].into_iter()), Some("rate"));
        assert_eq!(nearest("rnu", ["run"].into_iter()), Some("run"));
    }

    #[test]
    fn distant_words_are_not_suggested() {
        let known = ["rate", "delay", "queue"].map(String::from);
        assert_eq!(
            suggest("dlay", &known, "use"),
            "did you mean `delay`? use `rate`, `delay`, `queue`"
        );
        assert_eq!(suggest("Latency", &known, "use"), suggest("dlay", &known, "use"));
        assert_eq!(suggest("colour", &known, "use"), "use `rate`, `delay`, `queue`");
    }
}
