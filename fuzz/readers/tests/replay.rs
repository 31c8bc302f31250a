//! Replays the fuzz corpus: inputs worth keeping and regressions.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_fuzz_readers::{TARGETS, run};

/// The most bytes of all inputs together: enough for coverage, small enough to check out.
const MOST: u64 = 300_000;

fn fuzz() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn corpus_replayed_no_panic() {
    for (name, _) in TARGETS {
        let files = files(&fuzz().join("corpus").join(name));
        assert!(files.len() >= 5, "{name}: the corpus is nearly empty");
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let result = std::panic::catch_unwind(|| run(name, &bytes));
            assert!(result.is_ok(), "{name} panics on {}", file.display());
        }
    }
}

#[test]
fn corpus_folders_match_targets_and_stay_small() {
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
    assert!(
        all <= MOST,
        "the corpus has {all} bytes, more than {MOST}: reduce it with `cargo fuzz cmin`"
    );
}
