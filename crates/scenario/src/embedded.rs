//! Files of the repository that the program carries.

use std::sync::LazyLock;

use tcplab_embedded::embedded;

embedded! {
    /// What `build.rs` names.
    FILES
}

/// Name, without folder and ending, and text of files, by name.
pub(crate) type Texts = [(&'static str, &'static str)];

/// The built-in scenarios: the files in `scenarios/`.
pub fn catalogue() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let mut all = FILES.below("scenarios", ".toml");
        // Those compare models with kernels, for `tcplab fidelity`.
        all.retain(|(name, _)| !name.starts_with("fidelity/"));
        all
    });
    &ALL
}

/// The files in `paths/`.
pub fn presets() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| FILES.below("paths", ".toml"));
    &ALL
}

/// The files in `stacks/`.
pub(crate) fn stacks() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| FILES.below("stacks", ".toml"));
    &ALL
}

/// The schema of scenario files, as editors find it.
pub(crate) fn schema() -> &'static str {
    FILES.get("scenario.schema.json").expect("`build.rs` packs it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CLAIMS, Case, Scenario, Stack};

    #[test]
    fn every_scenario_is_read_and_asks_a_question() {
        assert!(catalogue().len() >= 60, "{}", catalogue().len());
        for (name, source) in catalogue() {
            match Scenario::parse(source, name) {
                Err(error) => panic!("{name}: {error}"),
                Ok(read) => assert!(read.question.is_some_and(|it| it.ends_with('?')), "{name}"),
            }
        }
    }

    /// The documents print what a device or Haiku does with the model of Linux; with a kernel that
    /// somebody has built, figures and claims would be others.
    #[test]
    fn other_systems_meet_model_of_linux() {
        let mut count = 0;
        for (name, source) in catalogue() {
            let folder = name.split('/').next();
            // This one has both ways of Linux beside the device.
            if !matches!(folder, Some("haiku-tcp" | "throughput-vs-response"))
                || name.ends_with("/push-before-last-write")
            {
                continue;
            }
            for case in Scenario::parse(source, name).unwrap().cases {
                let ends = [&case.client.stack, &case.server.stack];
                let is_other =
                    |end: &&Stack| matches!(end, Stack::Model(it) if !it.starts_with("linux"));
                if ends.iter().any(is_other) {
                    count += 1;
                    let are_models = ends.iter().all(|end| matches!(end, Stack::Model(_)));
                    assert!(are_models, "{name}: {}", case.name);
                }
            }
        }
        assert!(count > 100, "{count}");
    }

    /// Questions about response times are not answered by transfer times, causes not by a best
    /// level, and a ranking is of transfers that are alike.
    #[test]
    fn question_and_metric_of_every_scenario_fit() {
        for (name, source) in catalogue() {
            let read = Scenario::parse(source, name).unwrap();
            let question = read.question.as_deref().unwrap_or_default();
            let metric = read.question_metric.as_deref();
            let compared = read.compares.first().and_then(|it| it.metrics.first());
            let named = metric.or(compared.map(String::as_str));
            let named = named.or(read.plots.first().map(|plot| plot.metric.as_str()));
            let is_response = named.is_some_and(|it| it.contains("response"));
            let is_claimed = metric == Some(CLAIMS);
            if question.contains("response") {
                assert!(is_response || is_claimed, "{name}: {question} by {named:?}");
            }
            assert!(is_claimed || !question.starts_with("Why"), "{name}: {question}");
            if is_claimed {
                assert!(!read.expects.is_empty(), "{name}");
                continue;
            }
            let compared = read.compares.first().map(|it| &it.factor);
            let only = read.cases[0].levels.first().filter(|_| read.cases[0].levels.len() == 1);
            let asked = read.question_factor.as_ref().or(compared).or(only.map(|(key, _)| key));
            let rest = |case: &Case| -> Vec<_> {
                case.levels.iter().filter(|(key, _)| Some(key) != asked).cloned().collect()
            };
            for (one, other) in read.cases.iter().zip(read.cases.iter().skip(1)) {
                let [a, b] = [one, other].map(|case| &case.workload);
                let is_like = a.sending_side() == b.sending_side()
                    && (named.is_some_and(|it| it != "transfer_time") || a.amount() == b.amount());
                assert!(rest(one) != rest(other) || is_like, "{name}: {} {}", one.name, other.name);
            }
        }
    }
}
