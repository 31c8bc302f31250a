//! What the fuzzer has found worth keeping, and what ever went wrong, shown again.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_foreign::{TARGETS, show};

/// All inputs together, in bytes: enough to go everywhere, little enough to be copied around.
const MOST: u64 = 300_000;

fn fuzz() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files in `folder`, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn what_was_kept_is_withstood() {
    for (name, _) in TARGETS {
        let files = files(&fuzz().join("corpus").join(name));
        assert!(files.len() >= 5, "{name}: the corpus is hardly there");
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let shown = std::panic::catch_unwind(|| show(name, &bytes));
            assert!(shown.is_ok(), "{name} does not withstand {}", file.display());
        }
    }
}

#[test]
fn nothing_is_kept_without_a_target_and_nothing_large() {
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.0).collect();
    names.sort_unstable();
    let folders = files(&fuzz().join("corpus"));
    let found: Vec<_> = folders.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(found, names);
    let sources = files(&fuzz().join("fuzz_targets"));
    let found: Vec<_> = sources.iter().map(|f| f.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(found, names);
    let sizes = folders
        .into_iter()
        .flat_map(|folder| files(&folder))
        .map(|file| file.metadata().unwrap().len());
    let all: u64 = sizes.sum();
    assert!(all <= MOST, "{all} bytes are kept: make it less with `cargo fuzz cmin`");
}
