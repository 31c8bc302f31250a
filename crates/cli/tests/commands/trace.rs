//! `tcplab trace`: answers, errors, and incomplete captures.

mod listing;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::home::{Ended, Home, ended, names, skipped};
use crate::states::check_stands_alone;

/// A capture with known truth: an upload of some 1,002 packets through 1 % of loss, and the
/// connection that controls it.
const NAME: &str = "nots_loss1.snd.pcap";

/// A directory with the capture, plain and compressed.
fn home() -> Home {
    let home = Home::new();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = Path::new(corpus).join(format!("{NAME}.zst"));
    fs::copy(&packed, home.path("a.pcap.zst")).unwrap();
    let mut plain = Vec::new();
    let mut source = tcplab_capture::Source::open(&packed).unwrap();
    std::io::Read::read_to_end(&mut source, &mut plain).unwrap();
    home.write("a.pcap", plain);
    home
}

/// The standard output of a command that succeeds and has nothing else to say.
fn answer(home: &Home, line: &str) -> String {
    silent(home.run(&format!("trace {line}")), line)
}

fn silent(ended: Ended, line: &str) -> String {
    assert_eq!(ended.stderr, "", "{line}");
    ended.answer(line)
}

fn json(home: &Home, line: &str) -> Value {
    serde_json::from_str(&answer(home, line)).unwrap()
}

/// The output without the line that names the files.
fn body(answer: &str) -> &str {
    answer.split_once('\n').unwrap().1
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let home = home();
    let written = |jobs: &str| {
        let lines = ["", "--json", "--jsonl", "-c 0 --listing", "--csv a.csv --xpl graphs"];
        let mut all: Vec<Vec<u8>> = lines
            .iter()
            .map(|line| home.run(&format!("trace a.pcap {jobs} {line}")).answer(line).into())
            .collect();
        let files = "--parquet tables --annotate a.pcapng --html a.html";
        home.run(&format!("trace a.pcap {jobs} {files}")).answer(files);
        all.extend(["a.csv", "a.pcapng", "a.html"].map(|file| home.bytes(file)));
        for folder in ["graphs", "tables"] {
            let folder = home.path(folder);
            all.extend(names(&folder).iter().map(|name| home.bytes(folder.join(name))));
        }
        all
    };
    let one = written("--jobs 1");
    assert!(one.len() > 15, "{}", one.len());
    for jobs in ["--jobs 2", "--jobs 8", ""] {
        assert!(written(jobs) == one, "{jobs}");
    }
}

#[test]
fn equal_captures_give_equal_answers() {
    let home = home();
    let plain = answer(&home, "a.pcap");
    assert!(plain.starts_with("a.pcap\n"), "{plain}");
    assert!(plain.contains("2 connections"), "{plain}");
    assert_eq!(body(&answer(&home, "a.pcap.zst")), body(&plain));
    let one = answer(&home, "a.pcap --top 1");
    assert!(one.contains("1 connection more"), "{one}");
    assert_eq!(answer(&home, "a.pcap --all"), plain);
}

