//! Whether a path that is to be used by itself asks for more than this machine can model.

use tcplab_path::PathSpec;
use tcplab_results::verification::{fastest_rate, rounded, with_confidence};
use tcplab_testbed::TrialError;
use tcplab_units::Rate;

/// A path that is slower than this is not measured for before it is used. A full packet then takes
/// 60 µs, twice what it takes a small machine to read it, wake up for it and write it; where that
/// does not hold, the mover is busy without rest, which is reported at the end
/// ([`tcplab_recording::quality`]).
const UNDOUBTED: Rate = Rate::from_bits_per_second(200_000_000);

/// What to say of a path of which this machine cannot model the rate, or may not be able to;
/// nothing if it can. `ceiling` measures how much it can model, and is only asked where that
/// matters.
pub fn doubt(
    path: &PathSpec,
    ceiling: impl FnOnce() -> Result<Rate, TrialError>,
) -> Option<String> {
    let asked = fastest_rate(path).filter(|rate| *rate > UNDOUBTED)?;
    let ceiling = match ceiling() {
        Ok(ceiling) => ceiling,
        Err(error) => {
            return Some(format!(
                "the path asks for {asked}, and how much this machine can model is not known: \
                 {error}"
            ));
        }
    };
    let highest = with_confidence(ceiling);
    (asked > highest).then(|| {
        format!(
            "the path asks for {asked}; this machine models {} at most, and up to {} with \
             confidence: above that, it is the machine that is seen, not the path",
            rounded(ceiling),
            rounded(highest)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: u64 = 1_000_000_000;

    fn path(json: &str) -> PathSpec {
        serde_json::from_str(json).unwrap()
    }

    /// With a machine that models 5 Gbit/s.
    fn doubt_at_5_gbit(json: &str) -> Option<String> {
        doubt(&path(json), || Ok(Rate::from_bits_per_second(5 * GIGABIT)))
    }

    #[test]
    fn rate_above_ceiling_is_doubted() {
        // 24 Gbit/s, by 4,001 full packets in each 2 ms; and 6 Gbit/s for 100 ms of each 10 s.
        let steady = format!("{}2", "1,".repeat(4000));
        let burst: Vec<String> = (1..=100)
            .flat_map(|ms| std::iter::repeat_n(ms, 500))
            .chain((2..=100).map(|tenth| tenth * 100))
            .map(|ms: u32| ms.to_string())
            .collect();
        let steps = r#""start": "1 Mbit/s", "steps": [{ "at": "1 s", "to": "100 Gbit/s" }]"#;
        for (asked, json) in [
            ("100 Gbit/s", r#"{ "rate": "100 Gbit/s" }"#.to_owned()),
            ("4.001 Gbit/s", r#"{ "rate": "4001 Mbit/s" }"#.into()),
            (
                "100 Gbit/s",
                r#"{ "forward": { "rate": "1 Mbit/s" }, "reverse": { "rate": "100 Gbit/s" } }"#
                    .into(),
            ),
            ("100 Gbit/s", r#"{ "rate": "100 Gbit/s", "burst": "64 kB" }"#.into()),
            ("100 Gbit/s", format!(r#"{{ "rate": {{ {steps} }} }}"#)),
            ("24.006 Gbit/s", format!(r#"{{ "rate": {{ "opportunities": [{steady}] }} }}"#)),
            ("6 Gbit/s", format!(r#"{{ "rate": {{ "opportunities": [{}] }} }}"#, burst.join(","))),
        ] {
            let shown = &json[..json.len().min(80)];
            let doubt = doubt_at_5_gbit(&json).unwrap_or_else(|| panic!("{shown} gives no doubt"));
            let known = format!(
                "asks for {asked}; this machine models 5 Gbit/s at most, and up to 4 Gbit/s with"
            );
            assert!(doubt.contains(&known), "{shown}: {doubt}");
        }
        assert_eq!(doubt_at_5_gbit(r#"{ "rate": "4 Gbit/s" }"#), None);
        // The fastest that there is in 802.11ac.
        let wifi = r#"{ "wifi": { "standard": "ac", "rate": "6933.3 Mbit/s" } }"#;
        assert_eq!(doubt_at_5_gbit(wifi), None);
        let slow = doubt(&path(wifi), || Ok(Rate::from_bits_per_second(GIGABIT)));
        assert!(slow.is_some());
        // The slower of two in a row decides.
        let stages = r#"{ "stages": [{ "rate": "100 Gbit/s" }, { "rate": "1 Gbit/s" }] }"#;
        assert_eq!(doubt_at_5_gbit(stages), None);
    }

    #[test]
    fn slow_path_is_not_measured() {
        for json in [
            "{}",
            r#"{ "delay": "20 ms" }"#,
            r#"{ "rate": "200 Mbit/s" }"#,
            r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" } }"#,
        ] {
            assert_eq!(doubt(&path(json), || panic!("{json} is measured for")), None);
        }
    }

    #[test]
    fn unmeasured_checks_are_listed() {
        let doubt = doubt(&path(r#"{ "rate": "1 Gbit/s" }"#), || Err(TrialError::Stopped)).unwrap();
        assert!(doubt.starts_with("the path asks for 1 Gbit/s, and how much"), "{doubt}");
    }
}
