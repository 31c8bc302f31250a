//! A Rust file as the rules need it: code apart from the rest, attributes, items, paths.

use std::ops::Range;

use super::mask::{self, Class};

/// A Rust file of the repository.
pub(super) struct Source {
    /// From the repository's root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// `text` with comments and literals blanked; same offsets, same lines.
    pub(super) code: String,
    pub(super) classes: Vec<Class>,
    /// Whether only test builds compile this file.
    pub(super) test_file: bool,
    test_items: Vec<Range<usize>>,
    line_starts: Vec<usize>,
}

/// A function with its body, if it has one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    /// From `fn` to past the closing brace (or `;`).
    pub(super) span: Range<usize>,
}

/// An attribute: `#[…]` or `#![…]`.
pub(super) struct Attribute {
    pub(super) span: Range<usize>,
    /// Its code without white space, from bracket to bracket, literals left out.
    pub(super) content: String,
}

/// A path such as `std::fs::read`, a lone word, or a macro's name with its `!`.
pub(super) struct Mention {
    pub(super) at: usize,
    pub(super) segments: Vec<String>,
    /// Its name after `use`.
    pub(super) import: Option<Import>,
}

/// The name that a `use` brings into its module.
pub(super) struct Import {
    pub(super) name: String,
    /// Whether others can import it from there: `pub use`.
    pub(super) is_public: bool,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Source {
        let classes = mask::classify(text);
        let code = mask::code_only(text, &classes);
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut source = Source {
            path: path.into(),
            text: text.into(),
            code,
            classes,
            test_file: ["tests", "benches", "examples"]
                .iter()
                .any(|folder| path.split('/').any(|part| part == *folder)),
            test_items: Vec::new(),
            line_starts,
        };
        source.test_items = source.items_marked(|content| {
            matches!(content, "[test]" | "[cfg(test)]") || content.starts_with("[cfg(all(test,")
        });
        source
    }

    /// The folder under `crates/`, or `xtask`.
    pub(super) fn crate_name(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match parts.next()? {
            "crates" => parts.next(),
            "xtask" => Some("xtask"),
            _ => None,
        }
    }

    /// Counted from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// The bytes of each line, without its end.
    pub(super) fn lines(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.text.lines().zip(&self.line_starts).map(|(line, start)| *start..*start + line.len())
    }

    pub(super) fn is_test(&self, at: usize) -> bool {
        self.test_file || self.test_items.iter().any(|item| item.contains(&at))
    }

    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        let mut functions = Vec::new();
        for at in self.words("fn") {
            // Without a name it is the type of a function.
            if let Some((name, name_at)) = self.word_after(at + "fn".len()) {
                let span = at..self.item_end(name_at);
                functions.push(Function { name, span });
            }
        }
        functions
    }

    pub(super) fn attributes(&self) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        for (at, _) in self.code.match_indices('#') {
            let after = self.code[at + 1..].trim_start_matches('!');
            if after.starts_with('[') {
                let open = self.code.len() - after.len();
                let end = self.closing(open);
                let content = self.code[open..end].split_whitespace().collect();
                attributes.push(Attribute { span: at..end, content });
            }
        }
        attributes
    }

    /// The items under an attribute whose content is `wanted`.
    pub(super) fn items_marked(&self, wanted: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
        self.attributes()
            .iter()
            .filter(|attribute| wanted(&attribute.content))
            // An attribute that follows is a bracket, and brackets are skipped.
            .map(|attribute| attribute.span.start..self.item_end(attribute.span.end))
            .collect()
    }

    /// Everything named in the code; `use a::{b, c}` names `a::b` and `a::c`.
    pub(super) fn mentions(&self) -> Vec<Mention> {
        let mut mentions = Vec::new();
        let mut at = 0;
        while let Some((word, start)) = self.next_word(at) {
            at = start + word.len();
            // `impl Trait + use<'a>` imports nothing.
            if word == "use" && !self.code[at..].starts_with('<') {
                let end = self.code[at..].find(';').map_or(self.code.len(), |length| at + length);
                self.imports(at..end, self.is_public(start), &mut mentions);
                at = end;
                continue;
            }
            let mut segments = vec![word.to_owned()];
            while let Some(rest) = self.code[at..].strip_prefix("::")
                && let Some(length) = word_length(rest)
            {
                segments.push(rest[..length].to_owned());
                at += "::".len() + length;
            }
            let rest = &self.code.as_bytes()[at..];
            if rest.first() == Some(&b'!') && rest.get(1) != Some(&b'=') {
                segments.last_mut().expect("one at least").push('!');
            }
            mentions.push(Mention { at: start, segments, import: None });
        }
        mentions
    }

    /// Where the word `wanted` occurs in the code.
    pub(super) fn words<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = usize> + 'a {
        let bytes = self.code.as_bytes();
        let is_word = move |at: usize| bytes.get(at).is_some_and(|byte| mask::is_word(*byte));
        self.code
            .match_indices(wanted)
            .map(|(at, _)| at)
            .filter(move |at| *at == 0 || !is_word(at - 1))
            .filter(move |at| !is_word(at + wanted.len()))
    }

    /// The word that follows `at`, with nothing but white space (or a macro's `$`) between.
    pub(super) fn word_after(&self, at: usize) -> Option<(&str, usize)> {
        let rest = self.code[at..].trim_start().trim_start_matches('$');
        let start = self.code.len() - rest.len();
        word_length(rest).map(|length| (&rest[..length], start))
    }

    /// The end of the item whose head `at` is in: its `;` or its closing brace.
    pub(super) fn item_end(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(at) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => return offset + 1,
                b'{' if depth == 0 => return self.closing(offset),
                _ => {}
            }
        }
        self.code.len()
    }

    /// Past the bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return offset + 1;
            }
        }
        self.code.len()
    }

    fn next_word(&self, at: usize) -> Option<(&str, usize)> {
        let skipped = self.code[at..].bytes().position(mask::is_word)?;
        self.word_after(at + skipped)
    }

    /// Whether the item whose keyword is at `at` has a visibility.
    fn is_public(&self, at: usize) -> bool {
        let before = self.code[..at].trim_end();
        before.ends_with("pub")
            || before.ends_with(')')
                && before.rfind('(').is_some_and(|open| before[..open].ends_with("pub"))
    }

    /// Unfolds the tree between `use` and `;`.
    fn imports(&self, span: Range<usize>, is_public: bool, mentions: &mut Vec<Mention>) {
        let mut prefix = String::new();
        let mut outer = Vec::new();
        let mut at = span.start;
        for piece in self.code[span].split_inclusive(['{', ',', '}']) {
            let path = piece.trim_end_matches(['{', ',', '}']);
            let name = path.split_whitespace().next().unwrap_or("");
            if piece.ends_with('{') {
                outer.push(prefix.clone());
                prefix.push_str(name);
            } else if !name.is_empty() {
                let path_of = format!("{prefix}{name}");
                let mut segments: Vec<String> = path_of.split("::").map(str::to_owned).collect();
                if segments.len() > 1 && name == "self" {
                    segments.pop();
                }
                let renamed = path.split_whitespace().nth(2);
                let last = segments.last().expect("one at least");
                let name = renamed.unwrap_or(last).to_owned();
                mentions.push(Mention {
                    at: at + path.len() - path.trim_start().len(),
                    segments,
                    import: Some(Import { name, is_public }),
                });
            }
            if piece.ends_with('}') {
                prefix = outer.pop().unwrap_or_default();
            }
            at += piece.len();
        }
    }
}

