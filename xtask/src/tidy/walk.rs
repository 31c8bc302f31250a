//! The walk through the house (`docs/walk.md`) leads where it says, and never back to a room.
//!
//! A step is a row of a table whose first cell is a file and whose second names functions in it. A
//! heading begins another walk. A room is a topmost module of a crate.

use super::file::File;
use super::violation::Violation;

const PAGE: &str = "docs/walk.md";

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let mut violations = Vec::new();
    let mut rooms: Vec<&str> = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        if line.starts_with('#') {
            rooms.clear();
        }
        let Some(step) = Step::of(line) else { continue };
        let violation = |what: String, why: &str, remedy: &str| Violation {
            path: PAGE.into(),
            line: index + 1,
            what,
            why: why.into(),
            remedy: remedy.into(),
        };
        let text = files.iter().find(|file| file.path == step.file).map(|file| file.text.as_str());
        let is_there = |function: &str| {
            text.is_some_and(|text| {
                ["(", "<"].iter().any(|next| text.contains(&format!("fn {function}{next}")))
            })
        };
        for function in step.functions.iter().filter(|function| !is_there(function)) {
            let what = format!("`{}` has no function `{function}`", step.file);
            violations.push(violation(what, "the walk leads nowhere", "follow the code"));
        }
        let room = step.room();
        if rooms.contains(&room) && rooms.last() != Some(&room) {
            let what = format!("the walk comes back to the room `{room}`");
            violations.push(violation(what, "a reader would turn back", "put the steps together"));
        }
        rooms.push(room);
    }
    violations
}

/// A place on the walk.
struct Step<'a> {
    file: &'a str,
    functions: Vec<&'a str>,
}

impl<'a> Step<'a> {
    /// The step in a row such as "| `crates/sim/src/world.rs` | `serve`, `deliver` | why |".
    fn of(line: &'a str) -> Option<Step<'a>> {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let file = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        let functions = cells.next()?.split(", ").filter_map(|name| name.trim().strip_prefix('`'));
        let functions = functions.filter_map(|name| name.strip_suffix('`')).collect();
        file.starts_with("crates/").then_some(Step { file, functions })
    }

    /// `crates/sim/src/world` of `crates/sim/src/world/links.rs` or `crates/sim/src/world.rs`.
    fn room(&self) -> &'a str {
        let Some((_, inside)) = self.file.split_once("/src/") else { return self.file };
        let name = inside.split(['/', '.']).next().unwrap_or(inside);
        &self.file[..self.file.len() - inside.len() + name.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let files = [
            file(PAGE, page),
            file("crates/sim/src/world/mod.rs", "fn serve(&self) {}\nfn run<T>() {}"),
            file("crates/sim/src/world/links.rs", "fn deliver() {}"),
            file("crates/path/src/link.rs", "fn poll() {}"),
        ];
        check(&files).into_iter().map(|one| format!("{}: {}", one.line, one.what)).collect()
    }

    #[test]
    fn walk_through_consecutive_rooms_passes() {
        let page = "# One\n| file | function |\n|---|---|\n\
                    | `crates/sim/src/world/mod.rs` | `serve`, `run` | it sends |\n\
                    | `crates/sim/src/world/links.rs` | `deliver` |\n\
                    | `crates/path/src/link.rs` | `poll` |\n\
                    # Another\n| `crates/sim/src/world/mod.rs` | `run` |\n";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn missing_functions_and_jumps_back_are_reported() {
        let page = "| `crates/sim/src/world/mod.rs` | `serves` |\n\
                    | `crates/path/src/link.rs` | `poll` |\n\
                    | `crates/sim/src/world/links.rs` | `deliver` |\n\
                    | `crates/sim/src/gone.rs` | `f` |\n";
        assert_eq!(
            found(page),
            [
                "1: `crates/sim/src/world/mod.rs` has no function `serves`",
                "3: the walk comes back to the room `crates/sim/src/world`",
                "4: `crates/sim/src/gone.rs` has no function `f`",
            ]
        );
    }
}
