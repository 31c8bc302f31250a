//! Imports point one way.
//!
//! The rooms of a crate are its topmost modules, and its root. They never import each other, not
//! even through others; nor do two files of a crate directly. The files of some crates never do,
//! not even through others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::imports::{Edges, Imports, ModulePath, Place};
use super::source::Source;
use super::violation::Violation;

/// Crates whose files form no circle at all: the largest, where one is soon lost.
const WITHOUT_ANY: [&str; 1] = ["lab"];

pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    Imports::of_all(sources).iter().flat_map(check_crate).collect()
}

fn check_crate(imports: &Imports<'_>) -> Vec<Violation> {
    let rooms = between_rooms(&imports.edges);
    let mut violations: Vec<Violation> =
        circles(&rooms).iter().map(|circle| violation("rooms", circle, &rooms)).collect();
    let files = &imports.edges;
    if WITHOUT_ANY.contains(&imports.crate_name) {
        violations.extend(circles(files).iter().map(|circle| violation("files", circle, files)));
    } else {
        let pairs = files.iter().flat_map(|(from, to)| to.keys().map(move |to| (from, to)));
        violations.extend(
            pairs
                .filter(|(from, to)| from < to && imports_from(files, to, from))
                .map(|(from, to)| violation("files", &[from.clone(), to.clone()], files)),
        );
    }
    violations
}

fn imports_from(edges: &Edges, from: &ModulePath, to: &ModulePath) -> bool {
    edges.get(from).is_some_and(|all| all.contains_key(to))
}

fn between_rooms(files: &Edges) -> Edges {
    let room = |path: &ModulePath| -> ModulePath { path.iter().take(1).cloned().collect() };
    let mut rooms = Edges::new();
    for (from, all) in files {
        for (to, place) in all.iter().filter(|(to, _)| room(to) != room(from)) {
            let others = rooms.entry(room(from)).or_default();
            others.entry(room(to)).or_insert_with(|| place.clone());
        }
    }
    rooms
}

/// A shortest circle through each module that is on one, each circle once; of two that share a
/// module, the one that was met first.
fn circles(edges: &Edges) -> Vec<Vec<ModulePath>> {
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    for from in edges.keys() {
        if reported.contains(from) {
            continue;
        }
        if let Some(circle) = shortest_from(from, edges) {
            reported.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

fn shortest_from(from: &ModulePath, edges: &Edges) -> Option<Vec<ModulePath>> {
    let mut reached_by: BTreeMap<&ModulePath, &ModulePath> = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        for next in edges.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next == from {
                let back = std::iter::successors(Some(at), |at| reached_by.get(at).copied());
                let mut circle: Vec<ModulePath> = back.cloned().collect();
                circle.reverse();
                return Some(circle);
            }
            if !reached_by.contains_key(next) {
                reached_by.insert(next, at);
                waiting.push_back(next);
            }
        }
    }
    None
}

fn violation(what: &str, circle: &[ModulePath], edges: &Edges) -> Violation {
    let next = |index: usize| &circle[(index + 1) % circle.len()];
    let places: Vec<&Place> =
        (0..circle.len()).map(|index| &edges[&circle[index]][next(index)]).collect();
    let steps: Vec<String> = (0..circle.len())
        .map(|index| {
            let Place { path, line } = places[index];
            format!("{} from {} ({path}:{line})", name(&circle[index]), name(next(index)))
        })
        .collect();
    Violation {
        path: places[0].path.clone(),
        line: places[0].line,
        what: format!("{what} import each other: {}", steps.join(", ")),
        why: "none of them can be read without the others".into(),
        remedy: "move what both need below both, or pass it as a value".into(),
    }
}

fn name(path: &ModulePath) -> String {
    if path.is_empty() { "the root".into() } else { format!("`{}`", path.join("::")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(crate_name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| {
            Source::new(&format!("crates/{crate_name}/src/{path}"), text)
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        check(&sources).into_iter().map(|one| one.what).collect()
    }

    #[test]
    fn circle_of_rooms_is_reported_with_places() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "\nuse crate::c::C;"),
            ("c.rs", "fn f() { crate::a::g() }"),
        ];
        assert_eq!(
            found("path", &files),
            ["rooms import each other: `a` from `b` (crates/path/src/a.rs:1), `b` from `c` \
              (crates/path/src/b.rs:2), `c` from `a` (crates/path/src/c.rs:1)"]
        );
    }

    #[test]
    fn inside_a_room_two_files_may_not_but_three_may_unless_the_crate_allows_none() {
        let three = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nmod c;\nmod d;"),
            ("a/b.rs", "use super::c::C;"),
            ("a/c.rs", "use super::d::D;"),
            ("a/d.rs", "use super::b::B;"),
        ];
        assert_eq!(found("path", &three), [""; 0]);
        assert_eq!(found("lab", &three).len(), 1);
        let two = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nuse b::B;\npub struct A;"),
            ("a/b.rs", "use super::A;"),
        ];
        assert_eq!(found("path", &two).len(), 1);
    }

    #[test]
    fn crate_root_is_a_room_and_reexports_are_transparent() {
        let own = [
            ("main.rs", "mod a;\nconst X: u8 = 0;\nfn main() { a::f() }"),
            ("a.rs", "use crate::X;"),
        ];
        // As rooms, and as files.
        assert_eq!(found("cli", &own).len(), 2);
        let handed_on = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use crate::A;"),
        ];
        assert_eq!(found("path", &handed_on), [""; 0]);
    }
}