#[test]
fn standard_input_is_read_as_a_capture() {
    let home = home();
    let packed = home.bytes("a.pcap.zst");
    let mut child = home
        .command("trace - --connection 1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&packed).unwrap();
    let said = silent(child.wait_with_output().unwrap().into(), "-");
    assert_eq!(said, answer(&home, "a.pcap --connection 1"));
    assert!(said.starts_with("Connection 1, 10.98.0.1:"), "{said}");
}

#[test]
fn several_files_are_one_capture() {
    let home = home();
    let mut reader = tcplab_capture::open(home.path("a.pcap")).unwrap();
    let mut files =
        [(); 2].map(|()| tcplab_capture::PcapWriter::new(Vec::new(), 101, 128).unwrap());
    let mut turn = 0;
    while let Some(record) = reader.next_record().unwrap() {
        turn += 1;
        let file = &mut files[usize::from(turn % 7 < 3)];
        file.write_packet(record.time.unwrap(), record.captured, record.original_len).unwrap();
    }
    for (name, file) in ["x.pcap", "y.pcap"].into_iter().zip(files) {
        home.write(name, file.finish().unwrap());
    }
    let apart = answer(&home, "x.pcap y.pcap");
    assert!(apart.starts_with("x.pcap + y.pcap\n"), "{apart}");
    assert_eq!(body(&apart), body(&answer(&home, "a.pcap")));
}

#[test]
fn filter_leaves_out_other_connections() {
    let home = home();
    let with = |filter: &str, more: &str| {
        json(&home, &format!("a.pcap --json {more} --filter '{filter}'"))
    };
    let connections = |value: &Value| value["connections"].as_array().unwrap().len();
    let all = with("port 5201", "");
    assert_eq!(connections(&all), 2);
    assert_eq!(connections(&with("not host 10.98.0.1", "")), 0);
    let port = &all["connections"][1]["client_port"];
    let one = with(&format!("port {port}"), "");
    assert_eq!(connections(&one), 1);
    // Times, frames and counters are those of the whole capture.
    assert_eq!(one["capture"], all["capture"]);
    assert_eq!(one["connections"][0]["segments"], all["connections"][1]["segments"]);
    let early = with("time ..1s", "--connection 1");
    assert!(early["connections"][0]["last_ns"].as_u64().unwrap() < 1_000_000_000);
}

#[test]
fn json_lines_equal_json() {
    let home = home();
    let whole = json(&home, "a.pcap --json");
    let lines: Vec<Value> = answer(&home, "a.pcap --jsonl")
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
    let one = answer(&home, "a.pcap --jsonl -c 1");
    let of_one = lines.iter().filter(|line| line["connection"] != 0).count();
    assert_eq!((one.lines().count(), one.contains("\"connection\":0")), (of_one, false));
}

#[test]
fn packets_are_listed_and_drawn() {
    let home = home();
    let listing = answer(&home, "a.pcap -c 1 --listing");
    let some = answer(&home, "a.pcap -c 1 --listing --from 100 --to 120");
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
    let ladder = answer(&home, "a.pcap -c 1 --ladder --ladder-svg l.svg");
    assert!(ladder.contains("│◀─") && ladder.contains("─▶│") && ladder.contains('×'), "{ladder}");
    check_stands_alone(&home.text("l.svg"));
    let left = names(&home.path(""));
    assert_eq!(left, ["a.pcap", "a.pcap.zst", "l.svg"], "nothing half-written stays");
    let acks = answer(&home, "a.pcap -c 1 --ladder --reverse");
    assert!(acks.contains("SYN"), "{acks}");
}

/// Standard error, which lists the files written, and standard output.
fn writing(home: &Home, line: &str) -> (String, String) {
    let Ended { code, stdout, stderr } = home.run(&format!("trace {line}"));
    assert_eq!(code, Some(0), "{line}: {stderr}");
    (stderr, stdout)
}

#[test]
fn files_are_written_beside_the_answer() {
    let home = &home();
    let wish = "--csv c.csv --parquet tables --xpl graphs --annotate n.pcapng --html p.html";
    let (files, said) = writing(home, &format!("a.pcap.zst {wish}"));
    assert_eq!(said, answer(home, "a.pcap.zst"), "files change nothing in the answer");
    let whole = json(home, "a.pcap --json");
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
        assert!(files.contains(&format!("{name}: {rows} row{s}\n")), "{files}");
        let file = home.bytes(&name);
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{name}");
    }
    let csv = home.text("c.csv");
    assert!(csv.starts_with("conn_#,host_a,host_b,port_a,port_b,first_packet,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + connections.len());
    // The time of day of the first packet.
    let epoch = whole["capture"]["zero_unix_ns"].as_u64().unwrap() / 1_000;
    let first = format!("{}.{:06}", epoch / 1_000_000, epoch % 1_000_000);
    assert_eq!(csv.lines().nth(1).unwrap().split(',').nth(5), Some(first.as_str()));
    let graph = home.text("graphs/c2d_tsg.xpl");
    assert!(graph.starts_with("dtime double\n") && graph.ends_with("go\n"));
    let drawn = names(&home.path("graphs")).len();
    assert!(files.contains(&format!("graphs: {drawn} graphs\n")), "{files}");
    let page = home.text("p.html");
    for connection in connections {
        let client = connection["client_address"].as_str().unwrap();
        assert!(page.contains(client), "{client}");
    }
    assert!(page.contains("<svg") && page.trim_end().ends_with("</html>"));
    assert!(files.contains("p.html: 2 connections, 2 with graphs\n"), "{files}");
    let mut reader = tcplab_capture::open(home.path("n.pcapng")).unwrap();
    let (mut copied, mut comments) = (0, 0);
    while let Some(record) = reader.next_record().unwrap() {
        copied += 1;
        let comment: Vec<_> = record.comments().collect();
        comments += usize::from(!comment.is_empty());
    }
    assert_eq!(copied, packets);
    assert!(comments > 0 && files.contains(&format!("{packets} packets, {comments} with")));
    assert_eq!(files.lines().count(), 1 + 13 + 1 + 1 + 1, "{files}");
}

/// Without complaint, with all packets and comments.
#[test]
fn wireshark_reads_annotated_copy() {
    let home = &home();
    let (files, _) = writing(home, "a.pcap.zst --annotate n.pcapng");
    let fields = ["-Y", "frame.comment", "-T", "fields", "-e", "frame.comment"];
    let mut tshark = Command::new("tshark");
    let Ok(output) = tshark.arg("-r").arg(home.path("n.pcapng")).args(fields).output() else {
        return skipped("tshark cannot be run");
    };
    let comments = Ended::from(output).answer("tshark");
    assert!(files.contains(&format!(", {} with comments\n", comments.lines().count())), "{files}");
    assert!(comments.contains("retransmission of #"), "{comments}");
    assert!(comments.lines().any(|comment| comment == "lost"), "{comments}");
}

#[test]
fn files_hold_the_chosen_connections() {
    let home = &home();
    let wish = "--csv c.csv --xpl graphs --graphs tsg,owin --annotate n.pcapng --html p.html";
    for view in ["", "--json", "--jsonl", "--listing"] {
        let (files, _) = writing(home, &format!("a.pcap -c 1 {view} {wish}"));
        assert!(files.starts_with("c.csv: 1 connection\n"), "{view}: {files}");
        assert!(files.ends_with("p.html: 2 connections, 1 with graphs\n"), "{view}: {files}");
        let csv = home.text("c.csv");
        assert!(csv.lines().count() == 2 && csv.lines().nth(1).unwrap().starts_with("2,"));
        let names = names(&home.path("graphs"));
        assert!(names.contains(&"c2d_owin.xpl".to_owned()), "{names:?}");
        let is_asked_for = |name: &String| {
            (name.starts_with("c2d") || name.starts_with("d2c"))
                && (name.ends_with("_tsg.xpl") || name.ends_with("_owin.xpl"))
        };
        assert!(names.iter().all(is_asked_for), "{names:?}");
    }
    let (files, _) = writing(home, &format!("a.pcap {wish} --filter 'port 1'"));
    assert!(files.starts_with("c.csv: 0 connections\ngraphs: 0 graphs\n"), "{files}");
    assert!(files.contains(" packets, 0 with comments\np.html: 0 connections, 0 with graphs\n"));
}

fn refusals(home: &Home, lines: &[&str]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("trace {line}")).collect();
    crate::errors::refusals(home, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn impossible_files_are_refused_before_anything_is_read() {
    let home = home();
    home.write("file", "old");
    std::os::unix::fs::symlink("a.pcap", home.path("link")).unwrap();
    let before = home.bytes("a.pcap");
    insta::assert_snapshot!(refusals(
        &home,
        &[
            "a.pcap --csv nowhere/c.csv",
            "a.pcap --parquet nowhere/tables",
            "a.pcap --xpl nowhere/graphs",
            "a.pcap --xpl file",
            "a.pcap --csv c.csv --html nowhere/p.html --xpl graphs --parquet tables",
            "a.pcap --annotate a.pcap",
            "link --csv ./a.pcap",
            "a.pcap --html link",
            "--html a.pcap.zst a.pcap",
            "a.pcap --html x --csv ./x",
            "a.pcap --csv -",
            "- --annotate n.pcapng",
            "- --html p.html",
            "-i lo --annotate n.pcapng",
            "-i lo -w kept --csv kept",
            "a.pcap a.pcap.zst --annotate n.pcapng",
            "a.pcap -c 7 --csv c.csv --parquet tables --xpl graphs --annotate n.pcapng",
        ]
    ));
    assert_eq!(
        names(&home.path("")),
        ["a.pcap", "a.pcap.zst", "file", "link"],
        "nothing is left behind"
    );
    assert_eq!(home.bytes("a.pcap"), before);
    home.refuses(&[
        (
            "trace a.pcap --xpl graphs --graphs tsg,strange",
            "[possible values: tsg, tput, rtt, owin, ssize, rttseq]",
        ),
        ("trace a.pcap --graphs tsg", "--xpl"),
        (
            "trace a.pcap --xpl graphs --rtt once,karn",
            "[possible values: once, repaired, retransmitted, sack]",
        ),
        ("trace a.pcap --rtt sack", "--html"),
        ("trace a.pcap --average 1s", "--html"),
        ("trace a.pcap --html p.html --average 0.9ms", "1 ms to 1 h"),
        ("trace a.pcap --html p.html --average 2h", "1 ms to 1 h"),
    ]);
}

#[test]
fn graphs_show_the_chosen_samples_and_average() {
    let home = home();
    home.answer("trace a.pcap --html p.html --xpl x --graphs tput,rtt --rtt sack --average 250ms");
    let page = String::from_utf8(home.bytes("p.html")).unwrap();
    assert!(page.contains("Throughput, moving average over 250 ms"));
    assert!(page.contains(r#"step="any" value="0.25""#));
    assert!(page.contains(r#"<path class="rtt off" "#), "samples of data sent once are hidden");
    let files = names(&home.path("x"));
    let drawn = |it: &String| String::from_utf8(home.bytes(format!("x/{it}"))).unwrap();
    let rates = files.iter().filter(|it| it.ends_with("_tput.xpl")).map(drawn);
    assert!(rates.into_iter().all(|it| it.contains("moving average")), "{files:?}");
}

#[test]
fn incomplete_capture_is_analysed_with_a_note() {
    let home = home();
    let plain = home.bytes("a.pcap");
    let packed = home.bytes("a.pcap.zst");
    home.write("cut.pcap", &plain[..plain.len() / 2]);
    home.write("cut.zst", &packed[..packed.len() * 4 / 5]);
    for name in ["cut.pcap", "cut.zst"] {
        let said = answer(&home, name);
        assert!(said.contains("\n! the capture is cut off in the middle of record"), "{said}");
        assert!(said.contains("connections, "), "{said}");
    }
    let both = answer(&home, "cut.pcap a.pcap.zst");
    assert!(both.contains("\n! cut.pcap is cut off in the middle of record"), "{both}");
    home.write("none.pcap", &plain[..24]);
    assert!(answer(&home, "none.pcap").contains("The capture has no packets."));
    // The same packets with an unknown link type.
    let mut strange = plain;
    strange[20] = 147;
    home.write("strange.pcap", strange);
    let said = answer(&home, "strange.pcap");
    assert!(said.contains("link type 147 is not understood"), "{said}");
    assert!(said.contains("No TCP packet found"), "{said}");
}

#[test]
fn mistakes_are_named() {
    let home = home();
    home.write("text", "GIF89a");
    home.write("empty", "");
    home.make_directory("folder");
    insta::assert_snapshot!(refusals(
        &home,
        &[
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
        ]
    ));
    home.refuses(&[
        ("trace", "<FILE>"),
        ("trace a.pcap -i lo", "cannot be used with"),
        ("trace a.pcap -w kept", "cannot be used with"),
        ("trace -w kept", "--interface"),
        ("trace a.pcap -c 1 --from 1s", "--listing"),
        ("trace a.pcap --json --jsonl", "cannot be used with"),
        ("trace -i lo --packets 0", "0 is out of range: use 1 or more"),
    ]);
}

/// A capture of this machine's own loopback, of a connection made for it.
#[test]
fn packets_of_an_interface_are_captured() {
    let home = home();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let line = "trace -i lo --duration 10s --packets 8 -w kept.pcapng --json";
    let mut child = home.command(&format!("{line} --filter 'port {port}'"));
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It does not report when it listens: connect until it has captured enough.
    while child.try_wait().unwrap().is_none() {
        let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut accepted, _) = server.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        std::io::Read::read_exact(&mut accepted, &mut heard).unwrap();
        std::thread::yield_now();
    }
    let ended = Ended::from(child.wait_with_output().unwrap());
    if ended.stderr.contains("CAP_NET_RAW") {
        assert!(ended.stderr.contains("setcap"), "{}", ended.stderr);
        return skipped("this user may not capture");
    }
    let seen: Value = serde_json::from_str(&silent(ended, line)).unwrap();
    assert_eq!(seen["capture"]["packets"], 8);
    let is_ours = |c: &Value| c["server_port"] == port;
    assert!(seen["connections"].as_array().unwrap().iter().any(is_ours), "{seen}");
    // The file has the packets that were analysed.
    let kept = json(&home, "kept.pcapng --json");
    assert_eq!(kept["connections"], seen["connections"]);
}

/// Two captures of one transfer: what was lost between them, in words and as JSON.
#[test]
fn two_captures_are_joined() {
    let home = home();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let there = Path::new(corpus).join("nots_loss1.rcv.pcap.zst");
    fs::copy(there, home.path("b.pcap.zst")).unwrap();
    let text = answer(&home, "--client a.pcap.zst --server b.pcap.zst");
    insta::assert_snapshot!("two_captures_joined", text);
    let json = json(&home, "--client a.pcap --server b.pcap.zst --json");
    let lost = |index: usize| json["connections"][index]["forward"]["lost"].as_u64().unwrap();
    assert_eq!(lost(0) + lost(1), 26);
    assert_eq!(json["audit"]["losses_found"], 26);
    home.refuses(&[
        ("trace --client a.pcap --server -", "more than once"),
        ("trace --client a.pcap --server b.pcap.zst --html x", "pass the sender's alone"),
        ("trace --client a.pcap", "--server <FILE>"),
    ]);
}

/// Merged, each packet would look duplicated by the network.
#[test]
fn captures_of_both_ends_are_joined_not_merged() {
    let home = home();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    home.make_directory("both");
    for (name, end) in [("x", "rcv"), ("y", "snd")] {
        let there = Path::new(corpus).join(format!("nots_loss1.{end}.pcap.zst"));
        fs::copy(there, home.path(format!("both/{name}.pcap.zst"))).unwrap();
    }
    let joined = answer(&home, "--client both/y.pcap.zst --server both/x.pcap.zst");
    for line in ["both", "both/x.pcap.zst both/y.pcap.zst", "both/y.pcap.zst both/x.pcap.zst"] {
        let ended = home.run(&format!("trace {line}"));
        assert!(ended.stderr.contains("at two capture points"), "{line}: {}", ended.stderr);
        assert_eq!(ended.answer(line), joined, "{line}");
    }
    home.refuses(&[(
        "trace both --html x.html",
        "--client both/y.pcap.zst --server both/x.pcap.zst",
    )]);
    let ended = home.run("compare both/x.pcap.zst both/y.pcap.zst");
    let hint = "`tcplab trace --client both/y.pcap.zst --server both/x.pcap.zst`";
    assert!(ended.stderr.contains(hint), "{}", ended.stderr);
    // Swapped: each direction has one name, and the mistake is asked about.
    let swapped = answer(&home, "--client both/x.pcap.zst --server both/y.pcap.zst");
    assert!(swapped.contains("are --client and --server swapped?"), "{swapped}");
    assert!(swapped.contains("lost from client to server"), "{swapped}");
    assert!(!swapped.contains("lost from server to client"), "{swapped}");
}

#[test]
fn directory_is_all_captures_in_it() {
    let home = home();
    home.make_directory("captures");
    home.write("captures/b.pcap", home.bytes("a.pcap"));
    home.write("captures/notes.txt", "no capture");
    let of = |line: &str| json(&home, line)["connections"].clone();
    assert_eq!(of("captures --json"), of("a.pcap --json"));
    home.make_directory("empty");
    home.refuses(&[("trace empty", "no captures in empty: name a directory with captures")]);
}

#[test]
fn reader_that_has_enough_ends_it_quietly() {
    let home = home();
    for line in ["trace a.pcap --jsonl", "trace a.pcap -c 0 --listing"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let unread = ended(home.command(line).stdout(writer));
        assert_eq!((unread.code, &*unread.stderr), (Some(0), ""), "{line}");
    }
}

#[test]
fn packets_as_bytes_are_those_of_the_capture() {
    let home = home();
    let text = answer(&home, "a.pcap.zst --hex 1 --hex-svg x.svg");
    check_stands_alone(&home.text("x.svg"));
    assert!(text.starts_with("Frame 1, 0.000000 s: 52 bytes, 10.98.0.1:"), "{text}");
    assert!(text.contains("\n0000 45 00 00 34 "), "{text}");
    assert_eq!(text, answer(&home, "a.pcap --hex 1 -c 0"));
    let packets = json(&home, "a.pcap --hex #40,13 --json");
    let frames: Vec<u64> = packets["packets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["frame"].as_u64().unwrap())
        .collect();
    assert_eq!(frames, [40, 13]);
    let mut reader = tcplab_capture::open(home.path("a.pcap")).unwrap();
    let mut thirteenth = String::new();
    for _ in 0..13 {
        let record = reader.next_record().unwrap().unwrap();
        thirteenth = tcplab_wire::hex_digits(record.captured);
    }
    assert_eq!(packets["packets"][1]["bytes"].as_str().unwrap(), thirteenth);
    // A filter keeps the numbers of frames.
    assert_eq!(text, answer(&home, "a.pcap --hex 1 --filter 'port 5201'"));
}

#[test]
fn frames_that_cannot_be_shown_say_why() {
    let home = home();
    for (line, why) in [
        ("a.pcap --hex 1000000", "no frame 1000000: the capture has "),
        ("a.pcap --hex 0", "not a frame number, which counts from 1"),
        ("a.pcap --hex 1 -c 9", "no connection 9: there are 2, numbered from 0"),
        ("a.pcap --hex 1 -c 1", "frame 1 belongs to connection 0: pass -c 0, or no -c"),
        ("a.pcap --hex 1 --listing", "cannot be used with"),
        ("- --hex 1", "--hex reads the capture twice"),
        ("a.pcap --hex-svg x.svg", "--hex"),
        ("a.pcap --hex 1 --hex-svg a.pcap", "--hex-svg would overwrite the input a.pcap: choose"),
    ] {
        let Ended { code, stderr, .. } = home.run(&format!("trace {line}"));
        assert_eq!(code, Some(2), "{line}: {stderr}");
        assert!(stderr.contains(why), "{line}: {stderr}");
    }
}
