//! The cases of several runs, those of equal names and levels together.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_results::{Case, Run};

use crate::title::{free_name, short};

/// The cases that the runs have, each once.
pub(super) struct Columns {
    /// In the order in which the runs have them; unique.
    pub(super) names: Vec<String>,
    /// The column of each case of each run.
    of: Vec<Vec<usize>>,
}

impl Columns {
    pub(super) fn of<'r>(runs: impl Iterator<Item = &'r Run>) -> Columns {
        let mut cases: Vec<&Case> = Vec::new();
        let mut places = BTreeMap::new();
        let mut of: Vec<Vec<usize>> = Vec::new();
        for run in runs {
            let place = |case: &'r Case| {
                *places.entry((case.name.as_str(), case.levels.as_slice())).or_insert_with(|| {
                    cases.push(case);
                    cases.len() - 1
                })
            };
            of.push(run.cases.iter().map(place).collect());
        }
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &cases {
            *count.entry(&case.name).or_default() += 1;
        }
        let (mut names, mut taken) = (Vec::new(), BTreeSet::new());
        for case in &cases {
            let is_alone = count[case.name.as_str()] == 1;
            let name = if is_alone { case.name.clone() } else { levels(case) };
            let name = free_name(&name, ' ', |name| taken.contains(name));
            taken.insert(name.clone());
            names.push(name);
        }
        Columns { names, of }
    }

    /// That of a case of a run, by their indices.
    pub(super) fn column(&self, run: usize, case: usize) -> usize {
        self.of[run][case]
    }
}

/// The levels with their factors: equal levels of other factors are other cases.
fn levels(case: &Case) -> String {
    if case.levels.is_empty() {
        return case.name.clone();
    }
    let level = |(key, level): &(String, String)| format!("{} {level}", short(key));
    case.levels.iter().map(level).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_of_other_factors_are_other_cases() {
        let case = |name: &str, key: &str, level: &str| Case {
            name: name.into(),
            levels: vec![(key.into(), level.into())],
            ..Case::default()
        };
        let run = |cases: Vec<Case>| Run { cases, ..Run::default() };
        let first = run(vec![case("reno", "client.cc", "reno"), case("5ms", "path.delay", "5 ms")]);
        let second =
            run(vec![case("5ms", "path.jitter", "5 ms"), case("reno", "client.cc", "reno")]);
        let columns = Columns::of([&first, &second].into_iter());
        assert_eq!(columns.names, ["reno", "delay 5 ms", "jitter 5 ms"]);
        let place = |run, case| columns.column(run, case);
        assert_eq!([place(0, 0), place(0, 1), place(1, 0), place(1, 1)], [0, 1, 2, 0]);
    }
}
