//! What commands read: outputs never replace it, and none of it is passed over.

use std::io::Read;

use crate::errors::SMALL;
use crate::home::Home;

/// A scenario, and captures of one transfer, plain and compressed.
fn home() -> Home {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = format!("{corpus}/nots_loss1.snd.pcap.zst");
    let mut plain = Vec::new();
    tcplab_capture::Source::open(packed.as_ref()).unwrap().read_to_end(&mut plain).unwrap();
    let home = Home::with("small.toml", SMALL);
    home.write("captures/a.pcap", &plain);
    home.write("captures/b.pcap.zst", std::fs::read(packed).unwrap());
    home
}

#[test]
fn output_that_would_replace_an_input_is_refused() {
    let home = home();
    let (a, b) = ("captures/a.pcap", "captures/b.pcap.zst");
    home.make_directory("sub");
    for (line, option) in [
        (format!("export {a} --table segments --format csv -o {a}"), "--output"),
        (format!("export {a} --table segments --format csv -o sub/../{a}"), "--output"),
        (format!("trace {a} --json={a}"), "--json"),
        (format!("trace captures --json={a}"), "--json"),
        (format!("compare {a} {b} --json={b}"), "--json"),
        (format!("compare {a} {b} --markdown {b}"), "--markdown"),
        (format!("states {a} --svg {a}"), "--svg"),
        (format!("advise {a} --json={a}"), "--json"),
        (format!("archive {a} -o place --json={a}"), "--json"),
        ("sweep small.toml -o place --json=small.toml".into(), "--json"),
        ("run small.toml --world sim --trials 1 --json=small.toml".into(), "--json"),
        ("run small.toml --world sim --trials 1 --junit small.toml".into(), "--junit"),
        ("path show small.toml --json=small.toml".into(), "--json"),
        ("path plot small.toml -o small.toml".into(), "--output"),
    ] {
        let before = [a, b, "small.toml"].map(|file| home.bytes(file));
        let refusal = home.refusal(&line);
        let said = format!("error: {option} would overwrite the input ");
        assert!(refusal.starts_with(&said) && refusal.contains(": choose another"), "{refusal}");
        assert!(before == [a, b, "small.toml"].map(|file| home.bytes(file)), "{line}");
    }
    assert!(!home.exists("runs") && !home.exists("place"));
}

/// Such as one of a directory that is read.
#[test]
fn table_never_replaces_a_capture() {
    let home = home();
    let before = home.bytes("captures/a.pcap");
    for line in [
        "run small.toml --world sim --trials 1 --json=captures/a.pcap",
        "path plot small.toml --json=captures/a.pcap",
    ] {
        home.refuses(&[(line, "captures/a.pcap: it is a capture; choose another file")]);
        assert!(home.bytes("captures/a.pcap") == before, "{line}");
    }
    assert!(!home.exists("runs"));
}

#[test]
fn directory_with_a_capture_that_cannot_be_read_is_not_read_in_part() {
    let home = home();
    home.write("captures/notes.txt", "no capture");
    home.write("captures/empty.pcap", "");
    let whole = home.json("trace captures --json")["capture"]["packets"].clone();
    assert!(whole.as_u64().unwrap() > 100, "{whole}");
    let packed = home.bytes("captures/b.pcap.zst");
    // The magic number of pcapng, and then nothing.
    let section = [0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c];
    for (name, content) in [("cut.pcap.zst", &packed[..20]), ("tiny.pcapng", &section[..])] {
        home.write(&format!("captures/{name}"), content);
        home.refuses(&[("trace captures", name)]);
        std::fs::remove_file(home.path(format!("captures/{name}"))).unwrap();
    }
}

#[test]
fn export_prints_the_notes_on_a_capture() {
    let home = home();
    let plain = home.bytes("captures/a.pcap");
    home.write("cut.pcap", &plain[..plain.len() - 10]);
    let said = home.run("export cut.pcap --table segments -o cut.csv").stderr;
    let (note, rows) = said.trim_end().split_once('\n').unwrap();
    assert!(note.starts_with("! the capture is cut off in the middle of record "), "{said}");
    assert!(rows.starts_with("cut.csv: "), "{said}");
    let whole = home.run("export captures/a.pcap --table segments -o a.csv").stderr;
    assert_eq!(whole.lines().count(), 1, "{whole}");
}

#[test]
fn export_of_another_directory_says_what_it_is() {
    let home = home();
    home.write("data/archive.json", "{}");
    home.make_directory("empty");
    home.refuses(&[
        ("export captures", "captures is neither a run nor a trial: `export` takes one capture"),
        ("export captures", "try: pass one, such as captures/a.pcap; `tcplab archive captures -o"),
        ("export data", "data is a data set, whose tables are files already"),
        ("export data", "try: read its Parquet files"),
        ("export empty", "incomplete recording: no DONE file in empty"),
    ]);
}
