//! Text of others: whatever a file holds, the terminal and the pages show it and do not obey it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use serde_json::Value;

use crate::home::{Ended, Home, ended, everything, names};

/// Clears the screen in 7 and 8 bits, renames the window, turns the line; runs a script in a page,
/// out of text, out of an attribute, out of a comment.
const HOSTILE: &str =
    "\x1b[2J\u{9b}2J\x1b]0;own\x07\u{202e}<script>alert(1)</script>\"onload=\"x\" '-->";

/// Two cases of a few milliseconds in virtual time, and a comparison of them.
const SCENARIO: &str = r#"title    = "Tiny"
path     = { rate = "10 Mbit/s", delay = "5 ms", loss = "5 %" }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "60 kB" }

[repeat]
trials = 1

[matrix]
"client.socket.congestion" = ["reno", "cubic"]

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true

[[compare]]
factor = "client.socket.congestion"
"#;

/// Panics if a terminal would obey something in `text`.
fn assert_harmless(text: &str, what: &str) {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(at) = text.find(obeyed) {
        let before: String = text[..at].chars().rev().take(60).collect();
        let after: String = text[at..].chars().take(60).collect();
        panic!("{what}: {after:?} after, backwards, {before:?}");
    }
}

fn assert_page_harmless(page: &str, what: &str) {
    assert_harmless(page, what);
    for markup in ["<script>alert", "\"onload=\"x", "</script>\"onload"] {
        assert!(!page.contains(markup), "{what}: {markup}");
    }
}

/// Panics if what a command printed, or a page below `directory`, does anything.
fn check(ended: &Ended, directory: &Path, what: &str) {
    assert_harmless(&ended.stdout, what);
    assert_harmless(&ended.stderr, what);
    assert!(!ended.stderr.contains("panicked"), "{what}: {}", ended.stderr);
    for file in everything(directory) {
        if file.extension().is_some_and(|it| it == "html" || it == "svg") {
            let page = fs::read_to_string(directory.join(&file)).unwrap();
            assert_page_harmless(&page, &format!("{what}: {}", file.display()));
        }
    }
}

