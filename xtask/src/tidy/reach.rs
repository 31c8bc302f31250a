//! Which files the compiler reads: a file no `mod` leads to is dead, however alive it looks.

use std::collections::BTreeMap;

use super::modules::{is_root, modules};
use super::source::Source;
use super::violation::Violation;

/// Reports the files under a crate's `src` that nothing leads to; on the way, marks those that only
/// `#[cfg(test)]` leads to as tests.
pub(super) fn check(sources: &mut [Source]) -> Vec<Violation> {
    let reached = reached_from_roots(sources);
    let mut violations = Vec::new();
    for source in sources.iter_mut().filter(|source| source.path.contains("/src/")) {
        match reached.get(&source.path) {
            Some(only_tests) => source.test_file = *only_tests,
            None if source.crate_name().is_some() => violations.push(Violation {
                path: source.path.clone(),
                line: 1,
                what: "no `mod` leads to this file".into(),
                why: "it is never compiled".into(),
                remedy: "declare it or delete it".into(),
            }),
            None => {}
        }
    }
    violations
}

/// Every file a crate's roots lead to, and whether only tests do.
fn reached_from_roots(sources: &[Source]) -> BTreeMap<String, bool> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let mut reached = BTreeMap::new();
    let mut waiting: Vec<(String, bool)> =
        by_path.keys().filter(|path| is_root(path)).map(|path| ((*path).into(), false)).collect();
    while let Some((path, only_tests)) = waiting.pop() {
        let Some(source) = by_path.get(path.as_str()) else { continue };
        match reached.get(&path) {
            Some(false) => continue,
            Some(true) if only_tests => continue,
            _ => reached.insert(path, only_tests),
        };
        for module in modules(source) {
            let only_tests = only_tests || source.is_test(module.at);
            waiting.extend(module.files.into_iter().map(|file| (file, only_tests)));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_files_are_reported_and_test_files_marked() {
        let mut sources: Vec<Source> = [
            (
                "crates/path/src/lib.rs",
                "mod queue;\nmod rate;\n#[cfg(test)]\nmod tests;\n// mod x;",
            ),
            ("crates/path/src/queue.rs", "mod codel;\n#[cfg(test)]\nmod tests;"),
            ("crates/path/src/queue/codel.rs", "mod inner {\n    mod deep;\n}\nmod after;"),
            ("crates/path/src/queue/codel/inner/deep.rs", ""),
            ("crates/path/src/queue/codel/after.rs", ""),
            ("crates/path/src/queue/tests.rs", "mod pair;"),
            ("crates/path/src/queue/tests/pair.rs", ""),
            ("crates/path/src/rate/mod.rs", "mod bucket;\n#[path = \"odd.rs\"]\nmod even;"),
            ("crates/path/src/rate/bucket.rs", ""),
            ("crates/path/src/rate/odd.rs", ""),
            ("crates/path/src/rate/even.rs", ""),
            ("crates/path/src/tests.rs", ""),
            ("crates/path/src/x.rs", "mod y;"),
            ("crates/path/src/x/y.rs", ""),
            ("crates/path/src/bin/tool.rs", ""),
            ("crates/path/tests/whole.rs", ""),
        ]
        .iter()
        .map(|(path, text)| Source::new(path, text))
        .collect();

        let dead: Vec<String> = check(&mut sources).into_iter().map(|one| one.path).collect();
        assert_eq!(
            dead,
            ["crates/path/src/rate/even.rs", "crates/path/src/x.rs", "crates/path/src/x/y.rs"]
        );
        let tests: Vec<&str> =
            sources.iter().filter(|source| source.test_file).map(|one| one.path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/path/src/queue/tests.rs",
                "crates/path/src/queue/tests/pair.rs",
                "crates/path/src/tests.rs",
                "crates/path/tests/whole.rs",
            ]
        );
    }
}
