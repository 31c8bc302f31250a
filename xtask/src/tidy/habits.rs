//! Names, and exceptions from lints.

use super::source::Source;
use super::violation::Violation;

/// Names that say where code ended up, not what it is.
const SAYS_NOTHING: [&str; 8] =
    ["util", "utils", "common", "misc", "helper", "helpers", "shared", "stuff"];

/// Getters as the standard library's collections have them.
const ESTABLISHED: [&str; 3] = ["get_mut", "get_or_insert", "get_or_insert_with"];

pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |at: usize, what: String, why: &str, remedy: &str| {
        violations.push(Violation {
            path: source.path.clone(),
            line: source.line_of(at),
            what,
            why: why.into(),
            remedy: remedy.into(),
        });
    };
    for function in source.functions() {
        if function.name.starts_with("get_") && !ESTABLISHED.contains(&function.name) {
            let what = format!("`fn {}`", function.name);
            report(
                function.span.start,
                what,
                "a getter is named after what it gives",
                "drop the `get_`",
            );
        }
    }
    for at in source.words("mod") {
        if let Some((name, _)) = source.word_after(at + "mod".len())
            && SAYS_NOTHING.contains(&name)
        {
            let what = format!("`mod {name}`");
            report(at, what, "the name does not say what is inside", "name it by its noun");
        }
    }
    for attribute in source.attributes() {
        let content = attribute.content.trim_start_matches('[');
        let lifts = content.starts_with("allow(") || content.starts_with("expect(");
        if lifts && !content.contains("reason=") {
            let what = format!("`#[{content}` without a reason");
            let why = "the next reader cannot know whether it still holds";
            report(attribute.span.start, what, why, "write `#[expect(lint, reason = \"…\")]`");
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let source = Source::new("crates/lab/src/lib.rs", text);
        check(&source).into_iter().map(|one| (one.line, one.what)).collect()
    }

    #[test]
    fn each_habit_is_reported_with_line() {
        let table = [
            ("struct A;\nimpl A {\n  pub(crate) fn get_rate(&self) {}\n}", 3, "`fn get_rate`"),
            ("mod bytes;\nmod utils;", 2, "`mod utils`"),
            ("mod common {\n}", 1, "`mod common`"),
            ("\n#[allow(dead_code)]\nfn f() {}", 2, "`#[allow(dead_code)]` without a reason"),
            ("#![allow(\n  dead_code,\n)]", 1, "`#[allow(dead_code,)]` without a reason"),
            ("#[expect(dead_code)]\nfn f() {}", 1, "`#[expect(dead_code)]` without a reason"),
        ];
        for (text, line, what) in table {
            assert_eq!(found(text), [(line, what.to_owned())], "{text}");
        }
    }

    #[test]
    fn lookalike_text_is_not_reported() {
        let table = [
            "fn gets() {} fn target_rate() {} fn f() { map.get_it(&1); } fn get_mut() {}",
            "mod utilisation;\n// mod utils;\nlet text = \"mod misc;\";",
            "#[expect(dead_code, reason = \"the report of the next step calls it\")]\nfn f() {}",
            "#[allow(unused_mut, reason = \"other systems change it\")]\nlet mut x = 1;",
            "// #[allow(dead_code)]\nlet expect = 1;",
        ];
        for text in table {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
