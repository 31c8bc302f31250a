//! `tcplab trace`: answers, errors, and incomplete captures.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A capture with known truth: an upload of 1,002 packets or so through 1 % of loss, and the
/// connection that orders it.
const NAME: &str = "nots_loss1.snd.pcap";

/// A directory with the capture in it, as it is and compressed.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = Path::new(corpus).join(format!("{NAME}.zst"));
    fs::copy(&packed, home.path().join("a.pcap.zst")).unwrap();
    let mut plain = Vec::new();
    let mut source = tcplab_capture::Source::open(&packed).unwrap();
    std::io::Read::read_to_end(&mut source, &mut plain).unwrap();
    fs::write(home.path().join("a.pcap"), plain).unwrap();
    home
}

fn command(home: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.arg("trace").args(line.split(' ').filter(|word| !word.is_empty()));
    command.current_dir(home).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn answer(home: &Path, line: &str) -> String {
    answered(&command(home, line).output().unwrap(), line)
}

fn answered(output: &Output, what: &str) -> String {
    assert_eq!(output.status.code(), Some(0), "{what}: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "{what}");
    text(&output.stdout)
}

fn refusal(home: &Path, line: &str) -> String {
    let output = command(home, line).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    assert_eq!(text(&output.stdout), "", "{line}");
    assert!(!said.contains("panicked"), "{line}: {said}");
    said
}

/// What follows the lines that name the files.
fn body(answer: &str) -> &str {
    answer.split_once('\n').unwrap().1
}

#[test]
fn the_same_capture_gives_the_same_answer_however_it_comes() {
    let home = home();
    let plain = answer(home.path(), "a.pcap");
    assert!(plain.starts_with("a.pcap\n"), "{plain}");
    assert!(plain.contains("2 connections"), "{plain}");
    assert_eq!(body(&answer(home.path(), "a.pcap.zst")), body(&plain));
    let one = answer(home.path(), "a.pcap --top 1");
    assert!(one.contains("1 connection more"), "{one}");
    assert_eq!(answer(home.path(), "a.pcap --all"), plain);
}

#[test]
fn standard_input_is_a_capture_too() {
    let home = home();
    let packed = fs::read(home.path().join("a.pcap.zst")).unwrap();
    let mut child = command(home.path(), "- --connection 1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&packed).unwrap();
    let said = answered(&child.wait_with_output().unwrap(), "-");
    assert_eq!(said, answer(home.path(), "a.pcap --connection 1"));
    assert!(said.starts_with("Connection 1, 10.98.0.1:"), "{said}");
}

/// Cut in two by packets and read together, the capture is what it was.
#[test]
fn several_files_are_one_capture() {
    let home = home();
    let mut reader = tcplab_capture::open(home.path().join("a.pcap")).unwrap();
    let mut files =
        [(); 2].map(|()| tcplab_capture::PcapWriter::new(Vec::new(), 101, 128).unwrap());
    let mut turn = 0;
    while let Some(record) = reader.next_record().unwrap() {
        turn += 1;
        let file = &mut files[usize::from(turn % 7 < 3)];
        file.write_packet(record.time.unwrap(), record.captured, record.original_len).unwrap();
    }
    for (name, file) in ["x.pcap", "y.pcap"].into_iter().zip(files) {
        fs::write(home.path().join(name), file.finish().unwrap()).unwrap();
    }
    let apart = answer(home.path(), "x.pcap y.pcap");
    assert!(apart.starts_with("x.pcap + y.pcap\n"), "{apart}");
    assert_eq!(body(&apart), body(&answer(home.path(), "a.pcap")));
}

#[test]
fn a_filter_leaves_out_what_it_says() {
    let home = home();
    let with = |filter: &str, more: &str| {
        let mut command = command(home.path(), &format!("a.pcap --json {more}"));
        let output = command.args(["--filter", filter]).output().unwrap();
        serde_json::from_str::<serde_json::Value>(&answered(&output, filter)).unwrap()
    };
    let connections = |value: &serde_json::Value| value["connections"].as_array().unwrap().len();
    let all = with("port 5201", "");
    assert_eq!(connections(&all), 2);
    assert_eq!(connections(&with("not host 10.98.0.1", "")), 0);
    let port = &all["connections"][1]["client_port"];
    let one = with(&format!("port {port}"), "");
    assert_eq!(connections(&one), 1);
    // Times, frames and all that was counted are those of the whole capture.
    assert_eq!(one["capture"], all["capture"]);
    assert_eq!(one["connections"][0]["segments"], all["connections"][1]["segments"]);
    let early = with("time ..1s", "--connection 1");
    assert!(early["connections"][0]["last_ns"].as_u64().unwrap() < 1_000_000_000);
}

#[test]
fn json_lines_tell_what_json_tells() {
    let home = home();
    let whole: serde_json::Value =
        serde_json::from_str(&answer(home.path(), "a.pcap --json")).unwrap();
    let lines: Vec<serde_json::Value> = answer(home.path(), "a.pcap --jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    let listed = |what: &str| -> usize {
        let connections = whole["connections"].as_array().unwrap();
        connections.iter().map(|connection| connection[what].as_array().unwrap().len()).sum()
    };
    assert_eq!((of("connection"), of("capture")), (2, 1));
    assert!(of("episode") > 0);
    for (kind, what) in [("episode", "episodes"), ("stall", "stalls"), ("limit", "limits")] {
        assert_eq!(of(kind), listed(what), "{kind}");
    }
    assert_eq!(lines.last().unwrap()["packets"], whole["capture"]["packets"]);
    let one = answer(home.path(), "a.pcap --jsonl -c 1");
    let of_one = lines.iter().filter(|line| line["connection"] != 0).count();
    assert_eq!((one.lines().count(), one.contains("\"connection\":0")), (of_one, false));
}

#[test]
fn packets_are_listed_and_drawn() {
    let home = home();
    let listing = answer(home.path(), "a.pcap -c 1 --listing");
    let some = answer(home.path(), "a.pcap -c 1 --listing --from 100 --to 120");
    assert!(listing.contains("[fast retransmission: SACK #111]"), "{listing}");
    // Lines of packets begin with a time; those of lost segments do not.
    let frame = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.parse::<f64>().ok()?;
        words.next()?.strip_prefix('#')?.parse().ok()
    };
    let frames = |text: &str| -> Vec<u64> { text.lines().filter_map(frame).collect() };
    assert!(frames(&listing).len() > 1_000);
    assert!(!frames(&some).is_empty() && frames(&some).iter().all(|f| (100..=120).contains(f)));
    let ladder = answer(home.path(), "a.pcap -c 1 --ladder --ladder-svg l.svg");
    assert!(ladder.contains("│◀─") && ladder.contains("─▶│") && ladder.contains('×'), "{ladder}");
    let svg = fs::read_to_string(home.path().join("l.svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    let left: Vec<PathBuf> =
        fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left.len(), 3, "nothing half-written stays: {left:?}");
    let acks = answer(home.path(), "a.pcap -c 1 --ladder --reverse");
    assert!(acks.contains("SYN"), "{acks}");
}

/// What is told of the files written, and the answer.
fn writing(home: &Path, line: &str) -> (String, String) {
    let output = command(home, line).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {told}");
    (told, text(&output.stdout))
}

fn read(home: &Path, name: &str) -> Vec<u8> {
    fs::read(home.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn files_are_written_beside_the_answer() {
    let home = home();
    let home = home.path();
    let wish = "--csv c.csv --parquet tables --xpl graphs --annotate n.pcapng --html p.html";
    let (told, said) = writing(home, &format!("a.pcap.zst {wish}"));
    assert_eq!(said, answer(home, "a.pcap.zst"), "files change nothing in the answer");
    let whole: serde_json::Value = serde_json::from_str(&answer(home, "a.pcap --json")).unwrap();
    let packets = whole["capture"]["packets"].as_u64().unwrap();
    let connections = whole["connections"].as_array().unwrap();
    let count = |what: &str| -> usize {
        connections.iter().map(|connection| connection[what].as_array().unwrap().len()).sum()
    };
    let counts = ["segments", "episodes", "stalls", "limits", "series", "states", "lost"]
        .map(|what| (what, count(what)));
    for (table, rows) in counts.into_iter().chain([("connections", 2)]) {
        let name = format!("tables/{table}.parquet");
        let s = if rows == 1 { "" } else { "s" };
        assert!(told.contains(&format!("{name}: {rows} row{s}\n")), "{told}");
        let file = read(home, &name);
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{name}");
    }
    let csv = text(&read(home, "c.csv"));
    assert!(csv.starts_with("conn_#,host_a,host_b,port_a,port_b,first_packet,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + connections.len());
    // The time of day of the first packet.
    let epoch = whole["capture"]["zero_unix_ns"].as_u64().unwrap() / 1_000;
    let first = format!("{}.{:06}", epoch / 1_000_000, epoch % 1_000_000);
    assert_eq!(csv.lines().nth(1).unwrap().split(',').nth(5), Some(first.as_str()));
    let graph = text(&read(home, "graphs/c2d_tsg.xpl"));
    assert!(graph.starts_with("dtime double\n") && graph.ends_with("go\n"));
    let drawn = fs::read_dir(home.join("graphs")).unwrap().count();
    assert!(told.contains(&format!("graphs: {drawn} graphs\n")), "{told}");
    let page = text(&read(home, "p.html"));
    for connection in connections {
        let client = connection["client_address"].as_str().unwrap();
        assert!(page.contains(client), "{client}");
    }
    assert!(page.contains("<svg") && page.trim_end().ends_with("</html>"));
    assert!(told.contains("p.html: 2 connections, 2 with graphs\n"), "{told}");
    let mut reader = tcplab_capture::open(home.join("n.pcapng")).unwrap();
    let (mut copied, mut comments) = (0, 0);
    while let Some(record) = reader.next_record().unwrap() {
        copied += 1;
        let comment: Vec<_> = record.comments().collect();
        comments += usize::from(!comment.is_empty());
    }
    assert_eq!(copied, packets);
    assert!(comments > 0 && told.contains(&format!("{packets} packets, {comments} with")));
    assert_eq!(told.lines().count(), 1 + 13 + 1 + 1 + 1, "{told}");
}

/// What Wireshark makes of the copy: no complaint, all packets, the comments.
#[test]
fn an_annotated_copy_is_for_wireshark() {
    let home = home();
    let home = home.path();
    let (told, _) = writing(home, "a.pcap.zst --annotate n.pcapng");
    let fields = ["-Y", "frame.comment", "-T", "fields", "-e", "frame.comment"];
    let mut tshark = Command::new("tshark");
    let Ok(seen) = tshark.arg("-r").arg(home.join("n.pcapng")).args(fields).output() else {
        return skipped("tshark cannot be run");
    };
    assert!(seen.status.success(), "{}", text(&seen.stderr));
    let comments = text(&seen.stdout);
    assert!(told.contains(&format!(", {} with comments\n", comments.lines().count())), "{told}");
    assert!(comments.contains("retransmission of #"), "{comments}");
    assert!(comments.lines().any(|comment| comment == "lost"), "{comments}");
}

#[test]
fn files_hold_what_was_looked_at() {
    let home = home();
    let home = home.path();
    let wish = "--csv c.csv --xpl graphs --graphs tsg,owin --annotate n.pcapng --html p.html";
    let names = |folder: &str| {
        let files = fs::read_dir(home.join(folder)).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    for view in ["", "--json", "--jsonl", "--listing"] {
        let (told, _) = writing(home, &format!("a.pcap -c 1 {view} {wish}"));
        assert!(told.starts_with("c.csv: 1 connection\n"), "{view}: {told}");
        assert!(told.ends_with("p.html: 2 connections, 1 with graphs\n"), "{view}: {told}");
        let csv = text(&read(home, "c.csv"));
        assert!(csv.lines().count() == 2 && csv.lines().nth(1).unwrap().starts_with("2,"));
        let names = names("graphs");
        assert!(names.contains(&"c2d_owin.xpl".to_owned()), "{names:?}");
        let is_asked_for = |name: &String| {
            (name.starts_with("c2d") || name.starts_with("d2c"))
                && (name.ends_with("_tsg.xpl") || name.ends_with("_owin.xpl"))
        };
        assert!(names.iter().all(is_asked_for), "{names:?}");
    }
    let mut none = command(home, &format!("a.pcap {wish}"));
    let output = none.args(["--filter", "port 1"]).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.starts_with("c.csv: 0 connections\ngraphs: 0 graphs\n"), "{told}");
    assert!(told.contains(" packets, 0 with comments\np.html: 0 connections, 0 with graphs\n"));
}

#[test]
fn files_that_cannot_be_had_are_refused_before_anything_is_read() {
    let home = home();
    fs::write(home.path().join("file"), "old").unwrap();
    std::os::unix::fs::symlink("a.pcap", home.path().join("link")).unwrap();
    let before = read(home.path(), "a.pcap");
    let mut all = String::new();
    for line in [
        "a.pcap --csv nowhere/c.csv",
        "a.pcap --parquet nowhere/tables",
        "a.pcap --xpl nowhere/graphs",
        "a.pcap --xpl file",
        "a.pcap --csv c.csv --html nowhere/p.html --xpl graphs --parquet tables",
        "a.pcap --annotate a.pcap",
        "link --csv ./a.pcap",
        "a.pcap --html link",
        "a.pcap --html x --csv ./x",
        "a.pcap --csv -",
        "- --annotate n.pcapng",
        "- --html p.html",
        "-i lo --annotate n.pcapng",
        "-i lo -w kept --csv kept",
        "a.pcap a.pcap.zst --annotate n.pcapng",
        "a.pcap -c 7 --csv c.csv --parquet tables --xpl graphs --annotate n.pcapng",
    ] {
        all += &format!("$ tcplab trace {line}\n{}\n", refusal(home.path(), line));
    }
    insta::assert_snapshot!(all);
    let mut left: Vec<String> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["a.pcap", "a.pcap.zst", "file", "link"], "nothing is left behind");
    assert_eq!(read(home.path(), "a.pcap"), before);
    for (line, said) in [
        ("a.pcap --xpl graphs --graphs tsg,strange", "[possible values: tsg, tput, rtt, owin]"),
        ("a.pcap --graphs tsg", "--xpl"),
    ] {
        let refusal = refusal(home.path(), line);
        assert!(refusal.contains(said), "{line}: {refusal}");
    }
}

#[test]
fn less_than_whole_is_answered_with_a_note() {
    let home = home();
    let plain = fs::read(home.path().join("a.pcap")).unwrap();
    let packed = fs::read(home.path().join("a.pcap.zst")).unwrap();
    fs::write(home.path().join("cut.pcap"), &plain[..plain.len() / 2]).unwrap();
    fs::write(home.path().join("cut.zst"), &packed[..packed.len() * 4 / 5]).unwrap();
    for name in ["cut.pcap", "cut.zst"] {
        let said = answer(home.path(), name);
        assert!(said.contains("\n! the capture is cut off in the middle of record"), "{said}");
        assert!(said.contains("connections, "), "{said}");
    }
    let both = answer(home.path(), "cut.pcap a.pcap.zst");
    assert!(both.contains("\n! cut.pcap is cut off in the middle of record"), "{both}");
    fs::write(home.path().join("none.pcap"), &plain[..24]).unwrap();
    assert!(answer(home.path(), "none.pcap").contains("The capture has no packets."));
    // The same packets, but said to be of a link that nobody knows.
    let mut strange = plain;
    strange[20] = 147;
    fs::write(home.path().join("strange.pcap"), strange).unwrap();
    let said = answer(home.path(), "strange.pcap");
    assert!(said.contains("link type 147 is not understood"), "{said}");
    assert!(said.contains("No TCP packet found"), "{said}");
}

#[test]
fn mistakes_are_named() {
    let home = home();
    fs::write(home.path().join("text"), "GIF89a").unwrap();
    fs::write(home.path().join("empty"), "").unwrap();
    fs::create_dir(home.path().join("folder")).unwrap();
    let mut all = String::new();
    for line in [
        "missing.pcap",
        "text",
        "empty",
        "folder",
        "a.pcap missing.pcap",
        "- -",
        "a.pcap -c 2",
        "a.pcap --json -c 2",
        "a.pcap --ladder",
        "a.pcap -c 1 --listing --from 99999",
        "a.pcap --listing --from soon",
        "a.pcap --filter port",
        "a.pcap --filter host",
        "a.pcap -c 1 --ladder-svg nowhere/l.svg",
        "-i nosuch0",
    ] {
        all += &format!("$ tcplab trace {line}\n{}\n", refusal(home.path(), line));
    }
    insta::assert_snapshot!(all);
    for (line, said) in [
        ("", "<FILE>"),
        ("a.pcap -i lo", "cannot be used with"),
        ("a.pcap -w kept", "cannot be used with"),
        ("-w kept", "--interface"),
        ("a.pcap -c 1 --from 1s", "--listing"),
        ("a.pcap --json --jsonl", "cannot be used with"),
        ("-i lo --packets 0", "0 is not in"),
    ] {
        let refusal = refusal(home.path(), line);
        assert!(refusal.contains(said), "{line}: {refusal}");
    }
}

/// A capture of this machine's own loopback, of a connection made for it.
#[test]
fn what_passes_an_interface_is_captured() {
    let home = home();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let line = "-i lo --duration 10s --packets 8 -w kept.pcapng --json";
    let mut child = command(home.path(), line);
    child.args(["--filter", &format!("port {port}")]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Nobody tells when it listens: connections are made until it has seen enough.
    while child.try_wait().unwrap().is_none() {
        let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut accepted, _) = server.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        std::io::Read::read_exact(&mut accepted, &mut heard).unwrap();
        std::thread::yield_now();
    }
    let output = child.wait_with_output().unwrap();
    if text(&output.stderr).contains("CAP_NET_RAW") {
        assert!(text(&output.stderr).contains("setcap"), "{}", text(&output.stderr));
        return skipped("this user may not capture");
    }
    let seen: serde_json::Value = serde_json::from_str(&answered(&output, line)).unwrap();
    assert_eq!(seen["capture"]["packets"], 8);
    let is_ours = |c: &serde_json::Value| c["server_port"] == port;
    assert!(seen["connections"].as_array().unwrap().iter().any(is_ours), "{seen}");
    // What was kept is what was analysed.
    let kept = answer(home.path(), "kept.pcapng --json");
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["connections"], seen["connections"]);
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

/// Two captures of one transfer: what was lost between them, in words and as JSON.
#[test]
fn two_captures_are_joined() {
    let home = home();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let there = Path::new(corpus).join("nots_loss1.rcv.pcap.zst");
    fs::copy(there, home.path().join("b.pcap.zst")).unwrap();
    let told = answer(home.path(), "--client a.pcap.zst --server b.pcap.zst");
    insta::assert_snapshot!("two_captures_joined", told);
    let json = answer(home.path(), "--client a.pcap --server b.pcap.zst --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lost = |index: usize| json["connections"][index]["forward"]["lost"].as_u64().unwrap();
    assert_eq!(lost(0) + lost(1), 26);
    assert_eq!(json["audit"]["losses_found"], 26);
    let stdin = refusal(home.path(), "--client a.pcap --server -");
    assert!(stdin.contains("more than once"), "{stdin}");
    let alone = refusal(home.path(), "--client a.pcap");
    assert!(alone.contains("--server <FILE>"), "{alone}");
}
