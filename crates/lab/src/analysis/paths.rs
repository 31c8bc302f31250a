//! What was between the ends of a run's cases, in words.

use tcplab_path::{Backend, Direction, PathSpec};
use tcplab_results::SAME_HOST;
use tcplab_scenario::Case;

/// A sentence per direction; for each path too, where cases differ in it, named by what the cases
/// that have it have in common.
pub(crate) fn describe(cases: &[Case]) -> Vec<String> {
    let mut paths: Vec<(Paths<'_>, Vec<&Case>)> = Vec::new();
    for case in cases {
        let own = (&case.path, case.second_path.as_ref());
        match paths.iter_mut().find(|(known, _)| *known == own) {
            Some((_, of)) => of.push(case),
            None => paths.push((own, vec![case])),
        }
    }
    if let [(own, _)] = paths[..] {
        return of_paths(own);
    }
    let lines = |(own, of): &(Paths<'_>, Vec<&Case>)| -> Vec<String> {
        let name = name(of, cases);
        of_paths(*own).into_iter().map(|line| format!("{name}, {line}")).collect()
    };
    paths.iter().flat_map(lines).collect()
}

/// A path, and a second one.
type Paths<'a> = (&'a PathSpec, Option<&'a PathSpec>);

fn of_paths((path, second): Paths<'_>) -> Vec<String> {
    let second = second.into_iter().flat_map(of_path);
    let second = second.map(|line| format!("second path, {line}"));
    of_path(path).into_iter().chain(second).collect()
}

/// The levels that some cases share and that the others do not all have, or else their names.
fn name(some: &[&Case], all: &[Case]) -> String {
    let [first, rest @ ..] = some else { return String::new() };
    let levels = first.levels.iter().filter(|level| {
        rest.iter().all(|case| case.levels.contains(level))
            && !all.iter().all(|case| case.levels.contains(level))
    });
    let levels: Vec<&str> = levels.map(|(_, level)| level.as_str()).collect();
    if rest.is_empty() || levels.is_empty() {
        let names: Vec<&str> = some.iter().map(|case| case.name.as_str()).collect();
        return names.join(", ");
    }
    levels.join(", ")
}

fn of_path(path: &PathSpec) -> Vec<String> {
    if path.same_host {
        return vec![SAME_HOST.into()];
    }
    Direction::BOTH
        .into_iter()
        .filter_map(|direction| {
            let link = path.link(direction).ok()?;
            let by = match path.backend.unwrap_or_default() {
                Backend::Tcplab => "",
                Backend::Netem => ", by netem",
            };
            Some(format!("{direction}{by}: {}", link.describe().join(" ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_scenario::Scenario;

    #[test]
    fn equal_paths_are_described_once() {
        let source = |matrix: &str| {
            let workload = "[workload]\nupload = \"1 B\"\n";
            format!("title = \"t\"\n[path]\n{workload}[matrix]\n{matrix}")
        };
        let sizes = "\"workload.write_size\" = [\"1 kB\", \"2 kB\"]\n";
        let delays = "\"path.delay\" = [\"1 ms\", \"2 ms\"]\n";
        let both = delays.to_string() + sizes;
        for (matrix, names) in [
            (sizes, ["forward", "reverse"].as_slice()),
            (delays, &["1ms, forward", "1ms, reverse", "2ms, forward", "2ms, reverse"]),
            (&both, &["1 ms, forward", "1 ms, reverse", "2 ms, forward", "2 ms, reverse"]),
        ] {
            let scenario = Scenario::parse(&source(matrix), "t").unwrap();
            let lines = describe(&scenario.cases);
            assert_eq!(heads(&lines), names);
        }
    }

    fn heads(lines: &[String]) -> Vec<&str> {
        lines.iter().filter_map(|line| line.split(':').next()).collect()
    }

    #[test]
    fn second_path_is_described_behind_the_first() {
        let source = "title = \"t\"\n[path]\n[workload]\nupload = \"1 B\"\nthrough = \"mptcp\"\n\
                      [matrix.paths]\none = {}\ntwo = { \"second_path.delay\" = \"1 ms\" }\n";
        let scenario = Scenario::parse(source, "t").unwrap();
        let of_one = ["one, forward", "one, reverse"];
        let of_two = ["two, forward", "two, reverse", "two, second path, forward"];
        let lines = describe(&scenario.cases);
        assert_eq!(heads(&lines)[..5], [&of_one[..], &of_two[..]].concat());
    }
}
