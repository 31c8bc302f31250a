//! What was between the ends of a run's cases, in words.

use tcplab_path::{Backend, Direction, PathSpec};
use tcplab_results::SAME_HOST;
use tcplab_scenario::Case;

/// A sentence per direction; for each path too, where cases differ in it, named by what the cases
/// that have it have in common.
pub(crate) fn describe(cases: &[Case]) -> Vec<String> {
    let mut paths: Vec<(&PathSpec, Vec<&Case>)> = Vec::new();
    for case in cases {
        match paths.iter_mut().find(|(path, _)| **path == case.path) {
            Some((_, of)) => of.push(case),
            None => paths.push((&case.path, vec![case])),
        }
    }
    if let [(path, _)] = paths[..] {
        return of_path(path);
    }
    let lines = |(path, of): &(&PathSpec, Vec<&Case>)| -> Vec<String> {
        let name = name(of, cases);
        of_path(path).into_iter().map(|line| format!("{name}, {line}")).collect()
    };
    paths.iter().flat_map(lines).collect()
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
            let heads: Vec<&str> = lines.iter().filter_map(|line| line.split(':').next()).collect();
            assert_eq!(heads, names);
        }
    }
}