/// A copy of a run in a place of its own.
fn copied(run: &Path, place: &Path) {
    let _ = fs::remove_dir_all(place);
    for file in everything(run) {
        let (from, to) = (run.join(&file), place.join(&file));
        if from.is_dir() {
            fs::create_dir_all(to).unwrap();
        } else {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
}

/// The places of all strings in a document; of a list's elements the first that has it.
fn places_of_strings(value: &Value) -> Vec<String> {
    fn collect(value: &Value, (place, kind): (&str, &str), found: &mut Vec<(String, String)>) {
        match value {
            Value::String(_) if found.iter().all(|(_, known)| known != kind) => {
                found.push((place.into(), kind.into()));
            }
            Value::Array(list) => {
                for (index, item) in list.iter().enumerate() {
                    collect(item, (&format!("{place}/{index}"), &format!("{kind}/*")), found);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    collect(item, (&format!("{place}/{key}"), &format!("{kind}/{key}")), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, ("", ""), &mut found);
    found.into_iter().map(|(place, _)| place).collect()
}

/// What a file is with each of its strings hostile, one after the other.
fn edits(file: &Path, text: &str) -> Vec<(String, String)> {
    let of_json = |text: &str| -> Vec<(String, String)> {
        let document: Value = serde_json::from_str(text).unwrap();
        let edited = |place: String| {
            let mut document = document.clone();
            *document.pointer_mut(&place).unwrap() = HOSTILE.into();
            let edited = document.to_string();
            (place, edited)
        };
        places_of_strings(&document).into_iter().map(edited).collect()
    };
    match file.extension().and_then(|it| it.to_str()) {
        Some("json") => of_json(text),
        Some("jsonl") => {
            let Some((first, rest)) = text.split_once('\n') else { return Vec::new() };
            let all = of_json(first).into_iter();
            all.map(|(place, line)| (place, format!("{line}\n{rest}"))).collect()
        }
        Some("csv") => {
            let mut lines = text.splitn(3, '\n');
            let [Some(head), Some(row), Some(rest)] = [(); 3].map(|()| lines.next()) else {
                return Vec::new();
            };
            let cells: Vec<&str> = row.split(',').collect();
            let hostile = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
            let edited = |index: usize| {
                let mut cells = cells.clone();
                cells[index] = &hostile;
                (format!("column {index}"), format!("{head}\n{}\n{rest}", cells.join(",")))
            };
            (0..cells.len()).map(edited).collect()
        }
        _ => Vec::new(),
    }
}

/// Each string of each file that a run leaves, edited; then whatever reads it.
#[test]
fn strings_of_recordings_are_shown_and_not_obeyed() {
    let home = Home::with("tiny.toml", SCENARIO);
    home.answer("run tiny.toml");
    let run = home.only("runs/tiny");
    let files: Vec<_> = everything(&run).into_iter().filter(|it| !run.join(it).is_dir()).collect();
    let first = run.join("trials").join(&names(&run.join("trials"))[0]);
    let is_of_first = |file: &Path| run.join(file).starts_with(&first);
    let trial = first.strip_prefix(&run).unwrap().display();
    let of_run = ["compare RUN --by client.socket.congestion", "report RUN"];
    let of_trial = ["report RUN", "states TRIAL", "replay TRIAL", "trace TRIAL/client.pcapng"];
    let mut tries: Vec<(&Path, String, String, &[&str])> = Vec::new();
    for file in &files {
        let is_trial = file.starts_with("trials");
        let Ok(text) = fs::read_to_string(run.join(file)) else { continue };
        if !is_trial || is_of_first(file) {
            let lines: &[&str] = if is_trial { &of_trial } else { &of_run };
            let edited = edits(file, &text).into_iter();
            tries.extend(edited.map(|(place, text)| (file.as_path(), place, text, lines)));
        }
    }
    assert!(tries.len() > 100, "{}", tries.len());
    let (next, shown) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |worker: usize| {
        let place = format!("edited-{worker}");
        let edited = home.path(&place);
        while let Some((file, name, text, lines)) = tries.get(next.fetch_add(1, Relaxed)) {
            copied(&run, &edited);
            fs::write(edited.join(file), text).unwrap();
            for line in *lines {
                let line = line.replace("TRIAL", &format!("RUN/{trial}")).replace("RUN", &place);
                let ended = home.run(&line);
                check(&ended, &edited, &format!("{} {name}: {line}", file.display()));
                let is_shown = format!("{}{}", ended.stdout, ended.stderr).contains("\\x1b[2J");
                shown.fetch_add(is_shown.into(), Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        (0..4)
            .map(|worker| {
                let work = &work;
                scope.spawn(move || work(worker))
            })
            .count()
    });
    let shown = shown.into_inner();
    assert!(shown > 20, "the text is seen in {shown} outputs only");
}

/// A capture with losses.
fn capture() -> Vec<u8> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = Path::new(corpus).join("nots_loss1.snd.pcap.zst");
    let mut bytes = Vec::new();
    tcplab_capture::Source::open(&packed).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// With a hostile comment at every packet.
fn commented(capture: &[u8]) -> Vec<u8> {
    let mut copy = Vec::new();
    tcplab_capture::annotate(capture, &mut copy, |_| Some(format!("{HOSTILE}\nline"))).unwrap();
    copy
}

#[test]
fn comments_of_packets_are_shown_and_not_obeyed() {
    let home = Home::with("a.pcapng", commented(&capture()));
    for line in [
        "trace a.pcapng",
        "trace a.pcapng -c 0",
        "trace a.pcapng -c 0 --listing",
        "trace a.pcapng -c 0 --ladder",
        "trace a.pcapng --html page.html --ladder-svg ladder.svg -c 0",
        "trace a.pcapng a.pcapng --filter port==5201",
        "states a.pcapng -c 0",
        "trace --client a.pcapng --server a.pcapng",
        "compare a.pcapng a.pcapng --html compared.html",
    ] {
        check(&home.run(line), &home.path(""), line);
    }
    let listing = home.answer("trace a.pcapng -c 0 --listing");
    assert!(listing.contains(r#""\x1b[2J\x9b2J\x1b]0;own\x07\u{202e}<script>"#), "{listing:.500}");
    // A comment stays on the line of its packet.
    assert!(listing.contains("'-->\\nline\"\n"), "{listing:.500}");
    // Data have it as it is, in their format.
    let json = home.json("trace a.pcapng --json");
    assert!(json.to_string().contains("\\u001b[2J"));
}

#[test]
fn names_of_files_are_shown_and_not_obeyed() {
    let home = Home::new();
    let name = OsStr::from_bytes(b"\x1b[2J\xff\xc2\x9b2J<script>alert(1).pcap");
    fs::write(home.path(name), capture()).unwrap();
    fs::write(home.path("broken\u{9b}.toml"), "title = \"\x1b[2J\n").unwrap();
    fs::write(home.path("\x1b[31m.pkt"), "+0 \x1b[2Jioctl(3, 4, 5) = 0\n").unwrap();
    let lines: [&[&OsStr]; 9] = [
        &["trace".as_ref(), name],
        &["trace".as_ref(), name, "--html".as_ref(), "page.html".as_ref()],
        &["trace".as_ref(), "--html".as_ref(), name, name],
        &["trace".as_ref(), "missing\x1b[2J".as_ref()],
        &["states".as_ref(), name, "-c".as_ref(), "0".as_ref()],
        &["run".as_ref(), "broken\u{9b}.toml".as_ref()],
        &["run".as_ref(), "\x1b[2J".as_ref()],
        &["--\x1b[31m\u{9b}2J".as_ref()],
        &["packetdrill".as_ref(), "\x1b[31m.pkt".as_ref()],
    ];
    for line in lines {
        let ended = ended(home.command("").args(line));
        let what = format!("{line:?}");
        check(&ended, &home.path(""), &what);
        let text = ended.stdout + &ended.stderr;
        assert!(text.contains("\\x1b[") || text.contains("\\x9b"), "{what}: {text}");
    }
}

/// As a basic string of TOML has it.
fn in_toml(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.into(),
        _ => format!("\\u{:04x}", u32::from(c)),
    };
    text.chars().map(escaped).collect()
}

/// Titles, claims, levels and names of a scenario; and what is made of it.
#[test]
fn names_in_scenarios_are_shown_and_not_obeyed() {
    let home = Home::new();
    let hostile = in_toml(HOSTILE);
    let levels = format!(
        "variant = {{ \"{hostile}\" = {{ \"client.socket.congestion\" = \"reno\" }}, \
         \"=1+1\" = {{ \"client.socket.congestion\" = \"cubic\" }} }}"
    );
    let scenario = SCENARIO
        .replace("\"Tiny\"", &format!("\"{hostile}\\nnext\""))
        .replace("\"all arrives\"", &format!("\"{hostile}\""))
        .replace("\"client.socket.congestion\" = [\"reno\", \"cubic\"]", &levels)
        .replace("factor = \"client.socket.congestion\"", "factor = \"variant\"");
    home.write("names.toml", scenario);
    check(&home.run("run names.toml --dry-run"), &home.path(""), "dry run");
    let ended = home.run("run names.toml --verbose");
    check(&ended, &home.path(""), "run");
    assert!(ended.stdout.contains("\\x1b[2J\\x9b2J"), "{}{}", ended.stdout, ended.stderr);
    let run = home.only("runs/names");
    let run = run.display();
    for line in [
        format!("compare {run} --by variant --html c.html --markdown c.md"),
        format!("export {run} --table trials -o trials.csv"),
        format!("export {run} --table trials -o trials.jsonl"),
        format!("advise {run}"),
    ] {
        check(&home.run(&line), &home.path(""), &line);
    }
    let markdown = home.text("c.md");
    assert_harmless(&markdown, "Markdown");
    assert!(!markdown.contains("<script"), "{markdown}");
    let csv = home.text("trials.csv");
    assert!(csv.contains(",'=1+1,") || csv.contains("\n'=1+1,"), "{csv}");
    assert!(home.text("trials.jsonl").contains(":\"=1+1\""));
}

/// What a command prints on a terminal of 100 columns.
pub(crate) fn on_terminal(mut command: Command) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let theirs = ptsname(&ours, Vec::new()).unwrap();
    let theirs =
        OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(theirs.to_bytes()));
    let theirs = theirs.unwrap();
    command.env_remove("NO_COLOR").stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // Now only the child has it open, so its end is the end of the output (EIO, ptmx(4)).
    drop(command);
    let mut seen = Vec::new();
    let _ = File::from(ours).read_to_end(&mut seen);
    child.wait().unwrap();
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

#[test]
fn terminal_obeys_our_colours_alone() {
    let name = "\x1b[2J\x1b[31m\u{9b}2J.pcapng";
    let home = Home::with(name, commented(&capture()));
    home.write("wrong.toml", "title = \"x\"\npaht = \"\u{9b}2J\"\n");
    home.write("plain.pcap", capture());
    home.write("typo.toml", "title = \"x\"\npaht = 1\n");
    let run = |line: &[&str]| {
        let mut command = home.command("");
        command.args(line);
        on_terminal(command)
    };
    // Colours are there where no name asks for some.
    for line in [&["trace", "plain.pcap"][..], &["run", "typo.toml"], &["--typo"], &["--help"]] {
        let plain = run(line);
        assert!(plain.contains("\x1b[0m"), "{line:?}: {plain:?}");
        assert_harmless(&plain.replace("\x1b[", ""), "colours");
    }
    for line in [
        &["trace", name][..],
        &["trace", name, "-c", "0", "--listing"],
        &["trace", name, "--json"],
        &["trace", name, "--jsonl"],
        &["run", "wrong.toml"],
        &["--\x1b[31m"],
    ] {
        let seen = run(line);
        // Ours are colours only.
        let seen = ["0", "1", "2", "31", "33", "36", "1;31", "4"]
            .iter()
            .fold(seen, |seen, code| seen.replace(&format!("\x1b[{code}m"), ""));
        assert_harmless(&seen, &format!("{line:?}"));
        assert!(seen.contains("\\x1b[") || seen.contains("\\x9b"), "{line:?}: {seen:.300}");
    }
}

#[test]
fn answers_of_servers_are_not_obeyed() {
    let home = Home::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut head = [0; 1024];
            let _ = (&stream).read(&mut head);
            let answer = format!("HTTP/1.1 200 {HOSTILE}\r\n{HOSTILE}: {HOSTILE}\r\n\r\n");
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    for place in ["", "\x1b[2J"] {
        let line = format!("load http://127.0.0.1:{port}/{place} --requests 2 -c 1");
        let ended = home.run(&line);
        check(&ended, &home.path(""), &line);
        assert_ne!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    }
}
