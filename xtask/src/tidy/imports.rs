//! Which file of a crate takes what from which other.
//!
//! An import is a `use`, or a path in the code that begins in this crate. What a module only hands
//! on (`pub use`) is not one: its user imports from the file that defines it.

use std::collections::BTreeMap;

use super::modules::{is_root, modules};
use super::source::{Mention, Source};

/// From the crate's root, which is empty: `["queue", "codel"]`.
pub(super) type ModulePath = Vec<String>;

/// The imports between modules: the first place at which one module of a crate names another.
pub(super) type Edges = BTreeMap<ModulePath, BTreeMap<ModulePath, Place>>;

/// The imports between the files of a crate.
pub(super) struct Imports<'a> {
    pub(super) crate_name: &'a str,
    pub(super) edges: Edges,
}

/// Where an import stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: usize,
}

impl Imports<'_> {
    /// Those of every crate that has a root among `sources`; tests do not count.
    pub(super) fn of_all(sources: &[Source]) -> Vec<Imports<'_>> {
        let by_path: BTreeMap<&str, &Source> =
            sources.iter().map(|source| (source.path.as_str(), source)).collect();
        sources
            .iter()
            .filter(|source| is_root(&source.path) && !source.path.contains("/src/bin/"))
            .filter_map(|root| {
                let edges = Tree::of(root, &by_path).edges();
                Some(Imports { crate_name: root.crate_name()?, edges })
            })
            .collect()
    }
}

/// A crate's files as modules.
struct Tree<'a>(BTreeMap<ModulePath, Module<'a>>);

struct Module<'a> {
    source: &'a Source,
    mentions: Vec<Mention>,
}

impl<'a> Tree<'a> {
    fn of(root: &'a Source, by_path: &BTreeMap<&str, &'a Source>) -> Tree<'a> {
        let mut tree = BTreeMap::new();
        let mut waiting = vec![(ModulePath::new(), root)];
        while let Some((path, source)) = waiting.pop() {
            for module in modules(source).into_iter().filter(|module| !source.is_test(module.at)) {
                let file = module.files.iter().find_map(|file| by_path.get(file.as_str()));
                waiting.extend(file.map(|file| (child(&path, &module.name), *file)));
            }
            tree.insert(path, Module { source, mentions: source.mentions() });
        }
        Tree(tree)
    }

    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, module) in &self.0 {
            for mention in module.mentions.iter().filter(|mention| module.takes(mention)) {
                let Some(to) = self.definer(from, &mention.segments, 0) else { continue };
                if to != *from {
                    let line = module.source.line_of(mention.at);
                    let place = Place { path: module.source.path.clone(), line };
                    edges.entry(from.clone()).or_default().entry(to).or_insert(place);
                }
            }
        }
        edges
    }

    /// The module that defines what `segments` names in `from`, if that is in this crate.
    fn definer(&self, from: &ModulePath, segments: &[String], depth: usize) -> Option<ModulePath> {
        /// Nobody hands a name on so often; a `use` that names itself ends here.
        const MOST: usize = 16;
        if depth == MOST {
            return None;
        }
        let (mut at, mut rest) = self.begin(from, segments, depth)?;
        while let Some(inner) = rest.first().map(|name| child(&at, name))
            && self.0.contains_key(&inner)
        {
            (at, rest) = (inner, &rest[1..]);
        }
        let Some(name) = rest.first() else { return Some(at) };
        let is_itself = |it: &Mention| at == *from && it.segments == segments;
        self.0[&at]
            .import_of(name)
            .filter(|mention| !is_itself(mention))
            .and_then(|mention| self.definer(&at, &mention.segments, depth + 1))
            .or(Some(at))
    }

    /// The module in which a path begins, and what of the path is left.
    fn begin<'s>(
        &self,
        from: &ModulePath,
        segments: &'s [String],
        depth: usize,
    ) -> Option<(ModulePath, &'s [String])> {
        let first = segments.first()?;
        match first.as_str() {
            "crate" => Some((ModulePath::new(), &segments[1..])),
            "self" => Some((from.clone(), &segments[1..])).filter(|_| segments.len() > 1),
            "super" => {
                let up = segments.iter().take_while(|segment| *segment == "super").count();
                let kept = from.len().checked_sub(up)?;
                Some((from[..kept].to_vec(), &segments[up..]))
            }
            _ if self.0.contains_key(&child(from, first)) => Some((from.clone(), segments)),
            // A path whose first word is a module that a `use` has brought: `bridge::Bridge`.
            name => {
                let brought = self.0[from].import_of(name)?;
                let is_path = segments.len() > 1 && brought.segments != segments;
                let module = self.definer(from, &brought.segments, depth + 1)?;
                let is_module = module.last() == brought.segments.last();
                (is_path && is_module).then_some((module, &segments[1..]))
            }
        }
    }
}

impl Module<'_> {
    /// Whether this is an import: a path or a `use`, outside tests, that does not hand it on.
    fn takes(&self, mention: &Mention) -> bool {
        let is_taken = match &mention.import {
            Some(import) => !import.is_public,
            None => mention.segments.len() > 1,
        };
        is_taken && !self.source.is_test(mention.at)
    }

    /// The `use` that brings `name`.
    fn import_of(&self, name: &str) -> Option<&Mention> {
        self.mentions
            .iter()
            .find(|mention| mention.import.as_ref().is_some_and(|it| it.name == name))
    }
}

fn child(parent: &ModulePath, name: &str) -> ModulePath {
    [parent.as_slice(), &[name.to_owned()]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, text)).collect();
        let all = Imports::of_all(&sources);
        assert_eq!(all.len(), 1);
        all[0]
            .edges
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |(to, place)| (from, to, place)))
            .map(|(from, to, place)| {
                format!("{} <- {}:{}", to.join("::"), from.join("::"), place.line)
            })
            .collect()
    }

    #[test]
    fn names_lead_to_the_file_that_defines_them() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nmod c;\nmod d;\npub use b::Inner;\npub use c::See;"),
            ("crates/a/src/b/mod.rs", "mod inner;\npub(crate) use inner::{Inner, Other as Some};"),
            ("crates/a/src/b/inner.rs", "pub struct Inner;\npub struct Other;"),
            (
                "crates/a/src/c.rs",
                "// use crate::d::X;\nuse crate::Inner;\nuse crate::d;\n\
                                   fn f() { d::deep() }\nmod tests { }",
            ),
            (
                "crates/a/src/d.rs",
                "fn deep() {\n  crate::b::Some::new();\n  std::mem::take(x)\n}\n\
                                   #[cfg(test)]\nmod tests { use crate::c::See; }",
            ),
        ];
        assert_eq!(edges(&files), ["b::inner <- c:2", "d <- c:3", "b::inner <- d:2"]);
    }

    #[test]
    fn parents_and_children_are_files_like_any() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;"),
            ("crates/a/src/b.rs", "mod c;\nuse c::C;\npub struct B(C);"),
            (
                "crates/a/src/b/c.rs",
                "use super::B;\npub struct C;\nfn f() { super::super::b::x() }",
            ),
        ];
        assert_eq!(edges(&files), ["b::c <- b:2", "b <- b::c:1"]);
    }
}
