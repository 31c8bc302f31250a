//! How long files and functions may be.

use super::file::{File, extension};
use super::source::Source;
use super::violation::Violation;

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;
/// A test may be a long story: packets in time, a table of cases.
const TEST_LINES: usize = 100;

/// Where length counts: in what is read by people as code.
const FOLDERS: [&str; 6] = ["crates/", "xtask/", "web/", "bench/", "python/", "scripts/"];
const KINDS: [&str; 6] = ["rs", "js", "css", "py", "sh", "html"];

pub(super) fn check_file(file: &File) -> Option<Violation> {
    let counted = FOLDERS.iter().any(|folder| file.path.starts_with(folder))
        && KINDS.contains(&extension(&file.path));
    let lines = file.text.lines().count();
    (counted && lines > FILE_LINES).then(|| Violation {
        path: file.path.clone(),
        line: FILE_LINES + 1,
        what: format!("{lines} lines, {FILE_LINES} are allowed"),
        why: "a file is read in one sitting and holds one noun".into(),
        remedy: "find the second noun and give it its own file, or move the tests to `tests.rs`"
            .into(),
    })
}

pub(super) fn check_functions(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for function in source.functions() {
        let first = source.line_of(function.span.start);
        let lines = source.line_of(function.span.end - 1) - first + 1;
        let allowed = if source.is_test(function.span.start) { TEST_LINES } else { FUNCTION_LINES };
        if lines > allowed {
            violations.push(Violation {
                path: source.path.clone(),
                line: first,
                what: format!("`fn {}` has {lines} lines, {allowed} are allowed", function.name),
                why: "a function is seen whole on one screen".into(),
                remedy: "split it where it changes the subject".into(),
            });
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_reported_where_length_counts() {
        let long = "x\n".repeat(601);
        let table = [
            ("crates/path/src/lib.rs", long.as_str(), true),
            ("web/app.js", &long, true),
            ("crates/path/src/lib.rs", &long[2..], false),
            ("crates/path/data.toml", &long, false),
            ("CHANGELOG.md", &long, false),
        ];
        for (path, text, is_too_long) in table {
            let file = File { path: path.into(), text: text.into() };
            assert_eq!(check_file(&file).is_some(), is_too_long, "{path}");
        }
    }

    #[test]
    fn long_functions_are_reported_with_longer_limit_for_tests() {
        let body = |lines: usize| "    x();\n".repeat(lines - 2);
        let function = |lines| format!("fn f() {{\n{}}}\n", body(lines));
        let test = |lines| format!("#[test]\nfn f() {{\n{}}}\n", body(lines));
        let table = [
            (function(70), None),
            (function(71), Some((1, "`fn f` has 71 lines, 70 are allowed"))),
            (test(100), None),
            (test(101), Some((2, "`fn f` has 101 lines, 100 are allowed"))),
            (format!("fn g() {{}}\n{}\n", body(200)), None),
            (
                format!("fn f() {{\n    g(\"}}\");\n{}}}\n", body(71)),
                Some((1, "`fn f` has 72 lines, 70 are allowed")),
            ),
        ];
        for (text, expected) in table {
            let violations = check_functions(&Source::new("crates/path/src/lib.rs", &text));
            let found = violations.first().map(|one| (one.line, one.what.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
