use std::fs::{FileTimes, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use blake3::Hasher;
use proptest::prelude::*;
use tcplab_capture::Source;
use tcplab_report::trace::Chosen;
use tcplab_trace::{Analyzer, Connection, Trace};
use tempfile::TempDir;

use super::*;

/// A directory with a capture of the corpus and a cache, from which nothing is missing.
struct Place {
    home: TempDir,
    capture: PathBuf,
}

/// Some 1,002 packets of two connections.
const CAPTURE: &str = "nots_loss1.snd";

impl Place {
    fn new(capture: &str) -> Place {
        let home = tempfile::tempdir().unwrap();
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
        let mut source =
            Source::open(&Path::new(corpus).join(format!("{capture}.pcap.zst"))).unwrap();
        let mut plain = Vec::new();
        source.read_to_end(&mut plain).unwrap();
        let capture = home.path().join("a.pcap");
        fs::write(&capture, plain).unwrap();
        let place = Place { home, capture };
        place.set_age(3_600);
        place
    }

    /// The capture was changed so many seconds ago.
    fn set_age(&self, seconds: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        let file = File::options().append(true).open(&self.capture).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
    }

    fn caches(&self) -> PathBuf {
        self.home.path().join("cache")
    }
    fn index(&self) -> CaptureIndex {
        CaptureIndex::below(&self.caches(), &self.capture, 0).unwrap()
    }
    fn cached(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.caches().join("captures"));
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }
    fn only(&self) -> PathBuf {
        let [one] = &self.cached()[..] else { panic!("{:?}", self.cached()) };
        one.clone()
    }

    /// Reads all of it, and writes the index if that is possible.
    fn read(&self, jobs: usize) -> (Trace, Vec<(usize, Connection)>) {
        let mut analyzer = Analyzer::with_sink(Chosen::all()).with_jobs(jobs);
        if let Some(log) = self.index().log() {
            analyzer = analyzer.with_frame_log(log);
        }
        analyzer.read(crate::open(&self.capture).unwrap());
        let (trace, chosen) = analyzer.finish_into();
        (trace, chosen.into_connections())
    }

    fn is_known(&self) -> bool {
        matches!(self.index().find(0), Lookup::Known(_))
    }
}

/// What is done to an index, and how.
type Change<'a> = (&'a str, Box<dyn Fn(&Place) + 'a>);

#[test]
fn indexed_connections_of_corpus_are_those_of_the_whole() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut captures = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".pcap.zst") else { continue };
        captures += 1;
        for jobs in [1, 3] {
            let place = Place::new(name);
            let (trace, connections) = place.read(jobs);
            assert!(!connections.is_empty());
            for (index, connection) in connections {
                let Lookup::Known(known) = place.index().find(index) else { panic!("{name}") };
                let chosen = Chosen::new([index]);
                let (alone, chosen, interfaces) = place.index().read(known, chosen).unwrap();
                assert_eq!((&alone, interfaces.len()), (&trace, 1));
                assert!(chosen.into_connections() == [(index, connection)], "{name}: {index}");
            }
            assert_eq!(place.index().find(1_000_000), Lookup::Unknown);
        }
    }
    assert!(captures > 10);
}

#[test]
fn index_is_small_and_private() {
    let place = Place::new(CAPTURE);
    assert!(!place.is_known());
    place.read(1);
    assert!(place.is_known());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let index = place.only();
    assert_eq!((mode(&index), mode(index.parent().unwrap())), (0o600, 0o700));
    let [of_index, of_capture] = [&index, &place.capture].map(|it| fs::metadata(it).unwrap().len());
    assert!(of_index * 20 < of_capture, "{of_index} of {of_capture}");
}

#[test]
fn changed_capture_is_not_known() {
    let mut changes: Vec<Change<'_>> = Vec::new();
    changes.push((
        "longer",
        Box::new(|place| {
            let mut file = File::options().append(true).open(&place.capture).unwrap();
            file.write_all(&[0]).unwrap();
        }),
    ));
    changes.push((
        "of the same size and time",
        Box::new(|place| {
            let before = fs::metadata(&place.capture).unwrap();
            let mut bytes = fs::read(&place.capture).unwrap();
            bytes[100] ^= 1;
            fs::write(&place.capture, bytes).unwrap();
            let file = File::options().append(true).open(&place.capture).unwrap();
            let ctime = |about: &fs::Metadata| (about.ctime(), about.ctime_nsec());
            // The kernel's clock for files ticks some hundred times a second.
            loop {
                let time = FileTimes::new().set_modified(before.modified().unwrap());
                file.set_times(time).unwrap();
                if ctime(&file.metadata().unwrap()) != ctime(&before) {
                    break;
                }
            }
            let after = file.metadata().unwrap();
            assert_eq!(after.modified().unwrap(), before.modified().unwrap());
        }),
    ));
    changes.push((
        "another file",
        Box::new(|place| {
            let other = place.home.path().join("other");
            fs::copy(&place.capture, &other).unwrap();
            fs::rename(other, &place.capture).unwrap();
        }),
    ));
    for (what, change) in changes {
        let place = Place::new(CAPTURE);
        place.read(1);
        assert!(place.is_known(), "{what}");
        let index = place.index();
        let Lookup::Known(known) = index.find(0) else { panic!("{what}") };
        change(&place);
        assert!(!place.is_known(), "{what}");
        let refused = index.read(known, Chosen::new([0])).unwrap_err();
        assert!(refused.to_string().ends_with("a.pcap changed while it was read"), "{refused}");
        // The index of what it is now replaces the other.
        place.set_age(3_600);
        place.read(1);
        place.only();
    }
}

