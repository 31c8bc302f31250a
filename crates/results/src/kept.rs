//! What stays in memory of the trials of a case.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::metrics::MetricNames;
use crate::{FlowSeries, Recovery, Trial};

/// The trials of a case as far as they stay in memory: of one whose packets are not kept its
/// metrics, those of its flows too, and what is wrong with it, so that memory does not grow with
/// what each of ten thousand trials has to say. What else is known of it is in its directory, and
/// read where it is needed.
#[derive(Debug, Default)]
pub struct KeptTrials {
    /// By number.
    pub trials: Vec<Trial>,
    /// The episodes of those trials that are without theirs.
    pub forgotten: Recovery,
}

impl KeptTrials {
    /// With capacity for this many trials.
    pub fn of(trials: usize) -> KeptTrials {
        KeptTrials { trials: Vec::with_capacity(trials), forgotten: Recovery::default() }
    }

    /// The next trial; `names` has those of metrics that were met before.
    pub fn add(&mut self, mut trial: Trial, names: &mut MetricNames) {
        trial.metrics.share(names);
        if trial.has_packets {
            self.trials.push(trial);
            return;
        }
        self.forgotten.count(&trial.episodes);
        let empty = Trial::empty(trial.warnings);
        let Trial { number, seed, directory, metrics, connections, .. } = trial;
        let (flaws, put_aside, medium) = (trial.flaws, trial.put_aside, trial.medium);
        // Metrics of flows are drawn over what was varied; what arrived when is not.
        let mut flows = trial.flows;
        for flow in &mut flows {
            flow.series = FlowSeries::default();
        }
        // Claims about a load that could not be put on anything are left out.
        let load = trial.load.filter(|load| load.impossible.is_some());
        let known = Trial { number, seed, directory, metrics, connections, ..empty };
        let known = Trial { flaws, put_aside, medium, ..known };
        self.trials.push(Trial { load, flows, has_packets: false, ..known });
    }
}

/// From a list of whole trials, of which one is in memory at a time.
impl<'de> Deserialize<'de> for KeptTrials {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<KeptTrials, D::Error> {
        struct Trials;
        impl<'de> Visitor<'de> for Trials {
            type Value = KeptTrials;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of trials")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut trials: A) -> Result<KeptTrials, A::Error> {
                let (mut kept, mut names) = (KeptTrials::default(), MetricNames::default());
                while let Some(trial) = trials.next_element()? {
                    kept.add(trial, &mut names);
                }
                Ok(kept)
            }
        }
        deserializer.deserialize_seq(Trials)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;
    use crate::{Case, EpisodeRow, FindingRow, InterruptionRow, Metric};

    /// With all that a trial of 10 MB has to say, and more of it the worse the path is.
    fn trial(number: u32, episodes: usize) -> Trial {
        let metrics = tcplab_scenario::METRICS.iter().map(|info| Metric {
            name: info.name.into(),
            unit: info.unit.into(),
            value: f64::from(number),
        });
        let episode = |number| EpisodeRow {
            number,
            kind: ["with time lag", "without time lag"][number % 2].into(),
            lost_segments: 2,
            repaired: number != 1,
            truth_lost: Some(2),
            story: "Two segments were lost and retransmitted.".into(),
            ..EpisodeRow::default()
        };
        let interruption = |number| InterruptionRow {
            number,
            start_s: 1.0,
            lasting_s: 0.2,
            recovery_s: Some(0.1),
            lost_bytes: Some(1e5),
        };
        let finding = FindingRow {
            rule: "path-full".into(),
            statement: "The client filled the path.".into(),
            remedy: None,
            frames: vec![1, 2],
        };
        Trial {
            number,
            seed: 1,
            directory: format!("trials/base-{number}"),
            metrics: metrics.collect(),
            episodes: (1..=episodes).map(episode).collect(),
            interruptions: (1..=episodes as u64).map(interruption).collect(),
            findings: vec![finding; episodes],
            has_packets: false,
            ..Trial::empty(Vec::new())
        }
    }

    /// Bytes that a trial takes, names of metrics apart. What is new in it has to be counted.
    fn room(trial: &Trial) -> usize {
        let Trial {
            number: _,
            seed: _,
            directory,
            metrics,
            connections: _,
            episodes,
            interruptions,
            findings,
            ends,
            ending,
            load,
            options,
            flaws,
            put_aside: _,
            warnings,
            medium,
            has_packets: _,
            flows,
        } = trial;
        assert!(episodes.capacity() + interruptions.capacity() + findings.capacity() == 0);
        assert!(ends.capacity() + options.capacity() + flows.capacity() == 0);
        assert!(flaws.capacity() + warnings.capacity() == 0);
        assert!(ending.is_none() && load.is_none() && medium.is_none());
        size_of::<Trial>() + directory.capacity() + metrics.iter().count() * size_of::<f64>()
    }

    /// Ten thousand transfers with some thirty metrics each take six megabytes.
    #[test]
    fn trials_without_packets_take_constant_memory() {
        /// Besides the metrics.
        const MOST: usize = 400;
        let kept = |episodes: usize| {
            let (mut kept, mut names) = (KeptTrials::of(200), MetricNames::default());
            (1..=200).for_each(|number| kept.add(trial(number, episodes), &mut names));
            assert_eq!(names.len(), 1, "names are there once");
            assert_eq!(kept.forgotten.episodes(), 200 * episodes);
            assert_eq!(kept.trials.capacity(), 200);
            kept.trials.iter().map(room).sum::<usize>() / kept.trials.len()
        };
        let (few, many) = (kept(2), kept(300));
        assert_eq!(few, many);
        let metrics = tcplab_scenario::METRICS.len() * size_of::<f64>();
        assert!(few <= MOST + metrics, "{few} bytes a trial, {metrics} of them metrics");
    }

    /// As it is read from `run.json`, so it is when it was just analysed.
    #[test]
    fn run_json_reads_back_as_analysed() {
        let whole: Vec<Trial> =
            (1..=3).map(|number| Trial { has_packets: number == 1, ..trial(number, 3) }).collect();
        let text = serde_json::json!({
            "name": "base", "levels": [], "world": "sim", "trials": whole, "summaries": []
        });
        let read: Case = serde_json::from_value(text).unwrap();
        let (mut kept, mut names) = (KeptTrials::default(), MetricNames::default());
        whole.iter().cloned().for_each(|trial| kept.add(trial, &mut names));
        assert_eq!((&read.trials, &read.forgotten), (&kept.trials, &kept.forgotten));
        assert_eq!(read.trials[0], whole[0], "of one with packets all is kept");
        assert!(read.trials[1].episodes.is_empty());
        let all = read.recovery();
        let counts = (all.episodes(), all.of_kind("with time lag"), all.repaired);
        assert_eq!((counts, all.lost_segments), ((9, 3, 6), 18));
    }
}
