//! The programs in both languages. Those in C are compiled by the test that needs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    C,
}

impl Language {
    /// The languages that there are here.
    pub(crate) fn all() -> Vec<Language> {
        if *HAS_COMPILER { vec![Language::Rust, Language::C] } else { vec![Language::Rust] }
    }

    /// Each with each: of the server, of the client.
    pub(crate) fn pairs() -> Vec<(Language, Language)> {
        let all = Language::all();
        all.iter().flat_map(|server| all.iter().map(|client| (*server, *client))).collect()
    }

    /// The program of this name.
    pub(crate) fn program(self, name: &str) -> PathBuf {
        match self {
            // All programs are in one folder, and cargo names one of them.
            Language::Rust => Path::new(env!("CARGO_BIN_EXE_echo")).with_file_name(name),
            Language::C => compiled(name),
        }
    }
}

/// Whether programs in C can be compiled here; if not, prints that they are skipped.
pub(crate) static HAS_COMPILER: LazyLock<bool> = LazyLock::new(|| {
    let answer = Command::new(compiler()).arg("--version").stdout(Stdio::null()).status();
    let has = answer.is_ok_and(|status| status.success());
    if !has {
        skipped(&format!("{} does not run, so no program in C was tested", compiler()));
    }
    has
});

#[expect(clippy::print_stderr, reason = "a test that cannot run here says so")]
pub(crate) fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// `CC=clang` tests with another one.
fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// The folder of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c")
}

/// What the compiler says of a program, which it writes to a file; nothing when all is well.
pub(crate) fn compile(name: &str, to: &Path) -> String {
    let output = Command::new(compiler())
        .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-O1", "-g", "-pthread", "-o"])
        .args([to, &sources().join(name).with_extension("c")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}");
    said
}

/// A program, compiled once in each process.
fn compiled(name: &str) -> PathBuf {
    static DONE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = done.get(name) {
        return path.clone();
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    std::fs::create_dir_all(&folder).unwrap();
    let (path, own) = (folder.join(name), folder.join(format!("{name}.{}", std::process::id())));
    compile(name, &own);
    // Other tests may compile and run it at the same time.
    std::fs::rename(own, &path).unwrap();
    done.insert(name.to_owned(), path.clone());
    path
}
