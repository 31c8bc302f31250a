//! How numbers and names are written for people.

use tcplab_plot::decimal;

/// Decimals that show `value` in about four figures, none beyond the fourth.
pub(crate) fn decimals(value: f64) -> usize {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return 0;
    }
    (3.0 - size.log10().floor()).clamp(0.0, 4.0) as usize
}

/// Decimals for a mean with the standard deviation `deviation`: two figures of the latter, so no
/// digit is shown that the next run would change.
pub(crate) fn decimals_of_mean(mean: f64, deviation: Option<f64>) -> usize {
    match deviation {
        Some(sd) if sd > 0.0 && sd.is_finite() => {
            (1.0 - sd.log10().floor()).clamp(0.0, 4.0) as usize
        }
        _ if mean.fract() == 0.0 => 0,
        _ => decimals(mean),
    }
}

/// `value` in about four figures, whole numbers without a point.
pub(crate) fn figures(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 {
        return decimal(value, 0);
    }
    decimal(value, decimals(value))
}

/// `transfer_time` as `transfer time`.
pub(crate) fn words(name: &str) -> String {
    name.replace(['_', '.'], " ")
}

/// `1 trial`, `5 trials`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", tcplab_plot::grouped(count as u64), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    #[test]
    fn four_figures_are_enough() {
        for (value, text) in [
            (20.123_456, "20.12"),
            (0.214_5, "0.2145"),
            (4.0, "4"),
            (1_967_433.4, "1,967,433"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(super::figures(value), text);
        }
    }
}
