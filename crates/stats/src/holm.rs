//! Many comparisons at once.

/// The probabilities of a family of tests, corrected so that the chance of even one false alarm
/// among them stays what it is for a single one (Holm 1979). In the order given.
///
/// # Panics
/// When one is not a number.
pub fn holm(family: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..family.len()).collect();
    order.sort_by(|a, b| family[*a].partial_cmp(&family[*b]).expect("probabilities are numbers"));
    let mut corrected = vec![0.0; family.len()];
    let mut most: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        most = most.max((family[index] * (family.len() - place) as f64).min(1.0));
        corrected[index] = most;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_p_is_multiplied_most() {
        // scripts/scipy_values.py; R's p.adjust(method = "holm") says the same.
        let corrected = holm(&[0.001, 0.04, 0.03, 0.005, 0.6]);
        for (ours, theirs) in corrected.iter().zip([0.005, 0.09, 0.09, 0.02, 0.6]) {
            assert!((ours - theirs).abs() < 1e-12, "{corrected:?}");
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
