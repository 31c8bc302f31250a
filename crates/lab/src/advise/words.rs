//! Quantities as people say them: in three figures.

use tcplab_units::{Bytes, Span};

/// Such as `30.6 ms`.
pub fn span(span: Span) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        1.0.. => format!("{} s", figures(seconds)),
        0.001.. => format!("{} ms", figures(seconds * 1e3)),
        _ => format!("{} µs", figures(seconds * 1e6)),
    }
}

/// Such as `625 kB`.
pub fn amount(amount: Bytes) -> String {
    let bytes = amount.as_u64() as f64;
    match bytes {
        1e9.. => format!("{} GB", figures(bytes / 1e9)),
        1e6.. => format!("{} MB", figures(bytes / 1e6)),
        1e3.. => format!("{} kB", figures(bytes / 1e3)),
        _ => format!("{bytes} B"),
    }
}

/// Such as `0.05 %`.
pub(super) fn percent(share: f64) -> String {
    // As few digits as tell it: losses may be one in a million.
    let value = share * 100.0;
    let digits = if value > 0.0 { (1.0 - value.log10().floor()).clamp(2.0, 9.0) } else { 0.0 };
    let text = format!("{value:.*}", digits as usize);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A share of the time, as `tcplab trace` rounds it.
pub(super) fn share_of(share: f64) -> String {
    match share * 100.0 {
        share if share >= 9.95 => format!("{share:.0} %"),
        share if share >= 0.95 => format!("{share:.1} %"),
        share if share > 0.0 => format!("{share:.2} %"),
        _ => "0 %".to_owned(),
    }
}

fn figures(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_figures() {
        for (nanos, text) in [
            (30_563_200, "30.6 ms"),
            (1_159_245_284, "1.16 s"),
            (100_000_000, "100 ms"),
            (100_020_480, "100 ms"),
            (240_000, "240 µs"),
            (0, "0 µs"),
        ] {
            assert_eq!(span(Span::from_nanos(nanos)), text);
        }
        for (bytes, text) in [(625_128, "625 kB"), (1_250_256, "1.25 MB"), (512, "512 B")] {
            assert_eq!(amount(Bytes::new(bytes)), text);
        }
    }
}
