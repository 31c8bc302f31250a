//! The program under test, in a directory of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory to run commands in, gone at the end of the test.
#[derive(Debug)]
pub(crate) struct Home(pub(crate) TempDir);

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Home {
        let home = Home::new();
        home.write(name, content);
        home
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and makes the directories above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn make_directory(&self, name: &str) {
        fs::create_dir_all(self.path(name)).unwrap();
    }

    pub(crate) fn bytes(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn text(&self, name: impl AsRef<Path>) -> String {
        text(self.bytes(name))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Its access rights.
    pub(crate) fn mode(&self, name: impl AsRef<Path>) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    /// The one entry of a directory.
    pub(crate) fn only(&self, directory: impl AsRef<Path>) -> PathBuf {
        let directory = self.path(directory);
        match &names(&directory)[..] {
            [one] => directory.join(one),
            all => panic!("{} has {all:?}", directory.display()),
        }
    }

    /// `tcplab` with these arguments: words, some of them in single quotes.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
        command.args(words(line)).current_dir(&self.0).stdin(Stdio::null());
        // A terminal's settings must not change the output.
        command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
        // Nor may the images that this user has built.
        command.env("TCPLAB_KERNELS", "kernels");
        // Nor indexes of captures, and none is left in the user's cache.
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        ended(&mut self.command(line))
    }

    /// The standard output of a command that succeeds.
    pub(crate) fn answer(&self, line: &str) -> String {
        self.run(line).answer(line)
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.answer(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// The error of a command that cannot do what it is asked.
    pub(crate) fn refusal(&self, line: &str) -> String {
        self.run(line).refusal(line)
    }

    /// Whether each command is refused with an error that contains its text, wrapped or not.
    pub(crate) fn refuses(&self, cases: &[(&str, &str)]) {
        for (line, part) in cases {
            let refusal = self.refusal(line);
            let refusal = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(refusal.contains(part), "{line}: `{part}` is missing: {refusal}");
        }
    }
}

impl Ended {
    pub(crate) fn answer(self, what: &str) -> String {
        assert_eq!(self.code, Some(0), "{what}: {}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Exit code 2, a message and nothing else.
    pub(crate) fn refusal(self, what: &str) -> String {
        let Ended { code, stdout, stderr } = self;
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{what}: {stderr}");
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        stderr
    }
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    Ended::from(output)
}

impl From<Output> for Ended {
    fn from(Output { status, stdout, stderr }: Output) -> Ended {
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the program writes UTF-8")
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The names in a directory, sorted; none where it is missing.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Everything below a directory, sorted, by its place in it.
pub(crate) fn everything(directory: &Path) -> Vec<PathBuf> {
    let below = |name: String| {
        let inner = everything(&directory.join(&name));
        let inner = inner.into_iter().map(|path| Path::new(&name).join(path));
        [PathBuf::from(&name)].into_iter().chain(inner.collect::<Vec<_>>())
    };
    names(directory).into_iter().flat_map(below).collect()
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}
