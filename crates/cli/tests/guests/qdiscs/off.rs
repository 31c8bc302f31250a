//! Whether the comparison sees a wrong element: keys of which one value is off.

use super::cases::Case;
use super::crossing::Crossing;
use super::quantity::{Row, compare};

/// A path with such keys beside the kernel with the right ones.
pub(crate) struct Off {
    pub(crate) element: &'static str,
    pub(crate) keys: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// An element and its keys.
const OFF: [(&str, &str); 15] = [
    ("delay", r#""delay": "20010 us""#),
    ("jitter, normal", r#""delay": "20 ms", "jitter": { "normal": "2.6 ms", "reorder": true }"#),
    ("jitter, in order", r#""delay": "20 ms", "jitter": { "normal": "2.6 ms" }"#),
    ("reorder", r#""reorder": { "probability": "5 %", "extra": "9 ms" }"#),
    ("loss 20 %", r#""loss": "35 %""#),
    ("loss, gilbert_elliott p, r, bad, good", r#""loss": "15.6 %""#),
    ("duplicate", r#""duplicate": "15 %""#),
    ("corrupt", r#""corrupt": "15 %""#),
    ("mark, ECT packets", r#""mark": "20 %""#),
    ("burst 10 kB", r#""rate": "8 Mbit/s", "burst": "11 kB", "queue": "1000 packets""#),
    ("drop-tail, packets", r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": "21 packets""#),
    (
        "codel",
        r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": { "codel": { "target": "30 ms" } }"#,
    ),
    (
        "fq_codel",
        r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": { "fq_codel": { "flows": 1 } }"#,
    ),
    (
        "red",
        r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": { "red": { "limit": "100 kB",
           "min": "20 kB", "max": "40 kB", "probability": "10 %", "weight": "0.78125 %" } }"#,
    ),
    (
        "pie",
        r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": { "pie": { "target": "60 ms",
           "update": "16 ms", "derandomize": true } }"#,
    ),
];

/// Of the elements that are among the cases.
pub(crate) fn compared(cases: &[Case], crossings: &[Crossing]) -> Vec<Off> {
    let compared = OFF.into_iter().filter_map(|(element, keys)| {
        let number = cases.iter().position(|case| case.element == element)?;
        let rows = compare(&cases[number].with(keys), &crossings[number]);
        Some(Off { element, keys, rows })
    });
    compared.collect()
}
