//! White space and width: what rustfmt leaves alone.

use super::file::File;
use super::mask::Class;
use super::source::Source;
use super::violation::Violation;

/// As in rustfmt.toml; rustfmt breaks neither comments nor what is inside macros.
const COLUMNS: usize = 100;

pub(super) fn check_rust(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let laid_out_by_hand = source.items_marked(|content| content == "[rustfmt::skip]");
    for (index, span) in source.lines().enumerate() {
        let by_hand = laid_out_by_hand.iter().any(|item| item.contains(&span.start));
        let line = &source.text[span.clone()];
        let classes = &source.classes[span];
        // White space inside of a literal may be what a test is about.
        let ends_in_literal = classes.last() == Some(&Class::Literal);
        if line.ends_with([' ', '\t']) && !ends_in_literal {
            violations.push(trailing(&source.path, index + 1));
        }
        let tab = |(byte, class)| byte == b'\t' && class != Class::Literal;
        if line.bytes().zip(classes.iter().copied()).any(tab) {
            violations.push(tabulator(&source.path, index + 1));
        }
        let breakable =
            line.char_indices().filter(|(offset, _)| classes[*offset] != Class::Literal).count();
        if breakable > COLUMNS && !by_hand && !line.contains("://") {
            violations.push(Violation {
                path: source.path.clone(),
                line: index + 1,
                what: format!("{} columns, {COLUMNS} are allowed", line.chars().count()),
                why: "two files fit side by side".into(),
                remedy: "break the line".into(),
            });
        }
    }
    violations.extend(last_line(&source.path, &source.text));
    violations
}

/// Everything that is not Rust.
pub(super) fn check_other(file: &File) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            violations.push(trailing(&file.path, index + 1));
        }
        if line.contains('\t') {
            violations.push(tabulator(&file.path, index + 1));
        }
    }
    violations.extend(last_line(&file.path, &file.text));
    violations
}

fn trailing(path: &str, line: usize) -> Violation {
    Violation {
        path: path.into(),
        line,
        what: "white space at the end of the line".into(),
        why: "it makes differences that nobody sees".into(),
        remedy: "delete it".into(),
    }
}

fn tabulator(path: &str, line: usize) -> Violation {
    Violation {
        path: path.into(),
        line,
        what: "a tabulator".into(),
        why: "its width differs from editor to editor".into(),
        remedy: "write spaces, or `\\t` in a literal".into(),
    }
}

fn last_line(path: &str, text: &str) -> Option<Violation> {
    let what = if text.is_empty() || text.ends_with("\n\n") {
        "an empty line at the end of the file"
    } else if text.ends_with('\n') {
        return None;
    } else {
        "no end of line after the last line"
    };
    Some(Violation {
        path: path.into(),
        line: text.lines().count().max(1),
        what: what.into(),
        why: "what is appended next would change this line too".into(),
        remedy: "end the file with one line end".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let source = Source::new("crates/lab/src/lib.rs", text);
        check_rust(&source).into_iter().map(|one| (one.line, one.what)).collect()
    }

    #[test]
    fn each_blemish_is_reported_with_line() {
        let wide = "x".repeat(101);
        let table = [
            ("a \nb\n".to_owned(), 1, "white space at the end of the line"),
            ("a\n// b \n".to_owned(), 2, "white space at the end of the line"),
            ("\ta\n".to_owned(), 1, "a tabulator"),
            ("a\nb".to_owned(), 2, "no end of line after the last line"),
            ("a\n\n".to_owned(), 2, "an empty line at the end of the file"),
            (format!("a\n{wide}\n"), 2, "101 columns, 100 are allowed"),
            (format!("// {}\n", "é ".repeat(49) + "é"), 1, "102 columns, 100 are allowed"),
        ];
        for (text, line, what) in table {
            assert_eq!(found(&text), [(line, what.to_owned())], "{text:?}");
        }
    }

    #[test]
    fn unavoidable_long_lines_are_allowed() {
        let long = "x".repeat(101);
        let table = [
            format!("    call(\"{long}\");\n"),
            format!("const A: &str = r#\"\n{long}\n\ttab \nb\"#;\n"),
            format!("/// See <https://example.org/{long}>.\n"),
            format!("// {}\n", "é".repeat(97)),
            format!("#[rustfmt::skip]\nconst A: [u8; 1] = [\n    {long},\n];\n"),
        ];
        for text in table {
            assert_eq!(found(&text), [], "{text:?}");
        }
    }

    #[test]
    fn other_files_are_held_to_it_too() {
        let file = |text: &str| File { path: "README.md".into(), text: text.into() };
        assert_eq!(check_other(&file("a\n")), []);
        let lines: Vec<usize> =
            check_other(&file("a \n\tb\nc")).iter().map(|one| one.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }
}
