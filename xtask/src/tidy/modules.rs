//! The modules that a file declares.

use super::source::Source;

/// Where cargo begins by default (The Cargo Book, "Package Layout").
pub(super) fn is_root(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/src/") else { return false };
    match inside.strip_prefix("bin/") {
        Some(binary) => !binary.contains('/') || binary.ends_with("/main.rs"),
        None => matches!(inside, "lib.rs" | "main.rs"),
    }
}

/// A `mod name;`.
pub(super) struct Module {
    pub(super) at: usize,
    pub(super) name: String,
    /// Where its text can be (Rust Reference, "Module source filenames").
    pub(super) files: Vec<String>,
}

pub(super) fn modules(source: &Source) -> Vec<Module> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    let own_folder = if is_root(&source.path) || stem == "mod" {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    let mut inline: Vec<(usize, &str)> = Vec::new();
    let mut modules = Vec::new();
    for at in source.words("mod") {
        let Some((name, name_at)) = source.word_after(at + "mod".len()) else { continue };
        inline.retain(|(end, _)| at < *end);
        let end = source.item_end(name_at);
        if source.code[..end].ends_with('}') {
            inline.push((end, name));
            continue;
        }
        let files = if let Some(path) = path_attribute(source, at) {
            vec![format!("{folder}/{path}")]
        } else {
            let nest: String = inline.iter().flat_map(|(_, outer)| [outer, "/"]).collect();
            let base = format!("{own_folder}/{nest}{name}");
            vec![format!("{base}.rs"), format!("{base}/mod.rs")]
        };
        modules.push(Module { at, name: name.into(), files });
    }
    modules
}

/// The file named by a `#[path = "…"]` on the item at `at`.
fn path_attribute(source: &Source, at: usize) -> Option<&str> {
    let before = source.attributes().into_iter().rfind(|attribute| attribute.span.end <= at)?;
    let is_on_it = !source.code[before.span.end..at].contains([';', '{', '}']);
    if !is_on_it || !before.content.starts_with("[path=") {
        return None;
    }
    source.text[before.span].split('"').nth(1)
}
