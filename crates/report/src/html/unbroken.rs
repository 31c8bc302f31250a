//! Numbers that stay on the line of their unit.

/// Units that a sentence has after a number.
const UNITS: [&str; 15] = [
    "%", "s", "ms", "µs", "ns", "min", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B", "kB", "MB",
    "GB", "TB",
];

/// The text with a no-break space between each number and its unit.
pub(crate) fn unbroken(text: &str) -> String {
    let mut unbroken = String::new();
    for (index, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches([',', ';', '.', ':', ')']);
        let is_unit = UNITS.contains(&unit) && unbroken.ends_with(|it: char| it.is_ascii_digit());
        if index > 0 {
            unbroken.push(if is_unit { '\u{a0}' } else { ' ' });
        }
        unbroken.push_str(word);
    }
    unbroken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_before_a_unit_breaks_no_line() {
        let [text, expected] = [
            "Worse (+5.88 %, 95 % CI +4 % to +7 %); 2.5 s, 3 Mbit/s. a % of 12 pairs,  B",
            "Worse (+5.88~%, 95~% CI +4~% to +7~%); 2.5~s, 3~Mbit/s. a % of 12 pairs,  B",
        ];
        assert_eq!(unbroken(text), expected.replace('~', "\u{a0}"));
    }
}
