use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn written(name: &Path, text: &str) -> io::Result<Option<PathBuf>> {
    let mut output = Output::create(name)?;
    output.write_all(text.as_bytes())?;
    output.commit()
}

#[test]
fn file_appears_when_complete() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("it.svg");
    let mut output = Output::create(&place).unwrap();
    output.write_all(&vec![b'x'; 2 * BUFFER]).unwrap();
    output.write_all(b"end").unwrap();
    assert!(!place.exists(), "what has the name is whole");
    assert_eq!(output.commit().unwrap().as_deref(), Some(place.as_path()));
    assert_eq!(fs::read(&place).unwrap().len(), 2 * BUFFER + 3);
    assert_eq!(names(home.path()), ["it.svg"]);
}

#[test]
fn abandoned_file_leaves_the_old_one() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("it.svg");
    for before in [None, Some("old")] {
        if let Some(text) = before {
            fs::write(&place, text).unwrap();
        }
        let mut output = Output::create(&place).unwrap();
        output.write_all(b"half of it").unwrap();
        output.flush().unwrap();
        drop(output);
        assert_eq!(fs::read_to_string(&place).ok().as_deref(), before);
        assert_eq!(names(home.path()).len(), before.iter().len());
    }
}

#[test]
fn new_capture_belongs_to_its_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("it.pcapng");
    let mode = |place: &Path| fs::metadata(place).unwrap().permissions().mode() & 0o777;
    let mut output = Output::create_capture(&place).unwrap();
    output.write_all(b"payload").unwrap();
    let growing = home.path().join(&names(home.path())[0]);
    assert_eq!(mode(&growing), 0o600, "from the beginning");
    output.commit().unwrap();
    assert_eq!(mode(&place), 0o600);
    // Who shared it shares what replaces it.
    fs::set_permissions(&place, fs::Permissions::from_mode(0o640)).unwrap();
    Output::create_capture(&place).unwrap().commit().unwrap();
    assert_eq!(mode(&place), 0o640);
}

#[test]
fn new_file_keeps_permissions_of_old_one() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("private");
    fs::write(&place, "old").unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
    written(&place, "new").unwrap();
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&place).unwrap(), "new");
}

#[test]
fn symbolic_links_lead_to_new_file() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("below")).unwrap();
    symlink("below/link", at("link")).unwrap();
    // Relative to where the link is.
    symlink("target", at("below/link")).unwrap();
    for text in ["made", "replaced"] {
        written(&at("link"), text).unwrap();
        assert_eq!(fs::read_to_string(at("below/target")).unwrap(), text);
    }
    assert_eq!((names(home.path()).len(), names(&at("below")).len()), (2, 2));
    assert!(at("link").is_symlink() && at("below/link").is_symlink());
    symlink("round", at("round")).unwrap();
    let error = written(&at("round"), "nowhere").unwrap_err();
    assert!(error.to_string().contains("Too many levels of symbolic links"), "{error}");
}

#[test]
fn pipe_stays_a_pipe() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &place, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    // Both ends in one, so that nobody waits for the other (fifo(7)).
    let mut end = OpenOptions::new().read(true).write(true).open(&place).unwrap();
    written(&place, "through").unwrap();
    let mut read = [0; 7];
    end.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"through");
    assert_eq!(names(home.path()), ["pipe"]);
}

#[test]
fn open_file_is_appended_to() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("log");
    fs::write(&place, "before\n").unwrap();
    let open = OpenOptions::new().append(true).open(&place).unwrap();
    for folder in ["/proc/self/fd", "/dev/fd"] {
        written(&Path::new(folder).join(open.as_raw_fd().to_string()), "more\n").unwrap();
    }
    assert_eq!(fs::read_to_string(&place).unwrap(), "before\nmore\nmore\n");
    assert_eq!(names(home.path()), ["log"]);
}

#[test]
fn error_names_the_output() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    for (name, said) in [
        // A device, which stays one.
        ("/dev/full".to_owned(), "No space left on device"),
        (at("nowhere/it"), "No such file or directory"),
        (at(""), "Is a directory"),
    ] {
        let error = written(Path::new(&name), "text").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {name}: {said}")), "{error}");
    }
    assert_eq!(names(home.path()), [""; 0]);
}

#[test]
fn sentences_are_folded_and_tables_are_not() {
    let text = "A: runs/x\n\n  case  metric  A\n  B takes 2.00 times A's time\nTested: all\n";
    let at_20 = "A: runs/x\n\n  case  metric  A\n  B takes 2.00 times\n  A's time\nTested: all\n";
    assert_eq!(folded(text, 20), at_20);
    assert_eq!(folded("one  two  three, which is long\n", 9), "one  two  three, which is long\n");
    assert_eq!(folded(text, usize::MAX), text);
}

#[test]
fn lines_are_wrapped_between_words() {
    assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
    assert_eq!(wrapped("extraordinary", 5), ["extraordinary"]);
    assert_eq!(wrapped("", 5), [""; 0]);
    let hung = "- a text with several words\n  that does not fit in one\n  line\n";
    assert_eq!(hanging("- ", "a text with several words that does not fit in one line", 27), hung);
}
