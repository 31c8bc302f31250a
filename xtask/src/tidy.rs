//! The project's rules that neither the compiler, rustfmt nor clippy checks.
//!
//! Each rule takes text and gives [`Violation`]s; only this file touches the disk. Rust is read
//! through [`source::Source`], which knows code from comments and literals. That is less than a
//! parser knows, and here it is more: it also sees into macro bodies.

mod banned;
mod circles;
mod file;
mod habits;
mod imports;
mod layers;
mod layout;
mod length;
mod mask;
mod modules;
mod reach;
mod source;
mod violation;
mod walk;

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use file::{File, extension};
use source::Source;
use violation::Violation;

/// What [`check`] found, ordered by place, and how many files it read.
pub(crate) struct Report {
    pub(crate) violations: Vec<Violation>,
    pub(crate) files: usize,
}

/// Checks every file of the repository at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let mut files = Vec::new();
    read_folder(root, "", &mut files)?;
    anyhow::ensure!(!files.is_empty(), "{} holds no file to check", root.display());
    let mut violations = check_files(&files);
    violations.sort();
    violations.dedup();
    Ok(Report { violations, files: files.len() })
}

fn check_files(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        violations.extend(length::check_file(file));
        if file.path.ends_with("Cargo.toml") {
            violations.extend(layers::check(&file.path, &file.text));
        }
    }
    let mut sources: Vec<Source> = files
        .iter()
        .filter(|file| extension(&file.path) == "rs")
        .map(|file| Source::new(&file.path, &file.text))
        .collect();
    violations.extend(reach::check(&mut sources));
    violations.extend(circles::check(&sources));
    violations.extend(walk::check(files));
    for source in &sources {
        violations.extend(length::check_functions(source));
        violations.extend(banned::check(source));
        violations.extend(habits::check(source));
        violations.extend(layout::check_rust(source));
    }
    for file in files.iter().filter(|file| extension(&file.path) != "rs") {
        violations.extend(layout::check_other(file));
    }
    violations
}

/// Kinds of files that people write; pictures, lock files and snapshots are not among them.
const WRITTEN: [&str; 9] = ["rs", "js", "css", "py", "sh", "html", "toml", "md", "c"];

/// Folders that tools write.
const PRODUCED: [&str; 5] = ["target", "runs", "snapshots", "node_modules", "__pycache__"];

fn read_folder(root: &Path, folder: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let absolute = root.join(folder);
    let listing = || format!("cannot list {}", absolute.display());
    for entry in fs::read_dir(&absolute).with_context(listing)? {
        let entry = entry.with_context(listing)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().with_context(listing)?;
        if kind.is_dir() {
            if !PRODUCED.contains(&name.as_str()) && !name.starts_with('.') {
                read_folder(root, &path, files)?;
            }
        } else if kind.is_file() && WRITTEN.contains(&extension(&name)) {
            let text = fs::read_to_string(entry.path())
                .with_context(|| format!("cannot read {path} as text"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violation_has_place_rule_reason_and_remedy() {
        let files = [
            File { path: "crates/path/src/lib.rs".into(), text: "//! A.\n".into() },
            File { path: "crates/path/src/dead.rs".into(), text: "fn get_it() {}\n".into() },
        ];
        let violations: Vec<String> = check_files(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            violations,
            [
                "crates/path/src/dead.rs:1: no `mod` leads to this file: it is never compiled; \
                 declare it or delete it",
                "crates/path/src/dead.rs:1: `fn get_it`: a getter is named after what it gives; \
                 drop the `get_`",
            ]
        );
    }

    #[test]
    fn this_repository_is_read_whole_and_only_as_written() {
        let mut files = Vec::new();
        read_folder(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut files).expect("xtask reads");
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert!(paths.contains(&"src/tidy/mask.rs") && paths.contains(&"Cargo.toml"), "{paths:?}");
        assert!(paths.iter().all(|path| WRITTEN.contains(&extension(path))), "{paths:?}");
    }
}
