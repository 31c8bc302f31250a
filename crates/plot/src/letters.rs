//! The approximate width of text.

use std::collections::{BTreeMap, BTreeSet};

/// Pixels of a letter at the size of the plots' text (11.5 px): that of Liberation Sans, rounded
/// up, so that other fonts fit too.
fn letter(letter: char) -> f64 {
    match letter {
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 10.5,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!'
        | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => 4.0,
        'A'..='Z' => 8.4,
        _ => 6.8,
    }
}

/// How much wider bold letters are, in the fonts of browsers.
pub(crate) const BOLDER: f64 = 1.2;

pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

/// `text`, cut with an ellipsis if wider than `room` pixels.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room = room - letter('…');
    let mut taken = 0.0;
    let kept: String = text
        .chars()
        .take_while(|it| {
            taken += letter(*it);
            taken <= room
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// The most that a case takes of the room for `LABEL: CASE`.
const CASE_SHARE: f64 = 0.7;

/// Names cut to `room` pixels each so that those that differ still do, where that is possible: at
/// the end, or in the middle where others would look the same. Of `LABEL: CASE` the label is cut,
/// in its middle.
pub(crate) fn fitted_apart<'n>(names: impl IntoIterator<Item = &'n str>, room: f64) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let cut: Vec<String> = names.iter().map(|name| fitted(name, room)).collect();
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, cut) in names.iter().zip(&cut) {
        owners.entry(cut).or_default().insert(name);
    }
    let is_alike = |cut: &str| owners.get(cut).is_some_and(|names| names.len() > 1);
    let of = |(name, cut): (&&str, &String)| {
        let of_label = name.rfind(": ").map(|at| (&name[..at], &name[at..]));
        let of_label = of_label.filter(|(_, case)| width(case) <= room * CASE_SHARE);
        match of_label {
            _ if *name == cut => cut.clone(),
            Some((label, case)) => without_middle(label, room - width(case)) + case,
            None if is_alike(cut) => without_middle(name, room),
            None => cut.clone(),
        }
    };
    names.iter().zip(&cut).map(of).collect()
}

/// Names cut in their middle are this much narrower than their room: other fonts are wider.
const NARROWER: f64 = 0.95;

/// `text` with an ellipsis in its middle if wider than `room` pixels; more of its end is kept.
fn without_middle(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room = room * NARROWER;
    let head = fitted(text, room * 0.4);
    let mut left = room - width(&head);
    let is_kept = |it: &char| {
        left -= letter(*it);
        left >= 0.0
    };
    let tail: Vec<char> = text.chars().rev().take_while(is_kept).collect();
    let tail: String = tail.into_iter().rev().collect();
    head + tail.trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_more_room_and_long_text_is_cut() {
        assert!(width("memory") > 40.0 && width("till") < 20.0);
        assert_eq!(fitted("memory", 60.0), "memory");
        let cut = fitted("a rather long name of a level", 80.0);
        assert!(cut.ends_with('…') && width(&cut) <= 80.0, "{cut}");
    }

    #[test]
    fn names_that_differ_at_the_end_stay_different() {
        let names = ["A long title of a run (65e7a674)", "A long title of a run (7f6423fe)", "b"];
        let cut = fitted_apart(names, 130.0);
        assert!(cut[0].starts_with("A lo") && cut[0].ends_with("5e7a674)"), "{cut:?}");
        assert!(cut.iter().all(|it| width(it) <= 130.0) && cut[0] != cut[1], "{cut:?}");
        assert_eq!(cut[2], "b");
        let cases = [names[0], names[1]].map(|label| format!("{label}: loss=1%_reno"));
        let of_case = fitted_apart(cases.iter().map(String::as_str), 190.0);
        assert!(of_case[0].starts_with("A ") && of_case[0].ends_with("4): loss=1%_reno"));
        assert!(of_case.iter().all(|it| width(it) <= 190.0) && of_case[0] != of_case[1]);
        // Equal names are no reason to cut in the middle.
        assert_eq!(fitted_apart([names[0]; 2], 130.0), [0; 2].map(|_| fitted(names[0], 130.0)));
    }
}
