//! The number of trials with which a scenario's comparison can find anything, before it is run.

use tcplab_results::comparison::ALPHA;
use tcplab_scenario::{Case, Compare};
use tcplab_stats::{least_p_of_pairs, least_pairs};

/// Of the key metrics, those that vary between the trials of a transfer: its time,
/// retransmissions, timeouts and the mean RTT.
const USUAL: usize = 4;

/// Why `trials` of each of these cases decide nothing about a comparison, if they cannot: the
/// smallest probability that so many pairs have is too large even for the first metric alone, over
/// all combinations of the other levels.
pub(crate) fn undecidable(cases: &[Case], compare: &Compare, trials: u32) -> Option<String> {
    let (combinations, pairs) = (compare.combinations(cases), trials as usize);
    if combinations == 0 || least_p_of_pairs(pairs) <= ALPHA / combinations as f64 {
        return None;
    }
    let [first, second] = &compare.levels;
    let have = if trials == 1 { "1 pair".into() } else { format!("{trials} pairs") };
    Some(format!(
        "comparison of {second} against {first}: {have} of trials can show no difference, however \
         large; run {} trials of each case",
        deciding(combinations, compare)
    ))
}

/// The number of trials with which each test of a comparison can show a difference, after the
/// correction for all of them (Holm).
fn deciding(combinations: usize, compare: &Compare) -> usize {
    let metrics = if compare.metrics.is_empty() { USUAL } else { compare.metrics.len() };
    least_pairs(ALPHA / (combinations * metrics) as f64)
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::{Scenario, catalogue};

    use super::*;

    fn scenario(more: &str) -> Scenario {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"path.loss\" = [\"1 %\", \"2 %\", \"3 %\"]\n\
             \"client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
             [[compare]]\nfactor = \"client.socket.congestion\"\n{more}"
        );
        Scenario::parse(&source, "t").unwrap()
    }

    /// 2⁻⁵ = 0.031 is above 0.05 / 3, 2⁻⁶ = 0.016 below; 2⁻⁷ = 0.0078 is below 0.05 / 6, and
    /// 2⁻⁸ = 0.0039 below 0.05 / 12.
    #[test]
    fn comparison_names_the_trials_that_can_decide() {
        for (metrics, trials, needed) in [
            ("metrics = [\"goodput\"]", 6, Some(7)),
            ("metrics = [\"goodput\"]", 7, None),
            ("metrics = [\"goodput\", \"mean_rtt\"]", 3, Some(8)),
            ("", 1, Some(9)),
        ] {
            let scenario = scenario(metrics);
            let found = undecidable(&scenario.cases, &scenario.compares[0], trials);
            assert_eq!(found.is_some(), needed.is_some(), "{metrics}, {trials}: {found:?}");
            if let (Some(found), Some(needed)) = (found, needed) {
                assert!(found.ends_with(&format!("; run {needed} trials of each case")), "{found}");
            }
        }
    }

    #[test]
    fn silent_scenario_has_enough_trials_to_decide() {
        let scenario = scenario("");
        assert_eq!(undecidable(&scenario.cases, &scenario.compares[0], scenario.trials), None);
        assert!(scenario.trials as usize >= deciding(3, &scenario.compares[0]));
    }

    #[test]
    fn comparisons_of_the_catalogue_can_be_decided() {
        let mut seen = 0;
        for (name, source) in catalogue() {
            let scenario = Scenario::parse(source, name).unwrap();
            for compare in &scenario.compares {
                let needed = deciding(compare.combinations(&scenario.cases), compare);
                assert!(scenario.trials as usize >= needed, "{name}: {needed}");
                seen += 1;
            }
        }
        assert!(seen >= 5, "{seen}");
    }
}