/// The length of the word `text` begins with.
fn word_length(text: &str) -> Option<usize> {
    let length = text.bytes().position(|byte| !mask::is_word(byte)).unwrap_or(text.len());
    (length > 0).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("crates/path/src/lib.rs", text)
    }

    #[test]
    fn function_ends_at_its_closing_brace() {
        let source = source(
            "fn a(x: [u8; 2]) -> fn(u8) {\n  if '{' == c { \"}\" }\n}\ntrait T {\n  fn b();\n}\n\
             macro_rules! m { () => { fn $name() {} } }\n",
        );
        let functions = source.functions();
        let found: Vec<_> = functions
            .iter()
            .map(|function| {
                let last = source.line_of(function.span.end - 1);
                (function.name, source.line_of(function.span.start), last)
            })
            .collect();
        assert_eq!(found, [("a", 1, 3), ("b", 5, 5), ("name", 7, 7)]);
    }

    #[test]
    fn test_items_are_distinguished() {
        let text = "fn a() {}\n#[test]\n#[expect(x)]\nfn b() {}\nfn c() {}\n\
                    #[cfg(test)]\nmod tests {\n  fn d() {}\n}\n#[cfg(not(test))]\nfn e() {}\n\
                    #[cfg(all(test, unix))]\nmod f;\nfn g() {}\n";
        let source = source(text);
        let tests: Vec<&str> = source
            .functions()
            .iter()
            .filter(|function| source.is_test(function.span.start))
            .map(|function| function.name)
            .collect();
        assert_eq!(tests, ["b", "d"]);
        assert!(source.is_test(text.find("mod f").expect("it is there")));
        assert!(Source::new("crates/path/tests/pair.rs", text).is_test(0));
    }

    #[test]
    fn mentions_are_whole_paths() {
        let source = source(
            "use std::{fs, io::{self, Read as _}, net::Ipv4Addr as A};\n\
             fn g() -> impl Sized + use<'_> { std::env::args() }\n\
             fn f() { if a != b { std::fs::read(x) } else { println!() } }",
        );
        let mentions: Vec<String> =
            source.mentions().iter().map(|mention| mention.segments.join("::")).collect();
        for expected in [
            "std::fs",
            "std::io",
            "std::io::Read",
            "std::net::Ipv4Addr",
            "std::env::args",
            "std::fs::read",
        ] {
            assert!(mentions.iter().any(|mention| mention == expected), "{expected}: {mentions:?}");
        }
        assert!(mentions.contains(&"println!".to_owned()) && mentions.contains(&"a".to_owned()));
        let names: Vec<(String, bool)> = Source::new("x.rs", "use a::B as C; pub(super) use d::*;")
            .mentions()
            .into_iter()
            .filter_map(|mention| mention.import)
            .map(|import| (import.name, import.is_public))
            .collect();
        assert_eq!(names, [("C".to_owned(), false), ("*".to_owned(), true)]);
        let read = source.mentions().into_iter().find(|mention| mention.segments[0] == "fn");
        assert_eq!(read.map(|mention| source.line_of(mention.at)), Some(2));
    }
}