#[test]
fn capture_that_may_change_unseen_gets_no_index() {
    let place = Place::new(CAPTURE);
    place.set_age(1);
    place.read(1);
    // Changed while it is read.
    place.set_age(3_600);
    let log = place.index().log().unwrap();
    let mut analyzer = Analyzer::with_sink(Chosen::all()).with_frame_log(log);
    analyzer.read(crate::open(&place.capture).unwrap());
    place.set_age(1_800);
    analyzer.finish_into();
    assert_eq!(place.cached(), [] as [PathBuf; 0]);
}

#[test]
fn compressed_and_small_captures_get_no_index() {
    let place = Place::new(CAPTURE);
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = Path::new(corpus).join(format!("{CAPTURE}.pcap.zst"));
    fs::copy(packed, &place.capture).unwrap();
    place.set_age(3_600);
    assert!(place.index().log().is_none());
    assert!(CaptureIndex::below(&place.caches(), &place.capture, LEAST).is_none());
    assert!(CaptureIndex::below(&place.caches(), Path::new("/dev/null"), 0).is_none());
}

#[test]
fn unusable_cache_is_no_error() {
    let place = Place::new(CAPTURE);
    fs::write(place.caches(), "a file").unwrap();
    place.read(1);
    assert!(!place.is_known());
    fs::remove_file(place.caches()).unwrap();
    place.read(1);
    assert!(place.is_known());
    // Others could write there.
    let directory = place.caches().join("captures");
    fs::set_permissions(&directory, Permissions::from_mode(0o770)).unwrap();
    assert!(!place.is_known() && place.index().log().is_none());
    fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    let index = place.only();
    fs::set_permissions(&index, Permissions::from_mode(0o644)).unwrap();
    assert!(!place.is_known());
    fs::set_permissions(&index, Permissions::from_mode(0o600)).unwrap();
    let elsewhere = place.home.path().join("elsewhere");
    fs::rename(&index, &elsewhere).unwrap();
    symlink(&elsewhere, &index).unwrap();
    assert!(!place.is_known());
}

#[test]
fn concurrent_writers_leave_one_whole_index() {
    let place = Place::new(CAPTURE);
    thread::scope(|scope| {
        for jobs in [1, 2, 1, 3] {
            let place = &place;
            scope.spawn(move || {
                for _ in 0..5 {
                    place.read(jobs);
                    assert!(place.is_known());
                }
            });
        }
    });
    place.only();
}

/// The index of the capture, and its key.
fn index() -> (Vec<u8>, [u8; contents::KEY]) {
    let place = Place::new(CAPTURE);
    place.read(1);
    (fs::read(place.only()).unwrap(), *place.index().identity.key())
}

fn find(bytes: &[u8], key: &[u8; contents::KEY], connection: usize) -> Option<Lookup> {
    contents::find((bytes, bytes.len() as u64), key, connection)
}

/// `bytes` with the right hash at the end.
fn with_hash(bytes: &[u8]) -> Vec<u8> {
    let body = &bytes[..bytes.len().saturating_sub(32)];
    [body, Hasher::new().update(body).finalize().as_bytes()].concat()
}

#[test]
fn truncated_or_foreign_index_is_none() {
    let (bytes, key) = index();
    assert!(matches!(find(&bytes, &key, 1), Some(Lookup::Known(_))));
    for len in 0..bytes.len() {
        assert_eq!(find(&bytes[..len], &key, 1), None, "{len}");
        // Nor with a hash of what is left, which lacks its end.
        assert_eq!(find(&with_hash(&bytes[..len]), &key, 1), None, "{len}");
    }
    assert_eq!(find(&[&bytes[..], b"0"].concat(), &key, 1), None);
    assert_eq!(find(&bytes, &[7; contents::KEY], 1), None);
}

#[test]
fn damaged_index_is_replaced() {
    let place = Place::new(CAPTURE);
    place.read(1);
    let mut bytes = fs::read(place.only()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(place.only(), bytes).unwrap();
    assert_eq!(place.index().find(0), Lookup::NoIndex);
    place.read(1);
    assert!(place.is_known());
}

/// An index with the right hash that names other places.
#[test]
fn index_that_does_not_fit_is_an_error_and_removed() {
    let place = Place::new(CAPTURE);
    place.read(1);
    let Lookup::Known(mut known) = place.index().find(1) else { panic!() };
    known.connection.frames[5].1 += 1;
    let refused = place.index().read(known, Chosen::new([1])).unwrap_err();
    assert!(refused.to_string().contains("index does not fit the capture"), "{refused}");
    assert!(!place.is_known());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_index_is_none(at in any::<prop::sample::Index>(), change in 1_u8..) {
        let (mut bytes, key) = index();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert_eq!(find(&bytes, &key, 1), None);
        // With the right hash it may be one: nothing panics, and lists stay short.
        check_index(&with_hash(&bytes));
    }

    #[test]
    fn any_bytes_are_read_in_little_memory(
        body in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (bytes, _) = index();
        let head = &bytes[..16 + contents::KEY];
        check_index(&body);
        check_index(&with_hash(&[head, &body, &[0; 32]].concat()));
    }
}
