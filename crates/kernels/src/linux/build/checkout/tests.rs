use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use std::process::Command;

use super::*;

/// A repository with files that need no patch.
struct Repository(tempfile::TempDir);

impl Repository {
    /// None where there is no git.
    fn new() -> Option<Repository> {
        let repository = Repository(tempfile::tempdir().unwrap());
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("SKIPPED: there is no git");
            return None;
        }
        repository.git(&["init", "--quiet"]);
        for (name, text) in [
            ("Kbuild", ""),
            ("arch/um/Makefile", ""),
            ("arch/um/kernel/time.c", "int time_travel_shm_client, time_travel_resumed;\n"),
            ("arch/um/os-Linux/skas/process.c", "getppid()\n"),
            ("arch/um/os-Linux/util.c", "rng_seed=\n"),
            ("arch/x86/um/vdso/um_vdso.c", "__vdso_getcpu\n"),
            ("arch/arm64/kernel/a.c", "left out\n"),
            ("net/ipv4/tcp.c", "int tcp;\n"),
            ("net/ipv4/tcp_input.c", "int input;\n"),
        ] {
            repository.write(name, text);
        }
        Some(repository)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = git(self.0.path());
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let ended = git.args(arguments).output().unwrap();
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "a change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn move_to(&self, work: &Work, commit: &str) -> Result<(), BuildError> {
        let stop = AtomicBool::new(false);
        let runner = Runner::new(&work.log(), &stop);
        Checkout { repository: self.0.path(), work, runner: &runner }.move_to(commit, &mut |_| {})
    }
}

fn work() -> (tempfile::TempDir, Work) {
    let home = tempfile::tempdir().unwrap();
    let work = Work::open(home.path().join("bisect"), "key").unwrap();
    (home, work)
}

fn text(work: &Work, name: &str) -> String {
    fs::read_to_string(work.tree().join(name)).unwrap()
}

fn time(work: &Work, name: &str) -> SystemTime {
    fs::metadata(work.tree().join(name)).unwrap().modified().unwrap()
}

/// Two commits; the second one changes, adds and removes files.
fn two_commits(repository: &Repository) -> [String; 2] {
    repository.write("net/old.c", "");
    let first = repository.commit();
    fs::remove_file(repository.0.path().join("net/old.c")).unwrap();
    repository.write("net/ipv4/tcp.c", "int tcp, more;\n");
    repository.write("net/new/a.sh", "#!/bin/sh\n");
    let script = repository.0.path().join("net/new/a.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.sh", repository.0.path().join("net/new/link")).unwrap();
    [first, repository.commit()]
}

#[test]
fn tree_follows_commits_and_unchanged_files_keep_their_time() {
    let Some(repository) = Repository::new() else { return };
    let [first, second] = two_commits(&repository);
    let (_home, work) = work();
    repository.move_to(&work, &first).unwrap();
    assert!(!work.tree().join("arch/arm64/kernel/a.c").exists(), "no build reads it");
    let unchanged = time(&work, "net/ipv4/tcp_input.c");
    fs::write(work.tree().join("net/ipv4/tcp_input.o"), "an object").unwrap();
    repository.move_to(&work, &second).unwrap();
    assert_eq!(text(&work, "net/ipv4/tcp.c"), "int tcp, more;\n");
    assert_eq!(time(&work, "net/ipv4/tcp_input.c"), unchanged);
    assert_eq!(text(&work, "net/ipv4/tcp_input.o"), "an object");
    assert!(!work.tree().join("net/old.c").exists());
    let script = fs::metadata(work.tree().join("net/new/a.sh")).unwrap();
    assert_eq!(script.permissions().mode() & 0o100, 0o100);
    assert_eq!(text(&work, "net/new/link"), "#!/bin/sh\n");
    repository.move_to(&work, &first).unwrap();
    assert_eq!(text(&work, "net/ipv4/tcp.c"), "int tcp;\n");
    assert!(work.tree().join("net/old.c").exists() && !work.tree().join("net/new/link").exists());
}

#[test]
fn interrupted_change_is_completed_by_the_next_one() {
    let Some(repository) = Repository::new() else { return };
    let [first, second] = two_commits(&repository);
    let (_home, work) = work();
    repository.move_to(&work, &first).unwrap();
    // On the way to the second commit: one file is there, one is half written.
    write_json(&work.tree().join(COMMITS), &[&first, &second]).unwrap();
    fs::create_dir_all(work.tree().join("net/new")).unwrap();
    fs::write(work.tree().join("net/new/a.sh"), "#!/bin/sh\n").unwrap();
    fs::write(work.tree().join("net/ipv4/tcp.c"), "int").unwrap();
    repository.move_to(&work, &first).unwrap();
    assert_eq!(text(&work, "net/ipv4/tcp.c"), "int tcp;\n");
    assert!(!work.tree().join("net/new/a.sh").exists());
    assert_eq!(commits_of(&work.tree()), [first]);
}

#[test]
fn unknown_commit_is_an_error_of_the_repository() {
    let Some(repository) = Repository::new() else { return };
    let (_home, work) = work();
    let error = repository.move_to(&work, &"0".repeat(40)).unwrap_err();
    assert!(matches!(error, BuildError::Repository { .. }), "{error}");
    assert!(!error.is_of_source() && !work.has_tree());
}

#[test]
fn commit_without_linux_is_of_its_source() {
    let Some(repository) = Repository::new() else { return };
    fs::remove_file(repository.0.path().join("Kbuild")).unwrap();
    let commit = repository.commit();
    let (_home, work) = work();
    let error = repository.move_to(&work, &commit).unwrap_err();
    assert!(matches!(error, BuildError::NotLinux { lacks: "Kbuild", .. }), "{error}");
    assert!(error.is_of_source());
}
